import type { SourceTable } from './sources.ts';

/**
 * Cards that no provider in the gathered facts rents out, but that clusters of companies, universities and homes have. They have no price and no
 * node label of their own: manifests name them in labels that their clusters chose.
 */
interface Family {
  readonly vendor: string;
  readonly architecture: string;
  readonly computeCapability: string | null;
  readonly source: string;
  readonly date: string | null;
  /** `name` or `name: memory in GB`. A `*` marks a memory of the source below, a `^` one of Hugging Face's table. */
  readonly cards: string;
}

const cudaGpus = 'https://developer.nvidia.com/cuda-gpus';
const legacyGpus = 'https://developer.nvidia.com/cuda-legacy-gpus';
const hunt = 'dstackai/gpuhunt@35841515de37:src/gpuhunt/_internal/constraints.py (2026-08-19)';
/** Of cards that were sold with one size only. */
const hardware = 'huggingface/huggingface.js: packages/tasks/src/hardware-nvidia.ts (2026-11-23)';
const vllm = 'vllm-project/vllm@9d690bb11b7b:vllm/model_executor/layers/fused_moe/configs (device names)';
const seen = '2026-11-22';

const nvidia = (
  architecture: string,
  computeCapability: string | null,
  cards: string,
  source = cudaGpus,
  date: string | null = seen,
) => ({ vendor: 'nvidia', architecture, computeCapability, source, date, cards });

const families: readonly Family[] = [
  nvidia('Maxwell', '5.2', 'GTX 950: 2; GTX 960; GTX 970: 4; GTX 980: 4; GTX 980 Ti: 6; GTX Titan X: 12', legacyGpus),
  nvidia('Maxwell', '5.0', 'GTX 750; GTX 750 Ti: 2; Quadro K620: 2; Quadro K1200: 4; Quadro K2200: 4', legacyGpus),
  nvidia('Maxwell', '5.2', 'M40; Quadro M2000: 4; Quadro M4000: 8; Quadro M5000: 8; Quadro M6000', legacyGpus),
  nvidia('Kepler', '3.5', 'K20: 5; K20X: 6; K40: 12', 'unsourced', null),
  // Named by NVIDIA's drivers for data centers, https://www.nvidia.com/Download/driverResults.aspx/178360/en-us, which state no figures.
  nvidia('Kepler', '3.0', 'Tesla K10: 4; GRID K1: 4; GRID K2: 4; GRID K520: 4', 'unsourced', null),
  nvidia('Maxwell', '5.2', 'Tesla M4: 4; Tesla M6: 8', 'unsourced', null),
  nvidia('Pascal', '6.1', 'Tesla P6: 16', 'unsourced', null),
  nvidia('Volta', '7.0', 'V100S: 32', 'unsourced', null),
  nvidia('Turing', '7.5', 'Tesla T10: 16', 'unsourced', null),
  nvidia('Ampere', '8.6', 'A10M', 'unsourced', null),
  nvidia('Maxwell', '5.0', 'M10: 8', 'unsourced', null),
  nvidia('Pascal', '6.1', 'GT 1030: 2', 'unsourced', null),
  nvidia('Turing', '7.5', 'Quadro T2000: 4', 'unsourced', null),
  nvidia('Pascal', '6.1', 'P40: 24^', legacyGpus),
  nvidia(
    'Pascal',
    '6.1',
    'GTX 1050; GTX 1050 Ti: 4^; GTX 1060; GTX 1070: 8; GTX 1070 Ti: 8^; GTX 1080: 8; GTX 1080 Ti: 11^; Titan X; Titan Xp: 12',
    legacyGpus,
  ),
  nvidia(
    'Pascal',
    '6.1',
    'Quadro P400: 2; Quadro P600: 2; Quadro P620: 2; Quadro P1000: 4; Quadro P2000: 5; Quadro P2200: 5; Quadro P4000: 8; Quadro P5000: 16; Quadro P6000: 24^',
    legacyGpus,
  ),
  nvidia('Pascal', '6.0', 'Quadro GP100: 16', legacyGpus),
  nvidia('Volta', '7.0', 'Titan V: 12; Quadro GV100: 32', legacyGpus),
  nvidia('Turing', '7.5', 'GTX 1650: 4; GTX 1650 SUPER: 4; GTX 1660: 6^; GTX 1660 SUPER: 6; GTX 1660 Ti: 6'),
  nvidia(
    'Turing',
    '7.5',
    'RTX 2060; RTX 2060 SUPER: 8; RTX 2070: 8^; RTX 2070 SUPER: 8^; RTX 2080: 8^; RTX 2080 SUPER: 8',
  ),
  nvidia(
    'Turing',
    '7.5',
    'RTX 2080 Ti: 11^; Titan RTX: 24^; Quadro RTX 4000: 8; Quadro RTX 5000: 16; Quadro RTX 8000: 48',
  ),
  nvidia('Turing', '7.5', 'T400; T600: 4; T1000'),
  nvidia(
    'Ampere',
    '8.6',
    'RTX 3050; RTX 3060; RTX 3060 Ti: 8*; RTX 3070: 8^; RTX 3070 Ti: 8*; RTX 3080: 10*; RTX 3080 Ti: 12*',
  ),
  nvidia(
    'Ampere',
    '8.6',
    'RTX 3090: 24*; RTX 3090 Ti: 24^; RTX A2000; RTX A4000: 16*; RTX A4500: 20*; RTX A5000: 24*; RTX A5500: 24',
  ),
  nvidia(
    'Ada',
    '8.9',
    'RTX 4060: 8^; RTX 4060 Ti; RTX 4070: 12^; RTX 4070 SUPER: 12^; RTX 4070 Ti: 12^; RTX 4070 Ti SUPER: 16^',
  ),
  nvidia('Ada', '8.9', 'RTX 4080: 16^; RTX 4080 SUPER: 16^; RTX 4090: 24*; RTX 4090 D: 24'),
  nvidia(
    'Ada',
    '8.9',
    'RTX 2000 Ada: 16*; RTX 4000 Ada: 20*; RTX 4000 SFF Ada: 20^; RTX 4500 Ada: 24^; RTX 5000 Ada: 32^; RTX 5880 Ada: 48^',
  ),
  nvidia(
    'Blackwell',
    '12.0',
    'RTX 5050: 8; RTX 5060: 8^; RTX 5060 Ti; RTX 5070: 12^; RTX 5070 Ti: 16^; RTX 5080: 16^; RTX 5090: 32^',
  ),
  nvidia('Blackwell', '12.0', 'RTX PRO 2000 Blackwell: 16; RTX PRO 4000 Blackwell: 24; RTX PRO 4500 Blackwell: 32'),
  nvidia('Blackwell', '12.0', 'RTX PRO 5000 Blackwell: 48; RTX PRO 6000 Blackwell Workstation: 96^'),
  nvidia('Blackwell', '12.1', 'GB10: 128'),
  nvidia('Ampere', '8.0', 'A800 40GB; A800 80GB', vllm),
  nvidia('Ada', '8.9', 'L20: 48^; L2: 24', vllm),
  nvidia('Hopper', '9.0', 'H20 96GB; H20 141GB; H800 80GB', vllm),
  nvidia('Blackwell', '10.0', 'B100: 192', vllm),
  nvidia('Maxwell', '5.3', 'Jetson Nano: 4', legacyGpus),
  nvidia('Pascal', '6.2', 'Jetson TX2: 8', legacyGpus),
  nvidia('Volta', '7.2', 'Jetson Xavier NX; Jetson AGX Xavier', legacyGpus),
  nvidia('Ampere', '8.7', 'Jetson Orin Nano; Jetson Orin NX; Jetson AGX Orin'),
  nvidia('Blackwell', '11.0', 'Jetson AGX Thor: 128'),
  amd('CDNA', 'MI100: 32*', hunt),
  amd('CDNA2', 'MI250: 128*', hunt),
  amd('CDNA3', 'MI300A: 128*; MI308X', hunt),
  amd('CDNA4', 'MI350X: 288', vllm),
  amd('GCN', 'MI50; MI60: 32; Radeon VII: 16; Radeon RX 570; Radeon RX 580', 'unsourced'),
  amd(
    'RDNA',
    'Radeon RX 6600: 8; Radeon RX 6600 XT: 8; Radeon RX 6700 XT: 12; Radeon RX 6800: 16; Radeon RX 6800 XT: 16; Radeon RX 6900 XT: 16; Radeon RX 7600: 8; Radeon RX 7700 XT: 12; Radeon RX 7800 XT: 16; Radeon RX 7900 XT: 20; Radeon RX 7900 XTX: 24; Radeon RX 9070: 16; Radeon RX 9070 XT: 16',
    'unsourced',
  ),
  // Integrated GPUs use the memory of their machine.
  amd('RDNA', 'Radeon 680M; Radeon 760M; Radeon 780M; Radeon 890M; Radeon 8060S', 'unsourced'),
  amd('RDNA', 'Radeon Pro W6800: 32; Radeon Pro W7800: 32; Radeon Pro W7900: 48; Radeon AI Pro R9700: 32', 'unsourced'),
  intel(
    'UHD 630; UHD 730; UHD 750; UHD 770; Iris Xe; Arc A310: 4; Arc A380: 6; Arc A580: 8; Arc A750: 8; Arc A770; Arc B570: 10; Arc B580: 12; Arc Pro B50: 16; Arc Pro B60: 24; Arc Pro B70: 32',
  ),
  intel(
    'Data Center GPU Flex 140: 12; Data Center GPU Flex 170: 16; Data Center GPU Max 1100: 48; Data Center GPU Max 1550: 128',
  ),
  { ...intel('Ascend 310; Ascend 310P; Ascend 910; Ascend 910B; Ascend 910C'), vendor: 'huawei' },
];

