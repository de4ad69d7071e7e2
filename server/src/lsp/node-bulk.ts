import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { accessDenied } from './access-denied.ts';

/** Reads many files in a thread of its own, where the calls of the system may block: four times as fast as waiting for each of them. */
export interface BulkReader {
  /** Uses the thread until the work has ended. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** The text of a file, read in the thread or, without one, alone. Rejects with `accessDenied` if it takes too long. */
  read: ReadPath;
  /** Whether a thread will never end by itself. */
  isHung(): boolean;
}

/** @param folders paths; with all links resolved, the file must be in one of them */
export type ReadPath = (file: string, folders: readonly string[]) => Promise<string | undefined>;

export interface ToReader {
  readonly file: string;
  readonly folders: readonly string[];
}

/** Answers arrive in the order of the requests. */
export type FromReader =
  | { readonly text: string | undefined }
  | { readonly denied: string }
  | { readonly failed: string };

export interface ReaderThread {
  readonly post: (message: ToReader) => void;
  /** A thread that hangs in a call of the system ends when the call does. */
  readonly end: () => void;
}

/** @param ended the thread cannot read, or has ended by itself */
export type StartReader = (received: (message: FromReader) => void, ended: () => void) => ReaderThread;

interface Request extends ToReader {
  readonly resolve: (text: string | undefined | Promise<string | undefined>) => void;
  readonly reject: (error: Error) => void;
}

/** How often the thread is checked, in milliseconds, and how many checks a single read may take. */
const checkMs = 1000;
const maxChecks = 5;

/** @param readAlone reads without the thread */
export function createBulkReader(start: StartReader | undefined, readAlone: ReadPath): BulkReader {
  let running = 0;
  let isHung = false;
  let thread: ReaderThread | undefined;
  /** The requests without an answer, the oldest first. */
  const waiting = new Set<Request>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let oldest: Request | undefined;
  let checks = 0;

  function open(): void {
    if (start === undefined || isHung) return;
    const own = start(
      (message) => thread === own && receive(message),
      () => thread === own && close(),
    );
    thread = own;
    timer = setInterval(check, checkMs);
  }

  /** Ends the thread. What it has not read is read without it. */
  function close(): void {
    clearInterval(timer);
    thread?.end();
    thread = undefined;
    for (const { file, folders, resolve } of waiting) resolve(readAlone(file, folders));
    waiting.clear();
  }

  function receive(message: FromReader): void {
    const [request] = waiting;
    if (request === undefined) return;
    waiting.delete(request);
    if ('text' in message) request.resolve(message.text);
    else request.reject('denied' in message ? accessDenied(message.denied) : new Error(message.failed));
  }

  function check(): void {
    const [first] = waiting;
    checks = first === oldest ? checks + 1 : 0;
    oldest = first;
    if (first === undefined || checks < maxChecks) return;
    isHung = true;
    waiting.delete(first);
    first.reject(accessDenied(`took longer than ${(checkMs * maxChecks) / 1000} s`));
    close();
  }

  return {
    async during(work) {
      if (running === 0) open();
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
        if (running === 0) close();
      }
    },
    read(file, folders) {
      const own = thread;
      if (own === undefined) return readAlone(file, folders);
      return new Promise((resolve, reject) => {
        waiting.add({ file, folders, resolve, reject });
        own.post({ file, folders });
      });
    },
    isHung: () => isHung,
  };
}

/** Starts the thread of `node-reader.ts`. */
export const startReaderThread: StartReader = (received, ended) => {
  // What Node writes there would end up in the messages of the language server.
  const worker = new Worker(path.join(__dirname, 'reader.js'), { stdout: true, stderr: true });
  worker.on('message', received);
  worker.on('error', ended);
  worker.on('exit', ended);
  return { post: (message) => worker.postMessage(message), end: () => void worker.terminate() };
};
