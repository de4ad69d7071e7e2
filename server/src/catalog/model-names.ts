import { lazy, oncePerName } from '../yaml/lazy.ts';
import type { ModelKind, ModelShape } from './model-shape.ts';
import { shapeNames, shapeOfName } from './model-shapes.ts';
import { type ModelWords, modelWords, parameterCount, plainWords, sizesOf, tuning } from './model-words.ts';
import { checkpointFormat, ggufFormat, ollamaFormat, type WeightFormat } from './weight-formats.ts';

/** The model that a name stands for. */
export interface NamedModel {
  readonly shape: ModelShape;
  /** The format that the name states; null: as published; `unknown`: quantized in a way that the name leaves open (`-GGUF`). */
  readonly format: WeightFormat | 'unknown' | null;
  /**
   * `name`: the model, its tuned form or a copy. `family`: a derived model that is named after its base, whose shape it most likely has.
   * `config`: the model's own config.json.
   */
  readonly basis: 'name' | 'family' | 'config';
}

/**
 * The model that a name stands for: a hub's name, the last part of a path or an address, an Ollama tag, a name of NIM, KServe, KAITO or KubeAI.
 * The name is read by its words: family with version, size, variant, format. Undefined for unknown models, adapters, drafts and names that
 * leave the size open.
 */
export const modelByName = oncePerName((name): NamedModel | undefined => {
  const ollama = ollamaName(name);
  for (const part of partsOf(name)) {
    const words = modelWords(part);
    if (words.adapter) return undefined;
    const found = bestMatch(words, ollama);
    const format = found && formatOf(words, found, ollama, name);
    if (found !== undefined && format !== undefined)
      return { ...found, format: format === null || format === 'unknown' ? format : checkpointFormat(name, format) };
  }
  return undefined;
});

/** The number of parameters that a name states (`7b`, `8x7B`, `125m`), as a range: names round, and experts share their attention layers. */
export interface StatedParameters {
  readonly least: number;
  readonly most: number;
  /** The format that the name states, as in `NamedModel`. */
  readonly format: WeightFormat | 'unknown' | null;
}

/** The parameters that the last part of a name states; undefined without a size, and for adapters. */
export function statedParameters(name: string): StatedParameters | undefined {
  const [part = ''] = partsOf(name);
  const { words, sizes, format, adapter } = modelWords(part);
  // Encoder and decoder have a size each: "t5gemma-9b-2b".
  const most = words[0] === 't5gemma' ? sizes.reduce((sum, size) => sum + size, 0) : Math.max(0, ...sizes);
  if (adapter || most === 0) return undefined;
  const ofExperts = words.some((word) => /^\d+x/.test(word));
  return { least: most * (ofExperts ? 0.75 : 0.9), most: most * (ofExperts ? 0.9 : 1.1), format };
}

/** Whether a name is that of a model that makes images or videos, by a word for its task: "Wan2.2-TI2V-5B". */
export function makesImages(name: string): boolean {
  return imageTask.test(partsOf(name)[0] ?? '');
}

const imageTask =
  /(?<![a-z\d])(?:(?:t|i|ti|s|v|fl|flf)2[iv]|(?:te?xt|img|image|vid|video)2(?:img|image|vid|video)|diffusion|diffusers|sdxl|flux)(?![a-z])/i;

/** The format that the last part of a name states, as in `NamedModel`. */
export function formatOfName(name: string): NamedModel['format'] {
  return modelWords(partsOf(name)[0] ?? '').format;
}

/** A shape by its words. `soft` words distinguish releases of the same shape (`v0.1`, `a22b`) and may be missing in a name. */
interface Entry {
  readonly shape: ModelShape;
  readonly ollama: boolean;
  readonly hard: readonly string[];
  readonly soft: readonly string[];
  /** The name states a size, so a name with further words is a derived model of this size. */
  readonly sized: boolean;
}

