import type { NamedModel } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { Flag } from '../command/flags.ts';
import { estimateOn } from '../memory/fit.ts';
import { weightsSize } from '../memory/weights.ts';
import { knownModel, type ServedModel } from '../model/served-model.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { shorten } from '../yaml/shorten.ts';
import { type NamedDevices, namedDevices } from './layers-on-cpu.ts';
import { valueNeeded } from './server-flags.ts';

/** A flag of a model server that does not suit the model that it serves. */
export interface UnfitFlag {
  readonly flag: Flag;
  readonly message: string;
  /** `warning`: the server runs without what the flag is for. `info`: it is slower than it could be. */
  readonly severity: 'error' | 'warning' | 'info';
  /** The value that suits the model. */
  readonly value?: string;
}

/** vLLM's flags with lists. https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/cli_args.py, 2026-11-29 */
const lists = wordSet('lora-modules served-model-name');

/** The lists of vLLM that are set several times: each one replaces the one before. */
export function repeatedLists(program: string, flags: readonly Flag[]): readonly UnfitFlag[] {
  const written = flags.filter(({ name, isVariable }) => program === 'vllm' && lists.has(name) && !isVariable);
  return written.flatMap((flag) => {
    const last = written.filter(({ name }) => name === flag.name).at(-1);
    if (last === flag || last?.value === flag.value) return [];
    const message = `--${flag.written} ${shorten(flag.value ?? '', 40)} has no effect: --${flag.name} is set again, and vLLM uses only the last one`;
    return [{ flag, message, severity: 'warning' as const }];
  });
}

/** The flags that need another model: parallel experts of a dense model, and the parser of another family's tool calls. */
export function unfitFlags(
  served: ServedModel,
  flags: readonly Flag[],
  container: Container,
  podSet: PodSet,
): readonly UnfitFlag[] {
  const part = partOfLayers(served, flags, namedDevices(container, podSet));
  if (part !== undefined) return [part];
  const known = knownModel(served);
  if (known?.basis !== 'name' || known.shape.kind !== 'language' || !isRepository.test(served.name)) return [];
  const written = flags.filter(({ isVariable, dynamic }) => !isVariable && !dynamic);
  return [...denseExperts(served, known, written), ...otherParser(served, written)];
}

const isRepository = /^(?:hf:\/\/)?(?!(?:models?|mnt|data)\/)[\w-][\w.-]*\/[\w.-]+$/;

/** https://github.com/vllm-project/vllm/blob/main/vllm/config/model.py, 2026-11-29: the number of experts must be greater than 0. */
function denseExperts(
  { engine, name }: ServedModel,
  { shape }: NamedModel,
  flags: readonly Flag[],
): readonly UnfitFlag[] {
  const flag = engine === 'vllm' ? flags.find((one) => one.name === 'enable-expert-parallel') : undefined;
  if (flag === undefined || shape.experts !== null) return [];
  const message = `--${flag.written} needs a mixture of experts, but ${shorten(ownName(name), 40)} is a dense model: vLLM does not start`;
  return [{ flag, message, severity: 'error' }];
}

/**
 * Layers that llama.cpp leaves on the CPU, although the whole model fits on any GPU, or on the ones that the manifest names.
 * https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md, 2026-11-30
 */
function partOfLayers(
  served: ServedModel,
  flags: readonly Flag[],
  devices: NamedDevices | undefined,
): UnfitFlag | undefined {
  const flag = flags.find(({ name }) => /^(?:n-gpu-layers|gpu-layers|ngl)$/.test(name));
  const layers = knownModel(served)?.shape.layers ?? 0;
  const isWritten = flag?.dynamic === false && flag.isVariable !== true && /^[1-9]\d?$/.test(flag.value ?? '');
  if (flag === undefined || served.engine !== 'llama-cpp' || !isWritten || Number(flag.value) >= layers)
    return undefined;
  const gib = weightsSize(served.name)?.gib ?? Number.POSITIVE_INFINITY;
  const whole = devices && served.open.length === 0 ? estimateOn({ ...served, gpuLayers: layers }, devices) : null;
  const isRoomy = whole !== null && devices !== undefined && whole.neededGiB < devices.eachGiB * roomy;
  if (gib > smallGiB && !isRoomy) return undefined;
  const where =
    gib > smallGiB && devices !== undefined
      ? `${devices.count === 1 ? 'the' : `${devices.count} ×`} ${devices.gpu.name}`
      : 'any GPU';
  const rest = layers - Number(flag.value);
  const message = `${flag.word.text.split('=', 1)[0]} ${flag.value} leaves ${rest} of ${layers} layers on the CPU, although the ${gib.toFixed(1)} GiB of weights fit on ${where}`;
  return { flag, message, severity: 'info', value: '99' };
}

