import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Analysis } from '../server/src/analysis.ts';
import { gpusOf } from '../server/src/cost/estimate.ts';
import { parseYaml } from '../server/src/yaml/parse.ts';

interface Snippet {
  readonly prefix: string;
  readonly description: string;
  /** Heeded by VS Code 1.109 and later. */
  readonly exclude: readonly string[];
  readonly body: readonly string[];
}

const file = path.join(import.meta.dirname, '../snippets/gpulint.json');
const snippets = Object.entries<Snippet>(JSON.parse(readFileSync(file, 'utf8')));

const choice = /\$\{\d+\|([^|]*)\|\}/g;

/** With one of the choices, or the default, in every place. */
function filledIn({ body }: Snippet, pick = 0, defaults: Readonly<Record<string, string>> = {}): string {
  return `${body
    .join('\n')
    .replace(choice, (_, options: string) => options.split(',')[pick] ?? options.split(',')[0]!)
    .replace(/\$\{(\d+):([^}]*)\}/g, (_, place: string, text: string) => defaults[place] ?? text)}\n`;
}

/** The snippets with each of their choices, and the training Job with more than one GPU. */
const variants = snippets.flatMap(([name, snippet]) => {
  const most = Math.max(
    1,
    ...[...snippet.body.join('\n').matchAll(choice)].map(([, text = '']) => text.split(',').length),
  );
  const texts = Array.from({ length: most }, (_, pick) => [`${name}, choice ${pick + 1}`, filledIn(snippet, pick)]);
  return snippet.prefix === 'gpu-spot-job' ? [...texts, [`${name}, 4 GPUs`, filledIn(snippet, 0, { 5: '4' })]] : texts;
}) as [string, string][];

test.each(variants)('%s is YAML in which nothing is wrong', (_, text) => {
  expect(text).not.toContain('$');
  expect(parseYaml(text).documents.flatMap(({ problems }) => problems)).toEqual([]);
  // What a scaler names is a server, as people will have it.
  const server = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: model}
spec:
  selector: {matchLabels: {app: model}}
  strategy: {type: Recreate}
  template:
    metadata: {labels: {app: model}}
    spec:
      containers:
        - name: server
          image: vllm/vllm-openai:v0.11.0
          args: [--model, Qwen/Qwen3-8B]
          resources: {limits: {nvidia.com/gpu: 1}}
`;
  const findings = new Analysis({ strict: true })
    .setFile('file:///a.yaml', text.includes('scaleTargetRef') ? text + server : text)
    .documents.flatMap((document) => document.findings)
    // A scaler that never wakes is advice where it may watch another server, and wrong in a snippet.
    .filter(({ severity, rule }) => severity === 'error' || severity === 'warning' || rule === 'keda-trigger-zero');
  expect(findings.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([]);
});

test('workloads ask for an accelerator, and what they ask for is counted', () => {
  const counts = (name: string) => {
    const [, snippet] = snippets.find(([, { prefix }]) => prefix === name)!;
    const file = new Analysis().setFile('file:///a.yaml', filledIn(snippet));
    return file.documents.flatMap(({ workloads }) =>
      workloads.filter(({ role }) => role !== 'definition').map((workload) => gpusOf(workload).max),
    );
  };
  expect(counts('gpu-spot-job')).toEqual([1]);
  expect(counts('gpu-scale-to-zero')).toEqual([3]);
  expect(counts('gpu-claim')).toEqual([1]);
  expect(counts('gpu-jobset')).toEqual([16]);
  expect(counts('gpu-leaderworkerset')).toEqual([16]);
});

test('prefixes are told apart, and all begin alike', () => {
  const prefixes = snippets.map(([, { prefix }]) => prefix);
  expect(new Set(prefixes).size).toBe(prefixes.length);
  expect(prefixes.every((prefix) => prefix.startsWith('gpu-'))).toBe(true);
});

test('none is offered in the config, which is no manifest', () => {
  for (const [name, { exclude }] of snippets) expect(exclude, name).toEqual(['**/.gpulint.yaml']);
});
