import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { analyse, findingsOf } from '../support/analyse.ts';
import { configOf } from '../support/config-line.ts';
import { readFixture } from '../support/rule-fixture.ts';

const folder = path.join(import.meta.dirname, '../fixtures/rules');
const corpus = path.join(import.meta.dirname, '../../../shared/corpus/dev');
const reason = existsSync(corpus) ? '' : ' (skipped: ../shared/corpus/dev is missing)';

/**
 * Pairs of rules that may report the same place, because each finds a different mistake, with the reason. Any other pair reports one cause
 * twice.
 */
const allowedPairs: ReadonlyMap<string, string> = new Map([
  ['cpu-image-with-gpu + image-not-pinned', 'the tag is mutable, and it is not built for GPUs'],
  ['cpu-image-with-gpu + model-volume-unused', 'the image is not built for the GPU, and nothing keeps its models'],
  ['cpu-image-with-gpu + run-to-completion-in-deployment', 'the image is not built for GPUs, and its program ends'],
  ['image-not-pinned + run-to-completion-in-deployment', 'the tag is mutable, and the program of the image ends'],
  ['image-invalid + run-to-completion-in-deployment', 'the image is gone, and its program ends'],
  ['cpu-metric-for-gpu + utilization-without-request', 'the metric is the wrong one, and it has no value'],
  ['attention-heads + tensor-parallel-link', 'the size cannot divide the heads, and its GPUs have a slow link'],
  ['dtype-unsupported + whole-gpu-underused', 'the GPU cannot run the model, and a share of another one could'],
  ['idle-gpu-container + image-not-pinned', 'the program of the image waits, and its tag is mutable'],
  ['gpu-without-request + nim-without-key', 'the server gets no GPU, and it cannot load its model'],
  ['nproc-per-node + resume-disabled', 'the program uses one of the GPUs, and it does not resume'],
  ['hpa-metric-unknown + keda-query', 'the metric has another name, and its average is divided by the replicas'],
  ['gated-model-without-token + server-too-old', 'the server may not load the model, and is too old for it'],
  ['rank-without-dns + world-size', 'the pods are more than the slice has nodes, and do not find each other'],
  ['toleration-invalid + value-not-string', 'the effect is not a word, and YAML reads it as a boolean'],
  ['gpu-limits-required + mig-resource-spelling', 'the name is wrong, and it is only in requests'],
  ['server-not-running + tensor-parallel-missing', 'the server never starts, and would use one of its GPUs'],
]);

/** Pairs of rules that report the same span, as `a + b`, with the place. */
function sharedSpans(text: string, where: string): readonly string[] {
  const findings = findingsOf(analyse(text, configOf(text))).filter(({ severity }) => severity !== 'hint');
  return findings.flatMap((one, index) =>
    findings
      .slice(index + 1)
      .filter(({ rule, span }) => rule !== one.rule && span.start === one.span.start && span.end === one.span.end)
      .map(({ rule }) => [one.rule, rule].sort().join(' + '))
      .filter((pair) => !allowedPairs.has(pair))
      .map((pair) => `${pair}: ${where}`),
  );
}

test('no two rules report the same cause at the same place', () => {
  const cases = readdirSync(folder)
    .filter((name) => /(?<!\.fixed)\.yaml$/.test(name))
    .flatMap((name) =>
      readFixture(readFileSync(path.join(folder, name), 'utf8')).map((one) => ({ ...one, file: name })),
    );
  expect(cases.flatMap(({ text, file, name }) => sharedSpans(text, `${file} > ${name}`))).toEqual([]);
  expect(cases.length).toBeGreaterThan(0);
});

test.skipIf(reason !== '')(`nor in real manifests${reason}`, () => {
  const files = readdirSync(corpus, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  const found = files.flatMap(({ parentPath, name }) => {
    const file = path.join(parentPath, name);
    return sharedSpans(readFileSync(file, 'utf8'), path.relative(corpus, file));
  });
  expect(found).toEqual([]);
  expect(files.length).toBeGreaterThan(0);
});
