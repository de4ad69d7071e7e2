import { expect, test } from 'vitest';
import { analyse, findingsOf } from './support/analyse.ts';

// Texts on which a pattern that backtracks would take minutes. Each ends in seconds, or Vitest's limit stops it.

const pod = (spec: string) => `apiVersion: batch/v1
kind: Job
metadata: {name: long}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.example/trainer:1.4
          resources: {limits: {nvidia.com/gpu: 1}}
${spec}`;
const machineTemplate = (failureDomain: string) => `apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: long}
spec: {template: {spec: {failureDomain: "${failureDomain}"}}}
`;
const many = 100_000;
const count = 3000;
const manyKeys = `apiVersion: v1
kind: Secret
metadata: {name: access}
data:
${Array.from({ length: count }, (_, index) => `  access-key-${index}a: YQ==\n`).join('')}---
${pod('          env:\n')}${Array.from(
  { length: count },
  (_, index) =>
    `            - {name: K${index}, valueFrom: {secretKeyRef: {name: access, key: acess-key-${index}b}}}\n`,
).join('')}`;

test('a long list with one mistake in each item has one finding, and one fix', () => {
  const foundIn = (count: number) =>
    findingsOf(analyse(pod(`          args: [${'1, '.repeat(count)}"2"]\n`))).filter(
      ({ rule }) => rule === 'value-not-string',
    );
  expect(foundIn(50_000).map(({ message }) => message)).toEqual([
    expect.stringMatching(/^50,000 items of args must be strings/),
  ]);
  const fixes = foundIn(150).flatMap((finding) => finding.fixes);
  expect(fixes.map(({ title, safe, edits }) => [title, safe, edits.length])).toEqual([
    ['Quote these 150 values', true, 150],
  ]);
});

test('a rule reports a mistake at most 5,000 times in one place, then without fixes', () => {
  const found = findingsOf(analyse(pod(`          env: [${'{nam: a}, '.repeat(5500)}]\n`)));
  expect(found.filter(({ rule }) => rule === 'api-field').length).toBe(5000);
  expect(found.every(({ fixes }) => fixes.length === 0)).toBe(true);
});

test.each([
  ['line ends of old computers in front of an error', `${'x: 1\r'.repeat(many)}a: [`],
  ['line ends of old computers behind a comment', `# RTX 4090\n${'\r'.repeat(many)}kind: Pod\n`],
  ['separators of lines behind a comment', `# RTX 4090\n${'\u2028'.repeat(many)}kind: Pod\n`],
  ['options in a script', pod(`          command: [bash, -c, "python train.py; echo -${'e'.repeat(many)}0"]\n`)],
  ['blank lines in a script', pod(`          command: [bash, -c, "mpirun x; ${'\\n'.repeat(many)}y"]\n`)],
  [
    'devices in values',
    `image: {repository: vllm/vllm-openai, tag: v0.11.0}\nresources: {limits: {cpu: 4}}\nnote: ${'device'.repeat(many)}\n`,
  ],
  ['numbers in a comment', pod(`          # ${'3090 ti super '.repeat(many / 10)}\n`)],
  ['articles in a comment', pod(`          # ${'on the the '.repeat(many / 10)}\n`)],
  ['comments with line ends of Windows', `${'# RTX 4090\r\n'.repeat(99)}kind: Pod\n`],
  ['blank lines in front of a template', pod(`          args: ["${'\\n'.repeat(many)}{{"]\n`)],
  ['words of scripts without an end', `data:\n  a: |-\n    kind: Pod apiVersion: ${'<<x0\t'.repeat(many / 4)}`],
  ['keys of values without an end', `data: ${'values-'.repeat(many)}\n`],
  ['tags in the place of values', `kind: ${'name:!'.repeat(many)}\n`],
  ['a template of blanks', `${pod('')}# {{ .a }}\n# {{${'\t'.repeat(many)}-x }}\n`],
  ['a line of hyphens', `a: [\n${'-'.repeat(many)}x\n`],
  ['thousands of keys that are almost those of a Secret', manyKeys],
  [
    'thousands of unknown fields',
    `${pod('')}${Array.from({ length: 4000 }, (_, index) => `unkown${index}: {v: 1}\n`).join('')}`,
  ],
  ['a region of letters', machineTemplate(`${'a1'.repeat(40)}!`)],
])('%s', (_, text) => {
  expect(() => findingsOf(analyse(text))).not.toThrow();
});
