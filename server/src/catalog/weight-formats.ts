/** How weights are stored. `gguf`, `exl2` and `mlx` have variants: `WeightFormat.name` has the one. */
export type FormatId =
  | ('fp32' | 'bf16' | 'fp16' | 'fp8' | 'int8' | 'w8a16' | 'w4a16' | 'awq' | 'gptq' | 'bnb-8bit' | 'bnb-4bit' | 'hqq')
  | ('fp8-feed-forward' | 'nvfp4-feed-forward' | 'awq-32' | 'bnb-nf4')
  | ('mxfp4' | 'mxfp4-experts' | 'nvfp4' | 'fp8-mxfp4' | 'int4-experts' | 'gguf' | 'exl2' | 'mlx');

/** The size of weights in one format: bits per weight with scales and zero points. */
export interface WeightFormat {
  readonly id: FormatId;
  /** As it is written for people: `AWQ int4`, `GGUF Q4_K_M`. */
  readonly name: string;
  /** Of the matrices of the layers, without those of experts. */
  readonly layerBits: number;
  /** Of the matrices of attention, if they differ. */
  readonly attentionBits?: number;
  /** Of the matrices of experts. */
  readonly expertBits: number;
  /** Of embeddings, output layer, vision and audio parts: most formats leave them in 16 bits. */
  readonly outsideBits: number;
  /** How much whole files differ from these bits, as a fraction, if by more than other formats. */
  readonly error?: number;
  readonly source: string;
}

const byBits = 'bits per weight + bits of scale and zero point / group size';
const compressedTensors = 'https://github.com/vllm-project/compressed-tensors';

/** id, name, bits of layers, of experts, of the rest, source, bits of attention. */
type Row = readonly [FormatId, string, number, number, number, string, number?];

const rows: readonly Row[] = [
  ['fp32', 'float32', 32, 32, 32, 'IEEE 754'],
  ['bf16', 'bfloat16', 16, 16, 16, 'bfloat16'],
  ['fp16', 'float16', 16, 16, 16, 'IEEE 754'],
  ['fp8', 'FP8', 8, 8, 16, compressedTensors],
  ['int8', 'INT8', 8, 8, 16, compressedTensors],
  ['w8a16', 'INT8 weights', 8.13, 8.13, 16, `${byBits}: 16 / 128`],
  ['w4a16', 'INT4 weights', 4.13, 4.13, 16, `${byBits}: 16 / 128`],
  ['awq', 'AWQ INT4', 4.16, 4.16, 16, `${byBits}: (16 + 4) / 128; https://github.com/casper-hansen/AutoAWQ`],
  [
    'awq-32',
    'AWQ INT4, groups of 32',
    4.5,
    4.5,
    16,
    `${byBits}: 16 / 32; the measured weights of cyankiwi/Nemotron-Orchestrator-8B-AWQ-4bit`,
  ],
  ['gptq', 'GPTQ INT4', 4.16, 4.16, 16, `${byBits}: (16 + 4) / 128; https://github.com/AutoGPTQ/AutoGPTQ`],
  ['bnb-8bit', 'bitsandbytes 8-bit', 8, 8, 16, 'https://huggingface.co/docs/bitsandbytes'],
  ['bnb-4bit', 'bitsandbytes 4-bit', 4.13, 4.13, 16, `${byBits}: 8 / 64 with double quantization; arXiv:2305.14314`],
  ['bnb-nf4', 'bitsandbytes 4-bit', 4.5, 4.5, 16, `${byBits}: 32 / 64; arXiv:2305.14314`],
  ['hqq', 'HQQ 4-bit', 4.5, 4.5, 16, `${byBits}: 32 / 64; https://github.com/mobiusml/hqq`],
  ['mxfp4', 'MXFP4', 4.25, 4.25, 16, `${byBits}: 8 / 32; OCP Microscaling Formats 1.0`],
  ['mxfp4-experts', 'MXFP4 experts', 16, 4.25, 16, `${byBits}: 8 / 32; model card of openai/gpt-oss-120b`],
  ['nvfp4', 'NVFP4', 4.5, 4.5, 16, `${byBits}: 8 / 16; https://github.com/NVIDIA/TensorRT-Model-Optimizer`],
  ['fp8-mxfp4', 'FP8, experts in MXFP4', 8, 4.25, 16, 'config.json of deepseek-ai/DeepSeek-V4-Flash: expert_dtype fp4'],
  ['int4-experts', 'INT4 experts', 16, 4.5, 16, `${byBits}: 16 / 32; config.json of moonshotai/Kimi-K2-Thinking`],
  // Not in the first and the last of 126 layers: 8 × 124 / 126 + 16 × 2 / 126.
  ['fp8-feed-forward', 'FP8, attention in 16 bits', 8.13, 8.13, 16, 'arXiv:2407.21783, section 6.2', 16],
  [
    'nvfp4-feed-forward',
    'NVFP4, attention in 16 bits',
    4.5,
    4.5,
    16,
    'config.json of nvidia/Gemma-4-31B-IT-NVFP4: ignores all self_attn',
    16,
  ],
];

