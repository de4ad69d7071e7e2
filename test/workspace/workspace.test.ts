import { describe, expect, test } from 'vitest';
import type { Analysis } from '../../server/src/analysis.ts';
import { deploymentOf } from '../support/deployment.ts';
import { project, root, runtime, service, total } from './project.ts';

describe('an InferenceService inherits from its runtime', () => {
  test('in another file, in the same file, and from the cluster', () => {
    const totalOf = (files: Readonly<Record<string, string>>) => total(project(files).file(`${root}/chat.yaml`));
    expect(totalOf({ 'chat.yaml': service })).toBe(0);
    expect(totalOf({ 'chat.yaml': service, 'runtimes.yaml': runtime(4) })).toBe(8);
    expect(totalOf({ 'chat.yaml': `${service}---\n${runtime(4)}` })).toBe(8);
    expect(totalOf({ 'chat.yaml': service, 'a/r.yaml': runtime(4, 'ClusterServingRuntime') })).toBe(8);
  });

  test('unless it has its own value', () => {
    const own = `${service}      resources: {limits: {nvidia.com/gpu: 1}}\n`;
    const analysis = project({ 'chat.yaml': own, 'runtimes.yaml': runtime(4) });
    expect(total(analysis.file(`${root}/chat.yaml`))).toBe(2);
  });

  test('with the source of the value', () => {
    const [document] = project({ 'chat.yaml': service, 'infra/runtimes.yaml': runtime(4) }).file(
      `${root}/chat.yaml`,
    )!.documents;
    const { cost } = document!.costOf(document!.workloads[0]!);
    expect(cost?.assumptions).toContainEqual({
      kind: 'inherited',
      fact: 'gpuCount',
      from: { kind: 'ServingRuntime', name: 'vllm', file: 'infra/runtimes.yaml' },
    });
    expect(cost?.hourly.min).toBeGreaterThan(0);
  });

  test('the nearest one applies, and neither of two that differ', () => {
    const near = project({ 'a/chat.yaml': service, 'a/r.yaml': runtime(2), 'b/r.yaml': runtime(4) });
    expect(total(near.file(`${root}/a/chat.yaml`))).toBe(4);
    const unclear = project({ 'a/chat.yaml': service, 'b/r.yaml': runtime(2), 'c/r.yaml': runtime(4) });
    expect(total(unclear.file(`${root}/a/chat.yaml`))).toBe(0);
    const alike = project({ 'a/chat.yaml': service, 'b/r.yaml': runtime(4), 'c/r.yaml': runtime(4) });
    expect(total(alike.file(`${root}/a/chat.yaml`))).toBe(8);
  });

  test('but not from a runtime in another namespace', () => {
    const other = runtime(4).replace('{name: vllm}', '{name: vllm, namespace: prod}');
    expect(total(project({ 'chat.yaml': service, 'r.yaml': other }).file(`${root}/chat.yaml`))).toBe(0);
  });
});

describe('an edit', () => {
  const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: alone}\nspec: {containers: [{name: a, image: nvidia:1}]}\n';

  test('of an inherited value changes the file that inherits it, and no other document', () => {
    const analysis = project({ 'chat.yaml': `${service}---\n${pod}`, 'runtimes.yaml': runtime(4) });
    const before = analysis.file(`${root}/chat.yaml`)!;
    expect(total(before)).toBe(8);
    expect(before.documents[1]!.workloads).toHaveLength(1);
    analysis.setFile(`${root}/runtimes.yaml`, runtime(1));
    const after = analysis.file(`${root}/chat.yaml`)!;
    expect(total(after)).toBe(2);
    expect(after.documents[1]).toBe(before.documents[1]);
    analysis.removeFile(`${root}/runtimes.yaml`);
    expect(total(analysis.file(`${root}/chat.yaml`))).toBe(0);
  });

  test('of other values changes nothing', () => {
    const analysis = project({ 'chat.yaml': service, 'runtimes.yaml': runtime(4) });
    const before = analysis.file(`${root}/chat.yaml`)!;
    expect(total(before)).toBe(8);
    analysis.setFile(`${root}/runtimes.yaml`, `# a line above\n${runtime(4).replace('vllm:1', 'vllm:2')}`);
    expect(analysis.file(`${root}/chat.yaml`)).toBe(before);
  });

  test('a new object is found', () => {
    const analysis = project({ 'chat.yaml': service });
    expect(total(analysis.file(`${root}/chat.yaml`))).toBe(0);
    analysis.setFile(`${root}/runtimes.yaml`, runtime(1));
    expect(total(analysis.file(`${root}/chat.yaml`))).toBe(2);
  });
});

