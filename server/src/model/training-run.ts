import type { FlagMeaning } from '../catalog/flag-records.ts';
import type { ModelShape } from '../catalog/index.ts';
import { unsplitWordsOf, wordsOf } from '../command/name-words.ts';
import { recognizeProgram } from '../command/programs.ts';
import { allCommands, baseName, readCommandLine } from '../command/shell.ts';
import {
  lastSetting,
  readTrainerSettings,
  type TrainerSetting,
  type TrainerSettings,
} from '../command/training-flags.ts';
import { requestsAccelerators } from './accelerators.ts';
import { processInput } from './process-input.ts';
import { trainedModel } from './trained-model.ts';
import type { Adapter, Engine, Offload, Optimizer, Precision, Sharded, TrainingSettings } from './training-settings.ts';
import type { Container, Workload } from './workload.ts';

/** What a container trains, and how. */
export interface TrainingRun {
  /** As written. */
  readonly name: string;
  readonly shape: ModelShape;
  readonly settings: TrainingSettings;
  /** Forward passes per step; null: unknown. */
  readonly accumulation: number | null;
  /** Sequences per step over all devices, if a setting says so. */
  readonly globalBatch: number | null;
  readonly steps: number | null;
  /** All settings as written, for changes of single flags. */
  readonly written: TrainerSettings;
  readonly program: string | null;
}

/** Why the memory of a training container is unknown. */
export type NoTrainingRun =
  | { readonly kind: 'notTraining' | 'unnamed' | 'devices' | 'precision' }
  | { readonly kind: 'noShape' | 'unread' | 'setting'; readonly name: string };

export type Trained =
  | { readonly run: TrainingRun; readonly unknown: null }
  | { readonly run: null; readonly unknown: NoTrainingRun };

/** What a container trains, by its command line, its variables and the files that it mounts; or why that is unknown. */
export function trainingRun(container: Container, workload: Workload): Trained {
  if (workload.role !== 'training' || container.type !== 'app') return without({ kind: 'notTraining' });
  const input = processInput(container);
  const written = readTrainerSettings(input, [...container.scripts, ...(container.settingsFiles ?? [])]);
  const model = trainedModel(written);
  if (model.shape === null)
    return without(model.name === '' ? { kind: 'unnamed' } : { kind: 'noShape', name: model.name });
  const image = container.image?.value ?? '';
  const named = [
    image,
    ...fileWords(written),
    ...written.words.flatMap(({ text }) => (text.startsWith('-') ? [] : text)),
  ];
  const hints = new Set(named.flatMap((one) => [...wordsOf(one), ...unsplitWordsOf(one)]));
  const text = (means: FlagMeaning) => lastSetting(written, means)?.value?.toLowerCase();
  const stage = stageOf(written, hints);
  const [unread] = written.unread.filter((path) => !/zero_?-?\d|stage_?-?\d|z\d/i.test(baseName(path)));
  if (unread !== undefined) return without({ kind: 'unread', name: unread });
  const hidden = enumerations.map((means) => lastSetting(written, means)).find((one) => one && one.value === undefined);
  if (hidden !== undefined) return without({ kind: 'setting', name: hidden.written });
  const devices = devicesOf(workload);
  if (devices === null) return without({ kind: 'devices' });
  const program = programOf(container);
  const engine = engineOf(written, hints, stage);
  const adapter = adapterOf(written, hints, model.bits);
  const precision = precisionOf(written, engine, hints, adapter);
  if (precision === undefined) return without({ kind: 'precision' });
  const count = (means: FlagMeaning) => countOf(lastSetting(written, means));
  const size = (means: FlagMeaning) => Math.max(1, count(means) ?? 1);
  const isTitan = hints.has('torchtitan');
  const settings: TrainingSettings = {
    batch: count('device-batch'),
    sequence: count('sequence-length'),
    precision,
    engine,
    sharded: shardedOf(written, engine, stage, hints),
    offload: offloadOf(written, hints),
    recomputation: recomputationOf(written, isTitan || keepsLittle.some((word) => hints.has(word)), isTitan),
    adapter,
    optimizer: optimizerOf(text('optimizer') ?? ''),
    tensor: size('tensor-split'),
    sequenceParallel: isTitan || written.settings.some(({ name, value }) => isSequence.test(name) && value !== 'false'),
    pipeline: size('pipeline-split'),
    context: size('context-split'),
    expert: size('expert-split'),
    devices,
    attention: attentionOf(text('attention-kernel')),
    loss: isOn(text('loss-kernel')) || hints.has('tune') || hints.has('unsloth') ? 'chunked' : 'whole',
    stepInBackward: written.settings.some(
      ({ name, value }) => name === 'optimizer-in-bwd' && isOn(value?.toLowerCase()),
    ),
  };
  const run = {
    name: model.name,
    shape: model.shape,
    settings,
    accumulation: count('gradient-accumulation'),
    globalBatch: count('global-batch'),
    steps: count('total-steps'),
    written,
    program,
  };
  return { run, unknown: null };
}

