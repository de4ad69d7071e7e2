import { wordSet } from './word-patterns.ts';

/** A name under which its organization has published no model that servers can load. */
export interface UnpublishedName {
  /** The name that is most likely meant. */
  readonly meant: string | undefined;
  /** Whether the name exists, but with files in the organization's own format. */
  readonly isOtherFormat: boolean;
}

/** A series that is complete: all its sizes, in billions of parameters, are published. */
interface Series {
  readonly organization: string;
  /** The name without the organization; the first group is the size. */
  readonly name: RegExp;
  readonly sizes: readonly number[];
}

/**
 * https://huggingface.co/meta-llama https://huggingface.co/Qwen https://huggingface.co/google https://huggingface.co/deepseek-ai, as in models.json;
 * https://huggingface.co/codellama https://huggingface.co/tiiuae https://huggingface.co/openai
 */
const series: readonly Series[] = [
  { organization: 'meta-llama', name: /^Llama-2-([\d.]+)b/i, sizes: [7, 13, 70] },
  { organization: 'meta-llama', name: /^(?:Meta-)?Llama-3-([\d.]+)b/i, sizes: [8, 70] },
  { organization: 'meta-llama', name: /^(?:Meta-)?Llama-3\.1-([\d.]+)b/i, sizes: [8, 70, 405] },
  { organization: 'meta-llama', name: /^(?:Meta-)?Llama-3\.2-([\d.]+)b/i, sizes: [1, 3, 11, 90] },
  { organization: 'meta-llama', name: /^(?:Meta-)?Llama-3\.3-([\d.]+)b/i, sizes: [70] },
  { organization: 'qwen', name: /^Qwen2-([\d.]+)b/i, sizes: [0.5, 1.5, 7, 57, 72] },
  { organization: 'qwen', name: /^Qwen2\.5-([\d.]+)b/i, sizes: [0.5, 1.5, 3, 7, 14, 32, 72] },
  { organization: 'qwen', name: /^Qwen2\.5-Coder-([\d.]+)b/i, sizes: [0.5, 1.5, 3, 7, 14, 32] },
  { organization: 'qwen', name: /^Qwen1\.5-([\d.]+)b/i, sizes: [0.5, 1.8, 4, 7, 14, 32, 72, 110] },
  { organization: 'qwen', name: /^Qwen2-VL-([\d.]+)b/i, sizes: [2, 7, 72] },
  { organization: 'qwen', name: /^Qwen2\.5-VL-([\d.]+)b/i, sizes: [3, 7, 32, 72] },
  { organization: 'qwen', name: /^Qwen3-VL-([\d.]+)b/i, sizes: [2, 4, 8, 30, 32, 235] },
  { organization: 'qwen', name: /^Qwen3-(?:Embedding|Reranker)-([\d.]+)b/i, sizes: [0.6, 4, 8] },
  { organization: 'qwen', name: /^Qwen3-Coder-([\d.]+)b/i, sizes: [30, 480] },
  { organization: 'qwen', name: /^Qwen3-([\d.]+)b/i, sizes: [0.6, 1.7, 4, 8, 14, 30, 32, 235] },
  { organization: 'codellama', name: /^CodeLlama-([\d.]+)b/i, sizes: [7, 13, 34, 70] },
  { organization: 'tiiuae', name: /^Falcon3-([\d.]+)b/i, sizes: [1, 3, 7, 10] },
  { organization: 'openai', name: /^gpt-oss-([\d.]+)b/i, sizes: [20, 120] },
  { organization: 'google', name: /^gemma-([\d.]+)b/i, sizes: [2, 7] },
  { organization: 'google', name: /^gemma-2-([\d.]+)b/i, sizes: [2, 9, 27] },
  { organization: 'google', name: /^gemma-3-([\d.]+)b/i, sizes: [1, 4, 12, 27] },
  { organization: 'deepseek-ai', name: /^DeepSeek-R1-Distill-Qwen-([\d.]+)b/i, sizes: [1.5, 7, 14, 32] },
  { organization: 'deepseek-ai', name: /^DeepSeek-R1-Distill-Llama-([\d.]+)b/i, sizes: [8, 70] },
];

