import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { own, type Table, table, tableOf } from '../server/src/yaml/table.ts';

// A name from a file may be `constructor` or `__proto__`. The compiler lets an object be looked into by any name only where its type has an
// index signature, and `Table` is the only such type that the sources may use: it is made without a prototype, and of nothing else.

/** What gives an object an index signature, or looks into one without asking for it. */
const banned: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bRecord<(?:string|PropertyKey|any|unknown)\b/, 'Table'],
  [/\[\w+: string(?: \| number)?\]\s*\??:/, 'Table'],
  [/\[\w+ in string\]/, 'Table'],
  [/\bObject\.(?:fromEntries|assign|setPrototypeOf|groupBy)\b/, 'tableOf'],
  [/\bas Table\b/, 'table or tableOf'],
  [/\bas keyof\b/, 'a Table'],
  [/\bReflect\.\w/, 'own'],
  [/\bJSON\.parse\b/, 'a schema, at one place'],
  [/\{[^{}]*:\s[^{}]*\}\[[a-zA-Z(]/, 'a Table: a literal is looked into by any name without complaint'],
  [/(?:[(=!?:,]|&&|\|\||\breturn)\s*[\w.]+ in [a-z]\w*/, 'own or a Table'],
];

/** What may stay, because nothing from outside is looked up there. */
const kept: readonly (readonly [file: string, text: string, why: string])[] = [
  ['server/src/yaml/table.ts', 'Table<T> = Bare & { readonly [name: string]: T }', 'the type itself'],
  ['server/src/yaml/table.ts', 'parts: readonly ({ readonly [name: string]: T }', 'listed, to make a table of'],
  ['server/src/model/cross-references.ts', 'Object.assign(Object.create(all), own)', 'questions that the code names'],
  ['server/src/yaml/table.ts', 'value as Readonly<Record<string | number, unknown>>', 'asks whether it has the name'],
  ['server/src/yaml/render.ts', 'readonly [key: string]: PlainValue', 'listed, to be written'],
  ['server/src/rewrite/select-nodes.ts', 'labels: Readonly<Record<string, string>>', 'listed, to be written'],
  ['server/src/catalog/types.ts', 'labels: Readonly<Record<string, readonly string[]>>', 'listed'],
  ['server/src/catalog/stored.ts', 'sources: Readonly<Record<string, SourcePlaces>>', 'listed'],
  [
    'server/src/config/config-problems.ts',
    'value is Readonly<Record<string | number, unknown>>',
    'listed, where not by own',
  ],
  ['server/src/config/project-fields.ts', 'Record<string, RuleOption>', 'listed: what rules declare'],
  ['server/src/config/project-fields.ts', 'Object.fromEntries', 'shapes of a schema, of the names of rules'],
  ['server/src/config/layers.ts', 'Object.fromEntries(values) as WithoutNull<T>', 'keys of a schema'],
  ['server/src/lsp/settings.ts', 'Object.fromEntries(results.flatMap(', 'keys of a schema'],
  ['server/src/features/actions/text-proof.ts', 'JSON.parse(text)', 'asks only whether it is JSON'],
  ['server/src/lsp/node-reading.ts', 'Object.assign(new Error()', 'an error with the code of the system'],
  ['server/src/features/completion/plain-words.ts', 'descriptions: Readonly<Record<string,', 'listed'],
  ['server/src/rules/rule.ts', 'options?: Readonly<Record<string, RuleOption>>', 'a rule asks for its own by literals'],
  ['server/src/cli/reports/junit.ts', 'counts: Readonly<Record<string, number>>', 'listed'],
  ['server/src/cli/reports/github.ts', 'properties: Readonly<Record<string, string | number>>', 'listed'],
  ['server/src/cli/reports/text.ts', '[severity]', 'a severity'],
  ['server/src/command/programs.ts', '[found.use]', 'a use'],
  ['server/src/cli/baseline.ts', 'JSON.parse(content.text', 'unknown until its schema has read it'],
  ['server/src/yaml/json-problem.ts', 'JSON.parse(text', 'asks only whether it is JSON'],
  ['server/src/cli/cost/cost.ts', 'JSON.parse(text)', 'unknown until its schema has read it'],
  ['server/src/price-sources/json.ts', 'JSON.parse(text)', 'unknown until a schema has read it'],
  ['client/src/prices.ts', 'JSON.parse(line)', 'a line of our own command'],
  ['server/src/config/price-file.ts', 'JSON.parse(text', 'unknown, and asked by own'],
  ['server/src/cluster/parsed-json.ts', 'JSON.parse(text', 'unknown: fleet/json.ts asks only for own properties'],
  ['server/src/cli/cluster/cluster.ts', 'JSON.parse(drawn.text)', 'a view of our own thread'],
  ['server/src/catalog/model-config.ts', 'JSON.parse(text)', 'unknown, and listed in a map'],
  ['server/src/model/kinds/workflow-runs.ts', 'JSON.parse(text)', 'unknown, and asked only for its length as a list'],
  ['client/src/setting-origins.ts', 'Readonly<Record<string, string>>', 'sent to the server'],
  ['client/src/setting-origins.ts', 'Object.fromEntries', 'sent to the server'],
];

test('only tables are looked into by name', () => {
  const lines = sources().flatMap(({ file, text }) =>
    text.split('\n').map((line, index) => ({ file, place: `${file}:${index + 1}`, line })),
  );
  const used = new Set<(typeof kept)[number]>();
  const wrong = lines.flatMap(({ file, place, line }) => {
    const told = instead(line);
    if (/^\s*(?:\/\/|\/?\*)/.test(line) || told === undefined) return [];
    const allowed = kept.filter((one) => one[0] === file && line.includes(one[1]));
    for (const one of allowed) used.add(one);
    return allowed.length > 0 ? [] : [`${place}: use ${told}: ${line.trim()}`];
  });
  expect(wrong).toEqual([]);
  expect(kept.filter((one) => !used.has(one))).toEqual([]);
});

test('what is banned is found', () => {
  const samples = [
    'const words: Readonly<Record<string, string>> = {',
    'readonly [name: string]: number;',
    'type A = { [K in string]: K };',
    'return Object.fromEntries(labels);',
    'return given as Table<string>;',
    'return words[name as keyof typeof words];',
    'return Reflect.get(words, name);',
    'const config = JSON.parse(text);',
    'return { a: 1, b: 2 }[name];',
    'if (name in words) return;',
    'return key in table ? 1 : 2;',
  ];
  expect(samples.filter((sample) => instead(sample) === undefined)).toEqual([]);
});

test('nothing but a table is of the type of one', () => {
  const plain = { a: 1 };
  const made = table({ a: 1, b: 2 });
  // @ts-expect-error: a literal has a prototype
  const literal: Table<number> = { a: 1 };
  // @ts-expect-error: so has what is spread
  const spread: Table<number> = { ...made };
  // @ts-expect-error: and what is made of entries
  const entries: Table<number> = Object.fromEntries([['a', 1]]);
  // @ts-expect-error: without an index signature no name of a file can be looked up
  const found = (name: string): unknown => plain[name];
  expect([literal, spread, entries].every((one) => 'constructor' in one)).toBe(true);
  expect(found('a')).toBe(1);
});

test('a table has what was put into it, and nothing else', () => {
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];
  for (const name of names) {
    expect(table({ a: 1 })[name]).toBeUndefined();
    expect(own({ a: 1 }, name)).toBeUndefined();
    expect(Object.entries(tableOf([[name, 1]]))).toEqual([[name, 1]]);
    expect(table(tableOf([[name, 1]]), tableOf([[name, 2]]))[name]).toBe(2);
  }
});

/** What should stand where a line has something that is banned. Its strings are words. */
function instead(line: string): string | undefined {
  const code = line.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`/g, "''");
  return banned.find(([pattern]) => pattern.test(code))?.[1];
}

function sources(): readonly { readonly file: string; readonly text: string }[] {
  return ['server/src', 'client/src'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => path.join(folder, name))
      .map((file) => ({ file: file.replaceAll('\\', '/'), text: readFileSync(file, 'utf8') })),
  );
}
