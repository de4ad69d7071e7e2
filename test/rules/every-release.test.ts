import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';

// The same mistake in each place that has values of a chart: files, umbrella charts, and the objects of tools that install charts. JSON is YAML.

interface Values {
  readonly [key: string]: unknown;
}

const right = {
  replicaCount: 1,
  image: { repository: 'vllm/vllm-openai', tag: 'v0.10.2' },
  args: ['--model', 'Qwen/Qwen2.5-7B-Instruct'],
  resources: { limits: { 'nvidia.com/gpu': 1 } },
  nodeSelector: { 'nvidia.com/gpu.product': 'NVIDIA-L4' },
  env: [{ name: 'LOG_LEVEL', value: 'info' }],
} satisfies Values;

const source = { repoURL: 'https://charts.example', chart: 'chat', targetRevision: '1.4.0' };
const metadata = { name: 'chat', namespace: 'ml' };

/** A text with values as a literal block. */
const withBlock = (head: string, by: number) => (values: Values) =>
  `${head}: |\n${' '.repeat(by)}${JSON.stringify(values)}\n`;

const places: Readonly<Record<string, (values: Values) => object | string>> = {
  'a file of values': (values) => values,
  'an umbrella chart': (values) => ({ global: { domain: 'chat.example' }, chat: values, redis: { enabled: true } }),
  Flux: (values) => ({
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata,
    spec: {
      interval: '1h',
      chart: { spec: { chart: 'chat', sourceRef: { kind: 'HelmRepository', name: 'charts' } } },
      values,
    },
  }),
  'Argo CD, as an object': (values) => application({ ...source, helm: { valuesObject: values } }),
  'Argo CD, as a text': withBlock(
    `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: chat, namespace: argocd}
spec:
  destination: {server: "https://kubernetes.default.svc", namespace: ml}
  project: ml
  source:
    repoURL: https://charts.example
    chart: chat
    targetRevision: 1.4.0
    helm:
      values`,
    8,
  ),
  helmfile: (values) => ({ releases: [{ name: 'chat', chart: 'charts/chat', values: [values] }] }),
  Fleet: (values) => ({ defaultNamespace: 'ml', helm: { releaseName: 'chat', chart: 'chat', values } }),
  k3s: withBlock(
    'apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: chat}\nspec:\n  chart: chat\n  valuesContent',
    4,
  ),
  Rancher: withBlock(
    'apiVersion: helm.cattle.io/v1\nkind: HelmChartConfig\nmetadata: {name: chat}\nspec:\n  valuesContent',
    4,
  ),
  Kustomize: (values) => ({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    helmCharts: [{ name: 'chat', repo: 'https://charts.example', releaseName: 'chat', valuesInline: values }],
  }),
  Ansible: (values) => [
    { hosts: 'all', tasks: [{ 'kubernetes.core.helm': { name: 'chat', chart_ref: 'charts/chat', values } }] },
  ],
  'a ConfigMap': withBlock('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: chat}\ndata:\n  values.yaml', 4),
};

function application(from: object): object {
  const destination = { server: 'https://kubernetes.default.svc', namespace: 'ml' };
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata,
    spec: { project: 'ml', destination, source: from },
  };
}

const mistakes: Readonly<Record<string, readonly [rule: string, values: Values]>> = {
  'a misspelled resource': ['gpu-resource-name', { resources: { limits: { 'nvidia.com/gpus': 1 } } }],
  'a request without a limit': ['gpu-limits-required', { resources: { requests: { 'nvidia.com/gpu': 1 } } }],
  'half a GPU': ['gpu-quantity-whole', { resources: { limits: { 'nvidia.com/gpu': 0.5 } } }],
  'a misspelled field': ['api-field', { resources: { limit: { 'nvidia.com/gpu': 1 } } }],
  'more shards than GPUs': ['tensor-parallel-mismatch', { args: [...right.args, '--tensor-parallel-size=2'] }],
  'a model that is too large': ['model-does-not-fit', { args: ['--model', 'Qwen/Qwen2.5-72B-Instruct'] }],
  'a mutable tag': ['image-not-pinned', { image: { repository: 'vllm/vllm-openai', tag: 'latest' } }],
  'an effect that is none': ['toleration-invalid', { tolerations: [{ operator: 'Exists', effect: 'NoShedule' }] }],
  'a card that no node has': [
    'selector-value',
    { nodeSelector: { 'cloud.google.com/gke-accelerator': 'nvidia-h100' } },
  ],
  'a variable twice': [
    'duplicate-name',
    {
      env: [
        { name: 'LOG_LEVEL', value: 'info' },
        { name: 'LOG_LEVEL', value: 'debug' },
      ],
    },
  ],
  'a floor above its ceiling': [
    'floor-over-ceiling',
    { autoscaling: { enabled: true, minReplicas: 4, maxReplicas: 2, targetCPUUtilizationPercentage: 80 } },
  ],
};

describe.each(Object.entries(places))('%s', (_, write) => {
  const findingsIn = (values: Values) => {
    const written = write(values);
    const text = typeof written === 'string' ? written : JSON.stringify(written, null, 2);
    const { documents } = new Analysis().setFile('file:///w/app.yaml', text);
    return documents.flatMap(({ findings }) => findings);
  };

  test('has no error or warning without a mistake', () => {
    expect(findingsIn(right).filter(({ severity }) => severity === 'error' || severity === 'warning')).toEqual([]);
  });

  test.each(Object.entries(mistakes))('%s', (_name, [rule, values]) => {
    expect(findingsIn({ ...right, ...values }).map((one) => one.rule)).toContain(rule);
  });
});
