import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { parsedJson } from './json.ts';
import type { Page } from './price-source.ts';

/** The files that an unfinished refresh has read, one line each, so that it can continue. */
export interface Journal {
  readonly pages: ReadonlyMap<string, JournalEntry>;
  readonly add: (url: string, entry: JournalEntry) => void;
  readonly remove: () => void;
}

export interface JournalEntry {
  readonly page: Page;
  /** YYYY-MM-DD. */
  readonly date: string;
}

const lineSchema = z.object({
  url: z.string(),
  date: z.string(),
  next: z.array(z.string()),
  facts: z.array(z.tuple([z.string(), z.string(), z.enum(['on-demand', 'spot']), z.number(), z.string()])),
});

/** @param today files of other days are read again */
export function openJournal(file: string, today: string): Journal {
  const pages = new Map<string, JournalEntry>();
  const lines = linesOf(file);
  for (const line of lines) {
    const read = lineSchema.safeParse(parsedJson(line));
    // The last line may be incomplete.
    if (!read.success || read.data.date !== today) continue;
    const { url, date, next, facts } = read.data;
    pages.set(url, { page: { next, facts }, date });
  }
  if (pages.size === 0) fs.rmSync(file, { force: true });
  else if (lines.at(-1) !== '') fs.appendFileSync(file, '\n');
  return {
    pages,
    add(url, { page, date }) {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.appendFileSync(file, `${JSON.stringify({ url, date, ...page })}\n`);
    },
    remove: () => fs.rmSync(file, { force: true }),
  };
}

function linesOf(file: string): readonly string[] {
  try {
    return fs.readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
