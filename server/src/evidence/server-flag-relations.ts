import { flashAttentionValue } from '../catalog/outdated-flags.ts';
import type { Release } from '../catalog/server-support.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { Flag } from '../command/flags.ts';
import type { Word } from '../command/shell.ts';
import type { Container } from '../model/workload.ts';
import { isBefore, launcherRelease, serverRelease } from './server-release.ts';

/** A flag that the server rejects because of another flag, or that has no effect without it. */
export interface FlagConflict {
  readonly flag: Flag;
  readonly problem: string;
  /** What follows, if the server starts all the same. */
  readonly result?: string;
}

/** A flag, the other flag that it needs, and the only value with which that one helps. */
type Requirement = readonly [flag: string, other: string, value?: string];
/** A flag and the one whose number must be larger; with `=`, it may be equal. The release from which the server no longer compares them. */
type Order = readonly [flag: string, other: string, relation: '<' | '<=', before?: Release];
/** Two names of one setting, of which only one may be set. */
type Exclusion = readonly [flag: string, other: string];

interface Relations {
  readonly requires: readonly Requirement[];
  readonly orders: readonly Order[];
  /** A flag without effect if the other one is missing, and what the server then does. */
  readonly idle?: readonly (readonly [flag: string, other: string, result: string])[];
  readonly excludes?: readonly Exclusion[];
}

/**
 * The release of Text Generation Inference from which it reads long inputs in chunks and sizes its batches by the memory that it finds.
 * https://github.com/huggingface/text-generation-inference/blob/main/backends/v3/src/main.rs, 2026-11-29
 */
const withChunks: Release = [2, 4, 0];

// Sources, read 2026-11-28: https://docs.vllm.ai/en/latest/features/tool_calling/ and /features/lora/ and /configuration/optimization/,
// https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_management.md,
// https://huggingface.co/docs/text-generation-inference/reference/launcher
const relations: ReadonlyMap<string, Relations> = new Map([
  [
    'vllm',
    {
      requires: [
        ['enable-auto-tool-choice', 'tool-call-parser'],
        ['lora-modules', 'enable-lora'],
      ],
      orders: [
        ['max-num-seqs', 'max-num-batched-tokens', '<='],
        ['max-loras', 'max-cpu-loras', '<='],
      ],
      idle: [['tool-call-parser', 'enable-auto-tool-choice', 'vLLM rejects requests that let the model choose a tool']],
    },
  ],
  ['llama-server', { requires: [], orders: [] }],
  ['sglang', { requires: [], orders: [] }],
  ['tritonserver', { requires: [['load-model', 'model-control-mode', 'explicit']], orders: [] }],
  [
    'text-generation-launcher',
    {
      requires: [],
      orders: [
        ['max-input-tokens', 'max-total-tokens', '<'],
        ['max-input-length', 'max-total-tokens', '<'],
        ['max-total-tokens', 'max-batch-total-tokens', '<='],
        ['max-input-tokens', 'max-batch-prefill-tokens', '<=', withChunks],
        ['max-input-length', 'max-batch-prefill-tokens', '<=', withChunks],
        ['max-batch-prefill-tokens', 'max-batch-total-tokens', '<=', withChunks],
      ],
      excludes: [['max-input-length', 'max-input-tokens']],
    },
  ],
]);

/** The flags of a server whose numbers have an order in its release. */
export function ordersOf(program: string, container: Container): Relations['orders'] {
  const release = launcherRelease(container);
  return (relations.get(program)?.orders ?? []).filter(([, , , before]) => {
    return before === undefined || (release !== undefined && isBefore(release, before));
  });
}

/** The pairs of a server's flags of which only one may be set. */
export function exclusionsOf(program: string): readonly Exclusion[] {
  return relations.get(program)?.excludes ?? [];
}

