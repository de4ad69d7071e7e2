import type { FlagMeaning } from '../catalog/flag-records.ts';
import type { ModelShape } from '../catalog/index.ts';
import { unsplitWordsOf, wordsOf } from '../command/name-words.ts';
import { findNodeCounts, type ProcessInput } from '../command/processes.ts';
import { countOf, isOn } from '../command/setting-values.ts';
import { lastSetting, readTrainerSettings, type TrainerSettings } from '../command/training-flags.ts';
import { requestsAccelerators } from './accelerators.ts';
import { processInput } from './process-input.ts';
import { type TrainedModel, trainedModel } from './trained-model.ts';
import { goalOf } from './training-goal.ts';
import { devicesOf, engineOf, offloadOf, shardedOf, stageInName, stageOf } from './training-layout.ts';
import {
  adapterOf,
  attentionOf,
  optimizerIn,
  precisionOf,
  recomputationOf,
  stepsInBackward,
} from './training-method.ts';
import type { Precision, TrainingSettings } from './training-settings.ts';
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
  /** The sequence length is a limit: the data can be shorter. */
  readonly limitsLength: boolean;
  /** All settings as written, for changes of single flags. */
  readonly written: TrainerSettings;
}

/** Why the memory of a training container is unknown; of a known model, with what is known of the run. */
export type NoTrainingRun =
  | { readonly kind: 'notTraining' | 'unnamed' }
  | { readonly kind: 'devices' | 'divided' | 'precision'; readonly known: KnownRun }
  | { readonly kind: 'noShape'; readonly name: string }
  | { readonly kind: 'unread' | 'setting'; readonly name: string; readonly known?: KnownRun };

/** A known model, with settings in which an unknown precision is 16 bits and an unknown number of devices is 1. */
export interface KnownRun {
  readonly name: string;
  readonly shape: ModelShape;
  readonly settings: TrainingSettings;
}

export type Trained =
  | { readonly run: TrainingRun; readonly unknown: null }
  | { readonly run: null; readonly unknown: NoTrainingRun };

