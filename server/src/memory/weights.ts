import { languageModel } from '../catalog/index.ts';

/** The size of a model's weights in GiB, and its source. */
export interface WeightsSize {
  readonly gib: number;
  /** `name`: from the number of parameters in the model's name, 16 bits each. */
  readonly from: 'catalog' | 'name';
}

/**
 * The size of the weights of a model by its name, as published in 16 bits: from the catalog, else from the number of parameters in the name
 * (`7b`, `8x7B`, `0.6B`, `125m`). Undefined for quantized and unknown models.
 */
export function weightsSize(name: string): WeightsSize | undefined {
  if (isQuantized(name)) return undefined;
  const model = languageModel(name);
  if (model !== undefined) return { gib: model.weightsGiB, from: 'catalog' };
  const billions = parameters(name);
  return billions === undefined ? undefined : { gib: (billions * 2e9) / 2 ** 30, from: 'name' };
}

/** The least size of a model's weights in GiB by its name: in 4 bits, the smallest format of NIM's profiles. */
export function leastWeightsGiB(name: string): number | undefined {
  // https://huggingface.co/deepseek-ai/DeepSeek-R1, 2026-11-22: the full models do not name their 671 billion parameters.
  const billions = /^deepseek-(?:v3|r1)(?!-distill)/i.test(name) ? 671 : parameters(name);
  return billions === undefined ? undefined : (billions * 0.5e9) / 2 ** 30;
}

/** Formats with fewer bits per weight, as model names spell them. Models that are published in such a format do not name it. */
function isQuantized(name: string): boolean {
  return /awq|gptq|gguf|ggml|int[48]|fp[48]|w[48]a|[48]-?bit|q[2-8]_|bnb|nf4|quant|mxfp|nvfp|gpt-oss|deepseek-(?:v3|r1(?!-distill))|kimi|lora|adapter/i.test(
    name,
  );
}

/** Billions of parameters by the last part of a name. With several numbers, a smaller one counts active parameters or is part of a version. */
function parameters(name: string): number | undefined {
  const last = name.slice(name.lastIndexOf('/') + 1);
  const experts = /(?<![a-z\d.])(\d{1,2})x(\d{1,3}(?:\.\d)?)b(?![a-z])/i.exec(last);
  // Experts share their attention layers, so the product is an upper bound: Mixtral 8x7B has 47 billion parameters.
  if (experts !== null) return Number(experts[1]) * Number(experts[2]) * 0.8;
  const numbers = [...last.matchAll(/(?<![a-z\d.])(\d{1,4}(?:\.\d{1,2})?)b(?![a-z])/gi)].map((match) =>
    Number(match[1]),
  );
  if (numbers.length > 0) return Math.max(...numbers);
  const millions = /(?<![a-z\d.])(\d{2,3})m(?![a-z])/i.exec(last);
  return millions === null ? undefined : Number(millions[1]) / 1000;
}
