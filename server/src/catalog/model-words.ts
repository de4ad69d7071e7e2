import { ggufFormat, variantFormat, type WeightFormat, weightFormat } from './weight-formats.ts';
import { oneOf } from './word-patterns.ts';

/** The words of a model's name. */
export interface ModelWords {
  /**
   * In lower case, without the format. A version is joined to its family without dots: `llama31`, `qwen25`, `v01`. Sizes are words: `8b`.
   */
  readonly words: readonly string[];
  /** The numbers of parameters that the words state. */
  readonly sizes: readonly number[];
  readonly format: WeightFormat | 'unknown' | null;
  /** The weights are those of an adapter, not of a model. */
  readonly adapter: boolean;
}

/** Reads the name of a model, without the path to it. */
export function modelWords(name: string): ModelWords {
  const { format, rest } = splitFormat(name.toLowerCase());
  const words = plainWords(rest);
  return {
    words,
    sizes: sizesOf(words),
    format,
    adapter: words.some((word) => /^(?:q?lora|adapters?|peft)$/.test(word)),
  };
}

/** The words of a name in lower case that states no format. */
export function plainWords(name: string): readonly string[] {
  return joined(
    withDots(name)
      .split(/[^a-z\d.]+|\.(?!\d)|(?<!\d)\./)
      .flatMap(split),
  );
}

/** The numbers of parameters that words state. */
export function sizesOf(words: readonly string[]): readonly number[] {
  return words.flatMap((word) => parameterCount(word) ?? []);
}

/** Words of later training and of publishers, which leave the shape as it is. */
export const tuning: ReadonlySet<string> = new Set(
  'instruct instruction instructions inst chat it hf base pt sft dpo rlhf aligned tuned en meta nvidia c4ai nv dense'.split(
    ' ',
  ),
);

/** The number of parameters that a word states: `7b`, `8x7b`, `125m`, `7b1`. The parameters that a token uses (`a22b`) are not the total. */
export function parameterCount(word: string): number | undefined {
  if (word < '0' || word > ':') return undefined;
  const [, experts, number = '', unit, more] = /^(?:(\d{1,3})x)?(\d{1,4}(?:\.\d{1,3})?)(b|m)(\d)?$/.exec(word) ?? [];
  if (unit === undefined || (unit === 'm' && Number(number) < 10)) return undefined;
  const billions = Number(more === undefined ? number : `${number}.${more}`) * Number(experts ?? 1);
  return billions * (unit === 'b' ? 1e9 : 1e6);
}

/** Names of Kubernetes objects and of files have no dots: `llama-3-1-8b`, `qwen2_5-7b`, `1_8b`, `qwen-0-5b`. */
function withDots(name: string): string {
  return name
    .replace(/(?<![\d.])(\d{1,2})[-_](\d{1,2})(?![\d.a-z])/g, '$1.$2')
    .replace(/(?<![a-z\d.])(\d)_(\d{1,2}[bm])(?![a-z\d])/g, '$1.$2')
    .replace(/(?<=[a-z]-|\.\d-)([01])-(\d{1,2}b)(?![a-z\d])/g, '$1.$2');
}

/** Separates a number from the letters around it: `llama3` is `llama 3`, `2.5vl` is `2.5 vl`, but `3n`, `v2` and `8b` are one word. */
function split(piece: string): readonly string[] {
  if (parameterCount(piece) !== undefined) return [piece];
  const spaced = piece.replace(/^([a-z]{2,})(?=\d)/, '$1 ').replace(/(?<= |^)(\d+(?:\.\d+)?)(?=[a-z]{2,}\d*$)/, '$1 ');
  return spaced.split(' ').filter((word) => word !== '');
}

/** Joins a version to the family before it. Dots and a zero fraction are omitted. Numbers of 3 digits or with a leading zero are dates and the like. */
function joined(pieces: readonly string[]): readonly string[] {
  const words: string[] = [];
  for (const piece of pieces) {
    const word = parameterCount(piece) === undefined ? piece.replace(/\.0$/, '').replaceAll('.', '') : piece;
    const family = words.at(-1) ?? '';
    const isVersion = /^[1-9]\d?(?:\.\d{1,2})?[a-z]?$/.test(piece);
    const joins = isVersion && parameterCount(piece) === undefined && /^[a-z]{2,}$/.test(family) && !tuning.has(family);
    if (joins) words.splice(-1, 1, family + word);
    else words.push(word);
  }
  return words;
}

type Format = WeightFormat | 'unknown';