/** The entries whose first hard word is this one. */
const entriesOf = oncePerName((word): readonly Entry[] =>
  namesWith(word).flatMap((name) => {
    const entry = entryOf(name);
    return entry?.hard[0] === word ? [entry] : [];
  }),
);

/**
 * The names of shapes that may have a word, by the letters that it starts with, else by its first digit. All names are searched as one text:
 * few of them are ever read, and an index of all words would take longer than the first file needs.
 */
function namesWith(word: string): readonly string[] {
  const start = /^[a-z]+|^\d/.exec(word)?.[0];
  if (start === undefined) return [];
  const { names, text } = allNames();
  const found = new Set<string>();
  const ofLetters = isLetter(start.charCodeAt(0));
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) {
    // Words end between letters and other characters.
    const before = text.charCodeAt(at - 1);
    if (ofLetters ? isLetter(before) || isLetter(text.charCodeAt(at + start.length)) : isDigit(before)) continue;
    const end = text.indexOf('\n', at);
    const isOrganization = text.slice(at, end).includes('/');
    if (!isOrganization) found.add(names.slice(text.lastIndexOf('\n', at) + 1, end));
  }
  return [...found];
}

/** The names of all shapes, each with a line end behind it, and the same in lower case. */
const allNames = lazy(() => {
  const names = [...shapeNames(), ''].join('\n');
  return { names, text: names.toLowerCase() };
});

