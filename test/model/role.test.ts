import { expect, test } from 'vitest';
import { hasRole } from '../../server/src/evidence/role-confidence.ts';
import { roleWords } from '../../server/src/features/completion/role-words.ts';
import { analyse } from '../support/analyse.ts';

const limits = 'resources: {limits: {nvidia.com/gpu: 1}}';
const workloadOf = (text: string) => {
  const [workload] = analyse(text).documents.flatMap(({ workloads }) => workloads);
  if (workload === undefined) throw new Error('no workload in the text');
  return workload;
};
const pod = (container: string, kind = 'Pod', name = 'a') =>
  kind === 'Pod'
    ? `{apiVersion: v1, kind: Pod, metadata: {name: ${name}}, spec: {containers: [{name: main, ${container}, ${limits}}]}}`
    : `{apiVersion: ${kind === 'Job' ? 'batch/v1' : 'apps/v1'}, kind: ${kind}, metadata: {name: ${name}}, spec: {selector: {}, template: {spec: {containers: [{name: main, ${container}, ${limits}}]}}}}`;

test.each<[string, string, string, string | undefined]>([
  [pod("image: 'a:1', command: [vllm, serve, m]"), 'serving', 'certain', 'Serving (certain, known from vllm)'],
  [pod("image: 'vllm/vllm-openai:v0.11.0'"), 'serving', 'likely', 'Serving (likely, known from vllm)'],
  [pod("image: 'a:1', command: [python, train.py]"), 'training', 'likely', 'Training (likely, known from train)'],
  [pod("image: 'a:1'", 'Job'), 'batch', 'likely', 'Batch work (likely, known from kind Job)'],
  [
    pod("image: 'a:1', ports: [{containerPort: 8080}]", 'Deployment'),
    'serving',
    'guess',
    'Serving (a guess, known from port 8080)',
  ],
  [
    pod("image: 'a:1', readinessProbe: {httpGet: {port: 80}}", 'Deployment'),
    'serving',
    'guess',
    'Serving (a guess, known from its readiness probe)',
  ],
  [
    pod("image: 'a:1', command: [python, inference.py], readinessProbe: {httpGet: {port: 80}}", 'Deployment'),
    'serving',
    'guess',
    'Serving (a guess, known from its readiness probe)',
  ],
  [
    pod("image: 'a:1', command: [python, inference.py], readinessProbe: {httpGet: {port: 80}}", 'Job'),
    'batch',
    'likely',
    'Batch work (likely, known from inference)',
  ],
  [pod("image: 'a:1', ports: [{name: metrics, containerPort: 9090}]", 'Deployment'), 'unknown', 'guess', undefined],
  [pod("image: 'a:1', ports: [{containerPort: 8080}]"), 'unknown', 'guess', undefined],
  [
    pod("image: 'a:1'", 'Pod', 'dcgm-exporter'),
    'infrastructure',
    'likely',
    'Infrastructure (likely, known from name dcgm-exporter)',
  ],
  [
    '{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: a}, spec: {}}',
    'training',
    'certain',
    'Training (certain, known from kind PyTorchJob)',
  ],
  [pod("image: 'a:1'", 'Pod', 'gpu-operator-test'), 'unknown', 'guess', undefined],
  [
    pod("image: 'registry.example/dcgm-exporter:4', command: [exporter]"),
    'infrastructure',
    'likely',
    'Infrastructure (likely, known from image registry.example/dcgm-exporter:4)',
  ],
  [pod("image: 'registry.example/gpu-operator/app:4'"), 'unknown', 'guess', undefined],
  [
    pod("image: 'a:1', command: [python, train.py]").replace('}]}}', "}, {name: m, image: 'b/node-exporter:1'}]}}"),
    'training',
    'likely',
    'Training (likely, known from train)',
  ],
  [
    pod("image: 'b/dcgm-exporter:4'").replace('}]}}', "}, {name: m, image: 'a:1'}]}}"),
    'infrastructure',
    'likely',
    'Infrastructure (likely, known from image b/dcgm-exporter:4)',
  ],
  ...['nvidia-demo', 'monitoring', 'model-operator', 'amazon-team'].map(
    (namespace): [string, string, string, undefined] => [
      pod("image: 'a:1'").replace('{name: a}', `{name: a, namespace: ${namespace}}`),
      'unknown',
      'guess',
      undefined,
    ],
  ),
  [
    pod("image: 'a:1'").replace('{name: a}', '{name: a, namespace: kube-system}'),
    'infrastructure',
    'likely',
    'Infrastructure (likely, known from namespace kube-system)',
  ],
  [
    pod("image: 'a:1'").replace(
      'spec: {',
      'spec: {volumes: [{name: a, hostPath: {path: /var/lib/kubelet/device-plugins}}], ',
    ),
    'infrastructure',
    'likely',
    'Infrastructure (likely, known from hostPath /var/lib/kubelet/device-plugins)',
  ],
])('%s', (text, role, confidence, words) => {
  const workload = workloadOf(text);
  expect([workload.role, workload.roleConfidence, roleWords(workload)]).toEqual([role, confidence, words]);
});

test('a rule that needs certainty ignores a guess', () => {
  const guessed = workloadOf(pod("image: 'a:1', ports: [{containerPort: 8080}]", 'Deployment'));
  const likely = workloadOf(pod("image: 'vllm/vllm-openai:v0.11.0'", 'Deployment'));
  expect([hasRole(guessed, 'serving'), hasRole(guessed, 'serving', 'guess')]).toEqual([false, true]);
  expect([hasRole(likely, 'serving'), hasRole(likely, 'serving', 'certain')]).toEqual([true, false]);
});
