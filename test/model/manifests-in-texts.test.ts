import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { analyse, type FileFinding, findingsOf } from '../support/analyse.ts';
import { configOf } from '../support/config-line.ts';
import { readFixture } from '../support/rule-fixture.ts';

// A manifest in a block of another object is judged like a file of its own, at its place in the block. Only the number of its pods is unknown.

const folder = path.join(import.meta.dirname, '../fixtures/rules');
const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: files\ndata:\n  file.yaml: |\n';
const indent = '    ';

/** Findings of the one rule make those of another unnecessary, but not if the number of pods is unknown. */
const others = new Set(['always-on-notebook', 'yaml-syntax', 'whole-gpu-underused']);

/** Cases whose finding says something of the number of pods. */
const ofCount = new Set([
  'gpu-without-request.yaml: silent: other servers without replicas',
  'ray-gpus-missing.yaml: replicas beyond a group that cannot grow: ray-autoscaling-off says why',
  'scale-to-zero-candidate.yaml: a Model of KubeAI',
  "tensor-parallel-mismatch.yaml: a size that is also that of a server's flag",
  'world-size.yaml: an elastic job whose launch waits for more pods than it starts with',
  'world-size.yaml: fewer processes than GPUs, each with a slot',
  'world-size.yaml: groups that meet at one pod',
]);

const cases = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml') && !name.endsWith('.fixed.yaml'))
  .filter((name) => !others.has(name.replace('.yaml', '')))
  .flatMap((name) =>
    readFixture(readFileSync(path.join(folder, name), 'utf8')).map(
      (fixture) => [`${name}: ${fixture.name}`, fixture.text] as const,
    ),
  )
  .filter(([, text]) => /^apiVersion:/.test(text) && !/\t|\r|^---|\{\{|gpulint|^kind: (?:List|ConfigMap)/m.test(text))
  .filter(([, text]) => (text.match(/^kind:/gm) ?? []).length === 1)
  .filter(([name]) => !ofCount.has(name));

describe('a manifest in a literal block', () => {
  test('has no findings that it would not have in its own file, and those at their places', () => {
    const extra: string[] = [];
    const missing = new Map<string, number>();
    let same = 0;
    for (const [name, text] of cases) {
      const config = configOf(text);
      const own = findingsOf(analyse(text, config)).filter((finding) => places(text, finding) !== '');
      const inBlock = findingsOf(analyse(wrap(text), config));
      const found = new Set(inBlock.map((finding) => places(wrap(text), finding)));
      const known = new Set(own.map((finding) => places(text, finding)));
      for (const place of found) if (!known.has(place)) extra.push(`${name}: ${place}`);
      for (const finding of own) {
        if (found.has(places(text, finding))) same += 1;
        else missing.set(finding.rule, (missing.get(finding.rule) ?? 0) + 1);
      }
    }
    expect(extra).toEqual([]);
    expect(same).toBeGreaterThan(200);
    const total = [...missing.values()].reduce((sum, count) => sum + count, 0);
    expect(total, JSON.stringify([...missing])).toBeLessThan(same / 5);
  });

  test('gets the fixes of its own file, with the indentation of the block', () => {
    let same = 0;
    const different: string[] = [];
    for (const [name, text] of cases) {
      const config = configOf(text);
      const own = new Map(findingsOf(analyse(text, config)).map((finding) => [places(text, finding), finding]));
      for (const finding of findingsOf(analyse(wrap(text), config))) {
        const counterpart = own.get(places(wrap(text), finding));
        for (const { title, edits } of finding.fixes) {
          const first = counterpart?.fixes.find((fix) => fix.title === title);
          if (first === undefined) continue;
          const fixed = applyEdits(wrap(text), edits);
          if (fixed === wrap(applyEdits(text, first.edits))) same += 1;
          else different.push(`${name}: ${title}\n${fixed}`);
        }
      }
    }
    expect(different.slice(0, 5)).toEqual([]);
    expect(same).toBeGreaterThan(150);
  });
});

function wrap(text: string): string {
  const lines = text.replace(/\n+$/, '').split('\n');
  return `${head}${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}\n`;
}

/** The rule, the message and the characters of a finding, with its line and column in the manifest. */
function places(text: string, { rule, message, span, severity }: FileFinding): string {
  const wrapped = text.startsWith(head);
  const before = text.slice(0, span.start);
  const line = before.split('\n').length - (wrapped ? head.split('\n').length - 1 : 0);
  const column = before.length - before.lastIndexOf('\n') - (wrapped ? indent.length : 0);
  return `${severity} ${rule} ${line}:${column} ${text.slice(span.start, span.end).split('\n')[0]} ${message}`;
}
