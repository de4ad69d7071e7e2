import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { chartValues } from '../../server/src/model/chart-templates.ts';
import { readHelpers } from '../../server/src/yaml/template-helpers.ts';
import { deploymentOf } from '../support/deployment.ts';

function advice(values: string, container: string, pod = '{}'): readonly string[] {
  const chart = chartValues('values.yaml', values);
  const text = deploymentOf(`{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 8 }}
{{- end }}
${pod === '{}' ? 'terminationGracePeriodSeconds: 30' : pod}
containers:
  - name: chat
${container.replace(/^/gm, '    ')}
    resources:
      {{- toYaml .Values.resources | nindent 12 }}
`);
  const related = chart === undefined ? {} : { chart };
  const { documents } = new Analysis({ strict: true }).setFile('file:///t.yaml', text, 0, undefined, related);
  return documents.flatMap(({ findings }) => findings.map(({ severity, rule }) => `${severity} ${rule}`));
}

describe('a server whose chart requests no GPU', () => {
  const server = 'image: {{ .Values.image }}\nargs: [--model, {{ .Values.model }}]';
  const values = 'image: vllm/vllm-openai:v0.11.0\nmodel: Qwen/Qwen3-4B\n';

  test('is reported once the values are known', () => {
    expect(advice(`${values}resources: {}\n`, server)).toEqual(['info gpu-without-request']);
    expect(advice(`${values}device: cuda\nresources: {limits: {memory: 30Gi}}\n`, server)).toEqual([
      'info gpu-without-request',
    ]);
  });

  test('is silent if other values can turn a device on', () => {
    expect(advice(`${values}gpu: {enabled: false}\nresources: {}\n`, server)).toEqual([]);
    const hidden = '{{- if .Values.accelerator }}\nenv: [{name: A, value: b}]\n{{- end }}';
    expect(advice(`${values}resources: {}\n`, `${server}\n${hidden}`)).toEqual([]);
  });

  test('is silent without the values', () => {
    expect(advice('', server)).toEqual([]);
  });
});

test('a runtime class for GPUs in a template needs a request in the values', () => {
  const server = 'image: registry.example/scorer:1.4';
  const runtime = 'runtimeClassName: nvidia';
  expect(advice('resources: {limits: {cpu: 2}}\n', server, runtime)).toEqual(['info gpu-without-request']);
  expect(advice('resources: {limits: {nvidia.com/gpu: 1}}\n', server, runtime)).toEqual([]);
});

test('advice is about what a template says, not about what its values choose', () => {
  const gpu = 'resources: {limits: {nvidia.com/gpu: 1}}\n';
  const written = 'image: registry.example/scorer:1.4\nenv: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]';
  expect(advice(gpu, written)).toEqual(['info visible-devices-bypass']);
  const chosen =
    'image: registry.example/scorer:1.4\nenv: [{name: NVIDIA_VISIBLE_DEVICES, value: "{{ .Values.devices }}"}]';
  expect(advice(`${gpu}devices: all\n`, chosen)).toEqual([]);
});

test('a moving tag of the values is that of everyone who sets none', () => {
  const container = 'image: "registry.example/scorer:{{ .Values.software.tag }}"';
  const gpu = 'resources: {limits: {nvidia.com/gpu: 1}}\n';
  expect(advice(`${gpu}software: {tag: latest}\n`, container)).toEqual(['info image-not-pinned']);
  expect(advice(`${gpu}software: {tag: v1.4.2}\n`, container)).toEqual([]);
});