/** With its cache, a model of this size fits on GPUs with 6 GiB. */
const smallGiB = 3;

/** The part of a GPU's memory that the estimate may take, so that the model certainly fits. */
const roomy = 0.8;

interface Family {
  /** The beginnings of the names of its tuned models and their quantized copies, without the organization. */
  readonly models: RegExp;
  readonly vllm: string;
  readonly sglang: string;
  /** Parsers of other families, which do not find its calls. */
  readonly others: ReadonlySet<string>;
}

const foreign = 'openai kimi_k2 glm45 minimax internlm jamba granite xlam phi4_mini_json';
/** The calls of Qwen3-Coder and of later releases are XML, those of the releases before them JSON. */
const xml = 'qwen3_coder qwen3_xml';

/**
 * Families whose own chat template makes one form of tool calls, with the parsers that read it.
 * https://docs.vllm.ai/en/latest/features/tool_calling/ https://docs.sglang.io/advanced_features/tool_parser.html, 2026-11-29
 */
const families: readonly Family[] = [
  {
    models: /^(?:Meta-)?Llama-3\.[123]-\d+B-Instruct\b/i,
    vllm: 'llama3_json',
    sglang: 'llama3',
    others: wordSet(`hermes mistral qwen qwen25 ${xml} deepseek_v3 deepseekv3 gpt-oss ${foreign}`),
  },
  {
    models: /^Qwen(?:2\.5-[\d.]+B-Instruct|3-[\d.]+B)\b/i,
    vllm: 'hermes',
    sglang: 'qwen',
    others: wordSet(`llama3_json llama4_json llama3 mistral deepseek_v3 deepseekv3 gpt-oss pythonic ${xml} ${foreign}`),
  },
  {
    models: /^Qwen3-Coder-\d+B-A\d+B-Instruct\b/i,
    vllm: 'qwen3_coder',
    sglang: 'qwen3_coder',
    others: wordSet(
      `hermes llama3_json llama4_json llama3 mistral qwen qwen25 deepseek_v3 deepseekv3 gpt-oss pythonic ${foreign}`,
    ),
  },
  {
    models: /^(?:Mistral|Mixtral|Ministral)-[\w.-]*Instruct\b/i,
    vllm: 'mistral',
    sglang: 'mistral',
    others: wordSet(
      `hermes llama3_json llama4_json llama3 qwen qwen25 deepseek_v3 deepseekv3 gpt-oss pythonic ${xml} ${foreign}`,
    ),
  },
];

/** A template of one's own may make another form of calls. */
function otherParser(served: ServedModel, flags: readonly Flag[]): readonly UnfitFlag[] {
  const { engine } = served;
  const flag = flags.find(({ name }) => name === 'tool-call-parser');
  const family = families.find(({ models }) => models.test(ownName(served.name)));
  if (flag?.value === undefined || family === undefined || (engine !== 'vllm' && engine !== 'sglang')) return [];
  const hasTemplate = flags.some(({ name }) => /chat-template|parser-plugin/.test(name));
  const isName = valueNeeded(engine, flag.name, flag.value) === undefined;
  if (hasTemplate || !isName || !family.others.has(flag.value)) return [];
  const message = `--${flag.written} ${flag.value} does not find the tool calls of ${shorten(ownName(served.name), 40)}: clients get them as text`;
  return [{ flag, message, severity: 'warning', value: family[engine] }];
}

function ownName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
