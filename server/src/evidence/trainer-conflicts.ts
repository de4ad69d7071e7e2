import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { allCommands, baseName, type SimpleCommand, type Word } from '../command/shell.ts';
import { settingsIn } from '../command/training-flags.ts';
import { countIn } from '../model/count.ts';
import { once } from '../model/once.ts';
import { commandLineOf } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { shorten } from '../yaml/shorten.ts';
import { namedSettings } from './settings-files.ts';
import { ownFlags } from './torchrun-nodes.ts';
import { launchOf } from './unmet-nodes.ts';

/** Settings of a trainer or its launcher that exclude each other: it exits with an error before the first step. */
export interface TrainerConflict {
  readonly words: readonly [Word, Word];
  /** What excludes what. */
  readonly problem: string;
  readonly program: string;
  /** What follows, if the program does not exit at once. */
  readonly effect?: string;
  /** The code of the program may set what is not written. */
  readonly isLikely?: true;
}

/** The settings of one run that exclude each other; undefined if none do. */
export const trainerConflict = once((container: Container): TrainerConflict | undefined => {
  for (const command of allCommands(commandLineOf(container).statements)) {
    const found = launchConflict(command) ?? runConflict(command, container);
    if (found !== undefined) return found;
  }
  return undefined;
});

/** Flags of torchrun, accelerate and deepspeed, which are before the script. */
function launchConflict(command: SimpleCommand): TrainerConflict | undefined {
  const own = ownFlags(command);
  const alone = own.find(({ name, value }) => name === 'standalone' && value !== 'false');
  const nodes = own.find(({ name, dynamic }) => name === 'nnodes' && !dynamic);
  // A range of nodes starts with its minimum.
  const least = countIn(nodes?.value?.split(':')[0]);
  if (alone !== undefined && nodes !== undefined && (least ?? 0) > 1)
    return {
      ...conflict([alone, nodes], `--standalone starts a single-node job, but --nnodes is ${nodes.value}`, 'torchrun'),
      effect: 'waits for nodes that never join',
    };
  const { program, flags } = launchOf(command);
  if (program === 'accelerate') {
    const [first, ...others] = flags.filter(({ name, word }) => backends.has(name) && word.text.startsWith('--'));
    const second = others.find(({ name }) => name !== first?.name);
    if (first !== undefined && second !== undefined)
      return conflict([first, second], `--${first.written} and --${second.written} are mutually exclusive`, program);
    const many = flags.find(({ name }) => name === 'multi-gpu');
    const count = flags.find(({ name, dynamic }) => name === 'num-processes' && !dynamic);
    if (many !== undefined && count?.value === '1')
      return conflict([many, count], '--multi_gpu needs several processes, but --num_processes is 1', program);
  }
  if (program === 'deepspeed') {
    const chosen = flags.find(({ name }) => name === 'include' || name === 'exclude');
    const count = flags.find(({ name }) => name === 'num-gpus' || name === 'num-nodes');
    if (chosen !== undefined && count !== undefined)
      return conflict([chosen, count], `--${chosen.written} and --${count.written} are mutually exclusive`, program);
  }
  return undefined;
}

/** https://github.com/huggingface/accelerate/blob/main/src/accelerate/commands/launch.py */
const backends = wordSet('multi-gpu cpu tpu use-deepspeed use-fsdp');

/** The settings of the trainer itself, on its command line or in a file that it reads from a ConfigMap. */
function runConflict({ words }: SimpleCommand, container: Container): TrainerConflict | undefined {
  const programs = words.map(({ text }) => baseName(text));
  const onLine = readFlags(words).filter(({ isVariable }) => !isVariable);
  const files = namedSettings(container).filter(({ word }) => words.includes(word));
  const known = files.map(({ word }) => word);
  const run: Run = new Map([...files.flatMap(({ flags }) => flags), ...onLine].map((flag) => [flag.name, flag]));
  if (programs.some((name) => name === 'axolotl' || name.startsWith('axolotl.'))) return axolotlConflict(run);
  const isTransformers = ofTransformers.some((name) => run.has(name)) || programs.some((name) => ownProgram.test(name));
  const isMegatron = run.has('micro-batch-size') && run.has('global-batch-size');
  return (
    (programs.some((name) => /^llama-?factory-cli$/.test(name)) ? factoryConflict(run) : undefined) ??
    (isTransformers || isMegatron ? bothHalves(run) : undefined) ??
    (isTransformers ? (bestModelConflict(run, knowledgeOf(words, known)) ?? shardedConflict(run)) : undefined) ??
    engineConflict(onLine, container)
  );
}

