import { describe, expect, test } from 'vitest';
import { Analysis, type FileAnalysis } from '../../server/src/analysis.ts';
import { gpusOf } from '../../server/src/cost/estimate.ts';
import { hover } from '../../server/src/features/hover.ts';

const root = 'file:///project';

const service = `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec:
  predictor:
    minReplicas: 2
    maxReplicas: 2
    model:
      modelFormat: {name: huggingface}
      runtime: vllm
`;

const runtime = (gpus: number, kind = 'ServingRuntime') => `apiVersion: serving.kserve.io/v1alpha1
kind: ${kind}
metadata: {name: vllm}
spec:
  containers:
    - name: kserve-container
      image: registry.example/vllm:1
      resources: {limits: {nvidia.com/gpu: ${gpus}}}
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
`;

/** An analysis of several files; the first is the one that is asked about. */
function project(files: Readonly<Record<string, string>>): Analysis {
  const analysis = new Analysis({ strict: true });
  for (const [name, text] of Object.entries(files)) analysis.setFile(`${root}/${name}`, text);
  return analysis;
}

function total(file: FileAnalysis | undefined): number | null | undefined {
  const workload = file?.documents.flatMap(({ workloads }) => workloads).find(({ role }) => role !== 'definition');
  return workload && gpusOf(workload).min;
}

describe('an InferenceService takes from the runtime that it names what it does not say', () => {
  test('in another file, in the same file, and from the cluster', () => {
    const totalOf = (files: Readonly<Record<string, string>>) => total(project(files).file(`${root}/chat.yaml`));
    expect(totalOf({ 'chat.yaml': service })).toBe(0);
    expect(totalOf({ 'chat.yaml': service, 'runtimes.yaml': runtime(4) })).toBe(8);
    expect(totalOf({ 'chat.yaml': `${service}---\n${runtime(4)}` })).toBe(8);
    expect(totalOf({ 'chat.yaml': service, 'a/r.yaml': runtime(4, 'ClusterServingRuntime') })).toBe(8);
  });

  test('and what it says itself stands', () => {
    const own = `${service}      resources: {limits: {nvidia.com/gpu: 1}}\n`;
    const analysis = project({ 'chat.yaml': own, 'runtimes.yaml': runtime(4) });
    expect(total(analysis.file(`${root}/chat.yaml`))).toBe(2);
  });

  test('with where it came from', () => {
    const [document] = project({ 'chat.yaml': service, 'infra/runtimes.yaml': runtime(4) }).file(
      `${root}/chat.yaml`,
    )!.documents;
    const { cost } = document!.costOf(document!.workloads[0]!);
    expect(cost?.assumptions).toContain('GPU count from ServingRuntime vllm in infra/runtimes.yaml');
    expect(cost?.hourly.min).toBeGreaterThan(0);
  });

  test('the nearest one counts, and of two that differ none', () => {
    const near = project({ 'a/chat.yaml': service, 'a/r.yaml': runtime(2), 'b/r.yaml': runtime(4) });
    expect(total(near.file(`${root}/a/chat.yaml`))).toBe(4);
    const unclear = project({ 'a/chat.yaml': service, 'b/r.yaml': runtime(2), 'c/r.yaml': runtime(4) });
    expect(total(unclear.file(`${root}/a/chat.yaml`))).toBe(0);
    const alike = project({ 'a/chat.yaml': service, 'b/r.yaml': runtime(4), 'c/r.yaml': runtime(4) });
    expect(total(alike.file(`${root}/a/chat.yaml`))).toBe(8);
  });

  test('not one of another namespace', () => {
    const other = runtime(4).replace('{name: vllm}', '{name: vllm, namespace: prod}');
    expect(total(project({ 'chat.yaml': service, 'r.yaml': other }).file(`${root}/chat.yaml`))).toBe(0);
  });
});

describe('a service on several nodes', () => {
  const several = (sizes: string) => service.replace('maxReplicas: 2\n', `maxReplicas: 2\n    workerSpec: ${sizes}\n`);
  const runtimes = `${runtime(1)}  workerSpec:
    pipelineParallelSize: 2
    tensorParallelSize: 4
    containers:
      - name: worker-container
        image: registry.example/vllm:1
        resources: {limits: {nvidia.com/gpu: 1}}
`;
  const totalOf = (sizes: string) =>
    total(project({ 'chat.yaml': several(sizes), 'r.yaml': runtimes }).file(`${root}/chat.yaml`));

  test('has as many GPUs as its parallel sizes, or those of its runtime, say', () => {
    expect(totalOf('{pipelineParallelSize: 3, tensorParallelSize: 4}')).toBe(2 * 12);
    expect(totalOf('{tensorParallelSize: 8}')).toBe(2 * 16);
    expect(totalOf('{}')).toBe(2 * 8);
  });
});

