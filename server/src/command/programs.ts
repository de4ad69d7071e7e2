import { imageOf } from '../catalog/images.ts';
import { commandNamed, moduleNamed, type ProgramRecord, scriptNamed, type Use } from '../catalog/program-records.ts';
import { wordsOf } from './name-words.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand } from './shell.ts';
import { withoutWrappers } from './wrappers.ts';

export type { Use } from '../catalog/program-records.ts';

/** A recognized program and its use. */
export interface RecognizedProgram {
  /** The usual name: `vllm`, `torchrun`. */
  readonly program: string;
  readonly use: Use;
  /** `likely`: launchers and script names, which suggest a use but do not guarantee it. */
  readonly confidence: 'certain' | 'likely';
}

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
}): ContainerUse {
  const found =
    recognizeProgram(allCommands(readCommandLine(input.command, input.args).statements)) ??
    (input.image === undefined || (input.command.length > 0 && !isEntrypointScript(input.command))
      ? undefined
      : byImage(input.image));
  return found ?? { use: null, program: null, confidence: null };
}

/** The most significant program among the commands of a container. */
export function recognizeProgram(commands: readonly SimpleCommand[]): RecognizedProgram | undefined {
  let best: RecognizedProgram | undefined;
  for (const command of commands) {
    const found = recognize(programWords(command), 0);
    if (found !== undefined && (best === undefined || weight(found) > weight(best))) best = found;
  }
  return best;
}

/** The words of a command from the program on: without `exec`, `sudo`, `env A=b`, `timeout 60`, `uv run` and other wrappers. */
export function programWords(command: SimpleCommand): readonly string[] {
  return withoutWrappers(command.words.map((word) => word.text));
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
  return /\.(py|sh)$/.test(name) ? byScriptName(first) : undefined;
}

function recognizePython(words: readonly string[], depth: number): RecognizedProgram | undefined {
  let at = 0;
  while (at < words.length && /^-/.test(words[at] ?? '')) {
    const flag = words[at] ?? '';
    if (flag === '-c') return undefined;
    if (flag === '-m') {
      const module = words[at + 1];
      return module === undefined ? undefined : byModule(module, words.slice(at + 2), depth);
    }
    at += flag === '-X' || flag === '-W' ? 2 : 1;
  }
  const script = words[at];
  return script === undefined ? undefined : byScriptName(script);
}

function byModule(module: string, rest: readonly string[], depth: number): RecognizedProgram | undefined {
  const known = moduleNamed(module);
  if (known?.runs === 'processes') return recognizeLaunched(known.program ?? module, rest);
  if (known?.use !== undefined) return asProgram(known, known.name, known.use);
  // `python -m vllm serve` is `vllm serve`.
  return recognize([module, ...rest], depth + 1) ?? byScriptName(module);
}

function asProgram({ program, likely }: ProgramRecord, name: string, use: Use): RecognizedProgram {
  return { program: program ?? name, use, confidence: likely === true ? 'likely' : 'certain' };
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

/** The use that a script's name indicates. Only whole words count: `constraint.py` does not train. */
function byScriptName(path: string): RecognizedProgram | undefined {
  const name = baseName(path).replace(/\.(py|sh)$/, '');
  const known = scriptNamed(name);
  if (known?.use !== undefined) return asProgram(known, name, known.use);
  const words = wordsOf(name);
  const has = (set: ReadonlySet<string>): boolean => words.some((word) => set.has(word));
  if (has(batchWords)) return { program: name, use: 'batch', confidence: 'likely' };
  if (has(servingWords)) return { program: name, use: 'serving', confidence: 'likely' };
  if (has(trainingWords) || /fine_?tun|pre_?train/.test(name.toLowerCase()))
    return { program: name, use: 'training', confidence: 'likely' };
  return undefined;
}

function isEntrypointScript(command: readonly string[]): boolean {
  return command.length === 1 && /entrypoint/.test(baseName(command[0] ?? ''));
}

function byImage(image: string): RecognizedProgram | undefined {
  const repository = image.split('@')[0]?.replace(/:[^/:]*$/, '') ?? '';
  const found = imageOf(repository);
  return found && { program: found.program, use: found.use, confidence: 'likely' };
}

// Words in script names that indicate a use.

const trainingWords: ReadonlySet<string> = new Set([
  'train',
  'training',
  'trainer',
  'finetune',
  'finetuning',
  'pretrain',
  'pretraining',
  'sft',
  'dpo',
  'grpo',
  'rlhf',
  'lora',
  'qlora',
]);
const servingWords: ReadonlySet<string> = new Set(['serve', 'serving', 'server', 'api']);
const batchWords: ReadonlySet<string> = new Set([
  'benchmark',
  'benchmarks',
  'bench',
  'infer',
  'inference',
  'eval',
  'evaluate',
  'evaluation',
  'predict',
  'generate',
  'download',
  'downloader',
  'convert',
  'converter',
  'export',
  'preprocess',
  'tokenize',
  'prepare',
  'quantize',
  'merge',
  'upload',
  'test',
  'client',
]);