/** Checkpoints whose names do not say that they keep attention in 16 bits, or have smaller groups. Those of other publishers do not. */
const ofPublishers: readonly (readonly [RegExp, FormatId, FormatId])[] = [
  [/(?:^|\/)meta-llama\/[\w.-]*-405b\b/i, 'fp8', 'fp8-feed-forward'],
  [/(?:^|\/)nvidia\/gemma-4-31b\b/i, 'nvfp4', 'nvfp4-feed-forward'],
  [/(?:^|\/)cyankiwi\//i, 'awq', 'awq-32'],
];

/** The format of a published checkpoint, by its whole name and the format that the name states. */
export function checkpointFormat(name: string, stated: WeightFormat): WeightFormat {
  const own = ofPublishers.find(([pattern, id]) => id === stated.id && pattern.test(name));
  return (own && weightFormat(own[2])) ?? stated;
}

const formats: ReadonlyMap<string, WeightFormat> = new Map(
  rows.map(([id, name, layerBits, expertBits, outsideBits, source, attentionBits]) => [
    id,
    { id, name, layerBits, expertBits, outsideBits, source, ...(attentionBits && { attentionBits }) },
  ]),
);

/** A format without variants by its id; undefined for `gguf`, `exl2` and `mlx`, whose bits depend on the variant. */
export function weightFormat(id: FormatId): WeightFormat | undefined {
  return formats.get(id);
}

/** Bits per weight of whole files, measured with Llama 3.1 8B. */
const ggufBits: readonly (readonly [name: string, bits: number])[] = [
  ['IQ1_S', 2.0],
  ['IQ1_M', 2.15],
  ['IQ2_XXS', 2.38],
  ['IQ2_XS', 2.59],
  ['IQ2_S', 2.74],
  ['IQ2_M', 2.93],
  ['IQ3_XXS', 3.25],
  ['IQ3_XS', 3.5],
  ['IQ3_S', 3.66],
  ['IQ3_M', 3.76],
  ['IQ4_XS', 4.46],
  ['IQ4_NL', 4.68],
  ['Q2_K_S', 2.97],
  ['Q2_K_L', 3.34],
  // Five files of unsloth/DeepSeek-R1-GGUF, 226.6 GB: https://huggingface.co/unsloth/DeepSeek-R1-GGUF/tree/main/DeepSeek-R1-UD-Q2_K_XL
  ['Q2_K_XL', 2.7],
  ['Q2_K', 3.16],
  ['Q3_K_S', 3.64],
  ['Q3_K_M', 4.0],
  ['Q3_K_L', 4.3],
  ['Q3_K_XL', 4.7],
  ['Q4_K_S', 4.67],
  ['Q4_K_M', 4.89],
  ['Q4_K_L', 5.1],
  ['Q4_K_XL', 5.0],
  ['Q5_K_S', 5.57],
  ['Q5_K_M', 5.7],
  ['Q6_K', 6.56],
  ['Q6_K_L', 6.7],
  ['Q8_0', 8.5],
  ['F16', 16],
  ['BF16', 16],
  ['F32', 32],
];

/** Blocks of 32 weights with one or two numbers of 16 bits. */
const fixedBlocks: ReadonlyMap<string, number> = new Map([
  ['Q4_0', 4.5],
  ['Q4_1', 5],
  ['Q5_0', 5.5],
  ['Q5_1', 6],
]);
const ggufSource = 'https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/README.md';

/** GGUF's format by llama.cpp's name in any spelling (`q4_K_M`, `Q4-K-M`); undefined for unknown names. */
export function ggufFormat(quantization: string): WeightFormat | undefined {
  const name = quantization.toUpperCase().replaceAll('-', '_').replace(/^FP/, 'F');
  // Experts in MXFP4, the rest in Q8_0.
  if (name === 'MXFP4_MOE') return { ...variant('gguf', `GGUF ${name}`, 8.5, 8.5, ggufSource), expertBits: 4.25 };
  const block = fixedBlocks.get(name);
  // The output layer, or the embedding in its place, is in Q6_K.
  if (block !== undefined) return variant('gguf', `GGUF ${name}`, block, 6.56, ggufSource);
  const bits = new Map(ggufBits).get(name);
  if (bits === undefined) return undefined;
  const error = ggufErrors.find(([pattern]) => pattern.test(name))?.[1];
  return { ...variant('gguf', `GGUF ${name}`, bits, bits, ggufSource), ...(error !== undefined && { error }) };
}

/**
 * The fewer bits, the more the layers that keep 4 to 6 weigh, and each publisher chooses these. IQ1_S of DeepSeek R1 has 140.2 GB, 17% less than its
 * bits say: https://huggingface.co/unsloth/DeepSeek-R1-GGUF/tree/main/DeepSeek-R1-UD-IQ1_S
 */
const ggufErrors: readonly (readonly [RegExp, number])[] = [
  [/^IQ1_/, 0.2],
  [/^Q2_K_XL$/, 0.15],
  [/^I?Q2_/, 0.1],
];

/**
 * What a tag of Ollama's library without a format has. Q4_0 was the default until mid-2024, and models from before still have it:
 * https://github.com/ollama/ollama/issues/4626, https://github.com/ollama/ollama/issues/5425, https://github.com/ollama/ollama/issues/1543
 * @param model the name of the shape
 */
export function ollamaFormat(model: string): WeightFormat | undefined {
  return ggufFormat(beforeKQuants.test(model) ? 'Q4_0' : 'Q4_K_M');
}

const beforeKQuants = new RegExp(
  '/(?:llama-2-|meta-llama-3-|codellama|mixtral|falcon-(?:7|40|180)b|yi-|qwen1\\.5|qwen2-(?!vl|audio)|gemma-(?:2|7)b|gemma-2-|deepseek-v2|deepseek-coder|' +
    'starcoder|phi-[23]|glm-4-9b$|c4ai-command-r-|internlm2-)',
  'i',
);

/** A variant of ExLlamaV2 or MLX by its bits per weight. MLX quantizes the embeddings also. */
export function variantFormat(id: 'exl2' | 'mlx', bits: number): WeightFormat {
  return id === 'exl2'
    ? variant(id, `EXL2 ${bits} bpw`, bits, 16, 'https://github.com/turboderp-org/exllamav2')
    : variant(id, `MLX ${bits}-bit`, bits + 0.5, bits + 0.5, `${byBits}: 32 / 64; https://github.com/ml-explore/mlx`);
}

function variant(id: FormatId, name: string, bits: number, outsideBits: number, source: string): WeightFormat {
  return { id, name, layerBits: bits, expertBits: bits, outsideBits, source };
}