/** The first flag of a server that contradicts another one, or that needs one that is missing. */
export function flagConflict(
  program: string,
  words: readonly Word[],
  flags: readonly Flag[],
  container: Container,
): FlagConflict | undefined {
  const found = relations.get(program);
  const ofWords =
    program === 'ollama'
      ? flagOfServe(words, flags)
      : program === 'llama-server'
        ? joinedFlag(flags, container)
        : nodesWithoutAddress(program, words, flags);
  if (ofWords !== undefined) return ofWords;
  // A variable or a file may hold the other flag.
  if (found === undefined || words.some(({ dynamic, text }) => dynamic || /^--config\b|^@/.test(text)))
    return undefined;
  const byName = new Map(flags.map((flag) => [flag.name, flag]));
  for (const [name, other, value] of found.requires) {
    const flag = byName.get(name);
    // Servers accept the beginnings of names.
    const needed = byName.get(other) ?? flags.find(({ name: part }) => part.length > 3 && other.startsWith(part));
    const helps = needed !== undefined && (value === undefined || needed.value?.toLowerCase() === value);
    if (flag === undefined || helps) continue;
    return { flag, problem: `requires --${other}${value === undefined ? '' : `=${value}`}` };
  }
  for (const [name, other] of found.excludes ?? []) {
    const flag = byName.get(name);
    if (flag !== undefined && byName.has(other)) return { flag, problem: `and --${other} are both set` };
  }
  for (const [name, other, relation] of ordersOf(program, container)) {
    const flag = byName.get(name);
    const [low, high] = [flag, byName.get(other)].map((one) =>
      /^\d{1,12}$/.test(one?.value ?? '') ? Number(one?.value) : Number.NaN,
    );
    if (flag === undefined || low === undefined || high === undefined || Number.isNaN(low + high)) continue;
    if (low < high || (low === high && relation === '<=')) continue;
    return { flag, problem: `${low} must ${relation === '<' ? 'be below' : 'not be above'} --${other} ${high}` };
  }
  if (program === 'vllm') return smallBatch(byName, container) ?? configWithoutDraft(byName) ?? idleFlag(found, byName);
  if (program === 'sglang') return withoutDraft(byName);
  return program === 'llama-server'
    ? (cacheWithoutFlash(byName, container) ?? smallSlots(byName, container))
    : undefined;
}

/** `ollama serve` takes no flags. https://github.com/ollama/ollama/blob/main/cmd/cmd.go, 2026-11-29 */
function flagOfServe(words: readonly Word[], flags: readonly Flag[]): FlagConflict | undefined {
  const serve = words.findIndex(({ text }) => text === 'serve');
  const later = new Set(serve < 0 ? [] : words.slice(serve + 1));
  const flag = flags.find(
    ({ name, word }) => later.has(word) && /^--?[a-z]/i.test(word.text) && !/^h(?:elp)?$/.test(name),
  );
  return flag && { flag, problem: 'is not a flag of ollama serve, which reads only variables such as OLLAMA_HOST' };
}

/**
 * llama.cpp takes `--ctx-size=4096` for the name of a flag, at least in the builds until the end of 2025.
 * https://github.com/gpustack/gpustack/issues/3741, 2026-11-29
 */
function joinedFlag(flags: readonly Flag[], { image }: Container): FlagConflict | undefined {
  const flag = flags.find(
    ({ word, valueWord, isVariable }) => !isVariable && word === valueWord && /^--[a-z][\w-]*=/i.test(word.text),
  );
  if (flag === undefined) return undefined;
  const problem = 'and its value must be two arguments, without =';
  const isOld = Number(/-b(\d{3,6})$/.exec(image?.value ?? '')?.[1] ?? Number.NaN) < 7300;
  return { flag, problem, ...(!isOld && { result: 'the server does not start' }) };
}

/** Without an address, each node of SGLang waits at its own. https://docs.sglang.io/references/multi_node_deployment/multi_node.html, 2026-11-29 */
function nodesWithoutAddress(
  program: string,
  words: readonly Word[],
  flags: readonly Flag[],
): FlagConflict | undefined {
  // A variable or a file may hold the address.
  const isHidden = words.some((word) => word.dynamic && !flags.some(({ valueWord }) => valueWord === word));
  if (isHidden || flags.some(({ name }) => name === 'config')) return undefined;
  const flag = program === 'sglang' ? flags.find(({ name }) => name === 'nnodes') : undefined;
  if (!/^[2-9]$|^\d{2,3}$/.test(flag?.value ?? '') || flags.some(({ name }) => /^(?:dist|nccl)-init/.test(name)))
    return undefined;
  return flag && { flag, problem: `${flag.value} needs --dist-init-addr`, result: 'the nodes never find each other' };
}

/**
 * The heads of EAGLE-3 are models of their own; of EAGLE, those of some models are in their weights.
 * https://docs.sglang.io/advanced_features/speculative_decoding.html, 2026-11-29
 */
function withoutDraft(flags: ReadonlyMap<string, Flag>): FlagConflict | undefined {
  const flag = flags.get('speculative-algorithm');
  const hasDraft = [...flags.keys()].some((name) => name.startsWith('speculative-draft'));
  if (flag?.value?.toUpperCase() !== 'EAGLE3' || hasDraft) return undefined;
  return { flag, problem: `${flag.value} needs --speculative-draft-model-path` };
}

