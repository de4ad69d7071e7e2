import type { AcceleratorResource, CounterUnit } from './resource-records.ts';

/** Names that share a prefix and say in the rest what they stand for. */
interface ResourceFamily extends AcceleratorResource {
  /** The prefix of every name in the family. */
  readonly prefix: string;
  readonly rest: RegExp;
  /** A name of the family, for tests. */
  readonly example: string;
}

// The sources by the words that the records name:
// devicePlugin: NVIDIA/k8s-device-plugin@1b826acc (2026-08-19):internal/rm/rm.go
// hami: Project-HAMi/HAMi@00160eb9 (2026-11-22):charts/hami/templates/scheduler/device-configmap.yaml
// cambricon: Cambricon/cambricon-k8s-device-plugin@cc0f7735 (2026-11-22):device-plugin/README.md
// survey: device plugins of the vendors, surveyed in a public text (2026-11-22)
// rebellions: docs.rbln.ai, Kubernetes device plugin (2026-11-22)
// furiosa: developer.furiosa.ai, Kubernetes device plugin (2026-11-22)

const mebibyte: CounterUnit = { of: 'memory', mebibytes: 1 };
const corePercent: CounterUnit = { of: 'compute', share: 0.01 };

/** The first match applies. */
const families: readonly ResourceFamily[] = [
  {
    prefix: 'nvidia.com/mig-',
    rest: /^.+\.shared$/,
    example: '1g.5gb.shared',
    vendor: 'nvidia',
    form: 'shared',
    // devicePlugin
  },
  {
    prefix: 'nvidia.com/mig-',
    rest: /^[^a-z].*$/,
    example: '1g.5gb',
    vendor: 'nvidia',
    form: 'mig',
    // devicePlugin
  },
  // The config of the device plugin can rename the slices.
  {
    prefix: 'nvidia.com/mig-',
    rest: /^[a-z][\w.-]*$/,
    example: 'small',
    vendor: 'nvidia',
    form: 'shared',
    // nrp.ai/documentation/userdocs/running/gpu-pods (2026-11-22), seen in a public text
  },
  // A fixed amount of a GPU's memory under MPS (nos).
  {
    prefix: 'nvidia.com/gpu-',
    rest: /^\d+gb$/,
    example: '10gb',
    vendor: 'nvidia',
    form: 'shared',
    source: 'unsourced',
  },
  // Passed through to virtual machines under the PCI name of the card, whole or as a vGPU profile.
  {
    prefix: 'nvidia.com/',
    rest: /^(?:GRID|NVIDIA)_\w*-\d+[A-Z]\d*$/,
    example: 'GRID_T4-2Q',
    vendor: 'nvidia',
    form: 'shared',
    // NVIDIA/kubevirt-gpu-device-plugin (2026-11-22):README.md
  },
  {
    prefix: 'nvidia.com/',
    rest: /^[A-Z]{2}\d{3}[A-Z]{0,3}(?:_\w+)?$/,
    example: 'GA102GL_A10',
    vendor: 'nvidia',
    form: 'whole',
    // NVIDIA/kubevirt-gpu-device-plugin (2026-11-22):README.md
  },
  // Clusters with many kinds of cards offer each under its own name.
  {
    prefix: 'nvidia.com/',
    rest: /^(?:gpu[-_.])?(?:nvidia[-_]|tesla[-_]|quadro[-_]|geforce[-_])*(?:rtx[-_]?(?:pro[-_]?)?a?\d{4}|gtx[-_]?\d{4}|titan|[ahl]\d{1,3}s?|[pt]\d{1,3}|b[23]00|v100s?|k80|m\d{2}|a10g|g[bh]\d{3})(?:[-_.][\w.-]*|ti|super)?$/i,
    example: 'a100',
    vendor: 'nvidia',
    form: 'whole',
    // nrp.ai/documentation/userdocs/running/gpu-pods (2026-11-22), seen in a public text
  },
  // Kubernetes offers the devices of a class under this name.
  {
    prefix: 'deviceclass.resource.kubernetes.io/',
    rest: /^gpu\.nvidia\.com$/,
    example: 'gpu.nvidia.com',
    vendor: 'nvidia',
    form: 'whole',
    // Kubernetes: extended resource allocation by DRA (2026-11-22)
  },
  {
    prefix: 'deviceclass.resource.kubernetes.io/',
    rest: /^mig\.nvidia\.com$/,
    example: 'mig.nvidia.com',
    vendor: 'nvidia',
    form: 'shared',
    // Kubernetes: extended resource allocation by DRA (2026-11-22)
  },
  // Huawei Cloud CCE.
  {
    prefix: 'volcano.sh/gpu-mem.',
    rest: /^128Mi$/,
    example: '128Mi',
    vendor: 'nvidia',
    form: 'memory',
    unit: { of: 'memory', mebibytes: 128 },
    source: 'unsourced',
  },
  // The name of a compute partition does not give its size in slices, so its form is not 'mig'.
  {
    prefix: 'amd.com/',
    rest: /^[sdqct]px_nps[1-8]$/,
    example: 'cpx_nps4',
    vendor: 'amd',
    form: 'shared',
    // survey
  },
  {
    prefix: 'xilinx.com/fpga',
    rest: /^(?:-\w[\w.-]*)?$/,
    example: '-xilinx_u250_gen3x16',
    vendor: 'xilinx',
    form: 'whole',
    // Xilinx/FPGA_as_a_Service (2026-11-22):k8s-device-plugin
  },
  // Former name of Cloud TPUs, in cores.
  {
    prefix: 'cloud-tpus.google.com/',
    rest: /^(?:preemptible-)?v\d$/,
    example: 'v2',
    vendor: 'google',
    form: 'core',
    source: 'unsourced',
  },
  {
    prefix: 'qualcomm.com/qaic',
    rest: /^-(?:std|pro|ultra)$/,
    example: '-pro',
    vendor: 'qualcomm',
    form: 'whole',
    // survey
  },
  {
    prefix: 'huawei.com/Ascend',
    rest: /^\w+(?:-\d)?-memory$/,
    example: '910B4-memory',
    vendor: 'huawei',
    form: 'memory',
    unit: mebibyte,
    // hami
  },
  {
    prefix: 'huawei.com/Ascend',
    rest: /^\w+(?:-\d)?-core$/,
    example: '910B4-core',
    vendor: 'huawei',
    form: 'percent',
    // hami
  },
  // hami
  { prefix: 'huawei.com/Ascend', rest: /^\w*(?:-\d)?$/, example: '910', vendor: 'huawei', form: 'whole' },
  {
    prefix: 'huawei.com/ascend-',
    rest: /^\d+$/,
    example: '1980',
    vendor: 'huawei',
    form: 'whole',
    // https://support.huaweicloud.com/intl/en-us/usermanual-cce/cce_10_0346.html (2026-11-22)
  },
  // Templates such as Ascend310P-2c are parts of a card.
  {
    prefix: 'huawei.com/Ascend',
    rest: /^\w+-.+$/,
    example: '310P-2c',
    vendor: 'huawei',
    form: 'shared',
    // survey
  },
  {
    prefix: 'hygon.com/dcu-',
    rest: /^(?:share|mig)-[\w-]+$/,
    example: 'share-30c-16g',
    vendor: 'hygon',
    form: 'shared',
    // survey
  },
  {
    prefix: 'cambricon.com/mlu',
    rest: /^[\w-]*\.(?:smlu\.)?vmemory$/,
    example: '370.smlu.vmemory',
    vendor: 'cambricon',
    form: 'memory',
    // hami, cambricon
  },
  {
    prefix: 'cambricon.com/mlu',
    rest: /^[\w-]*\.(?:smlu\.)?vcore$/,
    example: '370.smlu.vcore',
    vendor: 'cambricon',
    form: 'percent',
    unit: corePercent,
    // hami, cambricon
  },
  {
    prefix: 'cambricon.com/mlu',
    rest: /^[\w-]*\.(?:share|smlu|mim-.+)$/,
    example: '370.share',
    vendor: 'cambricon',
    form: 'shared',
    // cambricon
  },
  {
    prefix: 'cambricon.com/mlu',
    rest: /^\d{3}[\w-]*$/,
    example: '370',
    vendor: 'cambricon',
    form: 'whole',
    // cambricon
  },
  {
    prefix: 'iluvatar.ai/',
    rest: /^[\w-]+\.vMem$/,
    example: 'BI-V150.vMem',
    vendor: 'iluvatar',
    form: 'memory',
    // hami
  },
  {
    prefix: 'iluvatar.ai/',
    rest: /^[\w-]+\.vCore$/,
    example: 'BI-V150.vCore',
    vendor: 'iluvatar',
    form: 'percent',
    unit: corePercent,
    // hami
  },
  {
    prefix: 'iluvatar.ai/',
    rest: /^[\w-]+-vgpu$/,
    example: 'BI-V150-vgpu',
    vendor: 'iluvatar',
    form: 'shared',
    // hami
  },
  {
    prefix: 'rebellions.ai/',
    rest: /^[\w-]+$/,
    example: 'ATOM',
    vendor: 'rebellions',
    form: 'whole',
    // rebellions
  },
  {
    prefix: 'furiosa.ai/',
    rest: /^(?:rngd|npu|warboy)$/,
    example: 'rngd',
    vendor: 'furiosa',
    form: 'whole',
    // furiosa
  },
  // A part of a card, by its cores.
  {
    prefix: 'furiosa.ai/',
    rest: /^\w+-.+$/,
    example: 'warboy-2core',
    vendor: 'furiosa',
    form: 'shared',
    // furiosa
  },
  // furiosa
  { prefix: 'beta.furiosa.ai/', rest: /^npu$/, example: 'npu', vendor: 'furiosa', form: 'whole' },
  {
    prefix: 'tenstorrent.com/',
    rest: /^[\w-]+$/,
    example: 'n150',
    vendor: 'tenstorrent',
    form: 'whole',
    // goshlanguage/k8s-device-plugin (2026-11-22):README.md
  },
  { prefix: 'graphcore.ai/ipu', rest: /^s?$/, example: '', vendor: 'graphcore', form: 'whole', source: 'unsourced' },
  {
    prefix: 'c600.graphcore.ai/ipu',
    rest: /^$/,
    example: '',
    vendor: 'graphcore',
    form: 'whole',
    // docs.graphcore.ai, Kubernetes IPU device plugin (2026-11-22)
  },
  {
    prefix: 'ibm.com/',
    rest: /^(?:aiu|spyre)_[pv]f$/,
    example: 'spyre_pf',
    vendor: 'ibm',
    form: 'whole',
    source: 'unsourced',
  },
];

/** The family of a name. */
export function resourceFamily(name: string): AcceleratorResource | undefined {
  return families.find(({ prefix, rest }) => name.startsWith(prefix) && rest.test(name.slice(prefix.length)));
}

/** The prefixes of the families of names. */
export function acceleratorResourcePrefixes(): readonly string[] {
  return [...new Set(families.map(({ prefix }) => prefix))];
}

/** A name of each family. */
export function familyExamples(): readonly string[] {
  return families.map(({ prefix, example }) => prefix + example);
}