function isLetter(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

const entryOf = oncePerName((name): Entry | undefined => {
  const shape = shapeOfName(name);
  return shape && toEntry(name, shape);
});

/** A name in lower case, without its organization. */
function ownName(name: string): string {
  return name.slice(name.indexOf('/') + 1).toLowerCase();
}

function toEntry(name: string, shape: ModelShape): Entry {
  const words = plainWords(ownName(name));
  const numbered = sizesOf(words).length > 0;
  const isSoft = (word: string, index: number) =>
    tuning.has(word)
      ? numbered || word !== 'base'
      : /^(?:a\d|\d+e$)/.test(word) || (/^v\d/.test(word) && index > 0 && isSizeOrTuning(words[index - 1] ?? ''));
  return {
    shape,
    ollama: name.startsWith('ollama/'),
    hard: words.filter((word, index) => !isSoft(word, index)),
    soft: words.filter(isSoft),
    sized: numbered || words.some((word) => sizeWords.has(word)),
  };
}

function isSizeOrTuning(word: string): boolean {
  return tuning.has(word) || parameterCount(word) !== undefined;
}

function bestMatch(read: ModelWords, ollama: boolean): Pick<NamedModel, 'shape' | 'basis'> | undefined {
  // Ollama's default tag adds nothing to a name.
  const words = ollama ? read.words.filter((word) => word !== 'latest') : read.words;
  const written = new Set(words);
  let best: (Pick<NamedModel, 'shape' | 'basis'> & { readonly rank: readonly number[] }) | undefined;
  for (const entry of [...written].flatMap(entriesOf)) {
    if (entry.ollama && !(ollama && written.size === entry.hard.length + entry.soft.length)) continue;
    if (!entry.hard.every((word) => written.has(word))) continue;
    const soft = entry.soft.filter((word) => written.has(word)).length;
    const place = -Math.max(...entry.hard.map((word) => words.indexOf(word)));
    const rank = [entry.ollama ? 1 : 0, entry.hard.length, soft, soft - entry.soft.length, place];
    if (best !== undefined && !isHigher(rank, best.rank)) continue;
    const basis = basisOf(entry, words, read.sizes);
    if (basis !== undefined) best = { shape: withContext(entry, words), basis, rank };
  }
  return best;
}

/** What the words that an entry does not have say about its shape; undefined: it is another one. */
function basisOf(entry: Entry, words: readonly string[], sizes: readonly number[]): NamedModel['basis'] | undefined {
  const { shape, hard, soft, sized } = entry;
  const known = new Set([...hard, ...soft]);
  const more = words.filter((word) => !known.has(word) && !tuning.has(word) && !neutral(word));
  const otherSize = sizes.some((size) => !known.has(sizeWord(words, size)) && !agrees(size, shape));
  if (otherSize || more.some((word) => changesShape(word, words, entry))) return undefined;
  if (more.every((word) => parameterCount(word) !== undefined)) return 'name';
  return sized && mayHaveDerived.has(shape.kind) ? 'family' : undefined;
}

/** Of images, derived models have other parts. */
const mayHaveDerived: ReadonlySet<ModelKind> = new Set(['language', 'encoder', 'embedding', 'reranker', 'speech']);

/** The shape with the context that a name states (`200K`). */
function withContext({ shape, hard }: Entry, words: readonly string[]): ModelShape {
  const thousands = words.find((word) => /^\d{1,3}k$/.test(word) && !hard.includes(word));
  return thousands === undefined ? shape : { ...shape, context: Number.parseInt(thousands, 10) * 1024 };
}

function isHigher(left: readonly number[], right: readonly number[]): boolean {
  const index = left.findIndex((value, at) => value !== right[at]);
  return index >= 0 && (left[index] ?? 0) > (right[index] ?? 0);
}

function sizeWord(words: readonly string[], size: number): string {
  return words.find((word) => parameterCount(word) === size) ?? '';
}

/** Whether a size that a name states is that of the shape, or of the parameters that a token uses. */
function agrees(size: number, { parameters, active }: ModelShape): boolean {
  return [parameters, active].some((known) => Math.abs(size / known - 1) < 0.13);
}

const neutralWords = new Set(
  (
    'thinking think reasoning preview alpha beta latest exp online quantized quant dynamic block static kv model models weights checkpoint ckpt main ' +
    'merged vllm sglang tgi trt trtllm tensorrt llm nim onnx openvino neuron mcore triton server inference tools tool ibm mistralai qat unsloth ' +
    'diffusers safetensors pytorch torch mtp dev test prod demo default deduped new text uncensored abliterated fast gpu'
  ).split(' '),
);

/** Dates, versions of a release, context lengths and numbers. */
function neutral(word: string): boolean {
  return neutralWords.has(word) || /^(?:v?\d+|\d+k|1m|\d+x\d+|g\d+|gs\d+|\d+g)$/.test(word);
}

/** Words for the size of a model whose name has no number. */
const sizeWords = new Set('tiny mini small base medium large xl xxl huge'.split(' '));

/** Words for a model that is larger or smaller than the one whose name they follow. */
const otherSizes = new Set(
  'tiny mini nano micro small medium large xl xxl huge giant lite air flash plus pro ultra turbo max super'.split(' '),
);

/** Words for a model with other parts than the one whose name they extend. */
const otherParts = new Set(
  (
    'vl v vision visual audio omni speech tts asr embed embedding embeddings rerank reranker moe mamba minitron pruned sparse draft eagle ' +
    'eagle3 medusa speculator mtp tokenizer zh encoder vae controlnet llava vila internvl siglip clip vla vlm mm multimodal hybrid h ov ' +
    'blip2 instructblip scope tp1 tp2 tp4 tp8'
  ).split(' '),
);

/** Whether a further word of a name means another shape than that of the entry. */
function changesShape(word: string, words: readonly string[], { hard, sized }: Entry): boolean {
  if (otherParts.has(word) || (word.startsWith('distill') && !sized)) return true;
  const place = words.indexOf(word);
  if (place < words.indexOf(hard[0] ?? '')) return false;
  // A letter and a number between family and size is a generation: "Falcon-H1-7B".
  const size = words.findIndex((one) => parameterCount(one) !== undefined);
  return otherSizes.has(word) || (/^[a-z]\d+$/.test(word) && place < size);
}

/** Parts of a path or an address that may name the model, the last first: each alone, then with the part before it. */
function partsOf(name: string): readonly string[] {
  const path = name
    .slice(0, longestName)
    .replace(/^[a-z+\d]+:\/\//i, '')
    .replace(/[?#].*$/, '')
    .replace(/(?<!\/)\/+$/, '')
    // The first of several files.
    .replace(/-\d{5}-of-\d{5}(?=\.\w+$)/, '');
  const last = path
    .split(/\/|--/)
    .filter((part) => part !== '')
    .slice(-longestPath)
    .reverse()
    // The format of MLX is that of the organization: "mlx-community/Llama-3.2-3B-Instruct-4bit".
    .map((part, index, parts) => (parts[index + 1] === 'mlx-community' ? `${part}-mlx` : part));
  return [...last, ...last.slice(0, -1).map((part, index) => `${last[index + 1]}-${part}`)];
}

const longestName = 300;
const longestPath = 4;

/**
 * Whether a name is one of Ollama's: by its scheme, or by a tag that is a size or a variant, which tags of images are not. llama.cpp and Ollama take
 * names of repositories with GGUF files in the same form.
 */
function ollamaName(name: string): boolean {
  if (!name.includes(':') || /gguf[^/]*:/i.test(name)) return false;
  return /^ollama:|^[\w./-]+:(?:\d+(?:\.\d+)?[bm]|\d+x\d+b|e\d+b|mini|medium|instruct|chat|text|scout|q\d)(?![\w.]*\/)|^[\w.-]+:latest$/i.test(
    name,
  );
}

function formatOf(
  { format }: ModelWords,
  { shape, basis }: Pick<NamedModel, 'shape' | 'basis'>,
  ollama: boolean,
  name: string,
): NamedModel['format'] {
  if (format !== null && format !== 'unknown' && basis === 'name' && keepsExperts(name, format, shape))
    return format.id === 'mxfp4' ? (ggufFormat('MXFP4_MOE') ?? null) : withExpertsInMxfp4(format);
  if (format !== null && format !== 'unknown' && isHalfOf(format, shape) && !convertsExperts.test(name))
    return 'unknown';
  if (format !== null) return isPublished(format, shape) ? null : format;
  const ollamaQuantizes = ollama && shape.kind === 'language' && ['bf16', 'fp16', 'fp32', 'fp8'].includes(shape.format);
  // https://ollama.com/library: tags without a format have 4 bits, except embedding models and those published in 4 bits.
  return ollamaQuantizes ? (ollamaFormat(shape.name) ?? 'unknown') : null;
}

/**
 * Whether a GGUF file keeps the published experts: all files of gpt-oss do, whatever format they name, unless the weights were changed in 16 bits.
 * https://github.com/NousResearch/hermes-agent/issues/116681
 */
function keepsExperts(name: string, { id }: WeightFormat, shape: ModelShape): boolean {
  return shape.format === 'mxfp4-experts' && (id === 'gguf' || /gguf/i.test(name)) && !changedWeights.test(name);
}

const changedWeights = /abliterat|uncensor/i;

function withExpertsInMxfp4(format: WeightFormat): WeightFormat {
  return { ...format, name: `${format.name}, experts in MXFP4`, expertBits: 4.25 };
}

/** A copy of a model with two formats that names one of them may have converted its experts, or not. */
function isHalfOf({ id }: WeightFormat, shape: ModelShape): boolean {
  return id !== shape.format && shape.format.startsWith(`${id}-`) && !shape.format.endsWith('-experts');
}

/** Publishers of copies of DeepSeek V4 with experts in FP8: https://github.com/sgl-project/sglang/blob/main/docs_new/cookbook/autoregressive/DeepSeek/DeepSeek-V4.mdx */
const convertsExperts = /(?:^|\/)sgl-project\//i;

function isPublished(format: WeightFormat | 'unknown', shape: ModelShape): boolean {
  return format !== 'unknown' && (format.id === shape.format || `${format.id}-experts` === shape.format);
}
