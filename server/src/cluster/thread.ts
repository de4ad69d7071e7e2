import path from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ClusterThread, ThreadListener } from './client.ts';

/** More than a cluster of 5,000 nodes and 50,000 pods needs. Beyond it, only the thread ends. */
const maxHeapMegabytes = 600;

/** Starts the thread that follows a cluster. */
export function startClusterThread({ received, ended }: ThreadListener): ClusterThread {
  const worker = new Worker(path.join(__dirname, 'cluster.js'), {
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes },
    // What a library writes there would end up in the messages of the language server.
    stdout: true,
    stderr: true,
  });
  let problem: string | null = null;
  worker.on('message', received);
  worker.on('error', (error: NodeJS.ErrnoException) => {
    problem = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'the cluster is too large' : error.message;
  });
  worker.on('exit', () => ended(problem));
  return { post: (message) => worker.postMessage(message) };
}
