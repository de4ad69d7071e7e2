import { expect, test } from 'vitest';
import { rows } from './installed-chart.ts';

// Charts that are not in the project, installed with values in other files: with amounts computed by hand. A g2-standard-24 with 2 L4 is $2.0008/h
// at Google Cloud, a g2-standard-4 with one is $0.7068/h.

const base = `replicaCount: 1
image: {repository: registry.example/tritonserver, tag: "24.10"}
resources: {limits: {nvidia.com/gpu: 2}}
nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
`;

/** The rows as `file name dollars`, sorted. */
async function counted(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const all = await rows(files);
  return all
    .filter(({ after }) => after?.path.startsWith('charts/') === false)
    .map(({ name, after }) => `${after?.path} ${name} ${after?.hourly?.max.toFixed(2)}`)
    .sort();
}

const application = (helm: string, name = 'pump') => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: ${name}, namespace: argocd}
spec:
  sources:
    - {repoURL: https://charts.example, chart: triton, targetRevision: 1.0.0, helm: ${helm}}
    - {repoURL: https://git.example/platform, ref: values}
`;

test('an Application merges files of values, its own, and parameters: 3 × 2.00', async () => {
  const helm =
    '{valueFiles: [$values/envs/base.yaml, $values/envs/prod.yaml], parameters: [{name: replicaCount, value: "3"}]}';
  const files = { 'envs/base.yaml': base, 'envs/prod.yaml': 'replicaCount: 8\n' };
  expect(await counted({ ...files, 'apps/pump.yaml': application(helm) })).toEqual(['apps/pump.yaml pump 6.00']);
});

test('two Applications share a file of values: 2.00 and 4 × 2.00', async () => {
  const [dev, prod] = ['', ', $values/envs/prod.yaml'].map((more) => `{valueFiles: [$values/envs/base.yaml${more}]}`);
  const files = { 'envs/base.yaml': base, 'envs/prod.yaml': 'replicaCount: 4\n' };
  const text = `${application(dev ?? '', 'dev')}---\n${application(prod ?? '', 'prod')}`;
  expect(await counted({ ...files, 'apps/pump.yaml': text })).toEqual([
    'apps/pump.yaml dev 2.00',
    'apps/pump.yaml prod 8.00',
  ]);
});

test('an ApplicationSet installs a chart with the file of each element: 2.00 and 4 × 2.00', async () => {
  const set = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: pumps}
spec:
  generators: [{list: {elements: [{env: dev}, {env: prod}]}}]
  template:
    metadata: {name: 'pump-{{env}}'}
    spec:
      sources:
        - {chart: triton, helm: {valueFiles: [$values/envs/base.yaml, '$values/envs/{{env}}.yaml']}}
        - {repoURL: https://git.example/platform, ref: values}
`;
  const files = { 'envs/base.yaml': base, 'envs/dev.yaml': 'replicaCount: 1\n', 'envs/prod.yaml': 'replicaCount: 4\n' };
  expect(await counted({ ...files, 'apps/set.yaml': set })).toEqual([
    'apps/set.yaml pump-dev 2.00',
    'apps/set.yaml pump-prod 8.00',
  ]);
});

test('a HelmRelease merges its values into those of a ConfigMap, which count once: 2 × 0.71', async () => {
  const text = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: pump, namespace: llm}
spec:
  chart: {spec: {chart: triton, sourceRef: {kind: HelmRepository, name: nvidia}}}
  valuesFrom: [{kind: ConfigMap, name: pump}, {kind: Secret, name: pump-keys}]
  values: {replicaCount: 2, resources: {limits: {nvidia.com/gpu: 1}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: pump, namespace: llm}
data:
  values.yaml: |
    ${base.trim().replaceAll('\n', '\n    ')}
`;
  expect(await counted({ 'flux/pump.yaml': text })).toEqual(['flux/pump.yaml pump 1.41']);
});

test('a fleet.yaml merges its values into those of a file: 3 × 2.00', async () => {
  const fleet =
    'helm: {chart: triton, repo: https://charts.example, valuesFiles: [base.yaml], values: {replicaCount: 3}}\n';
  expect(await counted({ 'pump/base.yaml': base, 'pump/fleet.yaml': fleet })).toEqual([
    'pump/fleet.yaml helm.values 6.00',
  ]);
});

test('a helmfile merges layers and single values for each release: 5 × 2.00 and 2.00', async () => {
  const helmfile = `releases:
  - name: pump
    chart: nvidia/triton
    values: [base.yaml, {replicaCount: 9}]
    set: [{name: replicaCount, value: 5}]
  - name: valve
    chart: nvidia/triton
    values:
      - ${base.trim().replaceAll('\n', '\n        ')}
`;
  expect(await counted({ 'helm/base.yaml': base, 'helm/helmfile.yaml': helmfile })).toEqual([
    'helm/helmfile.yaml releases[pump].values[0] 10.00',
    'helm/helmfile.yaml releases[valve].values[0] 2.00',
  ]);
});

test('a helm_release of Terraform merges a file, its values and single ones: 3 × 2.00', async () => {
  const terraform = `resource "helm_release" "pump" {
  name       = "pump"
  repository = "https://charts.example"
  chart      = "triton"
  values     = [file("\${path.module}/base.yaml"), yamlencode({ replicaCount = 9 })]
  set {
    name  = "replicaCount"
    value = "3"
  }
}
`;
  expect(await counted({ 'infra/base.yaml': base, 'infra/pump.tf': terraform })).toEqual([
    'infra/pump.tf releases[pump].values[0] 6.00',
  ]);
});

test('without one of its files, an install leaves the others as they are: 2.00', async () => {
  const helm = '{valueFiles: [$values/envs/base.yaml, $values/envs/missing.yaml]}';
  expect(await counted({ 'envs/base.yaml': base, 'apps/pump.yaml': application(helm) })).toEqual([
    'envs/base.yaml null 2.00',
  ]);
});