/** What a container trains, by its command line, its variables and the files that it mounts; or why that is unknown. */
export function trainingRun(container: Container, workload: Workload): Trained {
  if (workload.role !== 'training' || container.type !== 'app') return without({ kind: 'notTraining' });
  const input = processInput(container);
  const written = readTrainerSettings(input, [...container.scripts, ...(container.settingsFiles ?? [])]);
  const model = trainedModel(written, container);
  const { shape } = model;
  // torchtitan's own files are presets, and a file's name can say how DeepSpeed is set up.
  const [unread] = written.unread.filter((path) => !stageInName.test(path) && !path.includes('train_configs'));
  if (shape === null || shape.layers === 0 || !stacks.has(shape.kind)) {
    if (model.name !== '') return without({ kind: 'noShape', name: model.name });
    return without(unread === undefined ? { kind: 'unnamed' } : { kind: 'unread', name: unread });
  }
  const image = container.image?.value ?? '';
  const named = [
    image,
    ...fileWords(written),
    ...written.words.flatMap(({ text }) => (text.startsWith('-') ? [] : text)),
  ];
  const hints = new Set(named.flatMap((one) => [...wordsOf(one), ...unsplitWordsOf(one)]));
  // `fine-tune.py` is not torchtune.
  if (!written.words.some((word) => word.text === 'tune')) hints.delete('tune');
  if (runsMegatronSwift(written)) hints.add('swift');
  const text = (means: FlagMeaning) => lastSetting(written, means)?.value?.toLowerCase();
  const stage = stageOf(written, named);
  const hidden = enumerations.map((means) => lastSetting(written, means)).find((one) => one && one.value === undefined);
  const devices = devicesWith(input, workload);
  const engine = engineOf(written, hints, stage);
  const adapter = adapterOf(written, hints, model.bits);
  const precision = precisionOf(written, engine, hints, adapter) ?? loadedPrecision(written, shape);
  const count = (means: FlagMeaning) => countOf(lastSetting(written, means));
  const size = (means: FlagMeaning) => Math.max(1, count(means) ?? 1);
  const isTitan = hints.has('torchtitan');
  const settings: TrainingSettings = {
    batch: count('device-batch'),
    sequence: count('sequence-length'),
    precision: precision ?? 'half',
    engine,
    sharded: shardedOf(written, engine, stage, hints),
    offload: offloadOf(written, hints),
    recomputation: recomputationOf(written, hints, engine !== 'megatron' && keepsLittle(hints, devices ?? 1)),
    adapter,
    optimizer: optimizerIn(written),
    tensor: size('tensor-split'),
    sequenceParallel: isTitan || written.settings.some(({ name, value }) => isSequence.test(name) && value !== 'false'),
    pipeline: size('pipeline-split'),
    context: size('context-split'),
    expert: size('expert-split'),
    devices: devices ?? 1,
    attention: hints.has('unsloth') && writesScores.test(shape.name) ? 'eager' : attentionOf(text('attention-kernel')),
    loss:
      fusesLoss(written) || (hints.has('tune') && !namesWholeLoss(written)) || hints.has('unsloth')
        ? 'chunked'
        : 'whole',
    stepInBackward: stepsInBackward(written),
    ...(upcasts(hints, model) ? { upcast: true } : {}),
    ...(count('gradient-accumulation') === 1 ? { onePass: true } : {}),
    ...goalOf(written),
  };
  const known = { name: model.name, shape, settings };
  if (engine === 'torch' && dividesModel(written, hints, workload)) return without({ kind: 'divided', known });
  if (unread !== undefined) return without({ kind: 'unread', name: unread, known });
  if (hidden !== undefined) return without({ kind: 'setting', name: hidden.written, known });
  if (devices === null) return without({ kind: 'devices', known });
  if (precision === undefined) return without({ kind: 'precision', known });
  const run = {
    ...known,
    accumulation: count('gradient-accumulation'),
    globalBatch: count('global-batch'),
    steps: count('total-steps'),
    limitsLength: limitsLength(written),
    written,
  };
  return { run, unknown: null };
}

/**
 * SWIFT's program for Megatron: `megatron sft`. It takes the type of weights from the model and divides the states:
 * https://github.com/modelscope/ms-swift/blob/main/swift/megatron/argument/megatron_args.py
 */
function runsMegatronSwift({ words }: TrainerSettings): boolean {
  return words.some(({ text }, index) => text === 'megatron' && megatronTasks.has(words[index + 1]?.text ?? ''));
}

const megatronTasks: ReadonlySet<string> = new Set(['pt', 'sft', 'rlhf']);

/** Models that Unsloth runs without fused attention: https://github.com/unslothai/unsloth/blob/main/unsloth/models/loader.py, DISABLE_SDPA_MODEL_NAMES */
const writesScores = /\/gemma-3-\d/;

/** Models that are one stack of layers. */
const stacks: ReadonlySet<ModelShape['kind']> = new Set(['language', 'embedding', 'reranker', 'encoder'] as const);

/** Whether sequences are cut at a length (`max_length`, `cutoff_len`) without being packed or padded to it. */
function limitsLength(written: TrainerSettings): boolean {
  const words = wordsOf(lastSetting(written, 'sequence-length')?.written ?? '');
  return (
    words.some((word) => word === 'max' || word === 'cutoff') &&
    !written.settings.some(({ name, value }) => fillsSequences.test(name) && isOn(value?.toLowerCase()))
  );
}

const fillsSequences = /(?:^|[.-])packing$|(?:^|\.)pad-to-/;

const isSequence = /(?:^|\.)sequence-parallel$/;

/** Whether a program recomputes activations unless a setting turns that off; LitGPT does on several devices. */
function keepsLittle(hints: ReadonlySet<string>, devices: number): boolean {
  const known = ['unsloth', 'llamafactory', 'swift', 'torchtitan', 'tune'];
  return known.some((word) => hints.has(word)) || (hints.has('litgpt') && devices > 1);
}