describe('an LLMInferenceService takes from the configs that it names what it does not say', () => {
  const llm = (spec: string) => `apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: chat}
spec:
  model: {uri: "hf://example/model"}
${spec}`;
  const config = (name: string, spec: string, metadata = '') => `apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {name: ${name}${metadata}}
spec:
${spec}`;
  const pod = (key: string, gpus: number, indent = '  ') =>
    `${indent}${key}: {containers: [{name: main, image: "registry.example/vllm:1", resources: {limits: {nvidia.com/gpu: ${gpus}}}}]}\n`;
  const of = (files: Readonly<Record<string, string>>) => {
    const file = project(files).file(`${root}/chat.yaml`);
    return { gpus: total(file), told: file?.documents[0]?.workloads[0]?.podSets.flatMap(({ told }) => told) };
  };

  test('GPUs, replicas and the size of a group', () => {
    const named = '  baseRefs: [{name: base}]\n';
    const base = config(
      'base',
      `  replicas: 3\n  parallelism: {pipeline: 2}\n${pod('template', 4)}${pod('worker', 8)}`,
    );
    expect(of({ 'chat.yaml': llm(named), 'base.yaml': base })).toEqual({
      gpus: 3 * (4 + 8),
      told: [
        'GPU count from LLMInferenceServiceConfig base in base.yaml',
        'Replicas from LLMInferenceServiceConfig base in base.yaml',
        'GPU count from LLMInferenceServiceConfig base in base.yaml',
        'Replicas from LLMInferenceServiceConfig base in base.yaml',
      ],
    });
    expect(of({ 'chat.yaml': llm(`${named}  replicas: 1\n`), 'base.yaml': base }).gpus).toBe(12);
    expect(of({ 'chat.yaml': llm(`${named}${pod('template', 1)}`), 'base.yaml': base }).gpus).toBe(3 * (1 + 8));
    expect(of({ 'chat.yaml': llm(`${named}  parallelism: {pipeline: 4}\n`), 'base.yaml': base }).gpus).toBe(
      3 * (4 + 24),
    );
    expect(of({ 'chat.yaml': llm(named) }).gpus).toBe(0);
  });

  test('of several the last that says it, and one of KServe itself', () => {
    const both = llm('  baseRefs: [{name: one}, {name: two}]\n  replicas: 1\n');
    const one = config('one', pod('template', 1));
    expect(of({ 'chat.yaml': both, 'a.yaml': `${one}---\n${config('two', pod('template', 2))}` }).gpus).toBe(2);
    expect(of({ 'chat.yaml': both, 'a.yaml': `${one}---\n${config('two', '  replicas: 7\n')}` }).gpus).toBe(1);
    expect(of({ 'chat.yaml': both, 'a.yaml': config('one', pod('template', 1), ', namespace: kserve') }).gpus).toBe(1);
  });

  test('for the two roles apart', () => {
    const named = llm('  baseRefs: [{name: base}]\n  replicas: 2\n  prefill: {replicas: 3}\n');
    const base = config('base', `${pod('template', 1)}  prefill:\n${pod('template', 4, '    ')}`);
    expect(of({ 'chat.yaml': named, 'base.yaml': base }).gpus).toBe(2 * 1 + 3 * 4);
  });
});

