import { wordsOf } from '../command/name-words.ts';
import { countOf, isOn } from '../command/setting-values.ts';
import { lastSetting, type TrainerSetting, type TrainerSettings } from '../command/training-flags.ts';
import type { Adapter, Engine, Optimizer, Precision, TrainingSettings } from './training-settings.ts';

// What is trained, in which numbers, and by which optimizer.

export function recomputationOf(
  written: TrainerSettings,
  hints: ReadonlySet<string>,
  byDefault: boolean,
): TrainingSettings['recomputation'] {
  const kept = recomputed(written, byDefault, hints.has('torchtitan'));
  return kept === 'full' && offloadsInputs(written, hints) ? 'offloaded' : kept;
}

/** Unsloth's checkpoints, by its default or by name, and activation offloading of TRL, torchtune and axolotl. */
function offloadsInputs(written: TrainerSettings, hints: ReadonlySet<string>): boolean {
  const value = lastSetting(written, 'recomputation')?.value?.toLowerCase();
  if (value === undefined ? hints.has('unsloth') : /^(?:unsloth|offload)/.test(value)) return true;
  return written.settings.some((one) => offloadName.test(one.name) && isOn(one.value?.toLowerCase()));
}

const offloadName = /(?:^|[.-])(?:activations?-offload(?:ing)?|offload-activations?|use-unsloth(?:-gc)?)$/;

function recomputed(written: TrainerSettings, byDefault: boolean, isTitan: boolean): TrainingSettings['recomputation'] {
  const setting = lastSetting(written, 'recomputation');
  const value = setting?.value?.toLowerCase();
  if (setting === undefined) return byDefault ? (isTitan ? 'selective' : 'full') : 'none';
  if (wordsOf(setting.written).includes('disable')) return isOn(value) ? 'none' : 'full';
  if (/recompute-activations$/.test(setting.name) || value === 'selective') return 'selective';
  return isOn(value) ? 'full' : 'none';
}

export function adapterOf(
  written: TrainerSettings,
  hints: ReadonlySet<string>,
  published: number | undefined,
): Adapter | null {
  const kinds = written.settings.filter((setting) => lastSetting({ settings: [setting] }, 'adapter') !== undefined);
  const values = kinds.map(({ value = '' }) => value.toLowerCase());
  const full = values.some((value) => /^(?:full|freeze)$/.test(value));
  const rank = countOf(lastSetting(written, 'adapter-rank'));
  const named = ['lora', 'qlora', 'dora', 'qdora', 'peft'].filter((word) => hints.has(word));
  const isQuantized = kinds.some(({ name, value }) => /q-?lora$/.test(name) && isOn(value?.toLowerCase()));
  const bits = bitsOf(lastSetting(written, 'base-bits'));
  const isLora = values.some((value) => /lora|dora|^true$|adapter/.test(value)) || rank !== null || named.length > 0;
  // Weights in few bits cannot be trained themselves: https://huggingface.co/docs/transformers/main/en/quantization/bitsandbytes
  const isFrozen = bits !== undefined || publishedBits(published) === 4;
  if (full || !(isLora || isFrozen)) return null;
  const targets = lastSetting(written, 'adapter-targets')?.value?.toLowerCase() ?? '';
  const quantized =
    isQuantized || values.some((value) => /^qlora|^qdora/.test(value)) || named.some((word) => word.startsWith('q'));
  return {
    rank: rank ?? 8,
    targets: targetsOf(targets),
    bits: bits ?? (quantized ? 4 : publishedBits(published)),
    embeddings: /embed|lm_head/.test(targets),
  };
}

function publishedBits(bits = 16): Adapter['bits'] {
  return bits < 6 ? 4 : bits < 12 ? 8 : 16;
}

function targetsOf(listed: string): Adapter['targets'] {
  // Shared experts and routers are a small part of a layer with experts.
  const matrices = listed.split(/[\s,]+/).filter((one) => !/shared_expert|router|(?:^|\.)gate$/.test(one));
  const text = matrices.join(',');
  if (/all|gate|up_proj|mlp|fc|w1|true/.test(text)) return 'all';
  return /^$|k_proj|o_proj|qkv|attn/.test(text) ? 'attention' : 'query-value';
}

