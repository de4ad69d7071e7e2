import { ggufFormat, variantFormat, type WeightFormat, weightFormat } from './weight-formats.ts';

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
  const lower = name.toLowerCase();
  const { format, rest } = splitFormat(lower);
  const words = joined(
    rest
      .replace(/(\d)_(?=\d)/g, '$1.')
      .split(/[^a-z\d.]+|\.(?!\d)|(?<!\d)\./)
      .flatMap(split),
  );
  return {
    words,
    sizes: words.flatMap((word) => parameterCount(word) ?? []),
    format,
    adapter: words.some((word) => /^(?:q?lora|adapters?|peft)$/.test(word)),
  };
}

/** The number of parameters that a word states: `7b`, `8x7b`, `125m`, `7b1`. The parameters that a token uses (`a22b`) are not the total. */
export function parameterCount(word: string): number | undefined {
  const [, experts, number = '', unit, more] = /^(?:(\d{1,3})x)?(\d{1,4}(?:\.\d{1,3})?)(b|m)(\d)?$/.exec(word) ?? [];
  if (unit === undefined || (unit === 'm' && Number(number) < 10)) return undefined;
  const billions = Number(more === undefined ? number : `${number}.${more}`) * Number(experts ?? 1);
  return billions * (unit === 'b' ? 1e9 : 1e6);
}

/** Separates letters from the number that follows them, and a number from a word that follows it: `llama3` is `llama 3`, `2.5vl` is `2.5 vl`. */
function split(piece: string): readonly string[] {
  if (piece === '' || parameterCount(piece) !== undefined) return piece === '' ? [] : [piece];
  return piece
    .replace(/^([a-z]{2,})(?=\d)/, '$1 ')
    .replace(/ ?(\d)(?=[a-z]{2,}\d*$)/, (digit) => `${digit} `)
    .split(' ')
    .filter((word) => word !== '');
}

/** Versions joined to the word before them, without dots and zero fractions. Numbers of 3 digits or with a leading zero are dates and the like. */
function joined(pieces: readonly string[]): readonly string[] {
  const words: string[] = [];
  let version = '';
  const end = () => {
    if (version === '') return;
    const digits = version.replace(/\.0$/, '').replaceAll('.', '');
    const family = words.at(-1) ?? '';
    if (/^[a-z]{2,}$/.test(family)) words.splice(-1, 1, `${family}${digits}`);
    else words.push(digits);
    version = '';
  };
  for (const piece of pieces) {
    if (/^(?:[1-9]\d?|0)(?:\.\d{1,2})?$/.test(piece) && version.split('.').length < 2) {
      version = version === '' ? piece : `${version}.${piece}`;
      continue;
    }
    const isVersion = /^v\d+(?:\.\d+)*$/.test(piece);
    if (/^\d[a-z]$/.test(piece) && version === '' && /^[a-z]{2,}$/.test(words.at(-1) ?? '')) {
      words.splice(-1, 1, `${words.at(-1)}${piece}`);
      continue;
    }
    end();
    if (isVersion) words.push('');
    if (isVersion) version = '';
    words.push(...(isVersion ? [] : [piece.replace(/(?<=[a-z])(\d+)\.(\d+)$/, '$1$2')]));
    if (isVersion) words.splice(-1, 1, piece.replace(/\.0$/, '').replaceAll('.', ''));
  }
  end();
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
  [/nvfp4|w4a4|(?<![a-z])fp4/, () => weightFormat('nvfp4')],
  [/mxfp4/, () => weightFormat('mxfp4')],
  [/w4a(?:16|8)/, () => weightFormat('w4a16')],
  [/w8a16/, () => weightFormat('w8a16')],
  [/fp8|float8|e4m3|(?<![a-z\d])f8(?![a-z\d])/, () => weightFormat('fp8')],
  [/w8a8/, () => weightFormat('int8')],
  [/nf4|(?:bnb|bitsandbytes).*4[-_]?bits?|4[-_]?bits?.*bnb/, () => weightFormat('bnb-4bit')],
  [/(?:bnb|bitsandbytes).*8[-_]?bits?|8[-_]?bits?.*bnb/, () => weightFormat('bnb-8bit')],
  [/hqq/, (match) => (/4[-_]?bits?|int4/.test(match.input) ? weightFormat('hqq') : 'unknown')],
  [/aqlm|quip|squeezellm|bitsandbytes|bnb|ggml|gguf|q4f16|q4f32|[23][-_]?bits?(?![a-z])/, () => 'unknown'],
  [/auto[-_]?round|int4|(?<![\d.])4[-_]?bits?/, () => weightFormat('w4a16')],
  [/int8|(?<![\d.])8[-_]?bits?/, () => weightFormat('int8')],
  [/bf16|bfloat16/, () => weightFormat('bf16')],
  [/(?:fp|float)16|(?<![a-z\d])f16(?![a-z\d])/, () => weightFormat('fp16')],
  [/(?:fp|float)32|(?<![a-z\d])f32(?![a-z\d])/, () => weightFormat('fp32')],
];

/** All words of formats, which are not words of the model. */
const formatWords =
  /(?<![a-z\d])(?:awq|gptq(?:model)?|marlin|exl[23]|mlx|bnb|bitsandbytes|hqq|gguf|ggml|aqlm|quip|int[48]|fp8|[2-8][-_]?bits?|(?:\d[._])?\d?bpw|nf4|auto[-_]?round|g128|w\da\d+|b?f(?:p|loat)?(?:16|32))(?![a-z\d])/g;

function splitFormat(name: string): { readonly format: Format | null; readonly rest: string } {
  for (const [pattern, read] of spellings) {
    const match = pattern.exec(name);
    if (match !== null)
      return { format: read(match) ?? 'unknown', rest: name.replace(match[0], ' ').replace(formatWords, ' ') };
  }
  return { format: null, rest: name };
}

function gptq(name: string): Format | undefined {
  if (/int8|8[-_]?bits?/.test(name)) return weightFormat('w8a16');
  return /int[23]|[23][-_]?bits?/.test(name) ? 'unknown' : weightFormat('gptq');
}

function exl(name: string): Format {
  const bits = Number(/(\d(?:[._]\d{1,2})?)[-_]?bpw/.exec(name)?.[1]?.replace('_', '.'));
  return Number.isFinite(bits) ? variantFormat('exl2', bits) : 'unknown';
}