describe('an edit', () => {
  const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: alone}\nspec: {containers: [{name: a, image: nvidia:1}]}\n';

  test('of what another file took changes that file, and no other document', () => {
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

  test('that changes nothing that was taken changes nothing', () => {
    const analysis = project({ 'chat.yaml': service, 'runtimes.yaml': runtime(4) });
    const before = analysis.file(`${root}/chat.yaml`)!;
    expect(total(before)).toBe(8);
    analysis.setFile(`${root}/runtimes.yaml`, `# a line above\n${runtime(4).replace('vllm:1', 'vllm:2')}`);
    expect(analysis.file(`${root}/chat.yaml`)).toBe(before);
  });

  test('an object that appears where none was is seen', () => {
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

  test('takes nodes and devices from its runtime', () => {
    const totalOf = (trainer: string) =>
      total(project({ 'job.yaml': job(trainer), 'runtime.yaml': runtimes }).file(`${root}/job.yaml`));
    expect(totalOf('')).toBe(24);
    expect(totalOf('  trainer: {numNodes: 2}\n')).toBe(16);
    expect(totalOf('  trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: 4}}}\n')).toBe(12);
    expect(totalOf('  trainer: {numNodes: 1, resourcesPerNode: {limits: {nvidia.com/gpu: 4}}}\n')).toBe(4);
  });
});

describe('a Deployment', () => {
  const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: server}
spec:
  replicas: 2
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec:
      containers:
        - name: main
          image: registry.example/server:1
          resources: {limits: {nvidia.com/gpu: 1}}
`;
  const scaler = (bounds: string) => `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: server-scaler}
spec:
  scaleTargetRef: {name: server}
  ${bounds}
  triggers: [{type: prometheus, metadata: {}}]
`;

  test('has as many replicas as its scaler says', () => {
    const podsOf = (bounds: string) => {
      const file = project({ 'server.yaml': deployment, 'scaler.yaml': scaler(bounds) }).file(`${root}/server.yaml`);
      return file?.documents[0]?.workloads[0]?.podSets[0]?.pods;
    };
    expect(podsOf('maxReplicaCount: 8')).toEqual({ min: 0, max: 8 });
    expect(podsOf('minReplicaCount: 2')).toEqual({ min: 2, max: 100 });
    expect(podsOf('minReplicaCount: 2\n  idleReplicaCount: 0\n  maxReplicaCount: 4')).toEqual({ min: 0, max: 4 });
  });

  test('is told by whom', () => {
    const file = project({ 'server.yaml': deployment, 'scaler.yaml': scaler('maxReplicaCount: 8') });
    expect(file.file(`${root}/server.yaml`)?.documents[0]?.workloads[0]?.podSets[0]?.told).toEqual([
      'Replicas from ScaledObject server-scaler in scaler.yaml',
    ]);
  });
});

describe('groups of pods that are scaled together', () => {
  const group = `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: group}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 4
    workerTemplate:
      spec:
        nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
        containers:
          - {name: main, image: "registry.example/server:1", resources: {limits: {nvidia.com/gpu: 1}}}
`;
  const scaler = (kind: string, apiVersion: string, bounds: string) => `apiVersion: ${apiVersion}
kind: ${kind}
metadata: {name: scaler}
spec:
  scaleTargetRef: {apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: group}
  ${bounds}
`;

  test.each([
    ['HorizontalPodAutoscaler', 'autoscaling/v2', 'minReplicas: 1\n  maxReplicas: 3'],
    ['ScaledObject', 'keda.sh/v1alpha1', 'minReplicaCount: 1\n  maxReplicaCount: 3\n  triggers: [{type: cron}]'],
    ['HTTPScaledObject', 'http.keda.sh/v1alpha1', 'replicas: {min: 1, max: 3}'],
    ['PodAutoscaler', 'autoscaling.aibrix.ai/v1alpha1', 'minReplicas: 1\n  maxReplicas: 3'],
  ])('have the pods of as many groups as a %s says', (kind, apiVersion, bounds) => {
    const analysis = project({ 'group.yaml': group, 'scaler.yaml': scaler(kind, apiVersion, bounds) });
    expect(analysis.file(`${root}/group.yaml`)?.documents[0]?.workloads[0]?.podSets[0]?.pods).toEqual({
      min: 4,
      max: 12,
    });
    const text = scaler(kind, apiVersion, bounds);
    const said = hover(analysis.file(`${root}/scaler.yaml`)!, text.indexOf('3'))?.blocks.map(
      (block) => 'text' in block && block.text,
    );
    expect(said?.[0]).toMatch(/^3 replicas of group at most: \$[\d,]+/);
    expect(said?.at(-1)).toMatch(/^One replica costs .*; hover over its GPUs in group.yaml/);
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

describe('a finding that rests on another file', () => {
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

  test('lands on the file that says the thing, and goes when the other is mended', () => {
    const analysis = project({ 'a/job.yaml': job, 'a/queues.yaml': queues('cpu') });
    expect(findings(analysis, 'a/job.yaml')).toEqual([
      'warning: ClusterQueue shared (queues.yaml) has no quota for nvidia.com/gpu: Kueue never admits the workload',
    ]);
    expect(findings(analysis, 'a/queues.yaml')).toEqual([]);
    analysis.setFile(`${root}/a/queues.yaml`, queues('nvidia.com/gpu'));
    expect(findings(analysis, 'a/job.yaml')).toEqual([]);
  });

  test('is advice where the other stands in a folder beside', () => {
    const beside = project({ 'a/job.yaml': job, 'b/queues.yaml': queues('cpu') });
    expect(findings(beside, 'a/job.yaml')).toEqual([
      'info: ClusterQueue shared (b/queues.yaml) has no quota for nvidia.com/gpu: Kueue never admits the workload',
    ]);
    const above = project({ 'a/job.yaml': job, 'queues.yaml': queues('cpu') });
    expect(findings(above, 'a/job.yaml').join()).toMatch(/^warning/);
  });
});

test('pods of several files that name one claim share its devices', () => {
  const claim = `apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared}
spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: gpu.nvidia.com, count: 4}}]}}
`;
  const user = (name: string) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  resourceClaims: [{name: gpu, resourceClaimName: shared}]
  containers: [{name: main, image: "registry.example/a:1"}]
`;
  const analysis = project({ 'a/one.yaml': user('one'), 'a/two.yaml': user('two'), 'a/claim.yaml': claim });
  const totals = () => ['a/one.yaml', 'a/two.yaml'].map((name) => total(analysis.file(`${root}/${name}`)));
  expect(totals()).toEqual([2, 2]);
  // A claim of the same name beside it is another one, and so are its users.
  analysis.setFile(`${root}/b/all.yaml`, `${claim}---\n${user('three')}`);
  expect(totals()).toEqual([2, 2]);
  expect(total(analysis.file(`${root}/b/all.yaml`))).toBe(4);
  analysis.setFile(`${root}/a/three.yaml`, `${user('three')}---\n${user('four')}`);
  expect(totals()).toEqual([1, 1]);
  analysis.removeFile(`${root}/a/two.yaml`);
  analysis.removeFile(`${root}/a/three.yaml`);
  expect(total(analysis.file(`${root}/a/one.yaml`))).toBe(4);
});

