import { table } from '../yaml/table.ts';
import type { AcceleratorResource } from './resource-records.ts';
import type { AcceleratorForm, Vendor } from './types.ts';
import { wordOf } from './word-patterns.ts';

// The name that a device plugin offers can be configured, so no list is complete. A name whose path has a word such as `gpu` or `npu` stands for an
// accelerator, unless another word says that it is something around one.

/** A word for a device: `gpu`, `vgpu`, `gpus`, `gpu0`, `edgetpu`; also the start of a compound, `gpumem`. */
const device =
  /(?:^|[-._])(?:[a-z]?gpus?\d*|[vs]?[nxihl]pus?|[vs]?(?:dcu|mlu|gcu)s?|(?:edge)?tpus?|coral|accelerators?)(?:$|[-._])/;
const compound = /(?:^|[-._])[a-z]?(?:gpu|npu)(?=(?:mem|memory|cores?|shares?|slices?|percentage)(?:$|[-._]))/;

/** Words of software around a device, of the network, of labels and their values, of registers, and of what is billed. */
const other = wordOf(
  'monitor\\w* metrics? exporter driver device-?plugin operator deploy\\w*',
  'direct rdma roce ib hca nic net\\w* fabric imex channel topology',
  'label\\w* feature\\w* product family machine name type class model model-?id version major minor revision runtime',
  'present enabled? disabled? ready status state priority count replicas id uuid index idx node nodes',
  'compute vram ctrl ctxsw dbg prof as sched tsg',
  'license credits? quota tokens? hours?',
);

const memoryWord = /(?:^|[-._]|[a-z]pu)(?:v?mem|v?memory|vmem)(?:$|[-._])/;
const partWord = /(?:^|[-._]|[a-z]pu)(?:v?cores?|percent|percentage|millicores|units?)(?:$|[-._])/;
/** `gpu-all`: all devices of the node, for each pod that requests it. https://github.com/OlfillasOdikno/generic-cdi-plugin */
const shareWord =
  /(?:^|[-._])(?:[vs](?:gpu|npu|xpu|dcu|mlu|gcu)s?|shared?|slices?|fraction\w*|mps|time-?slic\w+|partition|mig)(?:$|[-._\d])|pu(?:shares?|slices?)(?:$|[-._])|[-._]all$/;

const vendorDomains = table<Vendor>({
  'nvidia.com': 'nvidia',
  'amd.com': 'amd',
  'intel.com': 'intel',
  'gpu.intel.com': 'intel',
  'aliyun.com': 'nvidia',
  'tencent.com': 'nvidia',
  'huawei.com': 'huawei',
});

/** The domains of Kubernetes itself: their names are labels, annotations and keys of quotas. */
const ownDomain = /(?:^|\.)(?:kubernetes|k8s)\.io$|^smarter-devices$|^(?:requests|limits)\./;

/**
 * What an unlisted name stands for, judged by its words; undefined unless they name an accelerator. A name without a known vendor may be of
 * any: it has no model unless the nodes have one.
 */
export function looksLikeAccelerator(name: string): AcceleratorResource | undefined {
  const slash = name.indexOf('/');
  const domain = name.slice(0, slash).toLowerCase();
  const path = name.slice(slash + 1).toLowerCase();
  // Kubernetes limits the path to 63 characters.
  if (slash <= 0 || path.length > 63 || /\s/.test(domain) || path.includes('/') || ownDomain.test(domain))
    return undefined;
  if (offersDeviceFiles(name)) return ofDeviceFiles(path);
  if (!(device.test(path) || compound.test(path)) || other.test(path)) return undefined;
  return { vendor: vendorDomains[domain] ?? null, form: formOf(path), source: 'shape' };
}

/**
 * Whether a plugin that offers device files has given a resource its name. It knows nothing of GPUs: a project names groups of files itself, and a
 * container requests several groups for one card. https://github.com/squat/generic-device-plugin
 */
export function offersDeviceFiles(name: string): boolean {
  return /^(?:squat\.ai|devic\.es)\//i.test(name);
}

/** A group of files of GPUs, by its name. */
function ofDeviceFiles(path: string): AcceleratorResource | undefined {
  const [, word = ''] = /^(rocm|kfd|amdgpu|cuda|nvidia|gpu|igpu|dri|render|i915)(?:d?\d*|[-_.].*)$/.exec(path) ?? [];
  if (word === '') return undefined;
  return { vendor: fileVendors[word] ?? null, form: 'whole', source: 'shape' };
}

const fileVendors = table<Vendor>({
  rocm: 'amd',
  kfd: 'amd',
  amdgpu: 'amd',
  cuda: 'nvidia',
  nvidia: 'nvidia',
  i915: 'intel',
});

function formOf(path: string): AcceleratorForm {
  if (memoryWord.test(path)) return 'memory';
  if (partWord.test(path)) return 'percent';
  return shareWord.test(path) ? 'shared' : 'whole';
}

/** Words of which every name that looks like an accelerator contains one. */
export const shapeWords: readonly string[] = [
  ...['squat.ai/', 'devic.es/'],
  ...['gpu', 'tpu', '/npu', '/xpu', '/ipu', '/hpu', '/lpu', '/vnpu', '/snpu', '/vxpu', '/sxpu'],
  ...['-npu', '.npu', '_npu', '/dcu', '/mlu', '/gcu', '/vdcu', '/vmlu', '/vgcu', 'coral', 'accelerator'],
];