/**
 * Whether a quantized model is prepared with PEFT's function, which gives 32 bits to all weights in 16 except those of GPTQ:
 * https://github.com/huggingface/peft/blob/012c0d5a9674/src/peft/utils/other.py
 */
function upcasts(hints: ReadonlySet<string>, { name }: TrainedModel): boolean {
  return !/gptq|awq|int4|int8/i.test(name) && !ownPreparation.some((word) => hints.has(word));
}

/** Programs that prepare quantized models in another way. */
const ownPreparation = 'axolotl unsloth llamafactory swift tune litgpt torchtitan nemo megatron'.split(' ');

/** The devices of all nodes that a launcher in a single pod waits for: the other nodes are other objects. */
function devicesWith(input: ProcessInput, workload: Workload): number | null {
  const own = devicesOf(workload);
  const [pods, ...others] = workload.podSets.filter(requestsAccelerators).map((podSet) => podSet.pods.max);
  const nodes = findNodeCounts(input).map(({ count }) => (typeof count === 'number' ? count : 1));
  return own === null || pods !== 1 || others.length > 0 ? own : own * Math.max(1, ...nodes);
}

/** Words for programs that start a process for each device. */
const launchers = ['accelerate', 'deepspeed', 'distributed', 'mpirun', 'torchrun'];

/** Whether one process divides the model among several devices: SWIFT's without NPROC_PER_NODE, and any with `device_map="auto"`. */
function dividesModel({ settings }: TrainerSettings, hints: ReadonlySet<string>, { podSets }: Workload): boolean {
  const [perPod] = podSets.filter(requestsAccelerators).map(({ accelerators }) => accelerators[0]?.devices ?? 0);
  if (perPod === undefined || perPod < 2 || launchers.some((word) => hints.has(word))) return false;
  const processes = settings.filter(({ name }) => /(?:^|\.)nproc-per-node$/.test(name)).at(-1);
  const isMapped = settings.some(({ name, value }) => /(?:^|\.)device-map$/.test(name) && /^auto$/i.test(value ?? ''));
  if (processes === undefined) return isMapped || hints.has('swift');
  return hints.has('swift') && Number(processes.value) < perPod;
}

/** Transformers' trainer loads models as they are published; older ones are in 32 bits. */
function loadedPrecision({ settings }: TrainerSettings, { format }: ModelShape): Precision | undefined {
  const isTrainer = settings.some(({ name }) => name === 'per-device-train-batch-size');
  return isTrainer && format === 'fp32' ? 'full' : undefined;
}

/** A setting or a plugin fuses the output layer with the loss. Axolotl's plugin for that is on unless a setting turns it off. */
function fusesLoss(written: TrainerSettings): boolean {
  const set = lastSetting(written, 'loss-kernel')?.value?.toLowerCase();
  if (set !== undefined) return isOn(set);
  return written.settings.some(
    ({ name, value }) => /(?:^|\.)plugins$/.test(name) && /cut_?cross_?entropy/i.test(value ?? ''),
  );
}

/** torchtune's losses divide the tokens, PyTorch's do not: `loss=torch.nn.CrossEntropyLoss`. */
function namesWholeLoss(written: TrainerSettings): boolean {
  return written.settings.some(
    ({ name, value }) => /^loss(?:\.[-_]component[-_])?$/.test(name) && /^torch\.nn\.\w+$/.test(value ?? ''),
  );
}

/** Settings with known words as values: an expansion leaves the estimate open. */
const enumerations: readonly FlagMeaning[] = ['zero-stage', 'offload', 'adapter', 'base-bits', 'optimizer'];

function without(unknown: NoTrainingRun): Trained {
  return { run: null, unknown };
}

/** The paths of settings files, whose names often say what is in them: `ds_zero3_offload.json`, `llama3/8B_lora`. */
function fileWords({ settings }: TrainerSettings): readonly string[] {
  return settings.flatMap(({ name, value }) =>
    /(?:^|[.-])(?:config|deepspeed|recipe|strategy)(?:$|-(?:file|name)$)/.test(name) && value !== undefined
      ? [value]
      : [],
  );
}
