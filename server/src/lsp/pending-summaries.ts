import { deferred, type FileSummary } from '../workspace/summary.ts';
import type { kindsOfFile } from '../workspace/terraform.ts';
import { createSlices, guarded, type Log } from './guard.ts';

/**
 * The summaries of files that were read but not yet looked up. Most files are never looked up, and the first costs need not wait for their
 * summaries. A deferred summary keeps the text of its file.
 */
export interface PendingSummaries {
  /** A summary that is computed on the first lookup, by `finish`, or at once if too many texts are kept. */
  defer(key: string, text: string, found: ReturnType<typeof kindsOfFile>, make: () => FileSummary): FileSummary;
  /** The file has changed or is gone. */
  drop(key: string): void;
  /** Computes all of them in the background, so that no request of the editor has to. */
  finish(): Promise<void>;
}

/** The characters of the texts that may be kept. */
const maxKept = 16_000_000;

/** @param idle resolves when nothing is running that somebody waits for */
export function createPendingSummaries(log: Log, idle: () => Promise<void>): PendingSummaries {
  const pending = new Map<string, { readonly summary: FileSummary; readonly size: number }>();
  let kept = 0;

  function take(key: string): FileSummary | undefined {
    const one = pending.get(key);
    pending.delete(key);
    kept -= one?.size ?? 0;
    return one?.summary;
  }

  return {
    defer(key, text, { kinds, names }, make) {
      if (kept + text.length > maxKept) return make();
      const summary = deferred(kinds, names, make);
      pending.set(key, { summary, size: text.length });
      kept += text.length;
      return summary;
    },
    drop: take,
    async finish() {
      const slice = createSlices();
      for (const key of pending.keys()) {
        await idle();
        await guarded(log, `reading ${key}`, () => take(key)?.objects());
        await slice();
      }
    },
  };
}
