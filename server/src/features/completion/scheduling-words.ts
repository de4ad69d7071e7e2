import { type Provider, platforms, providerName, spotTaintKeys } from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { modelParamsAnnotation } from '../../model/model-params.ts';
import { disableAnnotation } from '../../rules/suppressions.ts';
import { table } from '../../yaml/table.ts';
import type { Word } from './completion-item.ts';

/** A toleration that pods on GPU nodes need. */
export interface TolerationItem {
  readonly key: string;
  /** Undefined: any value. */
  readonly value: string | undefined;
  /** Default: NoSchedule. */
  readonly effect?: string;
  readonly detail: string;
}

/** The tolerations for the cluster's platform; if it is unknown, those for all platforms. */
export function tolerationItems(config: ProjectConfig): readonly TolerationItem[] {
  const spot = spotTaints.filter(({ provider }) => config.provider === null || config.provider === provider);
  return [
    ...ownTaints(config),
    { key: 'nvidia.com/gpu', value: undefined, detail: 'nodes with NVIDIA GPUs' },
    ...spot.map(({ key, value, provider }) => ({ key, value, detail: `spot nodes of ${providerName(provider)}` })),
    { key: 'amd.com/gpu', value: undefined, detail: 'nodes with AMD GPUs' },
    ...(config.provider === null || config.provider === 'gcp'
      ? [{ key: 'google.com/tpu', value: undefined, detail: 'nodes with TPUs' }]
      : []),
  ];
}

/** Taints from the project's config come first: pods on its GPU nodes need all of them. */
function ownTaints({ taints, nodePools }: ProjectConfig): readonly TolerationItem[] {
  const own = [
    ...taints.map((taint) => ({ ...taint, detail: "the project's GPU nodes" })),
    ...nodePools.flatMap((pool) =>
      (pool.taints ?? []).map((taint) => ({ ...taint, detail: `node pool ${pool.name}` })),
    ),
  ];
  const seen = new Set<string>();
  return own.flatMap(({ key, value, effect, detail }) => {
    const name = `${key}=${value}:${effect}`;
    if (seen.has(name)) return [];
    seen.add(name);
    return [{ key, value: value === null ? undefined : JSON.stringify(value), effect, detail }];
  });
}

/** Taint keys of GPU nodes. */
export function taintKeys(config: ProjectConfig): readonly Word[] {
  return tolerationItems(config).map(({ key, detail }, rank) => ({ text: key, detail, rank }));
}

const owners = table<{ readonly value: string; readonly provider: Provider }>({
  'kubernetes.azure.com/scalesetpriority': { value: 'spot', provider: 'azure' },
  'cloud.google.com/gke-spot': { value: '"true"', provider: 'gcp' },
});

const spotTaints = spotTaintKeys.flatMap((key) => {
  const owner = owners[key];
  return owner === undefined ? [] : [{ key, ...owner }];
});

interface Annotation {
  readonly key: string;
  readonly detail: string;
  /** The kinds that read it; empty: any. */
  readonly kinds: readonly string[];
  /** The usual values. Annotations are strings, so numbers and booleans are quoted. */
  readonly values: readonly Word[];
}

const knative = ['InferenceService', 'Service'];
/** KServe overwrites these with its own minReplicas and maxReplicas. */
const withoutKserve = ['Service'];

const deploymentMode = 'serving.kserve.io/deploymentMode';

