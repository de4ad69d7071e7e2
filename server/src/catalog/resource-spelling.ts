import { lazy } from '../yaml/lazy.ts';
import { table } from '../yaml/table.ts';
import { migByResource, migTables } from './mig.ts';
import { resourceFamily } from './resource-families.ts';
import { acceleratorResourceNames, listedResource } from './resource-records.ts';
import { isExchange, isShuffled, isSlip } from './spelling.ts';
import { wordSet } from './word-patterns.ts';

// The accelerator resource that a misspelled name certainly means. Resource names are also the keys of the vendors' taints.
//
// A name is `domain/path`. Case is ignored, and the top-level domain (`.com`) may be missing or one slip away. The rest of the domain may be one slip away or
// shuffled. The path may be plural or one slip away. Without a slash, both parts must be exact. MIG profiles are compared without separators.
// A name that fits two known names means neither.

/** Former names, and names commonly mistaken for the correct one. */
const otherNames = table<string>({
  // The prefix of the labels of GKE TPU nodes.
  'cloud.google.com/tpu': 'google.com/tpu',
  'volcano.sh/gpu-num': 'volcano.sh/gpu-number',
  'volcano.sh/vgpu-num': 'volcano.sh/vgpu-number',
  // In the form of drivers' domains. Those of other vendors exist.
  'gaudi.habana.ai/gaudi': 'habana.ai/gaudi',
});

/** Names that device plugins offered until some release. */
const replacedNames = table<ReplacedName>({
  // https://awsdocs-neuron.readthedocs-hosted.com/en/latest/general/announcements/neuron2.x/announce-no-support-device-version.html (2024-09-16)
  'aws.amazon.com/neurondevice': { now: 'aws.amazon.com/neuron', since: 'Neuron 2.20', isGone: false },
  // https://github.com/kubernetes/kubernetes/pull/61498 (2018-03-22)
  'alpha.kubernetes.io/nvidia-gpu': { now: 'nvidia.com/gpu', since: 'Kubernetes 1.11', isGone: true },
});

export interface ReplacedName {
  readonly now: string;
  readonly since: string;
  /** Nothing in use still offers the former name. */
  readonly isGone: boolean;
}

/** What a device plugin offers now instead of a name that it offered before. */
export function replacedResource(written: string): ReplacedName | undefined {
  return replacedNames[written];
}

/** The accelerator resource that a misspelled name certainly means; undefined for correct and unrelated names. */
export function meantResource(written: string): string | undefined {
  // Such a space is an error of YAML, which no other name would explain.
  if (
    !/[./]/.test(written) ||
    /^[^\S ]/.test(written) ||
    (listedResource(written) ?? resourceFamily(written)) !== undefined
  )
    return undefined;
  const name = written.toLowerCase();
  const found = new Set(knownNames().flatMap((known) => (isMeant(name, known) ? [known.meant] : [])));
  const [only, ...others] = found;
  return others.length === 0 ? only : undefined;
}

/** Labels of GPU nodes and other names, which no device plugin offers as resources. */
const nodeLabels = table<string>({
  'cloud.google.com/gke-accelerator': 'nvidia.com/gpu',
  'k8s.amazonaws.com/accelerator': 'nvidia.com/gpu',
  'com.nvidia/gpu': 'nvidia.com/gpu',
  'cloud.google.com/gpu': 'nvidia.com/gpu',
  'google.com/gpu': 'nvidia.com/gpu',
  'aws.amazon.com/gpu': 'nvidia.com/gpu',
  'eks.amazonaws.com/gpu': 'nvidia.com/gpu',
  'kubernetes.azure.com/gpu': 'nvidia.com/gpu',
  // Drivers of DRA have such domains.
  'gpu.nvidia.com/gpu': 'nvidia.com/gpu',
  'gpu.amd.com/gpu': 'amd.com/gpu',
  'nvidia.com/accelerator': 'nvidia.com/gpu',
  'nvidia.com/cuda': 'nvidia.com/gpu',
  'habana.ai/gpu': 'habana.ai/gaudi',
  'amd.com/rocm': 'amd.com/gpu',
  // The older of two kernel drivers; the other one is xe.
  'intel.com/gpu': 'gpu.intel.com/i915',
});

/**
 * The resource that a name means which is that of something else: a label of GPU nodes, also with a number (`nvidia.com/gpu.count`), another
 * order of the domain, or `nvidia.com/gpu-all`.
 */
export function countedResource(written: string): string | undefined {
  const label = nodeLabels[written];
  if (label !== undefined) return label;
  const [, name = '', amount = ''] = /^([^/]+\/[a-z]*gpus?)[-._](\w+)$/.exec(written) ?? [];
  const [only, ...others] = amounts.has(amount) ? knownNames().filter((known) => isMeant(name, known)) : [];
  return others.length === 0 ? only?.meant : undefined;
}