function bitsOf(setting: TrainerSetting | undefined): Adapter['bits'] | undefined {
  const value = setting?.value?.toLowerCase() ?? '';
  if (setting === undefined || !isOn(value)) return undefined;
  const text = `${setting.name} ${value}`;
  return /4/.test(text) ? 4 : /8/.test(text) ? 8 : undefined;
}

/** Undefined if nothing says it and the weights' type matters. */
export function precisionOf(
  { settings }: TrainerSettings,
  engine: Engine,
  hints: ReadonlySet<string>,
  adapter: Adapter | null,
): Precision | undefined {
  const found = settings.filter((setting) => lastSetting({ settings: [setting] }, 'precision') !== undefined);
  const is = (pattern: RegExp, kinds: RegExp) =>
    found.some(({ name, value = '' }) => kinds.test(name) && pattern.test(value.toLowerCase()));
  const is16 = /^(?:true|1|yes|auto|bf16|fp16|bfloat16|float16|torch\.b?float16|16|bf16-mixed|16-mixed)$/;
  const mixed = is(is16, /(?:^|[.-])(?:bf16|fp16)(?:$|\.|-enabled)|mixed-precision|(?:^|\.)precision$/);
  const pure = is(
    /^(?:true|bf16|fp16|bfloat16|float16|torch\.b?float16|bf16-true|16-true)$/,
    /dtype|pure|full-eval|^precision$/,
  );
  const isPure = is(/true$/, /^precision$|pure/) || is(/16$/, /dtype/);
  const loadsIn16 = ['axolotl', 'swift', 'unsloth'].some((word) => hints.has(word));
  // Both keep a copy of the trained weights in 32 bits.
  if (engine === 'deepspeed' || engine === 'megatron')
    return mixed || pure || loadsIn16 ? 'mixed' : adapter === null ? undefined : 'half';
  if (loadsIn16) return 'half';
  if (hints.has('torchtitan')) return 'mixed';
  if (isPure && !(mixed && engine === 'fsdp')) return 'half';
  if (mixed) return adapter === null ? 'mixed' : 'half';
  if (is(/32/, /./)) return 'full';
  return hints.has('tune') || adapter?.bits === 4 ? 'half' : undefined;
}

/** The optimizer of a run. GaLore and APOLLO keep their states in few dimensions, whatever optimizer is named next to them. */
export function optimizerIn(written: TrainerSettings): Optimizer {
  const projects = written.settings.some(({ name, value }) => projection.test(name) && isOn(value?.toLowerCase()));
  return projects ? 'low-rank' : optimizerOf(lastSetting(written, 'optimizer')?.value?.toLowerCase() ?? '');
}

const projection = /(?:^|\.)use-(?:galore|apollo)$/;

/** Whether each weight is updated as soon as its gradient exists. */
export function stepsInBackward(written: TrainerSettings): boolean {
  return (
    /layerwise|per_?layer/.test(lastSetting(written, 'optimizer')?.value?.toLowerCase() ?? '') ||
    written.settings.some(({ name, value }) => inBackward.test(name) && isOn(value?.toLowerCase()))
  );
}

const inBackward = /(?:^|\.)(?:optimizer-in-bwd|(?:galore|apollo)-layerwise)$/;

/** The optimizer that a setting names, by its words. */
function optimizerOf(text: string): Optimizer {
  const is = (word: string) => text.includes(word);
  if (/galore|apollo/.test(text)) return 'low-rank';
  const small = /8_?bit|fp8/.test(text);
  if (is('adafactor')) return 'adafactor';
  if (is('lion')) return small ? 'lion-8bit' : 'lion';
  if (is('muon')) return 'muon';
  if (/sgd/.test(text)) return 'sgd';
  if (/4_?bit/.test(text)) return 'adamw-4bit';
  if (is('paged')) return small ? 'paged-adamw-8bit' : 'paged-adamw';
  return small ? 'adamw-8bit' : is('fused') ? 'adamw-fused' : 'adamw';
}

/** How attention is computed: `eager` stores the scores of all pairs of tokens. */
export function attentionOf(value: string | undefined): TrainingSettings['attention'] {
  return value === 'eager' || value === 'false' ? 'eager' : 'fused';
}
