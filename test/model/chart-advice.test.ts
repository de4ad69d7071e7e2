import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { chartValues } from '../../server/src/model/related-files.ts';

function advice(values: string, container: string, pod = '{}'): readonly string[] {
  const chart = chartValues('values.yaml', values);
  const text = `apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      {{- with .Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ${pod === '{}' ? 'terminationGracePeriodSeconds: 30' : pod}
      containers:
        - name: chat
${container.replace(/^/gm, '          ')}
          resources:
            {{- toYaml .Values.resources | nindent 12 }}
`;
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
