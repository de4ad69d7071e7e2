import {
  batchWords,
  images,
  launchers,
  likelyPrograms,
  modules,
  programs,
  scripts,
  servingWords,
  subcommandPrograms,
  trainingWords,
} from './program-tables.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand } from './shell.ts';

export type Use = 'serving' | 'training' | 'batch' | 'interactive';

/** A program that was recognised, and what it is there for. */
export interface RecognisedProgram {
  /** As people name it: `vllm`, `torchrun`. */
  readonly program: string;
  readonly use: Use;
  /** `likely`: launchers and names of scripts, which say what they do but cannot promise it. */
  readonly confidence: 'certain' | 'likely';
}

export interface ContainerUse {
  readonly use: Use | null;
  readonly program: string | null;
  readonly confidence: 'certain' | 'likely' | null;
}

/** What a container is there for, by what it runs and, where that says nothing, by its image. */
export function containerUse(input: {
  readonly image?: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
}): ContainerUse {
  const found =
    recogniseProgram(allCommands(readCommandLine(input.command, input.args).statements)) ??
    (input.image === undefined || (input.command.length > 0 && !isEntrypointScript(input.command))
      ? undefined
      : byImage(input.image));
  return found ?? { use: null, program: null, confidence: null };
}

/** The most telling program among the commands of a container. */
export function recogniseProgram(commands: readonly SimpleCommand[]): RecognisedProgram | undefined {
  let best: RecognisedProgram | undefined;
  for (const command of commands) {
    const found = recognise(programWords(command), 0);
    if (found !== undefined && (best === undefined || weight(found) > weight(best))) best = found;
  }
  return best;
}

/** The words of a command from the program on: without `exec`, `sudo`, `env A=b`, `timeout 60`, `uv run` and the like. */
export function programWords(command: SimpleCommand): readonly string[] {
  return withoutWrappers(command.words.map((word) => word.text));
}

/** The program of a command line: interpreters are looked through, so `python3 -u -m vllm.x` is `-m vllm.x`. */
export function withoutWrappers(words: readonly string[]): readonly string[] {
  let at = 0;
  while (at < words.length) {
    const word = baseName(words[at] ?? '');
    const takes = wrappers.get(word);
    if (takes !== undefined) {
      at++;
      while (at < words.length && (/^-/.test(words[at] ?? '') || /^[A-Za-z_]\w*=/.test(words[at] ?? ''))) at++;
      at += takes;
    } else if (word === 'uv' || word === 'poetry' || word === 'pixi' || word === 'pipenv') {
      if (words[at + 1] !== 'run') break;
      at += 2;
    } else if (word === 'conda' || word === 'micromamba') {
      if (words[at + 1] !== 'run') break;
      at += 2;
      while (/^-/.test(words[at] ?? '')) at += /^(-n|--name|-p|--prefix)$/.test(words[at] ?? '') ? 2 : 1;
    } else {
      break;
    }
  }
  return words.slice(at);
}

/** Programs that run another one, and how many words of their own they take before it. */
const wrappers: ReadonlyMap<string, number> = new Map([
  ['exec', 0],
  ['sudo', 0],
  ['nohup', 0],
  ['time', 0],
  ['env', 0],
  ['nice', 0],
  ['ionice', 0],
  ['stdbuf', 0],
  ['setsid', 0],
  ['numactl', 0],
  ['tini', 0],
  ['dumb-init', 0],
  ['catatonit', 0],
  ['command', 0],
  ['timeout', 1],
]);

function weight(found: RecognisedProgram): number {
  return (found.confidence === 'certain' ? 10 : 0) + { serving: 3, training: 3, interactive: 2, batch: 1 }[found.use];
}

function recognise(words: readonly string[], depth: number): RecognisedProgram | undefined {
  const first = words[0];
  if (first === undefined || depth > 4) return undefined;
  const name = baseName(first);
  if (/^python[\d.]*$/.test(name)) return recognisePython(words.slice(1), depth);
  const rest = words.slice(1);
  const subcommand = rest.find((word) => !word.startsWith('-'));
  if (launchers.has(name)) return recogniseLaunched(name, rest);
  if (name === 'accelerate')
    return subcommand === 'launch' ? recogniseLaunched('accelerate', rest.slice(1)) : undefined;
  const bySubcommand = subcommandPrograms.get(name)?.[subcommand ?? ''];
  if (bySubcommand !== undefined) return { program: name, use: bySubcommand, confidence: 'certain' };
  const use = programs.get(name);
  if (use !== undefined) return { program: name, use, confidence: 'certain' };
  const likely = likelyPrograms.get(name);
  if (likely !== undefined) return { program: name, use: likely, confidence: 'likely' };
  return /\.(py|sh)$/.test(name) ? byScriptName(first) : undefined;
}

function recognisePython(words: readonly string[], depth: number): RecognisedProgram | undefined {
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

function byModule(module: string, rest: readonly string[], depth: number): RecognisedProgram | undefined {
  if (module === 'torch.distributed.run' || module === 'torch.distributed.launch')
    return recogniseLaunched('torchrun', rest);
  if (module === 'accelerate.commands.launch') return recogniseLaunched('accelerate', rest);
  for (const [prefix, program, use] of modules) {
    if (module === prefix || module.startsWith(`${prefix}.`)) return { program, use, confidence: 'certain' };
  }
  // `python -m vllm serve` is `vllm serve`.
  return recognise([module, ...rest], depth + 1) ?? byScriptName(module);
}

/** A distributed launcher: training, unless the script it launches says otherwise. */
function recogniseLaunched(launcher: string, words: readonly string[]): RecognisedProgram {
  const script = words.find((word) => /\.py$/.test(word)) ?? moduleOf(words);
  const inner = script === undefined ? undefined : byScriptName(script);
  const program = words.map((word) => programs.get(baseName(word))).find((use) => use === 'batch');
  if (program !== undefined) return { program: launcher, use: program, confidence: 'certain' };
  if (inner?.use === 'training') return { program: launcher, use: 'training', confidence: 'certain' };
  return { program: launcher, use: inner?.use ?? 'training', confidence: 'likely' };
}

function moduleOf(words: readonly string[]): string | undefined {
  const at = words.indexOf('-m');
  return at < 0 ? undefined : words[at + 1];
}

/** What the name of a script says. Whole words only: `constraint.py` trains nothing. */
function byScriptName(path: string): RecognisedProgram | undefined {
  const name = baseName(path).replace(/\.(py|sh)$/, '');
  const exact = scripts.get(name);
  if (exact !== undefined) return { program: name, use: exact, confidence: 'certain' };
  // `Gemma3LLMTrain` is three words.
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
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

function byImage(image: string): RecognisedProgram | undefined {
  const repository = image.split('@')[0]?.replace(/:[^/:]*$/, '') ?? '';
  for (const [pattern, program, use] of images) {
    if (pattern.test(repository)) return { program, use, confidence: 'likely' };
  }
  return undefined;
}