function amd(architecture: string, cards: string, source: string): Family {
  const date = source === hunt ? '2026-08-19' : source === vllm ? seen : null;
  return { vendor: 'amd', architecture, computeCapability: null, source, date, cards };
}

function intel(cards: string): Family {
  return { vendor: 'intel', architecture: 'unknown', computeCapability: null, source: 'unsourced', date: null, cards };
}

export function moreGpus(sources: SourceTable) {
  return families.flatMap(({ vendor, architecture, computeCapability, source, date, cards }) =>
    cards.split('; ').map((card) => {
      const [name = '', memory = ''] = card.split(': ');
      const from = memory.endsWith('*') ? hunt : memory.endsWith('^') ? hardware : undefined;
      const inName = /(\d+)GB$/.exec(name)?.[1];
      const unsourced = source === 'unsourced' ? ['all'] : from === undefined ? ['memoryGiB'] : [];
      return {
        id: name.toLowerCase().replaceAll(' ', '-'),
        name,
        vendor,
        architecture,
        memoryGiB: Number.parseInt(inName ?? memory, 10) || null,
        memoryBandwidth: null,
        tflops: { bf16: null, fp16: null, fp8: null },
        nvlink: false,
        computeCapability,
        migCapable: false,
        labels: {},
        unsourced,
        date,
        source: sources.refer(from !== undefined && source !== from ? `${source}; ${from}` : source),
      };
    }),
  );
}
