import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Analysis } from '../server/src/analysis.ts';
import { parseYaml } from '../server/src/yaml/parse.ts';

interface Snippet {
  readonly prefix: string;
  readonly description: string;
  readonly body: readonly string[];
}

const file = path.join(import.meta.dirname, '../snippets/gpulint.json');
const snippets = Object.entries<Snippet>(JSON.parse(readFileSync(file, 'utf8')));

/** With the first choice, or the default, in every place. */
function filledIn({ body }: Snippet): string {
  return `${body
    .join('\n')
    .replace(/\$\{\d+\|([^,|]*)[^}]*\|\}/g, '$1')
    .replace(/\$\{\d+:([^}]*)\}/g, '$1')}\n`;
}

test.each(snippets)('%s is YAML in which nothing is wrong', (_, snippet) => {
  const text = filledIn(snippet);
  expect(text).not.toContain('$');
  expect(parseYaml(text).documents.flatMap(({ problems }) => problems)).toEqual([]);
  const findings = new Analysis({ strict: true })
    .setFile('file:///a.yaml', text)
    .documents.flatMap((document) => document.findings)
    .filter(({ severity }) => severity === 'error' || severity === 'warning');
  expect(findings.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([]);
});

test('whole objects ask for an accelerator', () => {
  const objects = snippets.filter(([, { body }]) => body.some((line) => line.startsWith('kind:')));
  expect(objects).toHaveLength(2);
  for (const [, snippet] of objects) {
    expect(new Analysis().setFile('file:///a.yaml', filledIn(snippet)).hasAccelerators).toBe(true);
  }
});