/**
 * Whether settings that are not written have their default: not if a variable or a file may hold them, and not for certain in somebody's own script.
 */
function knowledgeOf(words: readonly Word[], known: readonly Word[]): 'sure' | 'likely' | 'open' {
  const flags = readFlags(words);
  const nameOf = (word: Word) => flags.find(({ valueWord }) => valueWord === word)?.name;
  const isOpen = words.some((word) => {
    if (word.dynamic && nameOf(word) === undefined) return true;
    return settingsFile.test(word.text) && !known.includes(word) && !/deepspeed|fsdp/.test(nameOf(word) ?? '');
  });
  if (isOpen) return 'open';
  return words.some(({ text }) => ownProgram.test(baseName(text))) ? 'sure' : 'likely';
}

const settingsFile = /\.(?:ya?ml|json|toml)$|^@/;

/** LLaMA-Factory, TRL, and the examples of Transformers, which hand all settings over. https://github.com/huggingface/transformers/tree/main/examples/pytorch */
const ownProgram = new RegExp(
  `^(?:llama-?factory-cli|trl|run_(?:${oneOf(
    'clm mlm fim plm glue xnli classification ner qa seq2seq_qa swag summarization translation mae mim',
    '(?:audio|image)_classification speech_recognition\\w* semantic_segmentation object_detection',
  )})\\.py)$`,
);

/** https://github.com/huggingface/transformers/blob/main/src/transformers/training_args.py */
function bestModelConflict(run: Run, knowledge: ReturnType<typeof knowledgeOf>): TrainerConflict | undefined {
  const isSaid =
    (run.has('eval-strategy') || run.has('evaluation-strategy')) && savingNames.some((one) => run.has(one));
  if (!isSaid && knowledge === 'open') return undefined;
  const found = bestModel(run, isSaid || knowledge === 'sure');
  return found && { ...found, ...(!isSaid && knowledge === 'likely' && doubt) };
}

const savingNames = ['save-strategy', 'save-steps'];

const doubt = { isLikely: true, effect: 'exits at startup, unless its code sets others' } as const;

/** @param isSure whether the numbers of steps that are not written have their default */
function bestModel(run: Run, isSure: boolean): TrainerConflict | undefined {
  const best = isOn(run, 'load-best-model-at-end');
  const save = settingOf(run, 'save-strategy', 'steps');
  const evaluate = settingOf(run, 'eval-strategy', settingOf(run, 'evaluation-strategy', 'no'));
  if (best === undefined || save === undefined || save === 'best' || evaluate === undefined) return undefined;
  if (evaluate !== save) {
    const strategy = run.get('eval-strategy') ?? run.get('evaluation-strategy') ?? run.get('save-strategy') ?? best;
    const both = `saving (now ${save}) and evaluation (now ${evaluate})`;
    return conflict([best, strategy], `${best.written} needs the same strategy for ${both}`, theTrainer);
  }
  const saved = countIn(settingOf(run, 'save-steps', '500'));
  const evaluated = countIn(settingOf(run, 'eval-steps', settingOf(run, 'logging-steps', '500')));
  if (save !== 'steps' || !saved || !evaluated || saved % evaluated === 0) return undefined;
  const areWritten = run.has('save-steps') && (run.has('eval-steps') || run.has('logging-steps'));
  if (!areWritten && !isSure) return undefined;
  const steps = run.get('save-steps') ?? run.get('eval-steps') ?? best;
  const multiple = `save_steps (${saved}) to be a multiple of eval_steps (${evaluated})`;
  return conflict([best, steps], `${best.written} needs ${multiple}`, theTrainer);
}

/** https://github.com/huggingface/transformers/blob/main/src/transformers/trainer.py */
function shardedConflict(run: Run): TrainerConflict | undefined {
  const [sharded, engine] = [run.get('fsdp'), run.get('deepspeed')];
  if (sharded === undefined || engine === undefined || sharded.dynamic || engine.dynamic) return undefined;
  const isSharded = /^[a-z]/i.test(sharded.value ?? '') && !isOff(sharded.value);
  return isSharded && /\w\.json$/.test(engine.value ?? '')
    ? conflict([sharded, engine], 'fsdp and deepspeed are mutually exclusive', theTrainer)
    : undefined;
}

