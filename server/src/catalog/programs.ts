import { lazy } from '../yaml/lazy.ts';
import programsJson from './data/programs.json' with { type: 'json' };

/** What a container is for. */
export type Use = 'serving' | 'training' | 'batch' | 'interactive';

/** A name on a command line that means one thing. */
export interface ProgramRecord {
  /** A command, with a subcommand after a space (`vllm serve`); a Python module and all below it; a script without its ending. */
  readonly name: string;
  readonly as: 'command' | 'module' | 'script';
  /** As people name the program, where the name above is another. */
  readonly program?: string;
  readonly use?: Use;
  /** It says what it does, but cannot promise it: a web server serves a model, or a page. */
  readonly likely?: boolean;
  /** `processes`: a launcher of distributed programs. `program`: it runs the program that follows, such as `exec` and `timeout 60`. */
  readonly runs?: 'processes' | 'program';
  /** Words of its own before the program that it runs. */
  readonly operands?: number;
  /** Its options may stand before the program that it runs; those named here take a value. */
  readonly valued?: readonly string[];
  /** `nothing`: it neither computes nor leaves anything running; `lists`: it prints the devices; `ends`: it works and ends. */
  readonly does?: 'nothing' | 'lists' | 'ends';
  /** It reaches storage outside the pod. */
  readonly stores?: boolean;
  /** The collection of training scripts that a script belongs to. */
  readonly suite?: string;
}

// This file, images.ts and flags.ts type data that is written by hand. Each record of it has a `source` and a `date`, which the bundles leave
// out; test/command/program-data.test.ts checks them and the shapes. The compiler widens the values of JSON, so the shapes are written here.
const records = (programsJson as unknown as { readonly programs: readonly ProgramRecord[] }).programs;

const commands = lazy(() => byName('command'));
const modules = lazy(() => byName('module'));
const scripts = lazy(() => byName('script'));

/** The command of a name, or with a subcommand the two together. */
export function commandNamed(name: string, subcommand?: string): ProgramRecord | undefined {
  if (name.includes(' ')) return undefined;
  return commands().get(subcommand === undefined ? name : `${name} ${subcommand}`);
}

/** No module of the catalogue lies deeper than this. */
const maxModuleDepth = 6;

/** The record of a Python module, or of the closest one above it. */
export function moduleNamed(module: string): ProgramRecord | undefined {
  const parts = module.split('.', maxModuleDepth);
  for (let count = parts.length; count > 0; count--) {
    const found = modules().get(parts.slice(0, count).join('.'));
    if (found !== undefined) return found;
  }
  return undefined;
}

export function scriptNamed(name: string): ProgramRecord | undefined {
  return scripts().get(name);
}

/** The launchers of distributed programs, by the first word of each command and by each module that starts them. */
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
