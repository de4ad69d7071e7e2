import { imageOf, imageParts } from '../catalog/images.ts';
import { commandNamed, moduleNamed, type Use } from '../catalog/program-records.ts';
import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { once } from '../yaml/once.ts';
import { chosenTask } from './chosen-task.ts';
import { useByFlags, useByVariables } from './flag-use.ts';
import { readFlags } from './flags.ts';
import { pythonCode, useOfPython } from './inline-python.ts';
import { wordsOf } from './name-words.ts';
import { asProgram, byScriptFlags, byScriptName, byTrainingFlags, type RecognizedProgram } from './script-names.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand } from './shell.ts';
import type { Variable } from './variables.ts';
import { isShell, programWords } from './wrappers.ts';

export type { Use } from '../catalog/program-records.ts';
export type { RecognizedProgram } from './script-names.ts';
export { programWords } from './wrappers.ts';

/** What a container is for, by which program, and how certain that is; null: unknown. */
export interface ContainerUse {
  readonly use: Use | null;
  readonly program: string | null;
  readonly confidence: 'certain' | 'likely' | null;
}

/** What a container is for, by its command or, if that is inconclusive, by its image. */
export function containerUse(input: {
  readonly image?: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env?: readonly Variable[];
}): ContainerUse {
  const { image, command, args, env } = input;
  const commands = allCommands(readCommandLine(command, args, env).statements);
  const isEntrypoint = command.length === 0 || isEntrypointScript(command);
  const found =
    recognizeProgram(commands) ??
    (image === undefined || !isEntrypoint ? undefined : byImage(image)) ??
    useByAnyFlags(commands) ??
    useByVariables(env ?? []);
  return found ?? { use: null, program: null, confidence: null };
}

/** By the flags of each command on its own: the port of one and the parallel size of another are not those of a server. */
function useByAnyFlags(commands: readonly SimpleCommand[]): RecognizedProgram | undefined {
  const uses = commands.flatMap((one) => (setsVariables(one) ? [] : (useByFlags(readFlags(one.words)) ?? [])));
  return uses.find(({ use }) => use === 'training') ?? uses[0];
}

/** `export MODEL=a MAX_MODEL_LEN=1`: variables look like flags without dashes. */
function setsVariables({ words: [first] }: SimpleCommand): boolean {
  return /^(?:export|declare|local|readonly|typeset)$/.test(first?.text ?? '');
}

/**
 * The most significant program among the commands of a container. One that lists devices, or copies a model, decides only if nothing else
 * runs: scripts call it before or after their work.
 */
export function recognizeProgram(commands: readonly SimpleCommand[]): RecognizedProgram | undefined {
  let best: RecognizedProgram | undefined;
  let aside: RecognizedProgram | undefined;
  let isOther = false;
  for (const command of commands) {
    const words = programWords(command);
    const found = programOf(command);
    if (found === undefined) isOther ||= runsScript(words);
    else if (isAside(words)) aside ??= found;
    else if (best === undefined || weight(found) > weight(best)) best = found;
  }
  return best ?? (isOther ? undefined : aside);
}

/** The program of one command: most rules about containers ask for it. */
const programOf = once((command: SimpleCommand): RecognizedProgram | undefined => {
  const code = command.heredoc === undefined ? undefined : pythonCode(command);
  const words = programWords(command);
  const found = code === undefined ? recognize(words, 0) : useOfPython(code);
  return found?.use === 'training' && onlyEvaluates(words) ? { ...found, use: 'batch' } : found;
});

/** `train.py --eval-only`: a script for training that only measures a model. */
function onlyEvaluates(words: readonly string[]): boolean {
  const at = words.findIndex((word) => evaluates.test(word));
  return at >= 0 && !/^(?:false|no|0)$/i.test(words[at + 1] ?? '');
}

const evaluates = new RegExp(`^--?(?:${oneOf('eval test val validate predict infer inference')})[-_]only$`);

function isAside([first = '', ...rest]: readonly string[]): boolean {
  const subcommand = rest.find((word) => !word.startsWith('-')) ?? '';
  return commandNamed(baseName(first))?.does === 'lists' || /^(?:down|up)load$/.test(subcommand);
}

/** Whether the words start a script, a module of Python, or a program of the project itself, which is not known. */
function runsScript([first = '', ...rest]: readonly string[]): boolean {
  const name = baseName(first);
  const isRunner = /^python[\d.]*$/.test(name) || isShell(name) || interpreters.has(name);
  if (first.startsWith('./') || (/^(?:cargo|go)$/.test(name) && rest[0] === 'run')) return true;
  return isScript(name) || (isRunner && rest.some((word) => word === '-m' || isScript(word)));
}

function weight(found: RecognizedProgram): number {
  return (found.confidence === 'certain' ? 10 : 0) + { serving: 3, training: 3, interactive: 2, batch: 1 }[found.use];
}

