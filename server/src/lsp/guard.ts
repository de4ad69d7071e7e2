import { type CancellationToken, LSPErrorCodes, ResponseError } from 'vscode-languageserver';

/** Where a line goes that a developer of gpulint should see. */
export type Log = (line: string) => void;

export type Handler<P, R> = (params: P, token: CancellationToken) => R | Promise<R>;

/**
 * Makes a request handler that cannot harm the server: it lets a queued cancel arrive before it works, and an exception becomes a line
 * in the log, with the handler's name, and the fallback as the answer. A `ResponseError` is an answer and passes.
 */
export function guard<P, R>(log: Log, name: string, fallback: R, handler: Handler<P, R>): Handler<P, R> {
  return async (params, token) => {
    await yieldOnce();
    if (token.isCancellationRequested) throw cancelled();
    try {
      return await handler(params, token);
    } catch (error) {
      if (error instanceof ResponseError) throw error;
      log(`${name} failed: ${describe(error)}`);
      return fallback;
    }
  };
}

/** The same for work that answers nobody: notifications and background work. */
export async function guarded(log: Log, name: string, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    log(`${name} failed: ${describe(error)}`);
  }
}

/** Gives way to what has arrived in the meantime: a cancel, a newer version. */
export function yieldOnce(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

export function cancelled(): ResponseError<void> {
  return new ResponseError(LSPErrorCodes.RequestCancelled, 'cancelled');
}

/** The document moved on while the answer was worked out. */
export function outdated(): ResponseError<void> {
  return new ResponseError(LSPErrorCodes.ContentModified, 'the document has changed');
}

export function isOutdated(error: unknown): boolean {
  return error instanceof ResponseError && error.code === LSPErrorCodes.ContentModified;
}

function describe(error: unknown): string {
  if (error instanceof Error) return error.stack ?? `${error.name}: ${error.message}`;
  return String(error);
}