describe('the card of a chart whose values request no GPU', () => {
  const template = `apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
    - name: chat
      image: {{ .Values.image }}
      resources: {limits: {nvidia.com/gpu: 1}}
`;
  const candidates = (values: string, chartFile?: string) => {
    const chart = chartValues('values.yaml', `image: registry.example/chat:1.2\n${values}`);
    if (chart === undefined) throw new Error('the values have no error');
    const file = chartFile === undefined ? {} : { file: { uri: 'file:///Chart.yaml', text: chartFile } };
    const related = { chart: { ...chart, ...file } };
    const { documents } = new Analysis({ strict: true }).setFile('file:///t.yaml', template, 0, undefined, related);
    return documents.flatMap(({ costed }) =>
      costed.flatMap(({ podSets }) => podSets.flatMap(({ accelerators }) => accelerators[0]?.candidates ?? [])),
    );
  };

  test('is that of the comments on the values', () => {
    expect(candidates('# What an L4 has: 22.5 GiB.\nmemory: 22.5\n# The L4 is shared.\nshared: true\n')).toEqual([
      'l4',
    ]);
    expect(candidates('# An L4 here, an A100 there.\nmemory: 22.5\n# The L4 is shared.\nshared: true\n')).toEqual([]);
  });

  test('or that of the Chart.yaml', () => {
    expect(candidates('', 'name: chat\ndescription: Chat on one L40S\n')).toEqual(['l40s']);
    expect(candidates('', 'name: chat\nkeywords: [chat, "gpu-l40s"]\n')).toEqual(['l40s']);
    expect(candidates('# The L4 is shared.\nshared: true\n', 'description: Chat on one L40S\n')).toEqual(['l4']);
    expect(candidates('', 'name: chat\ndescription: Chat, for L40S or H100\n')).not.toEqual(['l40s']);
  });
});

test('values that prefer several cards leave the template the same choice', () => {
  const chart = chartValues(
    'values.yaml',
    `resources: {limits: {nvidia.com/gpu: 1}}
affinity:
  nodeAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 1
        preference:
          matchExpressions: [{key: accelerator, operator: In, values: [nvidia-tesla-t4, nvidia-l4]}]
`,
  );
  const template = `apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  affinity:
    {{- toYaml .Values.affinity | nindent 4 }}
  containers:
    - name: chat
      image: registry.example/chat:1.2
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
`;
  const related = chart === undefined ? {} : { chart };
  const { documents } = new Analysis({ strict: true }).setFile('file:///t.yaml', template, 0, undefined, related);
  const [podSet] = documents.flatMap(({ costed }) => costed.flatMap(({ podSets }) => podSets));
  expect(podSet?.accelerators[0]?.candidates).toEqual(['t4', 'l4']);
});

describe('a template that Helm cannot render', () => {
  const found = (values: string, text: string, more: object = {}) => {
    const chart = chartValues('values.yaml', values);
    if (chart === undefined) throw new Error('the values have no error');
    const file = { uri: 'file:///c/Chart.yaml', text: 'name: chat\n' };
    const helpers = readHelpers(
      '{{- define "chat.account" -}}{{- if .Values.account.create }}own{{- end }}{{- end -}}{{- define "chat.name" -}}chat{{- end -}}',
    );
    const related = { chart: { ...chart, file, helpers, ...more } };
    const pod = `apiVersion: v1\nkind: Pod\nmetadata: {name: chat}\nspec:\n${text}
  containers:
    - name: chat
      image: registry.example/chat:1.2
      resources: {limits: {nvidia.com/gpu: 1}}\n`;
    const { documents } = new Analysis({ strict: true }).setFile('file:///t.yaml', pod, 0, undefined, related);
    return documents.flatMap(({ findings }) =>
      findings.filter(({ rule }) => rule === 'yaml-syntax').map(({ message }) => message.split(',')[0]),
    );
  };
  const noAccount = ["The chart's values have no account"];

  test('looks up a field of a value that is missing', () => {
    expect(found('pods: 1\n', '  serviceAccountName: {{ .Values.account.name }}')).toEqual(noAccount);
    expect(found('account:\n', '  serviceAccountName: {{ .Values.account.name }}')).toEqual(noAccount);
    expect(found('pods: 1\n', '  serviceAccountName: {{ .Values.account.name | default "a" }}')).toEqual(noAccount);
    expect(found('pods: 1\n', '  serviceAccountName: {{ include "chat.account" . }}')).toEqual(noAccount);
    expect(found('pods: {}\n', '  nodeName: {{ .Values.pods.node.name }}')).toEqual([
      "The chart's values have no pods.node",
    ]);
    expect(found('pods: 1\n', '  {{- if .Values.account.create }}\n  nodeName: a\n  {{- end }}')).toEqual(noAccount);
  });

  test('is not one that looks before', () => {
    expect(found('account: {}\n', '  serviceAccountName: {{ .Values.account.name }}')).toEqual([]);
    expect(found('pods: 1\n', '  serviceAccountName: {{ .Values.account }}')).toEqual([]);
    expect(
      found('pods: 1\n', '  {{- if .Values.account }}\n  nodeName: {{ .Values.account.node }}\n  {{- end }}'),
    ).toEqual([]);
    expect(found('pods: 1\n', '  {{- with .Values.account }}\n  nodeName: {{ .node }}\n  {{- end }}')).toEqual([]);
    expect(
      found('pods: 1\n', '  {{- if and .Values.account .Values.account.node }}\n  nodeName: a\n  {{- end }}'),
    ).toEqual([]);
    expect(found('pods: 1\n', '  nodeName: {{ (.Values.account).node | default "a" }}')).toEqual([]);
    expect(found('pods: 1\n', '  nodeName: {{ dig "account" "node" "a" .Values }}')).toEqual([]);
    expect(found('pods: 1\n', '  serviceAccountName: {{ include "chat.name" . }}')).toEqual([]);
    expect(
      found('pods: 1\n', '  {{- if .Capabilities.x }}\n  nodeName: {{ .Values.account.node }}\n  {{- end }}'),
    ).toEqual([]);
  });

  test('is unknown if other charts may set the values', () => {
    const account = '  serviceAccountName: {{ .Values.account.name }}';
    expect(found('pods: 1\n', '  nodeName: {{ .Values.global.node }}')).toEqual([]);
    expect(found('pods: 1\n', account, { isPart: true })).toEqual([]);
    const file = { uri: 'file:///c/Chart.yaml', text: 'name: chat\ndependencies:\n  - name: account\n' };
    expect(found('pods: 1\n', account, { file })).toEqual([]);
    expect(found('pods: 1\n', account, { file: undefined })).toEqual([]);
  });
});

