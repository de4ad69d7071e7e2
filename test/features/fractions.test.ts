import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FileAnalysis } from '../../server/src/analysis.ts';
import { claimedIn, claimFix, claimFractions } from '../../server/src/features/actions/claimed.ts';
import { fractionFix, fractionsOf } from '../../server/src/features/actions/fractions.ts';
import { resizableIn } from '../../server/src/features/actions/resizable.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { analyse } from '../support/analyse.ts';
import { configOf } from '../support/config-line.ts';
import { deploymentOf } from '../support/deployment.ts';
import { goldenTests } from '../support/golden.ts';
import { takeCursor } from '../support/marked-text.ts';

// The list behind "Use less of a GPU…": each entry with what it holds and costs, and the lines that it changes.

describe('pieces of a GPU', () => {
  goldenTests(path.join(import.meta.dirname, '../fixtures/features/fractions'), (marked) => {
    const { text, offset } = takeCursor(marked);
    const file = analyse(text, configOf(text));
    const place = resizableIn(file, { start: offset, end: offset });
    if (place === undefined) return claimed(file, offset);
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

/** A server of a model on one card that a node selector names, on EKS. */
function onCard(machine: string, ...args: readonly string[]): FileAnalysis {
  return analyse(
    deploymentOf(`nodeSelector: {node.kubernetes.io/instance-type: ${machine}}
containers:
  - name: main
    image: vllm/vllm-openai:v0.11.0
    args: [${args.join(', ')}]
    resources: {limits: {nvidia.com/gpu: 1}}
`),
  );
}

// Between them are models that fit in a slice by less than the error of the estimate.
const lengths = [2048, 8192, 24_576, 40_960, 57_344, 73_728, 90_112];

test.each(lengths)('the findings and the list advise the same for requests of %i tokens', (length) => {
  const file = onCard('p5.4xlarge', '--model=mistralai/Mistral-Nemo-Instruct-2407', `--max-model-len=${length}`);
  const offset = file.text.indexOf('nvidia.com/gpu: 1');
  const place = resizableIn(file, { start: offset, end: offset });
  const listed = place === undefined ? [] : fractionsOf(place).map(({ label }) => label);
  const messages = file.documents.flatMap(({ findings }) => findings.map(({ message }) => message));
  const slice = messages.flatMap((message) => /MIG slice [\w.]+/.exec(message) ?? []);
  const halves = listed.filter((label) => /^MIG slice [123]g/.test(label));
  expect(slice).toEqual(halves.slice(0, 1));
  const card = messages.flatMap((message) => /on one (.* \([\w.]+\)):/.exec(message)?.[1] ?? []);
  expect(listed).toEqual(expect.arrayContaining(card));
});

test('a slice that others of the file share by an alias stays as it is', () => {
  const slice = 'resources: &slice {limits: {nvidia.com/mig-1g.10gb: 1}}';
  const { text } = onCard('p4de.24xlarge', '--model=meta-llama/Llama-3.1-8B-Instruct', '--max-model-len=8192');
  const other = '        - {name: other, image: "registry.example/other:1", resources: *slice}\n';
  const edits = (one: string) => {
    const file = analyse(one);
    const offset = one.indexOf('nvidia.com/mig');
    const place = resizableIn(file, { start: offset, end: offset });
    const budget = () => ({ characters: 1e6, fileCharacters: 1e6 });
    return place && fractionsOf(place).map((each) => fractionFix(place, each, budget()) !== undefined);
  };
  const alone = text.replace(/resources: .*/, slice);
  expect(edits(alone)).toEqual([true, true]);
  expect(edits(alone + other)).toEqual([false, false]);
});

/** The list for the GPU of a claim, which is in the same file. */
function claimed(file: FileAnalysis, offset: number): string {
  const place = claimedIn(file, { start: offset, end: offset });
  if (place === undefined) return 'nothing\n';
  const entries = claimFractions(place).map(({ id, label, description, needs }) => {
    const made = claimFix(place, id, file, { characters: 1e6, fileCharacters: 1e6 });
    const change =
      made === undefined
        ? '  no edit\n'
        : changedLines(file.text, applyEdits(file.text, [...made.inClaim, ...made.inPod]));
    return `${label}\n  ${description}\n  needs ${needs}\n${change}`;
  });
  return `claim\n${entries.join('')}`;
}

function changedLines(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const removed = old.filter((line) => !now.includes(line)).map((line) => `-${line}\n`);
  return [...removed, ...now.filter((line) => !old.includes(line)).map((line) => `+${line}\n`)].join('');
}

test('the price of several GPUs is that of the pod after the edit: two L4s take a machine that costs more than twice the one with one', () => {
  const file = analyse(`apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: main
      image: vllm/vllm-openai:v0.11.0
      args: [--model=meta-llama/Llama-3.1-8B-Instruct]
      resources: {limits: {nvidia.com/gpu: 1}}
`);
  const offset = file.text.indexOf('nvidia.com/gpu: 1');
  const place = resizableIn(file, { start: offset, end: offset });
  const several = place && fractionsOf(place).find(({ id }) => id === 'count 2');
  const made = place && several && fractionFix(place, several, { characters: 1e6, fileCharacters: 1e6 });
  const after = analyse(applyEdits(file.text, made?.edits ?? [])).documents[0];
  const cost = after?.workloads[0] && after.costOf(after.workloads[0]).cost;
  expect(several?.hourly).toEqual(cost?.hourly);
});
