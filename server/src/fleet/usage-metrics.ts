import { at, list, text, textMap } from './json.ts';
import type { Labels } from './types.ts';

// Metrics that exporters offer about accelerators, and what to ask Prometheus about them.

/** What a metric measures: a part of the time, bytes, or watts. */
export type Amount = 'busy' | 'used' | 'free' | 'total' | 'watts';

interface DeviceMetric {
  readonly amount: Amount;
  /** Factor to a ratio, bytes or watts. */
  readonly scale: number;
  /** Labels that identify a device. */
  readonly labels: readonly string[];
}

const nvidia = ['UUID', 'gpu', 'device'];
const amd = ['hostname', 'gpu_uuid', 'gpu_id', 'gpu_partition_id', 'serial_number'];
const neuron = ['instance', 'instance_id', 'neuroncore', 'neuron_device'];
const mebibyte = 2 ** 20;

/**
 * The most exact metric of an amount first.
 * https://docs.nvidia.com/datacenter/dcgm/latest/dcgm-api/dcgm-api-field-ids.html (framebuffer in MB, which are 2^20 bytes; DCGM_FI_DEV_GPU_UTIL is
 * not known for MIG slices), https://instinct.docs.amd.com/projects/device-metrics-exporter/en/latest/configuration/metricslist.html,
 * https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/neuron-monitor-user-guide.html
 */
export const deviceMetrics = {
  DCGM_FI_PROF_GR_ENGINE_ACTIVE: measures('busy', 1, nvidia),
  DCGM_FI_DEV_GPU_UTIL: measures('busy', 0.01, nvidia),
  DCGM_FI_DEV_FB_USED: measures('used', mebibyte, nvidia),
  DCGM_FI_DEV_FB_FREE: measures('free', mebibyte, nvidia),
  DCGM_FI_DEV_POWER_USAGE: measures('watts', 1, nvidia),
  gpu_gfx_activity: measures('busy', 0.01, amd),
  gpu_used_vram: measures('used', mebibyte, amd),
  gpu_total_vram: measures('total', mebibyte, amd),
  gpu_package_power: measures('watts', 1, amd),
  // The prefix is an option of the exporter (MetricsFieldPrefix).
  amd_gpu_gfx_activity: measures('busy', 0.01, amd),
  amd_gpu_used_vram: measures('used', mebibyte, amd),
  amd_gpu_total_vram: measures('total', mebibyte, amd),
  amd_gpu_package_power: measures('watts', 1, amd),
  neuroncore_utilization_ratio: measures('busy', 1, neuron),
} as const;

function measures(amount: Amount, scale: number, labels: readonly string[]): DeviceMetric {
  return { amount, scale, labels };
}

export type MetricName = keyof typeof deviceMetrics;

/**
 * What is asked about a metric over a window. `before`: whether it was already there when the window began; `steps`: in how many of its steps of
 * `stepSeconds` there was a sample.
 */
export type Statistic = 'mean' | 'p95' | 'max' | 'min' | 'before' | 'steps';

/** Twice as long as Prometheus looks back for a sample. */
export const stepSeconds = 600;

const statistics: { readonly [amount in Amount]: readonly Statistic[] } = {
  busy: ['mean', 'p95', 'before', 'steps'],
  used: ['max'],
  free: ['min'],
  total: ['max'],
  watts: ['mean'],
};

export interface UsageQuery {
  readonly metric: MetricName;
  readonly statistic: Statistic;
  /** In PromQL. */
  readonly query: string;
}

/** Which of the metrics are there: one instant query before all others. */
export const availableQuery = `count by (__name__) ({__name__=~"${Object.keys(deviceMetrics).join('|')}"})`;

/** The metrics that the answer to `availableQuery` names. */
export function availableMetrics(series: readonly Series[]): readonly MetricName[] {
  const found = new Set(series.map(({ labels }) => labels.get('__name__')));
  return metricNames.filter((name) => found.has(name));
}

const metricNames = Object.keys(deviceMetrics) as readonly MetricName[];

/** The instant queries about some metrics over the last so many hours. */
export function usageQueries(metrics: readonly MetricName[], hours: number): readonly UsageQuery[] {
  return metrics.flatMap((metric) =>
    statistics[deviceMetrics[metric].amount].map((statistic) => ({
      metric,
      statistic,
      query: queryOf(metric, statistic, hours),
    })),
  );
}

/** Only about series that are there now: those of devices that a pod has given back, or of a pod of the same name before, would mislead. */
function queryOf(metric: MetricName, statistic: Statistic, hours: number): string {
  return `${overWindow(metric, statistic, `${Math.round(hours * 3600)}s`)} and ${metric}`;
}

function overWindow(metric: MetricName, statistic: Statistic, window: string): string {
  switch (statistic) {
    case 'p95':
      return `quantile_over_time(0.95, ${metric}[${window}])`;
    case 'mean':
      return `avg_over_time(${metric}[${window}])`;
    case 'before':
      return `${metric} offset ${window}`;
    case 'steps':
      return `count_over_time(${metric}[${window}:${stepSeconds}s])`;
    default:
      return `${statistic}_over_time(${metric}[${window}])`;
  }
}

export interface UsageAnswer {
  readonly metric: MetricName;
  readonly statistic: Statistic;
  readonly series: readonly Series[];
}

/** One element of an instant vector. */
export interface Series {
  readonly labels: Labels;
  /** It may be NaN. */
  readonly value: number;
}

/**
 * The vector in an answer of Prometheus's API to an instant query, or why there is none.
 * https://prometheus.io/docs/prometheus/latest/querying/api/#instant-queries
 */
export function readVector(answer: unknown): readonly Series[] | { readonly problem: string } {
  if (at(answer, 'status') !== 'success')
    return { problem: text(at(answer, 'error')) ?? 'the answer is not that of a Prometheus server' };
  if (at(answer, 'data', 'resultType') !== 'vector') return { problem: 'the answer is not a vector' };
  return list(at(answer, 'data', 'result')).map((element) => ({
    labels: textMap(at(element, 'metric')),
    value: Number(text(list(at(element, 'value'))[1]) ?? Number.NaN),
  }));
}