const isSequence = /(?:^|\.)sequence-parallel$/;

/** Programs that recompute activations unless they are asked not to. */
const keepsLittle = ['unsloth', 'llamafactory', 'swift'];

/** Settings with known words as values: an expansion leaves the estimate open. */
const enumerations: readonly FlagMeaning[] = ['zero-stage', 'offload', 'adapter', 'base-bits', 'optimizer'];

function without(unknown: NoTrainingRun): Trained {
  return { run: null, unknown };
}

/** The paths of settings files, whose names often say what is in them: `ds_zero3_offload.json`, `llama3/8B_lora`. */
function fileWords({ settings }: TrainerSettings): readonly string[] {
  return settings.flatMap(({ name, value }) =>
    /(?:^|-)(?:config|deepspeed|recipe)(?:$|-(?:file|name)$)/.test(name) && value !== undefined ? [value] : [],
  );
}

function programOf(container: Container): string | null {
  const { command, args, env } = processInput(container);
  return recognizeProgram(allCommands(readCommandLine(command, args, env).statements))?.program ?? null;
}

/** All devices of the pods that train; null if a number is unknown. */
function devicesOf({ podSets }: Workload): number | null {
  let devices = 0;
  for (const podSet of podSets.filter(requestsAccelerators)) {
    const { min, max } = podSet.pods;
    const [first, ...others] = podSet.accelerators;
    if (first === undefined || others.length > 0 || first.devices === null || first.form !== 'whole') return null;
    if (min === null || min !== max) return null;
    devices += first.devices * min;
  }
  return devices > 0 ? devices : null;
}

function countOf(setting: TrainerSetting | undefined): number | null {
  const [, digits, unit] = /^(\d{1,9})(k?)$/i.exec(setting?.value ?? '') ?? [];
  const value = Number(digits ?? 0) * (unit ? 1024 : 1);
  return value > 0 ? value : null;
}

const isOn = (value: string | undefined) =>
  value !== undefined && !/^(?:false|no|none|off|0|disabled|null)?$/.test(value);

/** DeepSpeed's ZeRO stage: a setting, else the name of its file (`zero3`, `ds_z3_config.json`). */
function stageOf(written: TrainerSettings, hints: ReadonlySet<string>): number | undefined {
  const set = lastSetting(written, 'zero-stage')?.value;
  if (set !== undefined && /^[0-3]$/.test(set)) return Number(set);
  const named = [...hints].flatMap((word) => /^(?:zero|z|stage)([0-3])$/.exec(word)?.[1] ?? []);
  const words = hints.has('deepspeed') || hints.has('zero') ? [...hints].filter((word) => /^[1-3]$/.test(word)) : [];
  const [only] = [...named, ...words];
  return only === undefined ? undefined : Number(only);
}

function engineOf(written: TrainerSettings, hints: ReadonlySet<string>, stage: number | undefined): Engine {
  const kind = lastSetting(written, 'sharding')?.value?.toLowerCase() ?? '';
  if (stage !== undefined || kind === 'deepspeed') return 'deepspeed';
  if (
    written.settings.some(({ name }) => /(?:^|[.-])tensor-model-parallel-size$|^use-distributed-optimizer$/.test(name))
  )
    return 'megatron';
  if ([...hints].some((word) => /^(?:megatron|nemo)/.test(word)) || (hints.has('gpt') && hints.has('pretrain')))
    return 'megatron';
  const sharding = written.settings.some(
    ({ name, value }) => /(?:^|[.-])fsdp/.test(name) && isOn(value?.toLowerCase()),
  );
  const launched = ['torchtitan', 'tune', 'litgpt'].some((word) => hints.has(word));
  return sharding || kind === 'fsdp' || hints.has('fsdp') || launched ? 'fsdp' : 'torch';
}

