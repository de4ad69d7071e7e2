import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { Analysis } from '../server/src/analysis.ts';
import { parseConfig, readSettings } from '../server/src/config.ts';
import { completeConfig, hoverConfig } from '../server/src/features/completion/config-help.ts';
import { allOutputOf } from './support/all-output.ts';
import { full } from './support/sample.ts';

// What has the name of a property that every object inherits is read, shown and reported as if it had any other name.

const hostile = [
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  'isPrototypeOf',
  'toLocaleString',
];

/** A name of the same shape that no object has, and that sorts like it. */
function harmless(name: string): string {
  return name.replace(/(?<=[a-z])[a-z]/g, 'q').replace(/[A-Z]/g, 'Q');
}

/** Without the name, what is escaped in it, and fingerprints, which are made of the text. */
function unnamed(said: string, name: string): string {
  return (
    said
      .replaceAll('\\', '')
      .replaceAll(name, 'NAME')
      // Messages shorten long names.
      .replaceAll(new RegExp(`${name.slice(0, 6)}\\w*…`, 'g'), 'SHORT')
      // What a fix makes of it where capitals and underscores are not allowed; a protocol is another word.
      .replace(new RegExp(`(?<![a-z])${name.replace(/^_+|_+$/g, '')}(?![a-z])`, 'gi'), 'VALID')
      .replace(/[0-9a-f]{16,}/g, '')
  );
}

const files = ['clean', 'model', 'rules']
  .map((name) => path.join('test/fixtures', name))
  .flatMap((folder) => readdirSync(folder).map((name) => path.join(folder, name)))
  .filter((name) => name.endsWith('.yaml') && !name.endsWith('.fixed.yaml'));

describe('in manifests', () => {
  test.each(files)('%s', (file) => {
    let turn = files.indexOf(file);
    for (const text of readFileSync(file, 'utf8').split(/^---$/m)) {
      const lines = text.split('\n');
      for (const [index, line] of lines.entries()) {
        const put = changes[Math.floor(turn / 13) % changes.length]?.(line);
        const name = hostile[Math.floor(turn / 13) % hostile.length] ?? '';
        turn++;
        // One line of thirteen is enough: the shapes come again and again.
        if (put === undefined || turn % 13 > 0) continue;
        if (!full && Math.floor(turn / 13) % 3 > 0) continue;
        // It is also a slip of this field's name.
        if (name === 'valueOf' && /\bvalues?:/.test(line)) continue;
        const said = (written: string) =>
          saidWith([...lines.slice(0, index), put(written), ...lines.slice(index + 1)], index, written);
        expect(said(name), put(name)).toEqual(said(harmless(name)));
      }
    }
  });
});

/** Where a name can come into a line: for its key, its value, a word of it, or as one more key. */
const changes: readonly ((line: string) => ((name: string) => string) | undefined)[] = [
  (line) => spliced(/^(\s*(?:- )?)[\w./-]+(?=:)/d, line),
  (line) => spliced(/(: )[\w./:-]+$/d, line),
  (line) => spliced(/^(\s*)(?=[\w./-]+:)/d, line, ': 1\n$1'),
  (line) => spliced(/([=,{\s"])[\w.-]+(?=["\s,}=])/d, line),
  (line) => spliced(/(\/)[\w.-]+(?=:)/d, line),
];

function spliced(pattern: RegExp, line: string, after = ''): ((name: string) => string) | undefined {
  const found = pattern.exec(line);
  if (found === null || line.trim().startsWith('#')) return undefined;
  const lead = found[1] ?? '';
  const rest = line.slice(found.index + found[0].length);
  return (name) => `${line.slice(0, found.index)}${lead}${name}${after.replace('$1', lead)}${rest}`;
}

