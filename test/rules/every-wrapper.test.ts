import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';

// The same mistake in a Deployment in each object or file that carries whole objects. JSON is YAML.

type Fields = Readonly<Record<string, unknown>>;

const container = {
  name: 'main',
  image: 'vllm/vllm-openai:v0.10.2',
  args: ['--model=Qwen/Qwen2.5-7B-Instruct', '--tensor-parallel-size=2'],
  resources: { limits: { 'nvidia.com/gpu': 2 } },
  env: [{ name: 'LOG_LEVEL', value: 'info' }],
  volumeMounts: [{ name: 'shm', mountPath: '/dev/shm' }],
} satisfies Fields;

const pod = {
  nodeSelector: { 'cloud.google.com/gke-accelerator': 'nvidia-l4' },
  tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
  volumes: [{ name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '8Gi' } }],
} satisfies Fields;

const labels = { app: 'chat' };

function deploymentOf(changed: Fields, placed: Fields): Fields {
  const spec = { ...pod, ...placed, containers: [{ ...container, ...changed }] };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'chat', namespace: 'ml' },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

const objectOf = (apiVersion: string, kind: string, spec: Fields) => ({
  apiVersion,
  kind,
  metadata: { name: 'app', namespace: 'ml' },
  spec,
});

const policyOf = (complianceType: string) => (objectDefinition: Fields) =>
  objectOf('policy.open-cluster-management.io/v1', 'Policy', {
    'policy-templates': [
      {
        objectDefinition: objectOf('policy.open-cluster-management.io/v1', 'ConfigurationPolicy', {
          'object-templates': [{ complianceType, objectDefinition }],
        }),
      },
    ],
  });

const wrappers: Readonly<Record<string, (object: Fields) => Fields>> = {
  List: (object) => ({ apiVersion: 'v1', kind: 'List', items: [object] }),
  DeploymentList: (object) => ({ apiVersion: 'apps/v1', kind: 'DeploymentList', items: [object] }),
  'OpenShift Template': (object) => ({ apiVersion: 'template.openshift.io/v1', kind: 'Template', objects: [object] }),
  'Crossplane Object': (manifest) =>
    objectOf('kubernetes.crossplane.io/v1alpha2', 'Object', { forProvider: { manifest } }),
  ManifestWork: (object) =>
    objectOf('work.open-cluster-management.io/v1', 'ManifestWork', { workload: { manifests: [object] } }),
  ManifestWorkReplicaSet: (object) =>
    objectOf('work.open-cluster-management.io/v1alpha1', 'ManifestWorkReplicaSet', {
      manifestWorkTemplate: { workload: { manifests: [object] } },
    }),
  'Karmada Work': (object) => objectOf('work.karmada.io/v1alpha1', 'Work', { workload: { manifests: [object] } }),
  'a policy for whole objects': policyOf('mustonlyhave'),
  kro: (template) => objectOf('kro.run/v1alpha1', 'ResourceGraphDefinition', { resources: [{ id: 'chat', template }] }),
  extraObjects: (object) => ({ replicaCount: 1, extraObjects: [object] }),
  extraDeploy: (object) => ({ replicaCount: 1, extraDeploy: [object] }),
  'extraManifests by name': (object) => ({ extraManifests: { chat: object } }),
  'resources of a raw chart': (object) => ({ resources: [object] }),
  'objects of a subchart': (object) => ({ grafana: { extraObjects: [object] } }),
  'values in a HelmRelease': (object) =>
    objectOf('helm.toolkit.fluxcd.io/v2', 'HelmRelease', {
      interval: '1h',
      chart: { spec: { chart: 'raw', sourceRef: { kind: 'HelmRepository', name: 'charts' } } },
      values: { additionalManifests: [object] },
    }),
};

