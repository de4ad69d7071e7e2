import { homedir } from 'node:os';
import process from 'node:process';
import { parentPort } from 'node:worker_threads';
import { machineClock } from '../cluster/clock.ts';
import { liveEngine } from '../cluster/live-engine.ts';
import { serve } from '../cluster/serve.ts';
import { pricesInUse } from '../price-sources/sheet-file.ts';

// The entry point of the thread that follows a cluster, for the language server and the command line. It is a bundle of its own, which is loaded
// when the user connects.

const port = parentPort;
if (port !== null) {
  serve(
    {
      post: (message) => port.postMessage(message),
      receive: (handle) => void port.on('message', handle),
      close: () => process.exit(),
    },
    {
      machine: { env: process.env, home: homedir() },
      clock: machineClock(),
      engine: ({ prices }) => liveEngine(prices, pricesInUse(process.env)),
    },
  );
}