/** https://github.com/hiyouga/LLaMA-Factory/blob/main/src/llamafactory/hparams/parser.py */
function factoryConflict(run: Run): TrainerConflict | undefined {
  const [bits, type] = [run.get('quantization-bit'), run.get('finetuning-type')];
  if (bits === undefined || type === undefined || !/^(?:full|freeze)$/.test(type.value ?? '')) return undefined;
  const problem = `quantization_bit works only with adapters, but finetuning_type is ${type.value}`;
  return countIn(bits.value) ? conflict([type, bits], problem, 'LLaMA-Factory') : undefined;
}

/** https://github.com/axolotl-ai-cloud/axolotl/blob/main/src/axolotl/utils/schemas/validation.py */
function axolotlConflict(run: Run): TrainerConflict | undefined {
  const [adapter, eight] = [run.get('adapter'), isOn(run, 'load-in-8bit')];
  if (adapter?.value === 'qlora' && eight !== undefined)
    return conflict([adapter, eight], 'adapter qlora loads in 4 bits, but load_in_8bit is true', 'Axolotl');
  for (const kind of ['save', 'eval']) {
    const [first, second] = [run.get(`${kind}s-per-epoch`), run.get(`${kind}-steps`)];
    if (first !== undefined && second !== undefined && isSetTo(first) && isSetTo(second))
      return conflict([first, second], `${first.written} and ${second.written} are mutually exclusive`, 'Axolotl');
  }
  return undefined;
}

/** DeepSpeed's own file of settings. https://www.deepspeed.ai/docs/config-json/ */
function engineConflict(flags: readonly Flag[], container: Container): TrainerConflict | undefined {
  for (const { name, value, valueWord: word } of flags) {
    const file = /deepspeed/.test(name) ? container.settingsFiles?.find(({ path }) => path === value) : undefined;
    if (file === undefined || word === undefined) continue;
    const settings = settingsIn(file);
    const on = (key: string) => settings.some((one) => one.name === `${key}.enabled` && one.value === 'true');
    if (on('fp16') && on('bf16'))
      return {
        words: [word, word],
        problem: `${shorten(baseName(file.path), 30)} enables both fp16 and bf16`,
        program: 'DeepSpeed',
      };
  }
  return undefined;
}

/** The settings of one run by name. What is later takes precedence. */
type Run = ReadonlyMap<string, Flag>;

/** A switch that is on for certain. */
function isOn(run: Run, name: string): Flag | undefined {
  const flag = run.get(name);
  return flag !== undefined && !flag.dynamic && /^(?:true|1|yes)$/i.test(flag.value ?? 'true') ? flag : undefined;
}

/** The value of a setting, or its default; undefined if it is a variable. */
function settingOf(run: Run, name: string, otherwise: string | undefined): string | undefined {
  const flag = run.get(name);
  if (flag === undefined) return otherwise;
  return flag.dynamic ? undefined : flag.value?.toLowerCase();
}

function bothHalves(run: Run): TrainerConflict | undefined {
  const [first, second] = [isOn(run, 'fp16'), isOn(run, 'bf16')];
  if (first === undefined || second === undefined) return undefined;
  return conflict([first, second], `${first.written} and ${second.written} are mutually exclusive`, theTrainer);
}

const theTrainer = 'the trainer';

/** Settings that only the trainer of Transformers has. */
const ofTransformers = [
  ...['per-device-train-batch-size', 'per-device-eval-batch-size', 'load-best-model-at-end', 'num-train-epochs'],
  ...['eval-strategy', 'evaluation-strategy', 'save-total-limit', 'metric-for-best-model', 'overwrite-output-dir'],
];

function isSetTo({ value, dynamic }: Flag): boolean {
  return !dynamic && !isOff(value) && value !== '0';
}

function isOff(value: string | undefined): boolean {
  return value === undefined || /^(?:|false|null|none|no|~)$/i.test(value);
}

/** The words of two flags, in their order. Those of a file are at the word that names it. */
function conflict(flags: readonly [Flag, Flag], problem: string, program: string): TrainerConflict {
  const [first, last] = flags.map(({ word, valueWord }) => [word, valueWord ?? word] as const).sort(byPlace);
  return { words: [first?.[0] ?? flags[0].word, last?.[1] ?? flags[1].word], problem, program };
}

function byPlace([a]: readonly [Word, Word], [b]: readonly [Word, Word]): number {
  return a.item - b.item || a.start - b.start;
}
