import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli, temporaryFolder } from './run-cli.ts';

/** The errors in a folder with these files, as `path:line message`. */
async function errors(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const cwd = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
  const { stdout } = await runCli(['check', '--format', 'json', '.'], { cwd });
  const report = JSON.parse(stdout) as {
    files: { path: string; findings: { severity: string; message: string; range: { start: { line: number } } }[] }[];
  };
  return report.files.flatMap((file) =>
    file.findings
      .filter(({ severity }) => severity === 'error')
      .map(({ range, message }) => `${file.path}:${range.start.line} ${message}`),
  );
}

const template = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: registry.example/a:{{ .Values.tag }}
      resources: {limits: {nvidia.com/gpu: 1}}
`;
const chart = {
  'Chart.yaml': 'apiVersion: v2\nname: a\nversion: 0.1.0\n',
  'values.yaml': 'tag: "1"\n',
  'templates/pod.yaml': template,
};
const pod = template.replace('{{ .Values.tag }}', '1');
const kustomization = {
  'kustomization.yaml': 'kind: Kustomization\nresources: [pod.yaml]\npatches: [{path: patch.yaml}]\n',
  'pod.yaml': pod,
  'patch.yaml': 'kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec:\n  hostname: b\n',
};
const quote = 'Unclosed quote; add the closing quote';

describe('an error in a file that names no accelerators is reported if files that do are built with it', () => {
  test.each([
    ['Chart.yaml', { ...chart, 'Chart.yaml': 'apiVersion: v2\nname: "a\nversion: 0.1.0\n' }, `Chart.yaml:2 ${quote}`],
    ['values.yaml', { ...chart, 'values.yaml': 'tag: "1\n' }, `values.yaml:1 ${quote}`],
    ['more values', { ...chart, 'values-prod.yaml': 'a: 1\ntag: "1\n' }, `values-prod.yaml:2 ${quote}`],
    [
      'a template',
      { ...chart, 'values.yaml': 'gpu: 1\ntag: a\n', 'templates/x.yaml': 'kind: Service\na: {{ if .Values.b }}\n' },
      'templates/x.yaml:2 {{ if }} has no {{ end }}: Helm fails to read the chart',
    ],
    [
      'a patch',
      { ...kustomization, 'patch.yaml': 'kind: Pod\napiVersion: v1\nmetadata: {name: "a}\n' },
      `patch.yaml:3 ${quote}`,
    ],
    [
      'a kustomization',
      { 'kustomization.yaml': 'resources: [pod.yaml]\nnamePrefix: "a\n', 'pod.yaml': pod },
      `kustomization.yaml:2 ${quote}`,
    ],
  ])('%s', async (_, files, expected) => {
    expect(await errors(files)).toEqual([expected]);
  });

  test('but not without such files, nor if the files are whole', async () => {
    const plain = template.replace('nvidia.com/gpu', 'cpu');
    const broken = {
      ...chart,
      'templates/pod.yaml': plain,
      'Chart.yaml': 'apiVersion: v2\nname: "a\n',
      'values.yaml': 'a: "b\n',
    };
    expect(await errors(broken)).toEqual([]);
    expect(await errors(chart)).toEqual([]);
    expect(await errors(kustomization)).toEqual([]);
    expect(await errors({ 'values.yaml': 'a: "b\n', 'templates/pod.yaml': template })).toEqual([]);
  });
});

describe('the number of pods is unknown if an error of syntax may hide it', () => {
  const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 3
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      hostname: b
${pod.slice(pod.indexOf('  containers'), -1).replaceAll(/^/gm, '    ')}
`;
  test.each([
    ['  replicas: 3', '   replicas: 3', '? GPUs'],
    ['  replicas: 3', '  repl', '? GPUs'],
    ['  replicas: 3', '  replicas:3', '? GPUs'],
    ['  replicas: 3', '\treplicas: 3', '? GPUs'],
    ['      hostname: b', '      hostname:b', '3 GPUs'],
    ['      hostname: b', '       hostname: b', '3 GPUs'],
    ['a}\nspec', '"a}\nspec', '3 GPUs'],
  ])('%j is %j', async (before, after, count) => {
    const cwd = temporaryFolder();
    expect(deployment).toContain(before);
    writeFileSync(path.join(cwd, 'a.yaml'), deployment.replace(before, after));
    const { stdout } = await runCli(['cost', '--no-color', 'a.yaml'], { cwd });
    expect(stdout).toContain(count);
  });
});