function saidWith(lines: readonly string[], index: number, name: string): readonly string[] {
  const uri = 'file:///fixture.yaml';
  const analysis = new Analysis({ strict: true });
  analysis.setFile(uri, lines.join('\n'));
  // Another file names the same things: nothing of it may get lost.
  analysis.setFile('file:///other.yaml', other);
  const start = lines.slice(0, index).join('\n').length;
  const said = allOutputOf(analysis, uri, { start, end: start + (lines[index] ?? '').length });
  return said.map((one) => unnamed(one, name));
}

const other = `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: high
---
apiVersion: v1
kind: Pod
metadata: {name: q}
spec:
  priorityClassName: high
  constructor: high
  __proto__: high
`;

test.each(hostile)('a name behind the key %s does not hide the others', (name) => {
  const analysis = new Analysis({ strict: true });
  const bad = `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  priorityClassName: high\n  ${name}: high\n  x: nvidia.com/gpu\n`;
  analysis.setFile('file:///bad.yaml', bad);
  analysis.setFile('file:///good.yaml', other);
  const at = other.indexOf('high');
  const said = allOutputOf(analysis, 'file:///good.yaml', { start: at, end: at }).join('\n');
  expect(said).toContain('file:///bad.yaml');
});

describe('in configs', () => {
  const texts: readonly ((name: string) => string)[] = [
    (name) => `${name}: 1`,
    (name) => `rules: {${name}: off}`,
    (name) => `rules: {${name}: error, gpu-quantity-whole: off}`,
    (name) => `ruleOptions: {${name}: {hours: 1}}`,
    (name) => `ruleOptions: {checkpoint-interval: {${name}: 1, hours: 2}}`,
    (name) => `prices: {${name}: 1}`,
    (name) => `prices: {gpus: {${name}: 1}}`,
    (name) => `prices: {instanceTypes: {${name}: 1, p5.48xlarge: 2}}`,
    (name) => `nodePools: [{name: ${name}, labels: {${name}: ${name}}}]`,
    (name) => `taints: [{key: ${name}, effect: NoSchedule}]`,
    (name) => `gpu: ${name}`,
    (name) => `platform: ${name}`,
    (name) => `provider: ${name}`,
    (name) => `region: ${name}`,
    (name) => `extends: ${name}`,
    (name) => `overrides: [{files: ['*.yaml'], rules: {${name}: off}, ${name}: 1}]`,
    (name) => `training: {${name}: 1}`,
  ];
  const manifest = readFileSync('test/fixtures/clean/job-spot.yaml', 'utf8');

  test.each(texts.map((text) => [text('NAME'), text] as const))('%s', (_title, text) => {
    const said = (name: string) => {
      const written = text(name);
      const { config, problems } = parseConfig(written);
      const analysis = new Analysis({ strict: true });
      analysis.setConfig(config);
      analysis.setFile(
        'file:///fixture.yaml',
        manifest.replace('metadata:', `metadata:\n  labels: {${name}: ${name}}`),
      );
      const help = Array.from({ length: written.length + 1 }, (_, offset) => [
        hoverConfig(written, offset),
        completeConfig(written, offset),
      ]);
      const all = [...allOutputOf(analysis, 'file:///fixture.yaml', { start: 0, end: 0 }), problems, config, help];
      return unnamed(JSON.stringify(all), name);
    };
    for (const name of hostile) {
      // Zod drops this one where any name may stand, so that is told.
      if (name === '__proto__' && /gpus|instanceTypes|labels/.test(text(name))) {
        const messages = parseConfig(text(name)).problems.map(({ message }) => message);
        expect(messages).toContain("'__proto__' is not allowed as a key and is ignored");
      } else expect(said(name)).toEqual(said(harmless(name)));
    }
  });

  test.each(hostile)('the settings of an editor may have the key %s', (name) => {
    const settings = (key: string) => JSON.parse(`{"rules": {"${key}": "off"}, "prices": {"${key}": 1}, "${key}": 1}`);
    const said = (key: string) => JSON.stringify(readSettings(settings(key))).replaceAll(key, 'NAME');
    expect(said(name)).toEqual(said(harmless(name)));
  });
});
