import { homedir } from 'node:os';
import process from 'node:process';
import { parentPort } from 'node:worker_threads';
import { machineClock } from './clock.ts';
import { liveEngine } from './live-engine.ts';
import { serve } from './serve.ts';

// The entry point of the thread. It is a bundle of its own, which is loaded when the user connects.

const port = parentPort;
if (port !== null) {
  serve(
    {
      post: (message) => port.postMessage(message),
      receive: (handle) => void port.on('message', handle),
      close: () => process.exit(),
    },
    { machine: { env: process.env, home: homedir() }, clock: machineClock(), engine: liveEngine() },
  );
}
