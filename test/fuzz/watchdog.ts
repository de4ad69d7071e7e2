import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { root } from './seeds.ts';

/** Watches from another thread, because nothing in this thread can end a hang. */
export interface Watchdog {
  /** Sets the input that is being checked from now on. */
  checking(target: string, input: () => { readonly extension: string; readonly text: string }): void;
  /** Reports that no check is running. */
  idle(): void;
  /** Stops watching. Until then the process stays alive, so that a check that never settles counts as a hang, too. */
  end(): Promise<unknown>;
}

/** Where failures are saved that must not go into the repository. */
export const privateFolder = path.join(root, 'dist-test/fuzz');

const maxBytes = 4_000_000;

/** Ends the process if one input takes longer than this, and saves the input: a hang, however the time is spent. */
export function startWatchdog(seconds: number): Watchdog {
  mkdirSync(privateFolder, { recursive: true });
  const shared = new SharedArrayBuffer(8 + maxBytes);
  const head = new Int32Array(shared, 0, 2);
  const body = new Uint8Array(shared, 8);
  const encoder = new TextEncoder();
  const worker = new Worker(program, {
    eval: true,
    workerData: { shared, seconds, folder: privateFolder, root, pid: process.pid },
  });
  return {
    checking(target, input) {
      const { extension, text } = input();
      const { written } = encoder.encodeInto(`${target}.${extension}\n${text}`, body);
      head[1] = written;
      Atomics.add(head, 0, 1);
    },
    idle() {
      head[1] = 0;
      Atomics.add(head, 0, 1);
    },
    end: () => worker.terminate(),
  };
}

const program = `
const { workerData: { shared, seconds, folder, root, pid } } = require('node:worker_threads');
const fs = require('node:fs');
const path = require('node:path');
const head = new Int32Array(shared, 0, 2);
const body = new Uint8Array(shared, 8);
// Count only seconds in which this thread ran, too: a sleeping machine makes no progress.
let [seen, awake] = [-1, 0];
setInterval(() => {
  const now = Atomics.load(head, 0);
  if (now !== seen) { seen = now; awake = 0; return; }
  awake += 1;
  if (head[1] === 0 || awake < seconds) return;
  const text = Buffer.from(body.slice(0, head[1])).toString();
  const end = text.indexOf('\\n');
  const file = path.join(folder, 'hang-' + text.slice(0, end));
  fs.writeFileSync(file, text.slice(end + 1));
  fs.writeSync(1, '\\nFAILED hang: an input took over ' + seconds + ' s and was saved as ' + path.relative(root, file) + '\\n0 passed, 1 failed\\n');
  process.kill(pid, 'SIGKILL');
}, 1000);
`;