/**
 * Whether a request means the memory of NVIDIA's GPUs by a label of nodes (`nvidia.com/gpu.memory`), or in bytes. HAMi and others share memory in MiB,
 * under names that a cluster may change.
 */
export function isMemoryOfGpus(written: string, amount: string): boolean {
  if (listedResource(written) !== undefined) return false;
  const ofBytes = /^nvidia\.com\/(?:gpu[-._]?(?:memory|vram)|vram)$/i.test(written) && /\d[KMGT]i?$/.test(amount);
  return ofBytes || written === 'nvidia.com/gpu.memory';
}

const amounts = wordSet('all any count number num total present');

/**
 * Whether a resource with the written name cannot exist next to the meant one: the names differ in case, separators, the vendor, a plural or
 * swapped letters. Any other slip of the keys may be a custom name, such as `nvidia.com/gpucore`.
 */
export function isCertainSlip(written: string, meant: string): boolean {
  const name = written.toLowerCase();
  const path = name.slice(name.indexOf('/') + 1);
  return knownNames().some(
    (known) => known.meant === meant && isMeant(name, known) && (!name.includes('/') || isSamePath(path, known.path)),
  );
}

/**
 * The MIG resource that a misspelled name certainly means. Undefined for correct names, and if no GPU has such a profile.
 */
export function meantMigResource(written: string): string | undefined {
  if (!/\/mig/i.test(written)) return undefined;
  const lower = written.toLowerCase();
  const [domain = '', path, ...rest] = lower.split('/');
  if (path?.startsWith('mig') !== true || rest.length > 0 || migByResource(written).length > 0) return undefined;
  if (!isVendor(domain, partsOf('nvidia.com/mig', 'nvidia.com/mig'))) return undefined;
  const [only, ...others] = migNames().get(withoutSeparators(path)) ?? [];
  if (others.length === 0) return only;
  // `-me` and `.me` are different profiles: without and with media engines.
  const sign = /-[a-z.]+$/.test(path) ? '-' : '.';
  return [only, ...others].find((name) => name?.slice(name.indexOf('gb') + 2).startsWith(sign));
}

interface KnownName {
  readonly meant: string;
  readonly domain: string;
  /** The domain without its top-level domain. */
  readonly vendor: string;
  readonly path: string;
}

function partsOf(name: string, meant: string): KnownName {
  const slash = name.indexOf('/');
  const domain = name.slice(0, slash);
  return { meant, domain, vendor: domain.slice(0, domain.lastIndexOf('.')), path: name.slice(slash + 1) };
}

const knownNames = lazy(() => [
  ...acceleratorResourceNames().map((name) => partsOf(name, name)),
  ...Object.entries(otherNames).map(([name, meant]) => partsOf(name, meant)),
]);

function isMeant(name: string, known: KnownName): boolean {
  const slash = name.indexOf('/');
  if (slash >= 0) return isVendor(name.slice(0, slash), known) && isPath(name.slice(slash + 1), known.path);
  const joined = (domain: string) => `${domain}.${known.path}`.replace(/[_-]/g, '.');
  const plain = name.replace(/[_-]/g, '.');
  return plain === joined(known.domain) || plain === joined(known.vendor);
}

function isVendor(written: string, { domain, vendor }: KnownName): boolean {
  // The vendor without a slip makes a slip in the short end certain: `nvidia.co`. Another country's domain (`nvidia.cn`) is two slips away.
  if (written.startsWith(`${vendor}.`) && isSlip(written, domain)) return true;
  const end = domain.slice(vendor.length);
  const bare = written.endsWith(end) ? written.slice(0, -end.length) : written;
  return bare === vendor || isSlip(bare, vendor) || isShuffled(bare, vendor);
}

function isPath(written: string, path: string): boolean {
  if (isSamePath(written, path)) return true;
  const [one, other] = [singular(written), singular(path)];
  if (one === other) return true;
  // One letter turns a short name into another valid one (`tpu`), as a first letter does (`vgpumem`), and other separators may be a custom name.
  return other.length > 4 && one[0] === other[0] && separators(one) === separators(other) && isSlip(one, other);
}

function isSamePath(written: string, path: string): boolean {
  return [written, singular(written)].some((one) => one === path || isExchange(one, path));
}

function separators(path: string): string {
  return path.replace(/[a-z0-9]/g, '');
}

function singular(path: string): string {
  return path.endsWith('s') ? path.slice(0, -1) : path;
}

const migNames = lazy(() => {
  const index = new Map<string, string[]>();
  for (const name of new Set(migTables().flatMap(({ profiles }) => profiles.map(({ resource }) => resource)))) {
    const key = withoutSeparators(name.slice(name.indexOf('/') + 1));
    index.set(key, [...(index.get(key) ?? []), name]);
  }
  return index;
});

/** `mig-1g.10gb.me` -> `mig1g10gme`: the `b` may also be missing. */
function withoutSeparators(path: string): string {
  return path.replace(/[-._+]/g, '').replace(/(\dg\d+g)b/, '$1');
}
