import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Sequence } from './edits.ts';
import { root } from './seeds.ts';

const folder = path.join(root, '../shared/robustness/stale');

/** Sequences that once gave stale answers, where they are at hand. */
export function privateSequences(): readonly Sequence[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const { h }: { h: readonly { u: string; text: string }[] } = JSON.parse(
        readFileSync(path.join(folder, name), 'utf8'),
      );
      return { steps: h.map(({ u, text }) => ({ do: 'set', uri: u, text })), own: false };
    });
}
