import { type Table, tableOf } from '../yaml/table.ts';
import type { AcceleratorForm, Vendor } from './types.ts';

/** What an extended resource stands for. */
export interface AcceleratorResource {
  /** null: known from the shape of the name only. */
  readonly vendor: Vendor | null;
  readonly form: AcceleratorForm;
  /** What one unit of a counter of memory or percent is; missing if unknown. */
  readonly unit?: CounterUnit;
  /** 'unsourced': no source is known. 'shape': no device plugin with this name is known, but it looks like an accelerator. Missing: a comment names the source. */
  readonly source?: 'unsourced' | 'shape';
}

/** One unit of a counter. */
export type CounterUnit =
  | { readonly of: 'memory'; readonly mebibytes: number }
  /** `total`: of all devices: 200 are two cards. */
  | { readonly of: 'memory'; readonly share: number; readonly total?: true }
  /** `alone`: without a memory request, the device has no other tenant or any number of them; 100 units are a whole device. */
  | { readonly of: 'compute'; readonly share: number; readonly alone?: true };

const mebibytes = (size: number): CounterUnit => ({ of: 'memory', mebibytes: size });
const memoryPercent: CounterUnit = { of: 'memory', share: 0.01 };
const corePercent: CounterUnit = { of: 'compute', share: 0.01 };
/** Shares of a card that are scheduled as such: 200 are two cards. */
const cardPercent: CounterUnit = { of: 'compute', share: 0.01, alone: true };

type Listed = readonly [name: string, form: AcceleratorForm, unit?: CounterUnit];

/** The resources of one device plugin. */
interface Plugin {
  readonly vendor: Vendor;
  readonly source?: 'unsourced';
  readonly names: readonly Listed[];
}

// The sources by the words that the records name:
// hami: Project-HAMi/HAMi@00160eb9 (2026-11-22):charts/hami/templates/scheduler/device-configmap.yaml
// survey: device plugins of the vendors, surveyed in a public text (2026-11-22)
// karpenter: aws/karpenter-provider-aws@1d927085 (2026-08-21):pkg/apis/v1/labels.go
// kserve: kserve/kserve@aaac4e29 (2026-08-21):pkg/constants/constants.go
// hamiRenamed, the names that `resourceName` and its sisters have next to another device plugin: kubernetes-sigs/kueue@e48a2396 (2026-11-22):pkg/workload/workload_test.go

