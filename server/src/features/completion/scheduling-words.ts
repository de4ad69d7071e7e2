import { type Provider, platforms, providerName, spotTaintKeys } from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { disableAnnotation } from '../../rules/suppressions.ts';
import { table } from '../../yaml/table.ts';
import type { Word } from './completion-item.ts';

/** A toleration that pods on GPU nodes need. */
export interface TolerationItem {
  readonly key: string;
  /** Undefined: whatever the value is. */
  readonly value: string | undefined;
  /** NoSchedule where nothing else is told. */
  readonly effect?: string;
  readonly detail: string;
}

/** The tolerations of the cluster's platform; where that is not told, those of all. */
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

/** The taints that the project says its GPU nodes have come first: pods need them all. */
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

/** The keys of taints that GPU nodes carry. */
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
  /** Kinds that read it; empty: any. */
  readonly kinds: readonly string[];
  /** The values that people choose from; annotations are texts, so numbers and booleans are quoted. */
  readonly values: readonly Word[];
}

const knative = ['InferenceService', 'Service'];
/** KServe writes its own minReplicas and maxReplicas over these. */
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
      { text: 'hpa', detail: 'one replica at least' },
      { text: 'keda', detail: 'can scale to zero' },
      { text: 'external', detail: 'another autoscaler' },
      { text: 'none', detail: 'no autoscaler' },
    ],
  },
  {
    key: 'autoscaling.knative.dev/min-scale',
    detail: 'replicas at the floor; 0 lets it scale to zero',
    kinds: withoutKserve,
    values: [
      { text: '"0"', detail: 'scale to zero' },
      { text: '"1"', detail: 'one replica is always paid for' },
    ],
  },
  { key: 'autoscaling.knative.dev/max-scale', detail: 'replicas at most', kinds: withoutKserve, values: [] },
  {
    key: 'autoscaling.knative.dev/scale-to-zero-pod-retention-period',
    detail: 'how long the last pod waits before it goes',
    kinds: knative,
    values: [
      { text: '5m', detail: '' },
      { text: '10m', detail: '' },
      { text: '30m', detail: '' },
    ],
  },
  {
    key: 'autoscaling.knative.dev/metric',
    detail: 'what is measured to scale',
    kinds: knative,
    values: [
      { text: 'concurrency', detail: 'requests at a time' },
      { text: 'rps', detail: 'requests a second' },
    ],
  },
  {
    key: 'autoscaling.knative.dev/target',
    detail: 'how much of the metric one replica takes',
    kinds: knative,
    values: [],
  },
  {
    key: 'karpenter.sh/do-not-disrupt',
    detail: 'Karpenter does not move the pod by its own will',
    kinds: [],
    values: [{ text: '"true"', detail: '' }],
  },
  {
    key: 'cluster-autoscaler.kubernetes.io/safe-to-evict',
    detail: 'whether the Cluster Autoscaler may move the pod',
    kinds: [],
    values: [
      { text: '"false"', detail: 'it stays, and so does its node' },
      { text: '"true"', detail: 'it may be moved' },
    ],
  },
  { key: disableAnnotation, detail: 'silences rules of gpulint for this object', kinds: [], values: [] },
];

/** Annotations that say how GPUs are used, for objects of a kind. */
export function annotationKeys(kind: string, config: ProjectConfig): readonly Word[] {
  return annotations
    .filter(({ kinds }) => kinds.length === 0 || kinds.includes(kind))
    .map(({ key, detail }, rank) => ({ text: key, detail, rank, value: choice(annotationValues(key, config)) }));
}

/** The values of an annotation that people choose from. */
export function annotationValues(key: string, { kserve }: ProjectConfig): readonly Word[] {
  if (key === deploymentMode && isOldKserve(kserve.version)) return oldModes;
  return annotations.find((annotation) => annotation.key === key)?.values ?? [];
}

/** KServe 0.16 gave the modes new names. */
function isOldKserve(version: string | null): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  return major === '0' && Number(minor) < 16;
}

const oldModes: readonly Word[] = [
  { text: 'Serverless', detail: 'can scale to zero; Knative from KServe 0.16' },
  { text: 'RawDeployment', detail: 'a plain Deployment; Standard from KServe 0.16' },
];

/** The places that spot labels of the platforms name, with the values that select spot. */
export function spotLabels(provider: string | null): ReadonlyMap<string, readonly string[]> {
  const labels = new Map<string, readonly string[]>();
  for (const platform of platforms.values()) {
    if (provider !== null && platform.provider !== provider) continue;
    for (const [key, values] of Object.entries(platform.spotLabels)) labels.set(key, values);
  }
  return labels;
}

/** A snippet's place with one of the values to choose. */
function choice(values: readonly Word[]): string {
  if (values.length === 0) return '"$1"';
  return values.length === 1 ? (values[0]?.text ?? '') : `\${1|${values.map(({ text }) => text).join(',')}|}`;
}
