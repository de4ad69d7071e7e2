import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { codeLenses } from '../../server/src/features/code-lens.ts';
import { hover } from '../../server/src/features/hover/hover.ts';
import { configOf } from '../support/config-line.ts';

test('alternatives of a claim are a range of devices', () => {
  const text = readFileSync('test/fixtures/cost-by-hand/claims.yaml', 'utf8');
  const analysis = new Analysis({ strict: true });
  analysis.setConfig(configOf(text));
  const file = analysis.setFile('file:///claims.yaml', text);
  const [first, second] = codeLenses(file).map(({ title }) => title.split(' on demand')[0]);
  expect(first).toBe('1–4 × L40S or T4 · $1.86–$3.91/h');
  expect(second).toBe('1–8 × L40S or T4 · $1.86–$7.82/h');
  const shown = hover(file, file.text.indexOf('kind: Pod') + 1);
  expect(JSON.stringify(shown?.blocks)).toContain('Runs 1 pod × 1–4 GPUs = 1–4 GPUs');
});

test('pods that share a claim of an unknown GPU show their part of it', () => {
  const claim =
    'apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: shared}\nspec:\n  devices:\n    requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]\n';
  const pods =
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: a}}\n    spec:\n      resourceClaims: [{name: gpu, resourceClaimName: shared}]\n      containers: [{name: main, image: "registry.example/a:1", resources: {claims: [{name: gpu}]}}]\n';
  const file = new Analysis({ strict: true }).setFile('file:///shared.yaml', `${claim}---\n${pods}`);
  expect(codeLenses(file).map(({ title }) => title)[0]).toContain('2 × 1/2 of a GPU');
});