/** Words that names of these organizations have, or have instead of another word, and the name with them. https://huggingface.co */
const endings: readonly (readonly [organization: string, name: RegExp, meant: string])[] = [
  ['mistralai', /^(Mistral-7B-Instruct)$/i, '$1-v0.3'],
  ['mistralai', /^(Mistral-7B)$/i, '$1-v0.3'],
  ['mistralai', /^Mistral-7B-(v0\.[1-3])-Instruct$/i, 'Mistral-7B-Instruct-$1'],
  ['mistralai', /^(Mixtral-8x(?:7|22)B(?:-Instruct)?)$/i, '$1-v0.1'],
  ['mistralai', /^(Mistral-Nemo-(?:Instruct|Base))$/i, '$1-2407'],
  ['google', /^(gemma-(?:2-|3-)?\d+b)-(?:instruct|chat)$/i, '$1-it'],
  ['google', /^gemma([23])-(\d+b(?:-it)?)$/i, 'gemma-$1-$2'],
  ['microsoft', /^(Phi-3-(?:mini|medium))(?:-instruct)?$/i, '$1-4k-instruct'],
  ['microsoft', /^(Phi-3-(?:mini|medium)-(?:4|128)k)$/i, '$1-instruct'],
  ['microsoft', /^(Phi-3\.5-mini|Phi-4-mini)$/i, '$1-instruct'],
  // The organization of Meta renamed its Llama 3.1, and named only that one and Llama 3 with its own name.
  ['meta-llama', /^Meta-(Llama-3\.[23]-[\w.-]+)$/i, '$1'],
  ['meta-llama', /^(Llama-3-\d+b(?:-Instruct)?)$/i, 'Meta-$1'],
  ['meta-llama', /^Llama-3-(\d+b)-chat(?:-hf)?$/i, 'Meta-Llama-3-$1-Instruct'],
  ['meta-llama', /^(Meta-Llama-3-\d+b|(?:Meta-)?Llama-3\.[1-3]-\d+b)-chat(?:-hf)?$/i, '$1-Instruct'],
  ['meta-llama', /^(Meta-Llama-3-\d+b|(?:Meta-)?Llama-3\.[1-3]-\d+b)(-Instruct)?-hf$/i, '$1$2'],
  ['meta-llama', /^(Llama-3\.2-(?:11|90)b)(-Instruct)?$/i, '$1-Vision$2'],
  ['meta-llama', /^(Llama-2-\d+b)-instruct(?:-hf)?$/i, '$1-chat-hf'],
  ['codellama', /^(CodeLlama-\d+b(?:-Instruct|-Python)?)$/i, '$1-hf'],
  ['qwen', /^(Qwen3-(?:0\.6|1\.7|4|8|14|32)B)-(?:Instruct|Chat)$/i, '$1'],
  ['qwen', /^(Qwen2(?:\.5)?-[\d.]+B)-chat$/i, '$1-Instruct'],
  ['qwen', /^(Qwen1\.5-[\d.]+B)-instruct$/i, '$1-Chat'],
  ['deepseek-ai', /^(deepseek-llm-(?:7|67)b)$/i, '$1-chat'],
  ['deepseek-ai', /^(deepseek-coder-(?:1\.3|6\.7|33)b)$/i, '$1-instruct'],
  ['deepseek-ai', /^(deepseek-coder-7b-(?:instruct|base))$/i, '$1-v1.5'],
  ['huggingfaceh4', /^(zephyr-7b)$/i, '$1-beta'],
  ['lmsys', /^(vicuna-(?:7|13)b)$/i, '$1-v1.5'],
  ['tinyllama', /^(TinyLlama-1\.1B-Chat)$/i, '$1-v1.0'],
  ['tiiuae', /^(Falcon3-\d+B)$/i, '$1-Instruct'],
  ['baai', /^(bge-(?:small|base|large))$/i, '$1-en-v1.5'],
];

/** Series without other copies than the named ones, and the formats that they do not have. */
const formats: readonly (readonly [organization: string, name: RegExp])[] = [
  // Its only copy in another format is Llama 3.1 405B in FP8; those for phones have other words.
  ['meta-llama', /^(?:Meta-)?Llama-(?:2|3(?:\.[1-3])?)-(?!405b)[\w.-]*-(?:AWQ|GPTQ|GGUF|FP8|bnb-4bit)(?:-|$)/i],
  ['mistralai', /^(?:Mistral-7B|Mixtral-8x)[\w.-]*-(?:AWQ|GPTQ|GGUF|FP8|bnb-4bit)(?:-|$)/i],
  ['qwen', /^Qwen(?:2|2\.5)-(?:(?:Coder|VL|Math)-)?[\d.]+B(?:-Instruct)?-(?:FP8|bnb-4bit)(?:-|$)/i],
];

/** Meta's own format, without a config.json. https://huggingface.co/meta-llama/Llama-2-7b */
const metaFormat = /^(Llama-2-\d+b(?:-chat)?)$/i;

/** What is wrong with a model name that its organization never published on Hugging Face; undefined if the model exists or may exist. */
export function unpublishedName(name: string): UnpublishedName | undefined {
  const [, prefix = '', organization = '', own = ''] = /^((?:hf:\/\/)?([\w-]+)\/)([\w.-]+)$/.exec(name) ?? [];
  const owner = organization.toLowerCase();
  for (const { organization: publisher, name: pattern, sizes } of series) {
    const written = publisher === owner ? pattern.exec(own)?.[1] : undefined;
    if (written === undefined || sizes.includes(Number(written))) continue;
    const size = nearest(Number(written), sizes);
    const sized = size === undefined ? undefined : own.replace(written, String(size));
    return { meant: sized && `${prefix}${completed(owner, sized) ?? inOwnCase(owner, sized)}`, isOtherFormat: false };
  }
  if (formats.some(([publisher, pattern]) => publisher === owner && pattern.test(own)))
    return { meant: undefined, isOtherFormat: false };
  const whole = completed(owner, own);
  if (whole !== undefined) return { meant: `${prefix}${whole}`, isOtherFormat: false };
  return owner === 'meta-llama' && metaFormat.test(own) ? { meant: `${name}-hf`, isOtherFormat: true } : undefined;
}