function shardedOf(
  written: TrainerSettings,
  engine: Engine,
  stage: number | undefined,
  hints: ReadonlySet<string>,
): Sharded {
  const value = lastSetting(written, 'sharding')?.value?.toLowerCase() ?? '';
  if (engine === 'deepspeed')
    return (['nothing', 'optimizer', 'gradients', 'parameters'] as const)[stage ?? 2] ?? 'nothing';
  if (engine === 'megatron') return isOn(value) || hints.has('nemo') || hints.has('swift') ? 'optimizer' : 'nothing';
  if (engine === 'torch') return 'nothing';
  if (/grad_op|optim_grads$|^2$/.test(value)) return 'gradients';
  if (/^no_shard|^3$|^optim$/.test(value)) return value === 'optim' ? 'optimizer' : 'nothing';
  return 'parameters';
}

function offloadOf({ settings }: TrainerSettings, hints: ReadonlySet<string>): Offload {
  const on = settings.filter((setting) => {
    const { value } = setting;
    return lastSetting({ settings: [setting] }, 'offload') !== undefined && isOn(value?.toLowerCase());
  });
  const words = on.flatMap(({ written }) => wordsOf(written));
  if (words.some((word) => /^(?:params?|parameters|fsdp)$/.test(word))) return 'all';
  if (on.length === 0) return hints.has('offload') ? 'all' : 'nothing';
  return words.includes('optimizer') ? 'optimizer' : 'all';
}

function recomputationOf(
  written: TrainerSettings,
  byDefault: boolean,
  isTitan: boolean,
): TrainingSettings['recomputation'] {
  const setting = lastSetting(written, 'recomputation');
  const value = setting?.value?.toLowerCase();
  if (setting === undefined) return byDefault ? (isTitan ? 'selective' : 'full') : 'none';
  if (wordsOf(setting.written).includes('disable')) return isOn(value) ? 'none' : 'full';
  if (/recompute-activations$/.test(setting.name) || value === 'selective') return 'selective';
  return isOn(value) ? 'full' : 'none';
}

function adapterOf(
  written: TrainerSettings,
  hints: ReadonlySet<string>,
  published: number | undefined,
): Adapter | null {
  const kinds = written.settings.filter((setting) => lastSetting({ settings: [setting] }, 'adapter') !== undefined);
  const values = kinds.map(({ value = '' }) => value.toLowerCase());
  const full = values.some((value) => /^(?:full|freeze)$/.test(value));
  const rank = countOf(lastSetting(written, 'adapter-rank'));
  const named = ['lora', 'qlora', 'dora', 'qdora', 'peft'].filter((word) => hints.has(word));
  const isLora = values.some((value) => /lora|dora|^true$|adapter/.test(value)) || rank !== null || named.length > 0;
  if (full || !isLora) return null;
  const targets = lastSetting(written, 'adapter-targets')?.value?.toLowerCase() ?? '';
  const quantized = values.some((value) => /^qlora|^qdora/.test(value)) || named.some((word) => word.startsWith('q'));
  return {
    rank: rank ?? 8,
    targets: targetsOf(targets),
    bits: bitsOf(lastSetting(written, 'base-bits')) ?? (quantized ? 4 : publishedBits(published)),
    embeddings: /embed|lm_head/.test(targets),
  };
}

function publishedBits(bits = 16): Adapter['bits'] {
  return bits < 6 ? 4 : bits < 12 ? 8 : 16;
}

function targetsOf(text: string): Adapter['targets'] {
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
function precisionOf(
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
  if (engine === 'deepspeed' || engine === 'megatron')
    return mixed || pure ? 'mixed' : adapter === null ? undefined : 'half';
  if (hints.has('axolotl') || hints.has('swift') || hints.has('unsloth')) return 'half';
  if (hints.has('torchtitan')) return 'mixed';
  if (isPure && !(mixed && engine === 'fsdp')) return 'half';
  if (mixed) return adapter === null ? 'mixed' : 'half';
  if (is(/32/, /./)) return 'full';
  return hints.has('tune') || adapter?.bits === 4 ? 'half' : undefined;
}

function optimizerOf(text: string): Optimizer {
  const is = (word: string) => text.includes(word);
  const small = /8_?bit/.test(text);
  if (is('adafactor')) return 'adafactor';
  if (is('lion')) return small ? 'lion-8bit' : 'lion';
  if (is('muon')) return 'muon';
  if (/sgd/.test(text)) return 'sgd';
  return is('paged') ? (small ? 'paged-adamw-8bit' : 'paged-adamw') : small ? 'adamw-8bit' : 'adamw';
}

function attentionOf(value: string | undefined): TrainingSettings['attention'] {
  return value === 'eager' || value === 'false' ? 'eager' : 'fused';
}
