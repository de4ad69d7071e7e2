import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

const pod = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}
`;

/** Where each file counts: its kustomizations, or the number of its own workloads. */
async function counted(files: Readonly<Record<string, string>>, links: Readonly<Record<string, string>> = {}) {
  const cwd = temporaryFolder();
  const place = (name: string) => {
    mkdirSync(path.join(cwd, path.dirname(name)), { recursive: true });
    return path.join(cwd, name);
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(place(name), text);
  for (const [name, target] of Object.entries(links)) symlinkSync(target, place(name));
  const { stdout } = await runCli(['check', '.', '--no-config', '--format', 'json'], { cwd });
  const report = JSON.parse(stdout) as Report;
  return Object.fromEntries(
    report.files.map(({ path: name, workloads }) => [name, workloads[0]?.countedIn ?? workloads.length]),
  );
}

test('kustomizations that include each other or themselves count once', async () => {
  expect(
    await counted({
      'a/kustomization.yaml': 'resources: [../b]',
      'b/kustomization.yaml': 'resources: [../a, pod.yaml]',
      'b/pod.yaml': pod,
      'c@d/kustomization.yaml': 'resources: [../c@d, pod.yaml]',
      'c@d/pod.yaml': pod,
    }),
  ).toEqual({
    'a/kustomization.yaml': 1,
    'b/kustomization.yaml': ['a/kustomization.yaml'],
    'b/pod.yaml': ['a/kustomization.yaml'],
    'c@d/kustomization.yaml': 1,
    'c@d/pod.yaml': ['c@d/kustomization.yaml'],
  });
});

test('only the first document of a kustomization counts', async () => {
  expect(await counted({ 'kustomization.yaml': 'resources: [pod.yaml]\n---\na: b\n', 'pod.yaml': pod })).toEqual({
    'kustomization.yaml': 1,
    'pod.yaml': ['kustomization.yaml'],
  });
});

test('a kustomization that names the file of another does not include it', async () => {
  expect(
    await counted({
      'base/kustomization.yaml': 'resources: [pod.yaml]',
      'base/pod.yaml': pod,
      'prod/kustomization.yaml': 'resources: [../base/kustomization.yaml]',
    }),
  ).toEqual({
    'base/kustomization.yaml': 1,
    'base/pod.yaml': ['base/kustomization.yaml'],
    'prod/kustomization.yaml': 0,
  });
});

test('a base behind a symbolic link counts once', async () => {
  const files = {
    'base/kustomization.yaml': 'resources: [pod.yaml]',
    'base/pod.yaml': pod,
    'prod/kustomization.yaml': 'resources: [base]',
  };
  expect(await counted(files, { 'prod/base': '../base' })).toEqual({
    'base/kustomization.yaml': ['prod/kustomization.yaml'],
    'base/pod.yaml': ['prod/kustomization.yaml'],
    'prod/kustomization.yaml': 1,
  });
});

test('a patch cannot nest an object without limit', async () => {
  const deep = `${'{a: '.repeat(60)}{}${'}'.repeat(60)}`;
  const steps = (depth: number) => `/x${'/a'.repeat(depth)}`;
  const patch = Array.from({ length: 200 }, (_, index) => `- {op: add, path: ${steps(60 * index)}, value: ${deep}}\n`);
  expect(
    await counted({
      'kustomization.yaml': 'resources: [pod.yaml]\npatches: [{path: patch.yaml, target: {kind: Pod}}]',
      'pod.yaml': pod,
      'patch.yaml': patch.join(''),
    }),
  ).toMatchObject({ 'kustomization.yaml': 1, 'pod.yaml': ['kustomization.yaml'] });
});

test('a file counts on its own if its kustomization is not checked', async () => {
  const large = `resources: [pod.yaml]\n# ${'x'.repeat(5 * 1024 * 1024)}\n`;
  expect(await counted({ 'kustomization.yaml': large, 'pod.yaml': pod })).toEqual({
    'kustomization.yaml': 0,
    'pod.yaml': 1,
  });
});

test('a kustomization without an extension is found', async () => {
  expect(await counted({ Kustomization: 'resources: [pod.yaml]', 'pod.yaml': pod })).toEqual({
    Kustomization: 1,
    'pod.yaml': ['Kustomization'],
  });
});
