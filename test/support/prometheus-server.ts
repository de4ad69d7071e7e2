import http from 'node:http';
import type { AddressInfo } from 'node:net';

// A substitute for Prometheus: it answers the instant queries of fleet/usage-metrics.ts about devices whose figures it is given.

/** What an exporter says of one device, summed up over the window. */
export interface ExportedDevice {
  readonly labels: Readonly<Record<string, string>>;
  /** By metric: `DCGM_FI_DEV_FB_USED`. */
  readonly values: Readonly<Record<string, Values>>;
}

/** The value of each statistic. A single number is all of them, over the whole window. */
type Values = number | { readonly [statistic in 'mean' | 'p95' | 'max' | 'min' | 'before' | 'steps']?: number };

export interface TestPrometheus {
  readonly url: string;
  readonly queries: readonly string[];
  devices: readonly ExportedDevice[];
  /** Called first for each request; true means that it has dealt with it. */
  fault: ((request: http.IncomingMessage, response: http.ServerResponse) => boolean) | undefined;
  readonly close: () => Promise<void>;
}

const gibibytes = 1024;

/** The labels of dcgm-exporter, as the Prometheus operator keeps them. */
export function dcgmLabels(namespace: string, pod: string, uuid: string): Readonly<Record<string, string>> {
  const exporter = { namespace: 'monitoring', pod: 'dcgm-exporter-x', job: 'dcgm' };
  return { ...exporter, UUID: uuid, exported_namespace: namespace, exported_pod: pod };
}

/** An NVIDIA device. @param busy from 0 to 1 @param used of `total` GiB */
export function dcgmDevice(
  labels: Readonly<Record<string, string>>,
  { busy, used, total = 80, steps = 36 }: { busy: number; used: number; total?: number; steps?: number },
): ExportedDevice {
  return {
    labels,
    values: {
      DCGM_FI_PROF_GR_ENGINE_ACTIVE: { mean: busy, p95: busy, steps, ...(steps >= 36 && { before: busy }) },
      DCGM_FI_DEV_FB_USED: used * gibibytes,
      DCGM_FI_DEV_FB_FREE: (total - used) * gibibytes,
      DCGM_FI_DEV_POWER_USAGE: 90,
    },
  };
}

/** The answer to an instant query about devices. */
export function vectorOf(query: string, devices: readonly ExportedDevice[]): readonly object[] {
  if (query.startsWith('count by')) {
    const names = new Set(devices.flatMap(({ values }) => Object.keys(values)));
    return [...names].map((__name__) => element({ __name__ }, 1));
  }
  const [expression = '', metric = ''] = query.split(' and ');
  const statistic = statisticOf(expression);
  return devices.flatMap(({ labels, values }) => {
    const known = values[metric];
    const value = typeof known === 'number' ? (statistic === 'steps' ? 36 : known) : known?.[statistic];
    return value === undefined ? [] : [element(labels, value)];
  });
}

function statisticOf(expression: string): 'mean' | 'p95' | 'max' | 'min' | 'before' | 'steps' {
  if (expression.startsWith('avg_over_time')) return 'mean';
  if (expression.startsWith('quantile_over_time(0.95')) return 'p95';
  if (expression.startsWith('count_over_time')) return 'steps';
  if (expression.includes(' offset ')) return 'before';
  return expression.startsWith('min') ? 'min' : 'max';
}

function element(metric: object, value: number) {
  return { metric, value: [1_780_000_000, String(value)] };
}

/** The body of an answer. */
export function success(result: readonly object[]): string {
  return JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
}

export async function startPrometheus(devices: readonly ExportedDevice[] = []): Promise<TestPrometheus> {
  const queries: string[] = [];
  const server = http.createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://localhost').searchParams.get('query') ?? '';
    queries.push(query);
    if (prometheus.fault?.(request, response) !== true) response.end(success(vectorOf(query, prometheus.devices)));
  });
  const prometheus: TestPrometheus = {
    url: '',
    queries,
    devices,
    fault: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(prometheus, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
