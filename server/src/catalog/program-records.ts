import { lazy } from '../yaml/lazy.ts';
import { programsJson } from './data.ts';

/** What a container is for. */
export type Use = 'serving' | 'training' | 'batch' | 'interactive';

/** A name on a command line with one meaning. */
export interface ProgramRecord {
  /** A command, with a subcommand after a space (`vllm serve`); a Python module and its submodules; a script without its extension. */
  readonly name: string;
  readonly as: 'command' | 'module' | 'script';
  /** The program's usual name, if it differs. */
  readonly program?: string;
  readonly use?: Use;
  /** The use is only likely: a web server serves a model, or a page. */
  readonly likely?: boolean;
  /** `processes`: a launcher of distributed programs. `program`: a wrapper of the program that follows, such as `exec` and `timeout 60`. */
  readonly runs?: 'processes' | 'program';
  /** The number of the wrapper's own operands before the wrapped program. */
  readonly operands?: number;
  /** The wrapper accepts options before the wrapped program; the listed ones take a value. */
  readonly valued?: readonly string[];
  /** `nothing`: no work, and nothing left running; `lists`: prints the devices; `ends`: works and exits. */
  readonly does?: 'nothing' | 'lists' | 'ends';
  /** The program accesses storage outside the pod. */
  readonly stores?: boolean;
  /** The script's collection of training scripts. */
  readonly suite?: string;
}

// This file, images.ts and flags.ts declare the types of hand-written data, because the compiler widens JSON values. Each record also has a
// `source` and a `date`, which the bundles omit; test/command/program-data.test.ts checks them and the types.
const records = (programsJson as unknown as { readonly programs: readonly ProgramRecord[] }).programs;

const commands = lazy(() => byName('command'));
const modules = lazy(() => byName('module'));
const scripts = lazy(() => byName('script'));

/** The record of a command, or of a command with its subcommand. */
export function commandNamed(name: string, subcommand?: string): ProgramRecord | undefined {
  if (name.includes(' ')) return undefined;
  return commands().get(subcommand === undefined ? name : `${name} ${subcommand}`);
}

/** The depth of the deepest module in the catalog. */
const maxModuleDepth = 6;

/** The record of a Python module, or of its closest parent. */
export function moduleNamed(module: string): ProgramRecord | undefined {
  const parts = module.split('.', maxModuleDepth);
  for (let count = parts.length; count > 0; count--) {
    const found = modules().get(parts.slice(0, count).join('.'));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The program of a script by its file name without the extension (`train_gpt`). */
export function scriptNamed(name: string): ProgramRecord | undefined {
  return scripts().get(name);
}

/** Launchers of distributed programs, by the first word of their command and by their modules. */
export const launcherNames: () => ReadonlyMap<string, string> = lazy(
  () =>
    new Map(
      records.flatMap(({ name, program, runs }) =>
        runs === 'processes' ? [[name.split(' ')[0] ?? name, program ?? name] as const] : [],
      ),
    ),
);

function byName(as: ProgramRecord['as']): ReadonlyMap<string, ProgramRecord> {
  return new Map(records.filter((record) => record.as === as).map((record) => [record.name, record]));
}

/** The name of a program in messages. */
export function titleOf(program: string): string {
  return titles.get(program) ?? program;
}

const titles: ReadonlyMap<string, string> = new Map([
  ['vllm', 'vLLM'],
  ['sglang', 'SGLang'],
  ['ollama', 'Ollama'],
  ['kserve', "KServe's server"],
  ['huggingfaceserver', "KServe's server"],
  ['tritonserver', 'Triton'],
  ['nim', 'NIM'],
  ['dynamo', 'Dynamo'],
  ['torchserve', 'TorchServe'],
  ['tensorflow_model_server', 'TensorFlow Serving'],
  ['llama_cpp', 'llama_cpp.server'],
  ['text-generation-launcher', 'Text Generation Inference'],
  ['text-embeddings-router', 'Text Embeddings Inference'],
]);
