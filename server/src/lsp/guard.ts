import type { CancellationToken } from 'vscode-languageserver';
import { LSPErrorCodes, ResponseError } from './library.ts';

/** Writes a line to the log, for developers of gpulint. */
export type Log = (line: string) => void;

export type Handler<P, R> = (params: P, token: CancellationToken) => R | Promise<R>;

/**
 * Wraps a request handler so that it cannot break the server. A queued cancellation is handled first. An exception is logged with the
 * handler's name, and the fallback is the response. A `ResponseError` is passed on.
 */
export function guard<P, R>(log: Log, name: string, fallback: R, handler: Handler<P, R>): Handler<P, R> {
  return async (params, token) => {
    await yieldOnce();
    if (token.isCancellationRequested) throw canceled();
    try {
      return await handler(params, token);
    } catch (error) {
      if (error instanceof ResponseError) throw error;
      log(`${name} failed: ${describe(error)}`);
      return fallback;
    }
  };
}

/** The same for work without a response: notifications and background work. */
export async function guarded(log: Log, name: string, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    log(`${name} failed: ${describe(error)}`);
  }
}

/** Yields to messages that have arrived in the meantime: a cancellation, a newer version. */
export function yieldOnce(): Promise<void> {
  return new Promise((resolve) => afterTurns(turns, resolve));
}

/** A message takes one turn of Node's event loop to arrive and another to be handled; the third is for one that it waits behind. */
const turns = 3;

function afterTurns(count: number, resolve: () => void): void {
  // A timer waits a millisecond even if nothing has arrived, but a web worker has nothing else.
  if (typeof setImmediate === 'undefined') setTimeout(resolve, 0);
  else if (count === 0) resolve();
  else setImmediate(() => afterTurns(count - 1, resolve));
}

/** Time in milliseconds after which work in the background yields to requests. */
const sliceMs = 4;

/** Returns a function that yields if the last yield was too long ago. @param before runs before it yields */
export function createSlices(): (before?: () => void) => Promise<void> {
  let start = Date.now();
  return async (before) => {
    if (Date.now() - start < sliceMs) return;
    before?.();
    await yieldOnce();
    start = Date.now();
  };
}

/**
 * The answer, or something else if it takes too long. The timer ends with the answer: thousands of files are read in a second, and each timer keeps
 * what its answer has read.
 */
export function inTime<T>(answer: Promise<T>, milliseconds: number, otherwise: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer: unknown = setTimeout(() => resolve(otherwise()), milliseconds);
    // A pending timer must not keep a finished process alive.
    (timer as { unref?: () => void }).unref?.();
    answer.then(resolve, reject).finally(() => clearTimeout(timer as number));
  });
}

export function canceled(): ResponseError<void> {
  return new ResponseError(LSPErrorCodes.RequestCancelled, 'canceled');
}

/** The answer to a request whose handler failed, as a sentence. */
export const failedWords = 'Something went wrong. The gpulint output shows the error.';

/** The document changed while the response was being computed. */
export function outdated(): ResponseError<void> {
  return new ResponseError(LSPErrorCodes.ContentModified, 'the document has changed');
}

export function isOutdated(error: unknown): boolean {
  return error instanceof ResponseError && error.code === LSPErrorCodes.ContentModified;
}

/** For work on a document whose newer version is scheduled separately. */
export function ignoreOutdated(error: unknown): undefined {
  if (!isOutdated(error)) throw error;
}

function describe(error: unknown): string {
  if (error instanceof Error) return error.stack ?? `${error.name}: ${error.message}`;
  return String(error);
}
