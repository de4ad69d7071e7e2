import { table } from '../yaml/table.ts';
import { gpusNamed } from './gpu-names.ts';
import type { AcceleratorForm, Vendor } from './types.ts';

/** What an extended resource stands for, with the source. */
export interface AcceleratorResource {
  readonly vendor: Vendor;
  readonly form: AcceleratorForm;
  /** 'unsourced': no source is known. */
  readonly source: string;
}

const devicePlugin = 'NVIDIA/k8s-device-plugin@1b826acc (2026-08-19):README.md';
const karpenter = 'aws/karpenter-provider-aws@1d927085 (2026-08-21):pkg/apis/v1/labels.go';
const kserve = 'kserve/kserve@aaac4e29 (2026-08-21):pkg/constants/constants.go';
const hami = 'HAMi documentation, seen in a public text';
// The names that `resourceName` and its sisters have in installations of HAMi next to another device plugin.
const hamiRenamed = 'kubernetes-sigs/kueue@e48a2396 (2026-11-22):pkg/workload/workload_test.go';
const hamiRenamedShare = 'FPT Cloud: GPU sharing with HAMi, seen in a public text (2026-11-22)';
const volcano = 'Volcano vGPU documentation, seen in a public text';
const volcanoShare = 'volcano-sh/volcano@ed72c7c8:docs/user-guide (GPU sharing and GPU number)';
// https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus: `resources.gpus` renames devices by a pattern of card names.
const renamedPlugin = 'NVIDIA/k8s-device-plugin@1b826acc:internal/config/resources (patterns of card names)';
const unsourced = 'unsourced';

/** Names that must match exactly. Resources that accompany accelerators (EFA, RDMA, host devices) are not accelerators. */
const names = table<AcceleratorResource>({
  'nvidia.com/gpu': { vendor: 'nvidia', form: 'whole', source: devicePlugin },
  'nvidia.com/gpu.shared': { vendor: 'nvidia', form: 'shared', source: devicePlugin },
  // Passed through to a virtual machine.
  'nvidia.com/pgpu': {
    vendor: 'nvidia',
    form: 'whole',
    source: 'NVIDIA/k8s-nim-operator@f63f74d7:config/samples/nim/serving/standalone/confidential-computing',
  },
  'nvidia.com/gpumem': { vendor: 'nvidia', form: 'memory', source: hami },
  'nvidia.com/gpumem-percentage': { vendor: 'nvidia', form: 'percent', source: hami },
  'nvidia.com/gpucores': { vendor: 'nvidia', form: 'percent', source: hami },
  'nvidia.com/vgpu': { vendor: 'nvidia', form: 'shared', source: hamiRenamed },
  'nvidia.com/vgpumem': { vendor: 'nvidia', form: 'memory', source: hamiRenamed },
  'nvidia.com/vgpumem-percentage': { vendor: 'nvidia', form: 'percent', source: hamiRenamedShare },
  'nvidia.com/vgpucores': { vendor: 'nvidia', form: 'percent', source: hamiRenamed },
  'volcano.sh/vgpu-number': { vendor: 'nvidia', form: 'shared', source: volcano },
  'volcano.sh/vgpu-memory': { vendor: 'nvidia', form: 'memory', source: volcano },
  'volcano.sh/vgpu-memory-percentage': { vendor: 'nvidia', form: 'percent', source: volcano },
  'volcano.sh/vgpu-cores': { vendor: 'nvidia', form: 'percent', source: volcano },
  'volcano.sh/gpu-number': { vendor: 'nvidia', form: 'whole', source: volcanoShare },
  'volcano.sh/gpu-memory': { vendor: 'nvidia', form: 'memory', source: volcanoShare },
  'aliyun.com/gpu-mem': { vendor: 'nvidia', form: 'memory', source: unsourced },
  'aliyun.com/gpu-count': { vendor: 'nvidia', form: 'shared', source: unsourced },
  'tencent.com/vcuda-core': { vendor: 'nvidia', form: 'percent', source: unsourced },
  'tencent.com/vcuda-memory': { vendor: 'nvidia', form: 'memory', source: unsourced },
  'amd.com/gpu': { vendor: 'amd', form: 'whole', source: `${kserve}; ${karpenter}` },
  'intel.com/gpu': { vendor: 'intel', form: 'whole', source: kserve },
  'gpu.intel.com/i915': { vendor: 'intel', form: 'whole', source: 'Intel device plugin text, seen in a public text' },
  'gpu.intel.com/xe': { vendor: 'intel', form: 'whole', source: 'Intel device plugin text, seen in a public text' },
  'habana.ai/gaudi': { vendor: 'habana', form: 'whole', source: `${karpenter}; ${kserve}` },
  'aws.amazon.com/neuron': { vendor: 'aws', form: 'whole', source: karpenter },
  'aws.amazon.com/neurondevice': { vendor: 'aws', form: 'whole', source: unsourced },
  'aws.amazon.com/neuroncore': { vendor: 'aws', form: 'core', source: karpenter },
  'google.com/tpu': { vendor: 'google', form: 'whole', source: unsourced },
  'qualcomm.com/qaic': { vendor: 'qualcomm', form: 'whole', source: unsourced },
});