describe('a number of GPUs that the values of a chart lack', () => {
  const found = (values: string, limits: string, more: object = {}) => {
    const chart = chartValues('values.yaml', values);
    if (chart === undefined) throw new Error('the values have no error');
    const file = { uri: 'file:///c/Chart.yaml', text: 'name: chat\n' };
    const related = { chart: { ...chart, file, helpers: readHelpers(''), ...more } };
    const pod = `apiVersion: v1\nkind: Pod\nmetadata: {name: chat}\nspec:
  containers:
    - name: chat
      image: registry.example/chat:1.2
      resources:
        limits:
${limits.replace(/^/gm, '          ')}\n`;
    const { documents } = new Analysis({ strict: true }).setFile('file:///t.yaml', pod, 0, undefined, related);
    return documents.flatMap(({ findings }) =>
      findings.filter(({ rule }) => rule === 'gpu-quantity-empty').map(({ message }) => message.split(',')[0]),
    );
  };

  test('is empty unless a release sets it', () => {
    const lacking = ["The chart's values have no gpu.number"];
    expect(found('gpu: {count: 1}\n', 'nvidia.com/gpu: {{ .Values.gpu.number }}')).toEqual(lacking);
    expect(found('gpu: {count: 1}\n', 'nvidia.com/gpu: {{ .Values.gpu.number | quote }}')).toEqual(lacking);
    expect(found('gpu: {count: 1}\n', 'nvidia.com/gpu: {{ $.Values.gpu.number }}')).toEqual(lacking);
  });

  test('is not one with a default or a condition, of other values, or that a release is to set', () => {
    expect(found('gpu: {number: }\n', 'nvidia.com/gpu: {{ .Values.gpu.number }}')).toEqual([]);
    expect(found('gpu: {number: 1}\n', 'nvidia.com/gpu: {{ .Values.gpu.number }}')).toEqual([]);
    expect(found('gpu: {count: 1}\n', 'nvidia.com/gpu: {{ .Values.gpu.number | default 1 }}')).toEqual([]);
    expect(found('gpu: {count: 1}\n', 'nvidia.com/gpu: {{ .Values.global.gpus }}')).toEqual([]);
    expect(found('gpu: {count: 1}\n', 'cpu: {{ .Values.gpu.cpu }}\nnvidia.com/gpu: 1')).toEqual([]);
    const guarded = '{{- if .Values.gpu.number }}\nnvidia.com/gpu: {{ .Values.gpu.number }}\n{{- end }}\ncpu: 4';
    expect(found('gpu: {count: 1}\n', guarded)).toEqual([]);
    expect(found('gpu: {count: 1}\n', 'nvidia.com/gpu: {{ .Values.gpu.number }}', { isPart: true })).toEqual([]);
  });
});
