import path from 'node:path';
import { describe } from 'vitest';
import { fractionFix, fractionsOf } from '../../server/src/features/actions/fractions.ts';
import { resizableIn } from '../../server/src/features/actions/resizable.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { analyse } from '../support/analyse.ts';
import { configOf } from '../support/config-line.ts';
import { goldenTests } from '../support/golden.ts';
import { takeCursor } from '../support/marked-text.ts';

// The list behind "Use less of a GPU…": each entry with what it holds and costs, and the lines that it changes.

describe('pieces of a GPU', () => {
  goldenTests(path.join(import.meta.dirname, '../fixtures/features/fractions'), (marked) => {
    const { text, offset } = takeCursor(marked);
    const file = analyse(text, configOf(text));
    const place = resizableIn(file, { start: offset, end: offset });
    if (place === undefined) return 'nothing\n';
    const entries = fractionsOf(place).map((one) => {
      const budget = { characters: 1e6, fileCharacters: 1e6 };
      const made = fractionFix(place, one, budget);
      const needs = one.needs === null ? '' : `\n  needs ${one.needs}`;
      const change = made === undefined ? '  no edit\n' : changedLines(text, applyEdits(text, made.edits));
      return `${one.label}\n  ${one.description}${needs}\n${change}`;
    });
    return `${place.direction}\n${entries.join('')}`;
  });
});

function changedLines(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const removed = old.filter((line) => !now.includes(line)).map((line) => `-${line}\n`);
  return [...removed, ...now.filter((line) => !old.includes(line)).map((line) => `+${line}\n`)].join('');
}
