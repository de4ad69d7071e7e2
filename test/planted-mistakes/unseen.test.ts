import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { rules } from '../../server/src/rules/index.ts';
import type { YamlEntry, YamlNode } from '../../server/src/yaml/node.ts';
import { analyse, findingsOf } from '../support/analyse.ts';
import { full } from '../support/sample.ts';

const fixtures = path.join(import.meta.dirname, '../fixtures');
/** Without what fixes make of the cases: it joins those of several charts in one document. */
const files = ['clean', 'accepted', ...(full ? ['rules'] : [])].flatMap((folder) =>
  readdirSync(path.join(fixtures, folder))
    .filter((name) => !name.endsWith('.fixed.yaml'))
    .map((name) => {
      const file = `${folder}/${name}`;
      return { file, text: readFileSync(path.join(fixtures, file), 'utf8') };
    }),
);

/** What certainly is wrong however the template completes it. */
const expected: ReadonlySet<string> = new Set([
  // The mutation removes an anchor.
  'yaml-syntax',
  // A toleration of a taint that no node has is useless next to any other one.
  'toleration-key',
  // Some chart values start with 0 replicas: a template that writes their number means to run them.
  'gpu-without-request',
  // Whether an API version is served does not depend on what a template writes.
  'api-removed',
  // A scaler that names its target literally does not mean an object whose name a template writes.
  'reference-not-found',
  // Of two Services with one name in a file of several cases, the one that stays is then certain.
  'rendezvous-port',
]);

/** Of the mutants, one in so many is read. */
const step = full ? 4 : 5;

test('what a template may write is unknown: it never adds an error or a warning', { timeout: 900_000 }, () => {
  const problems: string[] = [];
  let count = 0;
  let read = 0;
  for (const { file, text } of files) {
    if (text.includes('{{') || text.length > 20_000) continue;
    const known = new Set(loudIn(text).map(({ rule }) => rule));
    for (const { place, mutant } of mutantsOf(text)) {
      count += 1;
      if (count % step !== 0) continue;
      read += 1;
      for (const { rule, message } of loudIn(mutant)) {
        // A general rule speaks where the template hides what another one has said.
        const isGeneral = rules.get(rule)?.yields === true;
        if (!known.has(rule) && !expected.has(rule) && !isGeneral)
          problems.push(`${file} ${place} ${rule}: ${message}`);
      }
    }
  }
  expect(problems).toEqual([]);
  expect(read).toBeGreaterThan(300);
});

function loudIn(text: string) {
  return findingsOf(analyse(text)).filter(({ severity }) => severity === 'error' || severity === 'warning');
}

/** The text with each value hidden behind a template action, and with an action after the last line of each block. */
function* mutantsOf(text: string): Generator<{ readonly place: string; readonly mutant: string }> {
  for (const { base, document } of analyse(text).documents) {
    if (document.root === null) continue;
    for (const { entry, place } of entriesIn(document.root, '')) {
      if (/^\.(?:apiVersion|kind)$/.test(place)) continue;
      const { value, keySpan } = entry;
      const [start, end] = [base + value.span.start, base + value.span.end];
      const changed = (from: number, to: number, by: string) => text.slice(0, from) + by + text.slice(to);
      if (value.kind === 'scalar') {
        const isText = value.style === 'plain' || value.style === 'double';
        if (isText && end > start) yield { place, mutant: changed(start, end, '{{ .Values.part }}') };
      } else if (!value.flow) {
        const column = columnOf(text, base + keySpan.start) + 2;
        yield { place, mutant: changed(base + keySpan.end, end, `:${included(column)}`) };
        yield { place: `${place}+`, mutant: changed(end, end, included(columnOf(text, start))) };
      }
    }
  }
}

function included(column: number): string {
  return `\n${' '.repeat(column)}{{- include "chart.part" . | nindent ${column} }}`;
}

function columnOf(text: string, offset: number): number {
  return offset - text.lastIndexOf('\n', offset - 1) - 1;
}

function* entriesIn(node: YamlNode, place: string): Generator<{ readonly entry: YamlEntry; readonly place: string }> {
  if (node.kind === 'map') {
    for (const entry of node.entries) {
      if (entry.shared) continue;
      const here = `${place}.${entry.key}`;
      yield { entry, place: here };
      yield* entriesIn(entry.value, here);
    }
  } else if (node.kind === 'seq') {
    for (const item of node.items) if (!item.shared) yield* entriesIn(item.value, `${place}[]`);
  }
}