interface ResourceFamily extends AcceleratorResource {
  /** The prefix of every name in the family. */
  readonly prefix: string;
  readonly rest: RegExp;
}

/** Families of names. The first match wins. */
const families: readonly ResourceFamily[] = [
  { prefix: 'nvidia.com/mig-', rest: /^.+\.shared$/, vendor: 'nvidia', form: 'shared', source: devicePlugin },
  {
    prefix: 'nvidia.com/mig-',
    rest: /^.+$/,
    vendor: 'nvidia',
    form: 'mig',
    source: 'NVIDIA/k8s-device-plugin@1b826acc (2026-08-19):internal/rm/rm.go',
  },
  // The name of a compute partition does not give its size in slices, so its form is not 'mig'.
  { prefix: 'amd.com/', rest: /^[sdqct]px_nps[1-8]$/, vendor: 'amd', form: 'shared', source: unsourced },
  { prefix: 'huawei.com/Ascend', rest: /^\w+-memory$/, vendor: 'huawei', form: 'memory', source: unsourced },
  // Templates such as Ascend310P-2c are parts of a card.
  { prefix: 'huawei.com/Ascend', rest: /^\w+-.+$/, vendor: 'huawei', form: 'shared', source: unsourced },
  { prefix: 'huawei.com/Ascend', rest: /^\w*$/, vendor: 'huawei', form: 'whole', source: unsourced },
];

/** What an extended resource stands for; undefined if its name is not a known accelerator. */
export function acceleratorResource(name: string): AcceleratorResource | undefined {
  const known = names[name];
  if (known !== undefined) return known;
  // Most queried names are cpu and memory.
  if (!name.includes('/')) return undefined;
  const family = families.find(({ prefix, rest }) => name.startsWith(prefix) && rest.test(name.slice(prefix.length)));
  return family ?? cardResource(name);
}

/** A resource that a device plugin names after the card: `nvidia.com/a100`, `nvidia.com/GA102GL_A10`. */
function cardResource(name: string): AcceleratorResource | undefined {
  const [, owner, card = ''] = /^(nvidia|amd|gpu\.intel|intel)\.com\/(.{2,60})$/.exec(name) ?? [];
  if (owner === undefined || !/\d/.test(card)) return undefined;
  const vendor = owner.replace('gpu.', '') as Vendor;
  if (!gpusNamed(card).some((gpu) => gpu.vendor === vendor)) return undefined;
  return { vendor, form: 'whole', source: renamedPlugin };
}

/** The names that must match exactly, sorted, for near-miss messages. */
export function acceleratorResourceNames(): readonly string[] {
  return Object.keys(names).sort();
}

/** The prefixes of the families of names. */
export function acceleratorResourcePrefixes(): readonly string[] {
  return [...new Set(families.map(({ prefix }) => prefix))];
}