const annotations: readonly Annotation[] = [
  {
    key: deploymentMode,
    detail: 'how KServe runs the service',
    kinds: ['InferenceService'],
    values: [
      { text: 'Knative', detail: 'can scale to zero; Serverless before KServe 0.16' },
      { text: 'Standard', detail: 'a plain Deployment; RawDeployment before KServe 0.16' },
    ],
  },
  {
    key: 'serving.kserve.io/autoscalerClass',
    detail: 'what scales the service in Standard mode',
    kinds: ['InferenceService'],
    values: [
      { text: 'hpa', detail: 'at least one replica' },
      { text: 'keda', detail: 'can scale to zero' },
      { text: 'external', detail: 'another autoscaler' },
      { text: 'none', detail: 'no autoscaler' },
    ],
  },
  {
    key: 'autoscaling.knative.dev/min-scale',
    detail: 'minimum replicas; 0 allows scale to zero',
    kinds: withoutKserve,
    values: [
      { text: '"0"', detail: 'scale to zero' },
      { text: '"1"', detail: 'one replica always runs' },
    ],
  },
  { key: 'autoscaling.knative.dev/max-scale', detail: 'maximum replicas', kinds: withoutKserve, values: [] },
  {
    key: 'autoscaling.knative.dev/scale-to-zero-pod-retention-period',
    detail: 'how long the last pod stays after the last request',
    kinds: knative,
    values: [
      { text: '5m', detail: '' },
      { text: '10m', detail: '' },
      { text: '30m', detail: '' },
    ],
  },
  {
    key: 'autoscaling.knative.dev/metric',
    detail: 'metric that drives scaling',
    kinds: knative,
    values: [
      { text: 'concurrency', detail: 'concurrent requests' },
      { text: 'rps', detail: 'requests per second' },
    ],
  },
  {
    key: 'autoscaling.knative.dev/target',
    detail: 'target of the metric per replica',
    kinds: knative,
    values: [],
  },
  {
    key: 'karpenter.sh/do-not-disrupt',
    detail: 'Karpenter does not evict the pod voluntarily',
    kinds: [],
    values: [{ text: '"true"', detail: '' }],
  },
  {
    key: 'cluster-autoscaler.kubernetes.io/safe-to-evict',
    detail: 'whether the Cluster Autoscaler may evict the pod',
    kinds: [],
    values: [
      { text: '"false"', detail: 'keeps the pod and its node' },
      { text: '"true"', detail: 'allows eviction' },
    ],
  },
  {
    key: modelParamsAnnotation,
    detail: 'number of parameters of the served model, if its name does not state it',
    kinds: [],
    values: [{ text: '7B', detail: '7 billion parameters' }],
  },
  { key: disableAnnotation, detail: 'disables gpulint rules for this object', kinds: [], values: [] },
];

/** Annotations that affect GPU use, for objects of a kind. */
export function annotationKeys(kind: string, config: ProjectConfig): readonly Word[] {
  return annotations
    .filter(({ kinds }) => kinds.length === 0 || kinds.includes(kind))
    .map(({ key, detail }, rank) => ({ text: key, detail, rank, value: choice(annotationValues(key, config)) }));
}

/** The usual values of an annotation. */
export function annotationValues(key: string, { kserve }: ProjectConfig): readonly Word[] {
  if (key === deploymentMode && isOldKserve(kserve.version)) return oldModes;
  return annotations.find((annotation) => annotation.key === key)?.values ?? [];
}

/** KServe 0.16 renamed the modes. */
function isOldKserve(version: string | null): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  return major === '0' && Number(minor) < 16;
}

const oldModes: readonly Word[] = [
  { text: 'Serverless', detail: 'can scale to zero; Knative from KServe 0.16' },
  { text: 'RawDeployment', detail: 'a plain Deployment; Standard from KServe 0.16' },
];

/** The spot labels of the platforms, with the values that select spot. */
export function spotLabels(provider: string | null): ReadonlyMap<string, readonly string[]> {
  const labels = new Map<string, readonly string[]>();
  for (const platform of platforms.values()) {
    if (provider !== null && platform.provider !== provider) continue;
    for (const [key, values] of Object.entries(platform.spotLabels)) labels.set(key, values);
  }
  return labels;
}

/** A snippet placeholder that offers the values. */
function choice(values: readonly Word[]): string {
  if (values.length === 0) return '"$1"';
  return values.length === 1 ? (values[0]?.text ?? '') : `\${1|${values.map(({ text }) => text).join(',')}|}`;
}
