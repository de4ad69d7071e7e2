import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';

// Tutorials say at the top of a file which card it is for. The object below may be a namespace, and the pods in the next document.

const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: lab\n';
const pod = (card: string) => `apiVersion: v1
kind: Pod
metadata:
  name: chat
spec:
  containers:
    - name: main
      image: registry.example.com/chat:1
      resources:
        limits:
          nvidia.com/gpu: 1${card}
`;

test.each([
  ['one card', '# Serves a model on one A10 (24 GB).\n', ''],
  ['behind an empty comment', '# Module 5\n#\n# Needs an A10.\n', ''],
  [
    'in a ConfigMap',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  # The A10 has 24 GB.\n  share: "0.4"\n',
    '',
  ],
])('a comment at the top of the file names the card: %s', (_, header, card) => {
  expect(modelsIn(`${header}---\n${namespace}---\n${pod(card)}`)).toEqual(['a10']);
});

test.each([
  ['a choice of cards', `# Runs on A10 or T4.\n${namespace}---\n${pod('')}`, ['a10', 't4']],
  ['two lines that differ', `# Small: A10\n# Large: H100\n${namespace}---\n${pod('')}`, []],
  ['pods in the first document', `# On an A10.\n${pod('')}---\n${pod('')}`, ['a10']],
  ['a comment of the second document', `# On an A10.\n${namespace}---\n${pod(' # L4')}`, ['l4']],
  [
    'a comment in a text',
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  run.sh: |\n    # Runs on an A10.\n    ls\n---\n${pod('')}`,
    [],
  ],
  ['no comment at the top', `${namespace}# On an A10.\n---\n${pod('')}`, []],
])('%s', (_, text, models) => {
  expect(modelsIn(text)).toEqual(models);
});

test('a changed comment changes the pods of the other documents', () => {
  const analysis = new Analysis({ strict: true });
  const file = (card: string) => `# On ${card}.\n${namespace}---\n${pod('')}`;
  const models = ['A10', 'L4'].map((card) => modelsOf(analysis.setFile('file:///a.yaml', file(card))));
  expect(models).toEqual([['a10'], ['l4']]);
});

function modelsIn(text: string): readonly string[] {
  return modelsOf(new Analysis({ strict: true }).setFile('file:///a.yaml', text));
}

function modelsOf({ documents }: ReturnType<Analysis['setFile']>): readonly string[] {
  const sets = documents.flatMap(({ workloads }) => workloads.flatMap(({ podSets }) => podSets));
  return sets.flatMap(({ accelerators }) => accelerators.flatMap(({ candidates }) => candidates));
}
