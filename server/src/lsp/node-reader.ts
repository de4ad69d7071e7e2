import { parentPort } from 'node:worker_threads';
import { isAccessDenied } from './access-denied.ts';
import type { FromReader, ToReader } from './node-bulk.ts';
import { blockingCalls, readInside } from './node-reading.ts';

// The entry point of the thread that reads many files. It is a bundle of its own, which needs next to nothing to start.

const tops = new Map<string, string>();

async function answer({ file, folders }: ToReader): Promise<FromReader> {
  try {
    return { text: await readInside(blockingCalls, file, folders, tops) };
  } catch (error) {
    if (isAccessDenied(error)) return { denied: error.message };
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

const port = parentPort;
let last = Promise.resolve();
port?.on('message', (request: ToReader) => {
  last = last.then(async () => port.postMessage(await answer(request)));
});