const mistakes: Readonly<Record<string, readonly [rule: RegExp, container: Fields, pod?: Fields]>> = {
  'a misspelled resource': [/^gpu-resource-name$/, { resources: { limits: { 'nvidia.com/gpus': 2 } } }],
  'half a GPU': [/^gpu-quantity-whole$/, { resources: { limits: { 'nvidia.com/gpu': 0.5 } } }],
  'a request without a limit': [/^gpu-limits-required$/, { resources: { requests: { 'nvidia.com/gpu': 2 } } }],
  'more shards than GPUs': [/^tensor-parallel-/, { args: [container.args[0], '--tensor-parallel-size=4'] }],
  'a mutable tag': [/^image-not-pinned$/, { image: 'vllm/vllm-openai:latest' }],
  'a misspelled profile': [/^mig-/, { resources: { limits: { 'nvidia.com/mig-1g.5g': 1 } } }],
  'a variable twice': [/^duplicate-name$/, { env: [...container.env, { name: 'LOG_LEVEL', value: 'debug' }] }],
  'a number as a variable': [/^value-not-string$/, { env: [{ name: 'EPOCHS', value: 3 }] }],
  'a misspelled field': [/^api-field$/, { imagePullPolcy: 'Always' }],
  'a volume that is missing': [/^object-reference$/, { volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
  'no shared memory': [/^shm-missing$/, { volumeMounts: [] }, { volumes: [] }],
  'an effect that is none': [
    /^toleration-invalid$/,
    {},
    { tolerations: [{ operator: 'Exists', effect: 'NoShedule' }] },
  ],
  'a card that no node has': [
    /^selector-value$/,
    {},
    { nodeSelector: { 'cloud.google.com/gke-accelerator': 'nvidia-h100' } },
  ],
};

const findingsIn = (written: Fields) => {
  const { documents } = new Analysis().setFile('file:///w/app.yaml', JSON.stringify(written, null, 2));
  return documents.flatMap(({ findings }) => findings);
};

/** Findings as texts, because they refer to whole documents. */
const wordsIn = (written: Fields) => findingsIn(written).map(({ rule, message }) => `${rule}: ${message}`);

describe.each(Object.entries(wrappers))('%s', (_, write) => {
  test('nothing wrong', () => {
    const findings = findingsIn(write(deploymentOf({}, {})));
    const wrong = findings.filter(({ severity }) => severity === 'error' || severity === 'warning');
    expect(wrong.map(({ message }) => message)).toEqual([]);
  });

  test.each(Object.entries(mistakes))('%s', (__, [rule, changed, placed = {}]) => {
    const rules = findingsIn(write(deploymentOf(changed, placed))).map((finding) => finding.rule);
    expect(rules).toContainEqual(expect.stringMatching(rule));
  });
});

describe('what a policy says of objects', () => {
  const part = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'chat' },
    spec: { template: { spec: { containers: [{ name: 'main', resources: { requests: { 'nvidia.com/gpu': 2 } } }] } } },
  };

  test('a part of one is merged into it', () => expect(wordsIn(policyOf('musthave')(part))).toEqual([]));
  test('a wrong name stays wrong', () => {
    const wrong = deploymentOf({ resources: { limits: { 'nvidia.com/gpus': 2 } } }, {});
    const rules = findingsIn(policyOf('musthave')(wrong)).map(({ rule }) => rule);
    expect(rules).toContain('gpu-resource-name');
  });
  test('one that must not exist', () => {
    expect(wordsIn(policyOf('mustnothave')(deploymentOf({ image: 'vllm/vllm-openai:latest' }, {})))).toEqual([]);
  });
});

test('references to objects in values are no objects', () => {
  const reference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'nvidia.com/gpus' };
  expect(wordsIn({ replicaCount: 1, extraObjects: [reference] })).toEqual([]);
});

test('a chart makes other objects of those with a switch', () => {
  const switched = { enabled: false, ...deploymentOf({ imagePullPolcy: 'Always' }, {}) };
  expect(wordsIn({ extraManifests: { chat: switched } })).toEqual([]);
  expect(wordsIn({ extraObjects: [switched] })).toEqual([]);
});

test('templates in values decide what they write', () => {
  const text = `extraObjects:
  - apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: "{{ .Release.Name }}-chat"
    spec:
      selector: {matchLabels: {app: chat}}
      template:
        metadata: {labels: {app: chat}}
        spec:
          containers:
            - name: main
              image: "{{ .Values.image }}"
              resources: {limits: {nvidia.com/gpu: "{{ .Values.gpus }}"}}
`;
  const { documents } = new Analysis().setFile('file:///w/values.yaml', text);
  expect(documents.flatMap(({ findings }) => findings.map(({ rule }) => rule))).toEqual([]);
});