/** A name with the words that those of its organization have; undefined if it has them, or others. */
function completed(owner: string, own: string): string | undefined {
  const ending = endings.find(([publisher, pattern]) => publisher === owner && pattern.test(own));
  return ending && inOwnCase(owner, own.replace(ending[1], ending[2]));
}

/** Meta's names as it writes them: `Meta-Llama-3-8B-Instruct`, `Llama-2-7b-chat-hf`. */
function inOwnCase(owner: string, own: string): string {
  if (owner !== 'meta-llama') return own;
  const words = own.replace(
    /\b(?:meta|llama|instruct|vision|guard)\b/gi,
    (word) => `${word[0]?.toUpperCase()}${word.slice(1).toLowerCase()}`,
  );
  return words.replace(/(\d)b\b/gi, `$1${/^Llama-2-/.test(words) ? 'b' : 'B'}`);
}

/** The sizes of complete series in Ollama's library. https://ollama.com/library */
const ollamaSizes: ReadonlyMap<string, readonly number[]> = new Map([
  ['llama2', [7, 13, 70]],
  ['llama3', [8, 70]],
  ['llama3.1', [8, 70, 405]],
  ['llama3.2', [1, 3]],
  ['llama3.3', [70]],
  ['llama3.2-vision', [11, 90]],
  ['codellama', [7, 13, 34, 70]],
  ['llava', [7, 13, 34]],
  ['phi3', [3.8, 14]],
  ['phi4', [14]],
  ['qwen2', [0.5, 1.5, 7, 72]],
  ['qwen2.5', [0.5, 1.5, 3, 7, 14, 32, 72]],
  ['qwen2.5-coder', [0.5, 1.5, 3, 7, 14, 32]],
  ['qwen2.5vl', [3, 7, 32, 72]],
  ['qwen3', [0.6, 1.7, 4, 8, 14, 30, 32, 235]],
  ['qwen3-coder', [30, 480]],
  ['qwen3-vl', [2, 4, 8, 30, 32, 235]],
  ['qwq', [32]],
  ['gpt-oss', [20, 120]],
  ['gemma', [2, 7]],
  ['gemma2', [2, 9, 27]],
  ['gemma3', [1, 4, 12, 27]],
  ['mistral', [7]],
  ['deepseek-coder-v2', [16, 236]],
  ['deepseek-r1', [1.5, 7, 8, 14, 32, 70, 671]],
]);

/** The organizations of Hugging Face whose models Ollama's library has under names of its own. */
const hubOwners = wordSet('meta-llama qwen google mistralai microsoft deepseek-ai openai codellama');

/** A name in the form of Hugging Face: `llama3.1-8b`, `meta-llama/Llama-3.1-8B-Instruct`. */
const hubForm =
  /^(?:([\w-]+)\/)?(?:meta-)?([a-z][a-z\d.-]*?)-(\d+(?:\.\d+)?)b(?:-(?:instruct|chat|it|hf|v\d[\d.]*))*(?::latest)?$/;

/** A name of Ollama's library in the form of Hugging Face: there, the size is the tag. */
function nameOfHub(name: string): UnpublishedName | undefined {
  const [, owner, written = '', size = ''] = hubForm.exec(name.toLowerCase()) ?? [];
  const family = written.replace(/-(?=\d)/g, '');
  const sizes = ollamaSizes.get(family);
  if (sizes === undefined || (owner !== undefined && !hubOwners.has(owner))) return undefined;
  return { meant: sizes.includes(Number(size)) ? `${family}:${size}b` : undefined, isOtherFormat: false };
}

/** Whether Ollama's library has no model of such a name or size. Undefined for those that exist or may exist. */
export function unpublishedTag(name: string): UnpublishedName | undefined {
  const ofHub = nameOfHub(name);
  if (ofHub !== undefined) return ofHub;
  const [, family = '', written = ''] = /^(?:library\/)?([a-z][\w.-]*):([\d.]+)b(?:-[\w.-]+)?$/.exec(name) ?? [];
  const sizes = ollamaSizes.get(family);
  if (sizes === undefined || sizes.includes(Number(written))) return undefined;
  const size = nearest(Number(written), sizes);
  return { meant: size === undefined ? undefined : name.replace(`:${written}b`, `:${size}b`), isOtherFormat: false };
}

/** The size with the smallest ratio to another one, if it is not far from it. */
function nearest(size: number, sizes: readonly number[]): number | undefined {
  const distance = (one: number) => Math.abs(Math.log(one / size));
  const [first] = [...sizes].sort((a, b) => distance(a) - distance(b));
  return first !== undefined && distance(first) < Math.log(2) ? first : undefined;
}