/** Formats by how names spell them, most specific first. */
const spellings: readonly (readonly [RegExp, (match: RegExpExecArray) => Format | undefined])[] = [
  [
    /(?<![a-z\d])(?:ud[-_])?(i?q\d[-_](?:k(?:[-_](?:xl|[sml]))?|xxs|xs|nl|[sm01]))(?![a-z\d])/,
    ([, one = '']) => ggufFormat(one),
  ],
  [/(?<![a-z\d])q8(?![a-z\d])/, () => ggufFormat('Q8_0')],
  [/awq/, (match) => (/(?<![\d.])[238][-_]?bits?/.test(match.input) ? 'unknown' : weightFormat('awq'))],
  [/gptq(?:model)?|marlin/, (match) => gptq(match.input)],
  [/(?:exl[23])/, (match) => exl(match.input)],
  [/(\d)[-_]?bits?(?=.*mlx)|mlx.*?(\d)[-_]?bits?/, ([, first, last]) => variantFormat('mlx', Number(first ?? last))],
  [/(?<![a-z\d])mxfp4[-_]moe(?![a-z\d])/, () => ggufFormat('MXFP4_MOE')],
  [/nvfp4|w4a4|(?<![a-z])fp4/, () => weightFormat('nvfp4')],
  [/mxfp4/, () => weightFormat('mxfp4')],
  [/w4a(?:16|8)/, () => weightFormat('w4a16')],
  [/w8a16/, () => weightFormat('w8a16')],
  [/fp8|float8|e4m3|(?<![a-z\d])f8(?![a-z\d])/, () => weightFormat('fp8')],
  [/w8a8/, () => weightFormat('int8')],
  [/nf4|(?:bnb|bitsandbytes).*4[-_]?bits?|4[-_]?bits?.*bnb/, () => weightFormat('bnb-4bit')],
  [/(?:bnb|bitsandbytes).*8[-_]?bits?|8[-_]?bits?.*bnb/, () => weightFormat('bnb-8bit')],
  [/hqq/, (match) => (/4[-_]?bits?|int4/.test(match.input) ? weightFormat('hqq') : 'unknown')],
  [/(?<![a-z\d])b?f(?:p|loat)?(?:16|32)(?![a-z\d])(?=.*gguf)|gguf[-_.:/]b?f(?:16|32)/, ([found]) => floatOf(found)],
  [/aqlm|quip|squeezellm|bitsandbytes|bnb|ggml|gguf|q4f16|q4f32|[23][-_]?bits?(?![a-z])/, () => 'unknown'],
  [/auto[-_]?round|int4|(?<![\d.])4[-_]?bits?/, () => weightFormat('w4a16')],
  [/int8|(?<![\d.])8[-_]?bits?/, () => weightFormat('int8')],
  [/bf16|bfloat16/, () => weightFormat('bf16')],
  [/(?:fp|float)16|(?<![a-z\d])f16(?![a-z\d])/, () => weightFormat('fp16')],
  [/(?:fp|float)32|(?<![a-z\d])f32(?![a-z\d])/, () => weightFormat('fp32')],
];

/** All words of formats, which are not words of the model. */
const formatWords = new RegExp(
  `(?<![a-z\\d])(?:${oneOf(
    'awq gptq(?:model)? marlin exl[23] mlx bnb bitsandbytes hqq gguf ggml aqlm quip',
    'int[48] fp8 [2-8][-_]?bits? (?:\\d[._])?\\d?bpw nf4 auto[-_]?round g128 w\\da\\d+ b?f(?:p|loat)?(?:16|32)',
  )})(?![a-z\\d])`,
  'g',
);

/** What names with one of these formats have. Most names state none. */
const formatSign = new RegExp(
  oneOf(
    'q\\d awq gptq marlin exl[23] bit bnb f(?:p|loat)?\\d e4m3 w\\da int[48] hqq',
    'aqlm quip squeezellm ggml gguf auto[-_]?round',
  ),
);

function splitFormat(name: string): { readonly format: Format | null; readonly rest: string } {
  if (!formatSign.test(name)) return { format: null, rest: name };
  for (const [pattern, read] of spellings) {
    const match = pattern.exec(name);
    if (match !== null)
      return { format: read(match) ?? 'unknown', rest: name.replace(match[0], ' ').replace(formatWords, ' ') };
  }
  return { format: null, rest: name };
}

function floatOf(word: string): Format | undefined {
  return weightFormat(word.endsWith('32') ? 'fp32' : /bf/.test(word) ? 'bf16' : 'fp16');
}

function gptq(name: string): Format | undefined {
  if (/int8|8[-_]?bits?/.test(name)) return weightFormat('w8a16');
  return /int[23]|[23][-_]?bits?/.test(name) ? 'unknown' : weightFormat('gptq');
}

function exl(name: string): Format {
  const bits = Number(/(\d(?:[._]\d{1,2})?)[-_]?bpw/.exec(name)?.[1]?.replace('_', '.'));
  return Number.isFinite(bits) ? variantFormat('exl2', bits) : 'unknown';
}
