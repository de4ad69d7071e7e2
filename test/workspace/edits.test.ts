import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { table } from '../../server/src/yaml/table.ts';

const fixtures = path.join(import.meta.dirname, '../fixtures');

/** Objects that reference each other, each in its own file, as texts by URI. */
const written: ReadonlyMap<string, string> = new Map(
  [
    'clean/autoscaler',
    'clean/dra',
    'clean/node-pool-and-pod',
    'clean/queues',
    'clean/scaled-object',
    'clean/scaled-servers',
    'clean/train-job',
    'model/claims',
    'model/groups',
    'model/inference-service',
    'model/no-workload',
    'model/kserve-runtimes',
  ].flatMap((name) =>
    readFileSync(path.join(fixtures, `${name}.yaml`), 'utf8')
      .split(/^---\n/m)
      .map((text, index) => [`file:///w/${name}-${index}.yaml`, text] as const),
  ),
);

/** The same numbers from 0 to 1 in every run, so that failures are reproducible. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

function pick<T>(from: readonly T[], next: () => number): T {
  const chosen = from[Math.floor(next() * from.length)];
  if (chosen === undefined) throw new Error('nothing to pick from');
  return chosen;
}

const pieces = ['"', "'", '{', '[', ':', '- ', '\t', '&a ', '*a', '|', '\r', '{{', '}}', '---\n', '#', '0', 'é', '💥'];

/** A random edit of a text. */
function edited(text: string, next: () => number): string {
  const lines = text.split('\n');
  const line = Math.floor(next() * lines.length);
  const place = Math.floor(next() * text.length);
  const edits = [
    () => [...lines.slice(0, line), ...lines.slice(line + 1)].join('\n'),
    () => [...lines.slice(0, line), pick(lines, next), ...lines.slice(line)].join('\n'),
    () => [...lines.slice(0, line), `  ${lines[line]}`, ...lines.slice(line + 1)].join('\n'),
    () => text.slice(0, place) + pick(pieces, next) + text.slice(place),
    () => text.slice(0, place) + text.slice(place + 1 + Math.floor(next() * 4)),
    () => replaceOne(text, /\d+/g, String(Math.floor(next() * 12)), next),
    () => replaceOne(text, /[\w-]+$/gm, pick(text.match(/[\w-]+$/gm) ?? [''], next), next),
    () => text.slice(0, place),
  ];
  return pick(edits, next)();
}

/** Replaces one word or number with another. */
function replaceOne(text: string, words: RegExp, by: string, next: () => number): string {
  const places = [...text.matchAll(words)];
  if (places.length === 0) return text;
  const { 0: word, index } = pick(places, next);
  return text.slice(0, index) + by + text.slice(index + word.length);
}

/** Everything that is shown for a file. */
function shown(analysis: Analysis, uri: string): string {
  const file = analysis.file(uri);
  if (file === undefined) throw new Error(`${uri} is lost`);
  const documents = file.documents.map(({ base, findings, workloads, costOf }) => ({
    base,
    findings: findings.map(({ rule, severity, message, span, fixes }) => ({ rule, severity, message, span, fixes })),
    workloads: workloads.map((workload) => [
      workload.kind,
      workload.name,
      workload.role,
      workload.podSets.map(({ name, pods, inherited, accelerators }) => [
        name,
        pods,
        inherited,
        accelerators.map(({ requested, perPod, devices }) => [requested, perPod, devices]),
      ]),
      costOf(workload),
    ]),
  }));
  return JSON.stringify({ parse: file.parse, problem: file.problem, documents });
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'after any edits, all files have the results of a fresh analysis (%i)',
  { timeout: 60_000 },
  (seed) => {
    const next = numbersFrom(seed);
    const uris = [...written.keys()];
    const texts = new Map(written);
    // Errors of rules are rethrown.
    const analysis = new Analysis({ strict: true });
    for (const [uri, text] of texts) analysis.setFile(uri, text);
    for (let step = 0; step < 12; step += 1) {
      for (const uri of [pick(uris, next), pick(uris, next)]) {
        texts.set(uri, edited(texts.get(uri) ?? '', next));
        analysis.setFile(uri, texts.get(uri) ?? '');
        shown(analysis, uri);
      }
      const fresh = new Analysis({ strict: true });
      for (const [uri, text] of texts) fresh.setFile(uri, text);
      for (const uri of uris) expect(shown(analysis, uri), `${uri}:\n${texts.get(uri)}`).toBe(shown(fresh, uri));
    }
  },
);

test('answers from the other documents of the file change with these', () => {
  const uri = 'file:///w/scalers.yaml';
  const labeled = (namespace: string) =>
    `kind: Service\napiVersion: v1\nmetadata: {name: far, namespace: ${namespace}, labels: {app: speech}}\nspec: {selector: {app: speech}}\n`;
  const scaler = (name: string, kind: string) =>
    `kind: ${kind}\napiVersion: autoscaling/v2\nmetadata: {name: ${name}}\nspec: {scaleTargetRef: {kind: Deployment, name: speech}}\n`;
  const analysis = new Analysis();
  const asked = (...texts: readonly string[]) => {
    const [first] = analysis.setFile(uri, texts.join('---\n')).documents;
    const answers = first?.crossReferences;
    return [
      answers?.otherAutoscaler('Deployment', null, 'speech', 'one'),
      answers?.labeledElsewhere('service', 'near', table({ app: 'speech' }))?.namespace,
    ];
  };
  const one = scaler('one', 'HorizontalPodAutoscaler');
  expect(asked(one, scaler('two', 'HorizontalPodAutoscaler'), labeled('far'))).toEqual(['two', 'far']);
  expect(asked(one, scaler('three', 'HorizontalPodAutoscaler'), labeled('away'))).toEqual(['three', 'away']);
  expect(asked(one, scaler('two', 'Scaler'), labeled('near'))).toEqual([undefined, undefined]);
});