describe('a TrainJob', () => {
  const job = (trainer: string) => `apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: tune}
spec:
  runtimeRef: {name: torch}
${trainer}`;
  const runtimes = `apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec:
  mlPolicy: {numNodes: 3}
  template:
    spec:
      replicatedJobs:
        - name: node
          template:
            spec:
              template:
                spec:
                  containers:
                    - name: node
                      image: registry.example/torch:1
                      resources: {limits: {nvidia.com/gpu: 8}}
`;

  test('inherits nodes and devices from its runtime', () => {
    const totalOf = (trainer: string) =>
      total(project({ 'job.yaml': job(trainer), 'runtime.yaml': runtimes }).file(`${root}/job.yaml`));
    expect(totalOf('')).toBe(24);
    expect(totalOf('  trainer: {numNodes: 2}\n')).toBe(16);
    expect(totalOf('  trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: 4}}}\n')).toBe(12);
    expect(totalOf('  trainer: {numNodes: 1, resourcesPerNode: {limits: {nvidia.com/gpu: 4}}}\n')).toBe(4);
  });
});

describe('a Deployment', () => {
  const deployment = deploymentOf(
    `containers:
  - name: main
    image: registry.example/server:1
    resources: {limits: {nvidia.com/gpu: 1}}
`,
    { name: 'server', spec: 'replicas: 2' },
  );
  const scaler = (bounds: string) => `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: server-scaler}
spec:
  scaleTargetRef: {name: server}
  ${bounds}
  triggers: [{type: prometheus, metadata: {}}]
`;

  test('has the replicas of its scaler', () => {
    const podsOf = (bounds: string) => {
      const file = project({ 'server.yaml': deployment, 'scaler.yaml': scaler(bounds) }).file(`${root}/server.yaml`);
      return file?.documents[0]?.workloads[0]?.podSets[0]?.pods;
    };
    expect(podsOf('maxReplicaCount: 8')).toEqual({ min: 0, max: 8 });
    expect(podsOf('minReplicaCount: 2')).toEqual({ min: 2, max: 100 });
    expect(podsOf('minReplicaCount: 2\n  idleReplicaCount: 0\n  maxReplicaCount: 4')).toEqual({ min: 0, max: 4 });
  });

  test('shows the source of the replicas', () => {
    const file = project({ 'server.yaml': deployment, 'scaler.yaml': scaler('maxReplicaCount: 8') });
    expect(file.file(`${root}/server.yaml`)?.documents[0]?.workloads[0]?.podSets[0]?.inherited).toEqual([
      { fact: 'replicas', from: { kind: 'ScaledObject', name: 'server-scaler', file: 'scaler.yaml' } },
    ]);
  });
});

test('a pod finds its claim in another file', () => {
  const pod = `apiVersion: v1
kind: Pod
metadata: {name: user}
spec:
  resourceClaims: [{name: gpu, resourceClaimTemplateName: two}]
  containers: [{name: main, image: registry.example/a:1}]
`;
  const template = `apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two}
spec: {spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}}
`;
  expect(total(project({ 'pod.yaml': pod, 'claims/two.yaml': template }).file(`${root}/pod.yaml`))).toBe(2);
});

describe('a finding that depends on another file', () => {
  const job = `apiVersion: batch/v1
kind: Job
metadata: {name: tune, labels: {kueue.x-k8s.io/queue-name: team}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - {name: tune, image: "registry.example/tune:1", resources: {limits: {nvidia.com/gpu: 4}}}
`;
  const queues = (resource: string) => `apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: team}
spec: {clusterQueue: shared}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: shared}
spec:
  resourceGroups:
    - coveredResources: [${resource}]
      flavors: [{name: default, resources: [{name: ${resource}, nominalQuota: 40}]}]
`;
  const findings = (analysis: Analysis, name: string) =>
    analysis
      .file(`${root}/${name}`)!
      .documents.flatMap((document) => document.findings)
      .filter(({ rule }) => rule === 'queue-coverage')
      .map(({ severity, message }) => `${severity}: ${message}`);

  test('is in the file with the value, and disappears when the other file is fixed', () => {
    const analysis = project({ 'a/job.yaml': job, 'a/queues.yaml': queues('cpu') });
    expect(findings(analysis, 'a/job.yaml')).toEqual([
      'warning: ClusterQueue shared (queues.yaml) has no quota for nvidia.com/gpu: Kueue never admits the workload',
    ]);
    expect(findings(analysis, 'a/queues.yaml')).toEqual([]);
    analysis.setFile(`${root}/a/queues.yaml`, queues('nvidia.com/gpu'));
    expect(findings(analysis, 'a/job.yaml')).toEqual([]);
  });

  test('is advice if the other file is in a sibling folder', () => {
    const relatedFiles = project({ 'a/job.yaml': job, 'b/queues.yaml': queues('cpu') });
    expect(findings(relatedFiles, 'a/job.yaml')).toEqual([
      'info: ClusterQueue shared (b/queues.yaml) has no quota for nvidia.com/gpu: Kueue never admits the workload',
    ]);
    const above = project({ 'a/job.yaml': job, 'queues.yaml': queues('cpu') });
    expect(findings(above, 'a/job.yaml').join()).toMatch(/^warning/);
  });
});