function recognize(words: readonly string[], depth: number): RecognizedProgram | undefined {
  const first = words[0];
  if (first === undefined || depth > 4) return undefined;
  const name = baseName(first);
  if (/^python[\d.]*$/.test(name)) return recognizePython(words.slice(1), depth);
  const rest = words.slice(1);
  const subcommand = rest.find((word) => !word.startsWith('-'));
  const known = (subcommand === undefined ? undefined : commandNamed(name, subcommand)) ?? commandNamed(name);
  if (known?.runs === 'processes') return recognizeLaunched(known.program ?? name, rest);
  if (known?.use !== undefined) return asProgram(known, name, known.use);
  if (isShell(name) || interpreters.has(name))
    return byScriptFlags(subcommand ?? '', rest) ?? byScriptName(subcommand ?? '');
  if (isScript(name)) return byScriptFlags(first, rest) ?? byScriptName(first);
  // `make train`, `npm run serve`
  if (/^(?:make|just|npm|yarn|pnpm)$/.test(name))
    return byScriptName(rest.find((word) => /^[a-z]/.test(word) && word !== 'run') ?? '');
  // The entrypoint of an image gets flags: `--enable-lora` does not name a program.
  if (known !== undefined || first.startsWith('-')) return undefined;
  const named = byScriptName(name);
  return named?.use === 'training' ? named : bySubcommand(name, rest);
}

/** `simulator train`, `python main.py --mode fit`: a program or script of unknown use whose arguments say that it trains. */
function bySubcommand(name: string, words: readonly string[]): RecognizedProgram | undefined {
  const [own = '', next = ''] = words;
  // `yolo segment train`
  const first = name === 'yolo' && tasks.has(own) ? next : (chosenTask(words) ?? '');
  // `dataset.py train` and `render.py --mode train` read a part of the data.
  const isOfData = wordsOf(name).some((word) => ofData.has(word));
  return trains.has(first) && !isOfData ? { program: name, use: 'training', confidence: 'likely' } : undefined;
}

const ofData = wordSet(
  'data dataset split tokenizer vocab lmdb tfrecord tfrecords features stats extract make create convert export',
  'visualize visualise viz plot show view render inspect analyze analyse annotate test infer predict',
);

const tasks = wordSet('detect segment classify pose obb');

const trains = wordSet('train fit finetune fine-tune pretrain sft dpo');

/** Programs that run the script that they are given. */
const interpreters = wordSet('source . Rscript julia node lua th');

function isScript(name: string): boolean {
  return /\.(?:py|sh|bash|r|jl|lua|js|ipynb)$/i.test(name);
}

function recognizePython(words: readonly string[], depth: number): RecognizedProgram | undefined {
  let at = 0;
  while (at < words.length && /^-/.test(words[at] ?? '')) {
    const flag = words[at] ?? '';
    if (flag === '-c') return useOfPython(words[at + 1] ?? '');
    if (flag === '-m') {
      const module = words[at + 1];
      return module === undefined ? undefined : byModule(module, words.slice(at + 2), depth);
    }
    at += flag === '-X' || flag === '-W' ? 2 : 1;
  }
  const script = words[at];
  return script === undefined
    ? undefined
    : (byScriptFlags(script, words) ??
        byScriptName(script) ??
        bySubcommand(baseName(script), words.slice(at + 1)) ??
        byTrainingFlags(script, words.slice(at + 1)));
}

function byModule(module: string, rest: readonly string[], depth: number): RecognizedProgram | undefined {
  const known = moduleNamed(module);
  if (known?.runs === 'processes') return recognizeLaunched(known.program ?? module, rest);
  if (known?.use !== undefined) return asProgram(known, known.name, known.use);
  // `python -m vllm serve` is `vllm serve`.
  return recognize([module, ...rest], depth + 1) ?? byScriptName(module) ?? bySubcommand(module, rest);
}

/** A distributed launcher: training, unless the launched script indicates another use. */
function recognizeLaunched(launcher: string, words: readonly string[]): RecognizedProgram {
  const script = words.find((word) => /\.py$/.test(word)) ?? moduleOf(words);
  const inner = script === undefined ? undefined : byScriptName(script);
  const program = words.map((word) => commandNamed(baseName(word))?.use).find((use) => use === 'batch');
  if (program !== undefined) return { program: launcher, use: program, confidence: 'certain' };
  if (inner?.use === 'training') return { program: launcher, use: 'training', confidence: 'certain' };
  return { program: launcher, use: inner?.use ?? 'training', confidence: 'likely' };
}

function moduleOf(words: readonly string[]): string | undefined {
  const at = words.indexOf('-m');
  return at < 0 ? undefined : words[at + 1];
}

function isEntrypointScript(command: readonly string[]): boolean {
  return command.length === 1 && /entrypoint/.test(baseName(command[0] ?? ''));
}

function byImage(image: string): RecognizedProgram | undefined {
  const { repository, tag } = imageParts(image);
  // NVIDIA's images for clients of its servers: `tritonserver:25.08-py3-sdk`.
  const found = tag?.endsWith('-sdk') === true ? undefined : imageOf(repository);
  return found && { program: found.program, use: found.use, confidence: 'likely' };
}
