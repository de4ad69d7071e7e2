import type { Measured } from '../fleet/measured-view.ts';
import type { DevicePods } from '../fleet/usage-labels.ts';
import type { ApiServer } from './api-server.ts';
import type { Clock } from './clock.ts';
import { measureUsage, type PrometheusSource, type PrometheusToken, placeOf } from './prometheus.ts';

/** The window, in hours: longer than a lunch break, shorter than a night. */
export const usageHours = 6;
/** Averages over hours change slowly. */
const interval = 300_000;
/** Nobody installs a Prometheus every few minutes. */
const searchInterval = 3_600_000;
/** All queries of one measurement together. */
const measureMilliseconds = 60_000;
/** All services together. */
const searchMilliseconds = 20_000;

/** Measures what pods do with their devices, at intervals. */
export interface UsageFollower {
  /** Begins, when the cluster is first known. */
  readonly start: () => void;
  readonly current: () => Measured;
}

/** Asks nobody. */
export const noUsage: UsageFollower = { start: () => undefined, current: () => null };

/** Where Prometheus is, as the user of the machine says. */
export interface PrometheusSettings {
  /** null: one of the well-known services, if the user may reach it through the API server. */
  readonly url: string | null;
  /** Only for the address: no service of a cluster gets it. */
  readonly token: PrometheusToken;
}

/**
 * @param pods those with devices, now
 * @param changed called after each measurement
 */
export function followUsage(
  { url, token }: PrometheusSettings,
  api: ApiServer,
  clock: Clock,
  signal: AbortSignal,
  pods: () => DevicePods,
  changed: () => void,
): UsageFollower {
  const asking: Measured = { state: 'asking', message: null, source: '', hours: usageHours, pods: [] };
  let known: Measured = asking;
  let source: PrometheusSource | undefined = url === null ? undefined : { kind: 'url', url, token };

  async function measure(from: PrometheusSource, milliseconds: number): Promise<Measured> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
    const result = await measureUsage(from, usageHours, pods(), limited);
    const place = { source: placeOf(from), hours: usageHours };
    return result.kind === 'measured'
      ? { ...place, state: 'measured', message: null, pods: result.pods }
      : { ...place, state: 'problem', message: result.message, pods: [] };
  }

  /** The first service with metrics. Without the right to reach it, or without one, there is nothing to say. */
  async function search(): Promise<Measured> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(searchMilliseconds)]);
    for (const service of wellKnown) {
      if (limited.aborted) break;
      const from: PrometheusSource = { kind: 'service', api, ...service };
      const result = await measureUsage(from, usageHours, pods(), limited);
      if (result.kind !== 'measured') continue;
      source = from;
      return { source: placeOf(from), hours: usageHours, state: 'measured', message: null, pods: result.pods };
    }
    return null;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const hasPods = pods().size > 0;
      if (hasPods) known = source === undefined ? await search() : await measure(source, measureMilliseconds);
      else if (known?.state === 'asking') known = null;
      if (signal.aborted) return;
      changed();
      await pause(hasPods && source === undefined ? searchInterval : interval);
    }
  }

  /** Whatever ends other waits early, as after a sleep of the machine. */
  async function pause(milliseconds: number): Promise<void> {
    const from = clock.now();
    for (let left = milliseconds; left > 0 && !signal.aborted; left = milliseconds - Math.abs(clock.now() - from))
      await clock.wait(left, signal);
  }

  return { start: () => void run(), current: () => known };
}

/**
 * Services of Prometheus as its operator, the common charts and their guides name them: prometheus-operator/kube-prometheus,
 * prometheus-community/helm-charts, rancher/charts, istio/istio (samples/addons), GoogleCloudPlatform/prometheus-engine.
 */
const wellKnown = [
  ...['monitoring', 'prometheus', 'kube-prometheus-stack', 'observability', 'cattle-monitoring-system'].map(
    (namespace) => ({ namespace, name: 'prometheus-operated', port: '9090' }),
  ),
  { namespace: 'monitoring', name: 'prometheus-k8s', port: '9090' },
  { namespace: 'monitoring', name: 'prometheus-server', port: '80' },
  { namespace: 'prometheus', name: 'prometheus-server', port: '80' },
  { namespace: 'monitoring', name: 'prometheus', port: '9090' },
  { namespace: 'istio-system', name: 'prometheus', port: '9090' },
  { namespace: 'gmp-system', name: 'frontend', port: '9090' },
] as const;