const plugins: readonly Plugin[] = [
  {
    vendor: 'nvidia',
    // NVIDIA/k8s-device-plugin@1b826acc (2026-08-19):README.md
    names: [
      ['nvidia.com/gpu', 'whole'],
      ['nvidia.com/gpu.shared', 'shared'],
    ],
  },
  {
    vendor: 'nvidia',
    // Passed through to a virtual machine.
    // NVIDIA/k8s-nim-operator@f63f74d7:config/samples/nim/serving/standalone/confidential-computing
    names: [['nvidia.com/pgpu', 'whole']],
  },
  {
    vendor: 'nvidia',
    // HAMi documentation, seen in a public text
    names: [
      ['nvidia.com/gpumem', 'memory', mebibytes(1)],
      ['nvidia.com/gpumem-percentage', 'percent', memoryPercent],
      ['nvidia.com/gpucores', 'percent', corePercent],
    ],
  },
  {
    vendor: 'nvidia',
    // hamiRenamed
    names: [
      ['nvidia.com/vgpu', 'shared'],
      ['nvidia.com/vgpumem', 'memory', mebibytes(1)],
      ['nvidia.com/vgpucores', 'percent', corePercent],
    ],
  },
  {
    vendor: 'nvidia',
    // FPT Cloud: GPU sharing with HAMi, seen in a public text (2026-11-22)
    names: [['nvidia.com/vgpumem-percentage', 'percent', memoryPercent]],
  },
  {
    vendor: 'nvidia',
    // Volcano vGPU documentation, seen in a public text
    names: [
      ['volcano.sh/vgpu-number', 'shared'],
      ['volcano.sh/vgpu-memory', 'memory', mebibytes(1)],
      ['volcano.sh/vgpu-memory-percentage', 'percent', memoryPercent],
      ['volcano.sh/vgpu-cores', 'percent', corePercent],
    ],
  },
  {
    vendor: 'nvidia',
    // volcano-sh/volcano@ed72c7c8:docs/user-guide (GPU sharing and GPU number)
    names: [
      ['volcano.sh/gpu-number', 'whole'],
      ['volcano.sh/gpu-memory', 'memory', mebibytes(1)],
    ],
  },
  {
    // Huawei Cloud CCE; other sizes are a family.
    vendor: 'nvidia',
    source: 'unsourced',
    names: [['volcano.sh/gpu-core.percentage', 'percent', corePercent]],
  },
  {
    vendor: 'nvidia',
    // kubeflow/arena (2026-11-22):pkg/apis/types, names of GPU sharing on Alibaba Cloud
    names: [
      ['aliyun.com/gpu-mem', 'memory', mebibytes(1024)],
      ['aliyun.com/gpu-count', 'shared'],
      ['aliyun.com/gpu-core.percentage', 'percent', corePercent],
    ],
  },
  {
    vendor: 'nvidia',
    // tkestack/gpu-manager (2026-11-22), documentation seen in a public text
    names: [
      ['tencent.com/vcuda-core', 'percent', cardPercent],
      ['tencent.com/vcuda-memory', 'memory', mebibytes(256)],
    ],
  },
  {
    vendor: 'nvidia',
    // koordinator.sh/docs/user-manuals/fine-grained-device-scheduling, seen in a public text (2026-11-30)
    names: [
      ['koordinator.sh/gpu', 'percent', cardPercent],
      ['koordinator.sh/gpu-core', 'percent', cardPercent],
      ['koordinator.sh/gpu-memory-ratio', 'percent', { of: 'memory', share: 0.01, total: true }],
      // In bytes.
      ['koordinator.sh/gpu-memory', 'memory'],
    ],
  },
  {
    vendor: 'nvidia',
    source: 'unsourced',
    names: [
      ['tke.cloud.tencent.com/qgpu-core', 'percent', cardPercent],
      ['tke.cloud.tencent.com/qgpu-memory', 'memory', mebibytes(1024)],
      ['vke.volcengine.com/mgpu-core', 'percent', cardPercent],
      ['vke.volcengine.com/mgpu-memory', 'memory', mebibytes(1)],
      ['k8s.amazonaws.com/vgpu', 'shared'],
      // Jetson: one of the device files, which are requested together.
      ['smarter-devices/nvhost-gpu', 'whole'],
    ],
  },
  // kserve, karpenter
  { vendor: 'amd', names: [['amd.com/gpu', 'whole']] },
  {
    vendor: 'amd',
    // hami
    names: [
      ['amd.com/gpumem', 'memory', mebibytes(1)],
      ['amd.com/gpucores', 'percent', corePercent],
    ],
  },
  // kserve
  { vendor: 'intel', names: [['intel.com/gpu', 'whole']] },
  {
    vendor: 'intel',
    // intel/intel-device-plugins-for-kubernetes v0.35 (2026-11-22):cmd/gpu_plugin/README.md
    names: [
      ['gpu.intel.com/i915', 'whole'],
      ['gpu.intel.com/xe', 'whole'],
    ],
  },
  {
    vendor: 'intel',
    source: 'unsourced',
    names: [
      // Intel GPUs in the Windows Subsystem for Linux.
      ['gpu.intel.com/dxg', 'whole'],
      ['npu.intel.com/accel', 'whole'],
    ],
  },
  // karpenter, kserve
  { vendor: 'habana', names: [['habana.ai/gaudi', 'whole']] },
  {
    vendor: 'aws',
    // karpenter
    names: [
      ['aws.amazon.com/neuron', 'whole'],
      ['aws.amazon.com/neuroncore', 'core'],
    ],
  },
  { vendor: 'aws', source: 'unsourced', names: [['aws.amazon.com/neurondevice', 'whole']] },
  // Before device plugins. https://github.com/kubernetes/kubernetes/pull/61498 (2018-03-22)
  { vendor: 'nvidia', source: 'unsourced', names: [['alpha.kubernetes.io/nvidia-gpu', 'whole']] },
  // survey
  { vendor: 'google', names: [['google.com/tpu', 'whole']] },
  {
    vendor: 'qualcomm',
    // nrp.ai/documentation/userdocs/qaic (2026-11-22), seen in a public text
    names: [['qualcomm.com/qaic', 'whole']],
  },
  {
    vendor: 'huawei',
    // survey
    names: [
      ['huawei.com/npu-core', 'percent'],
      ['huawei.com/npu', 'whole'],
    ],
  },
  {
    vendor: 'hygon',
    // hami, survey
    names: [
      ['hygon.com/dcu', 'whole'],
      ['hygon.com/dcunum', 'shared'],
      ['hygon.com/dcumem', 'memory', mebibytes(1)],
      ['hygon.com/dcucores', 'percent', corePercent],
    ],
  },
  {
    vendor: 'cambricon',
    // hami, survey
    names: [
      ['cambricon.com/mlu', 'whole'],
      ['cambricon.com/vmlu', 'shared'],
    ],
  },
  {
    vendor: 'metax',
    // hami, survey
    names: [
      ['metax-tech.com/gpu', 'whole'],
      ['metax-tech.com/vfio-gpu', 'whole'],
      ['metax-tech.com/sgpu', 'shared'],
      ['metax-tech.com/vmemory', 'memory'],
      ['metax-tech.com/vcore', 'percent', corePercent],
    ],
  },
  {
    vendor: 'enflame',
    // hami, survey
    names: [
      ['enflame.com/gcu', 'whole'],
      ['enflame.com/dtu', 'whole'],
      ['enflame.com/vgcu', 'shared'],
      ['enflame.com/drs-gcu', 'shared'],
      ['enflame.com/shared-gcu', 'shared'],
      ['enflame.com/gcu-memory', 'memory'],
      ['enflame.com/gcu-core', 'percent'],
      ['enflame.com/vgcu-percentage', 'percent', memoryPercent],
    ],
  },
  {
    vendor: 'moore-threads',
    // hami, survey
    names: [
      ['mthreads.com/gpu', 'whole'],
      ['mthreads.com/vgpu', 'shared'],
      ['mthreads.com/sgpu-memory', 'memory'],
      ['mthreads.com/sgpu-core', 'percent'],
    ],
  },
  {
    vendor: 'iluvatar',
    // survey
    names: [
      ['iluvatar.com/gpu', 'whole'],
      ['iluvatar.ai/gpu', 'whole'],
      ['iluvatar.ai/vgpu', 'shared'],
    ],
  },
  {
    vendor: 'kunlunxin',
    // survey
    names: [
      ['kunlunxin.com/xpu', 'whole'],
      ['kunlunxin.com/vxpu', 'shared'],
      ['kunlunxin.com/vxpu-memory', 'memory', mebibytes(1)],
    ],
  },
  {
    vendor: 'biren',
    // survey
    names: [
      ['birentech.com/gpu', 'whole'],
      ['birentech.com/1-2-gpu', 'shared'],
      ['birentech.com/1-4-gpu', 'shared'],
    ],
  },
  // survey
  { vendor: 'vastai', names: [['vastaitech.com/va', 'whole']] },
];

const listed: Table<AcceleratorResource> = tableOf(
  plugins.flatMap(({ vendor, source, names }) =>
    names.map(
      ([name, form, unit]) => [name, { vendor, form, ...(source && { source }), ...(unit && { unit }) }] as const,
    ),
  ),
);

/** The record of a name that a device plugin is known to offer; undefined for families of names. */
export function listedResource(name: string): AcceleratorResource | undefined {
  return listed[name];
}

/** The names that must match exactly, sorted, for near-miss messages. */
export function acceleratorResourceNames(): readonly string[] {
  return Object.keys(listed).sort();
}
