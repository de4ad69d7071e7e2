import { gpusNamed } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { table } from '../yaml/table.ts';

/** The value of a label with few fixed ones that another spelling of it means. Undefined for its values, and for other labels. */
export function listedMeant(key: string, value: string): string | undefined {
  const known = listed[key] ?? [];
  if (known.includes(value)) return undefined;
  const written = synonyms[value.toLowerCase().replace(/\W|_/g, '')] ?? value;
  return known.find((one) => isSameWord(one, value) || isSameWord(one, written)) ?? readings[key]?.(value);
}

/** The part of an instance type that a label holds in place of what is written. */
export interface MeantPart {
  readonly what: string;
  readonly meant: string;
  /** The label that has the written value, and a space. */
  readonly label?: string;
}

/** The part of an instance type that a label of AWS holds, if another part or more of it is written: `g5` of `g5.xlarge`. */
export function partMeant(key: string, value: string): MeantPart | undefined {
  const [, label = ''] = /^(?:karpenter\.k8s\.aws|eks\.amazonaws\.com)\/(.+)$/.exec(key) ?? [];
  if (label === 'instance-family' && categories.has(value))
    return { what: 'family', meant: value, label: 'instance-category ' };
  const [what, part] = parts[label] ?? [];
  const meant = part?.exec(value)?.[1];
  return what === undefined || meant === undefined ? undefined : { what, meant };
}

/** Whether two texts differ in nothing but case and separators. */
export function isSameWord(a: string, b: string): boolean {
  const letters = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  return letters(a) === letters(b);
}

/** In lowercase: aws/karpenter-provider-aws@1d927085:pkg/providers/instancetype, Azure/karpenter-provider-azure@00ae1126. */
const manufacturers = ['nvidia', 'amd', 'habana'];

/** Older releases write ampere for Ada Lovelace. https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/lm/resource.go (2026-11-29) */
const architectures = 'kepler maxwell pascal volta turing ampere ada-lovelace hopper blackwell'.split(' ');

const listed = table<readonly string[]>({
  'karpenter.sh/capacity-type': ['spot', 'on-demand', 'reserved'],
  // https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms https://learn.microsoft.com/azure/aks/spot-node-pool
  'cloud.google.com/gke-spot': ['true'],
  'cloud.google.com/gke-preemptible': ['true'],
  'cloud.google.com/gke-flex-start': ['true'],
  'cloud.google.com/gke-queued': ['true'],
  'cloud.google.com/gke-provisioning': ['spot', 'standard', 'preemptible'],
  'kubernetes.azure.com/scalesetpriority': ['spot', 'regular'],
  'kubernetes.azure.com/priority': ['spot', 'regular'],
  'oci.oraclecloud.com/oke-is-preemptible': ['true'],
  'eks.amazonaws.com/capacityType': ['SPOT', 'ON_DEMAND', 'CAPACITY_BLOCK'],
  'karpenter.k8s.aws/instance-gpu-manufacturer': manufacturers,
  'eks.amazonaws.com/instance-gpu-manufacturer': manufacturers,
  'karpenter.azure.com/sku-gpu-manufacturer': manufacturers,
  'cloud.google.com/gke-gpu-sharing-strategy': ['time-sharing', 'mps'],
  'cloud.google.com/gke-gpu-driver-version': ['default', 'latest', 'disabled'],
  // https://learn.microsoft.com/azure/aks/use-nvidia-gpu
  'kubernetes.azure.com/accelerator': ['nvidia'],
  'nvidia.com/gpu.present': ['true'],
  'nvidia.com/gpu.family': architectures,
  'nvidia.com/gpu.sharing-strategy': ['none', 'time-slicing', 'mps'],
  'kubernetes.io/arch': ['amd64', 'arm64'],
  'beta.kubernetes.io/arch': ['amd64', 'arm64'],
  'kubernetes.io/os': ['linux', 'windows'],
});

/** Categories are the letters of families: g and p have GPUs. */
function gpuCategory(value: string): string | undefined {
  return /^(?:gpus?|accelerat(?:ed|or))$/i.test(value) ? 'g' : undefined;
}

/** The values of labels that do not name a card, where a card is written: `A100`. */
const readings = table<(value: string) => string | undefined>({
  'nvidia.com/gpu.family': (value) => {
    const families = new Set(gpusNamed(value, true).map(({ architecture }) => architecture.split(' ')[0] ?? ''));
    const [family = '', ...others] = [...families].map((one) => synonyms[one.toLowerCase()] ?? one.toLowerCase());
    return others.length === 0 && architectures.includes(family) ? family : undefined;
  },
  'kubernetes.azure.com/accelerator': (value) =>
    /^(?:true|yes|gpu)$/i.test(value) || gpusNamed(value, true).some(({ vendor }) => vendor === 'nvidia')
      ? 'nvidia'
      : undefined,
  'cloud.google.com/gke-spot': (value) => (/^(?:yes|on|1|enabled|spot)$/i.test(value) ? 'true' : undefined),
  'nvidia.com/gpu.present': (value) => (/^(?:yes|on|1|enabled)$/i.test(value) ? 'true' : undefined),
  'karpenter.k8s.aws/instance-category': gpuCategory,
  'eks.amazonaws.com/instance-category': gpuCategory,
  // A zone of AWS or Google Cloud.
  'topology.kubernetes.io/region': (value) =>
    /^([a-z]{2}(?:-gov)?-[a-z]{4,9}-\d)[a-f]$/.exec(value)?.[1] ??
    /^([a-z]{2,12}-[a-z]{4,9}\d{1,2})-[a-f]$/.exec(value)?.[1],
});

/** Words for them that are values elsewhere. */
const synonyms = table<string>({
  x8664: 'amd64',
  aarch64: 'arm64',
  timeslicing: 'time-sharing',
  timeshared: 'time-sharing',
  x86: 'amd64',
  x64: 'amd64',
  ada: 'ada-lovelace',
  lovelace: 'ada-lovelace',
});

/** The letters before the generation of an instance type. https://karpenter.sh/docs/concepts/scheduling/ */
const categories = wordSet('a c d dl f g hpc i im inf is m p r t trn u x z');

const parts = table<readonly [what: string, part: RegExp]>({
  'instance-family': ['family', /^([a-z]{1,4}\d[a-z0-9-]{0,6})\./],
  'instance-size': ['size', /^[a-z]{1,4}\d[a-z0-9-]{0,6}\.([a-z0-9-]{2,12})$/],
  'instance-category': ['category', /^([a-z]{1,3})\d/],
});