describe('taints of node pools', () => {
  const pod = (selector: string) => `apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  nodeSelector: {${selector}}
  containers: [{name: main, image: "registry.example/a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`;
  const messages = (pool: string, selector: string) =>
    project({ 'pool.yaml': pool, 'pod.yaml': pod(selector) })
      .file(`${root}/pod.yaml`)!
      .documents.flatMap((document) => document.findings)
      .filter(({ rule }) => rule === 'toleration-missing')
      .map(({ message }) => message);

  test('a GKE compute class: its own ones, and not those that GKE tolerates', () => {
    const pool = (config: string) => `apiVersion: cloud.google.com/v1
kind: ComputeClass
metadata: {name: gpus}
spec:
  ${config}
  priorities: [{gpu: {type: nvidia-l4, count: 1}}]
`;
    const own = pool('nodePoolConfig: {taints: [{key: team, value: ml, effect: NoSchedule}]}');
    expect(messages(own, 'cloud.google.com/compute-class: gpus')).toEqual([
      'No toleration for the taint team=ml:NoSchedule of ComputeClass gpus (pool.yaml): the pod cannot run there',
    ]);
    expect(messages(own, 'cloud.google.com/compute-class: other')).toEqual([]);
    expect(messages(own, 'disk: ssd')).toEqual([]);
    const gke = pool('nodePoolConfig: {taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]}');
    expect(messages(gke, 'cloud.google.com/compute-class: gpus')).toEqual([]);
    expect(messages(pool('nodePoolAutoCreation: {enabled: true}'), 'cloud.google.com/compute-class: gpus')).toEqual([]);
    const byHand = own.replace('priorities: [', 'priorities: [{nodepools: [old]}, ');
    expect(messages(byHand, 'cloud.google.com/compute-class: gpus')).toEqual([]);
  });

  test('AKS node auto-provisioning, and eksctl', () => {
    const aks = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      taints: [{key: sku, value: gpu, effect: NoSchedule}, {key: nvidia.com/gpu, value: present, effect: NoSchedule}]
      requirements: [{key: karpenter.azure.com/sku-gpu-count, operator: Gt, values: ["0"]}]
`;
    expect(messages(aks, 'karpenter.sh/nodepool: gpus')).toEqual([
      'No toleration for the taint sku=gpu:NoSchedule of NodePool gpus (pool.yaml): the pod cannot run there',
    ]);
    const eks = `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: cluster, region: us-west-2}
managedNodeGroups:
  - {name: gpus, instanceType: g6.xlarge, taints: [{key: team, value: ml, effect: NoSchedule}]}
`;
    expect(messages(eks, 'eks.amazonaws.com/nodegroup: gpus')).toEqual([
      'No toleration for the taint team=ml:NoSchedule of ClusterConfig cluster (pool.yaml): the pod cannot run there',
    ]);
  });
});
