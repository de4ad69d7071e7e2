import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import v8 from 'node:v8';
import { Worker } from 'node:worker_threads';
import {
  type CheckedManifest,
  type CheckPathsOptions,
  type CheckRun,
  checkInTurns,
  checkManifest,
} from './check-run.ts';
import { type BadInput, type InputFile, standardInput } from './files.ts';
import { warn } from './terminal.ts';

/** What a thread needs to check files of a run. Plain data: it reads the configs itself, whose tables would not keep their form. */
export interface ThreadData {
  readonly paths: readonly string[];
  readonly options: CheckPathsOptions;
  readonly inputs: readonly (InputFile | BadInput)[];
  /** See `checkInTurns`. */
  readonly taken: Int32Array;
}

/** The other threads of a run. */
export interface SharedRun {
  /** See `checkInTurns`. */
  readonly taken: Int32Array;
  /** What they have checked, as soon as all have ended, however they ended. */
  checked(): Promise<readonly CheckedManifest[]>;
  stop(): void;
}

interface CheckThread {
  readonly worker: Worker;
  readonly checked: Promise<readonly CheckedManifest[]>;
}

/** Starts the other threads of a run; none if it is small, or if only one thread can do it. */
export function startThreads(
  paths: readonly string[],
  options: CheckPathsOptions,
  inputs: readonly (InputFile | BadInput)[],
): SharedRun {
  const taken = new Int32Array(new SharedArrayBuffer(4));
  const count = isDivisible(inputs, options) ? threadsFor(inputs.length) : 1;
  // Most functions run often in a long run, so compiling them at once pays. Measured on Node 20; later versions do not gain.
  if (count > 1 && process.versions.v8.startsWith('11.')) v8.setFlagsFromString('--always-sparkplug');
  const data: ThreadData = { paths, options: plainOptions(options), inputs, taken };
  const threads = Array.from({ length: count - 1 }, () => startThread(data));
  return {
    taken,
    checked: async () => (await Promise.all(threads.map(({ checked }) => checked))).flat(),
    stop() {
      for (const { worker } of threads) void worker.terminate();
    },
  };
}

/** Checks all manifests of a run, together with its other threads. The results do not depend on how many there are. */
export async function checkAllManifests(run: CheckRun, shared: SharedRun): Promise<readonly CheckedManifest[]> {
  const results: CheckedManifest[] = [];
  for await (const one of checkInTurns(run, shared.taken)) results[one.index] = one;
  for (const one of await shared.checked()) results[one.index] = one;
  // What a thread had taken when it failed.
  for (const [index, input] of run.manifests.entries()) results[index] ??= await checkManifest(run, input, index);
  return results;
}

/** The options that the check of a file depends on. Commands also have functions among theirs, which cannot be sent. */
function plainOptions({ fix, withLines, config, rules, root }: CheckPathsOptions): CheckPathsOptions {
  return {
    ...(fix && { fix }),
    ...(withLines && { withLines }),
    ...(config !== undefined && { config }),
    ...(rules && { rules }),
    ...(root !== undefined && { root }),
  };
}

/** Not if files change during the run, if a cluster follows it, or if something can be read only once. */
function isDivisible(
  inputs: readonly (InputFile | BadInput)[],
  { fix, cluster = false, config = false }: CheckPathsOptions,
): boolean {
  const isPipe = config !== false && fs.statSync(config, { throwIfNoEntry: false })?.isFile() !== true;
  return fix !== 'write' && cluster === false && !isPipe && inputs.every(({ file }) => file !== standardInput);
}

/** Fewer files are checked before another thread has loaded. */
const filesPerThread = 150;
/** More threads need more memory than the time they save is worth. */
const maxThreads = 4;

function threadsFor(files: number): number {
  const chosen = Number(process.env.GPULINT_THREADS ?? '');
  if (Number.isInteger(chosen) && chosen > 0) return Math.min(chosen, 64);
  return Math.min(1 + Math.floor(files / filesPerThread), os.availableParallelism(), maxThreads);
}

function startThread(data: ThreadData): CheckThread {
  const checked: CheckedManifest[] = [];
  const worker = new Worker(path.join(__dirname, 'commands.js'), { workerData: data });
  worker.on('message', (one: CheckedManifest) => checked.push(one));
  worker.on('error', ({ message }) => warn(`a worker thread failed: ${message}; another one checks its files`));
  return { worker, checked: new Promise((resolve) => void worker.on('exit', () => resolve(checked))) };
}