/** Methods of vLLM with a model of their own. https://docs.vllm.ai/en/latest/features/speculative_decoding/, 2026-11-29 */
function configWithoutDraft(flags: ReadonlyMap<string, Flag>): FlagConflict | undefined {
  const flag = flags.get('speculative-config');
  const value = flag?.value ?? '';
  // Each field may have its own flag.
  const isSplit = [...flags.keys()].some((name) => name.startsWith('speculative-config.'));
  const [, method] = /"method" *: *"(eagle3?|medusa|draft_model)"/.exec(value) ?? [];
  if (flag === undefined || method === undefined || isSplit || !/^\{.*\}$/s.test(value) || /"model" *:/.test(value))
    return undefined;
  return { flag, problem: `with method ${method} needs a model in its JSON` };
}

function idleFlag({ idle = [] }: Relations, flags: ReadonlyMap<string, Flag>): FlagConflict | undefined {
  for (const [name, other, result] of idle) {
    const flag = flags.get(name);
    if (flag !== undefined && !flags.has(other)) return { flag, problem: `has no effect without --${other}`, result };
  }
  return undefined;
}

/**
 * A batch that cannot hold the longest request, whose prompt is not split. Before 0.8, vLLM splits prompts only with `--enable-chunked-prefill`, or if requests may exceed
 * 32,768 tokens, and since 0.15 always unless a flag turns it off.
 * https://github.com/vllm-project/vllm/blob/v0.6.3/vllm/config.py https://github.com/vllm-project/vllm/pull/33109
 */
function smallBatch(flags: ReadonlyMap<string, Flag>, container: Container): FlagConflict | undefined {
  const [flag, length] = ['max-num-batched-tokens', 'max-model-len'].map((name) => flags.get(name));
  const release = serverRelease(container);
  const isWritten = [flag, length].every((one) => /^\d{1,6}$/.test(one?.value ?? ''));
  const mayChunk = flags.has('enable-chunked-prefill') || container.env.some(({ name }) => name === 'VLLM_USE_V1');
  if (flag === undefined || !isWritten || mayChunk || release === undefined) return undefined;
  const [most, needed] = [Number(flag.value), Number(length?.value)];
  if (most >= needed) return undefined;
  if (flags.has('no-enable-chunked-prefill') && !isBefore(release, [0, 15, 0]))
    return { flag, problem: `${most} must not be below --max-model-len ${needed} with --no-enable-chunked-prefill` };
  if (!isBefore(release, [0, 8, 0]) || needed > 32768) return undefined;
  return { flag, problem: `${most} must not be below --max-model-len ${needed} without --enable-chunked-prefill` };
}

const quantizedCache = wordSet('q8_0 q5_1 q5_0 q4_1 q4_0 iq4_nl');

/** A quantized cache of values, which needs flash attention: https://github.com/ggml-org/llama.cpp/blob/master/src/llama-context.cpp */
function cacheWithoutFlash(flags: ReadonlyMap<string, Flag>, { image }: Container): FlagConflict | undefined {
  const flag = flags.get('cache-type-v') ?? flags.get('ctv');
  const flash = flags.get('flash-attn') ?? flags.get('fa');
  if (flag?.value === undefined || !quantizedCache.has(flag.value.toLowerCase())) return undefined;
  const build = /-b(\d{3,6})$/.exec(image?.value ?? '')?.[1];
  const isOff = flash === undefined ? Number(build ?? Number.NaN) < flashAttentionValue : flash.value === 'off';
  return isOff ? { flag, problem: `${flag.value} needs --flash-attn` } : undefined;
}

/**
 * Slots so small that a chat does not fit: llama.cpp divides the context among them, unless they share one cache.
 * https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md, 2026-11-30
 */
function smallSlots(flags: ReadonlyMap<string, Flag>, { env }: Container): FlagConflict | undefined {
  const slots = flags.get('parallel') ?? flags.get('np');
  const context = flags.get('ctx-size') ?? flags.get('c');
  const [count, length] = [slots, context].map((one) =>
    /^[1-9]\d{0,6}$/.test(one?.value ?? '') ? Number(one?.value) : Number.NaN,
  );
  const isShared =
    [...flags.keys()].some((name) => /^(?:kvu$|kv-unified$|embd|embedding|rerank|pooling$)/.test(name)) ||
    env.some(({ name }) => /^LLAMA_ARG_(?:KV_UNIFIED|EMBEDDINGS|RERANKING|POOLING)$/.test(name));
  if (slots === undefined || count === undefined || length === undefined || isShared || !(length / count < 512))
    return undefined;
  const problem = `leaves each request ${Math.floor(length / count)} tokens of --ctx-size ${length}`;
  return count < 2 ? undefined : { flag: slots, problem, result: 'longer ones are rejected' };
}
