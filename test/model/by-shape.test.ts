import { expect, test } from 'vitest';
import { gpusOf } from '../../server/src/cost/estimate.ts';
import { analyse } from '../support/analyse.ts';

// The pods of kinds that are in no table: made-up operators, and shapes of common ones.

/** The totals of all workloads, as `4` or `1..3`; `unknown` without a number, `nothing` without a workload. */
function total(kind: string, spec: string, group = 'ops.example.com'): string {
  const text = `apiVersion: ${group}/v1\nkind: ${kind}\nmetadata: {name: one}\nspec: ${spec}\n`;
  const workloads = analyse(text).documents.flatMap((document) => document.workloads);
  if (workloads.length === 0) return 'nothing';
  return workloads
    .map((workload) => {
      const { min, max } = gpusOf(workload);
      if (workload.role === 'definition') return 'definition';
      return min === null ? 'unknown' : min === max ? `${min}` : `${min}..${max}`;
    })
    .join(' ');
}

/** A pod template whose container has some GPUs. */
const pods = (gpus: number) =>
  `{spec: {containers: [{name: main, image: 'registry.example/app:1', resources: {limits: {nvidia.com/gpu: ${gpus}}}}]}}`;
const plain = `{spec: {containers: [{name: main, image: 'registry.example/app:1'}]}}`;
const limits = (gpus: number) => `resources: {limits: {nvidia.com/gpu: ${gpus}}}`;

test.each([
  // One template.
  ['LargeModel', `{template: ${pods(2)}}`, '2'],
  ['LargeModel', `{replicas: 3, template: ${pods(2)}}`, '6'],
  ['LargeModel', `{replicaCount: "3", template: ${pods(2)}}`, '6'],
  ['ModelFarm', `{instances: 2, podTemplate: ${pods(1)}}`, '2'],
  ['BigRun', `{numNodes: 4, template: ${pods(8)}}`, '32'],
  ['BigRun', `{nodeCount: 4, template: ${pods(8)}}`, '32'],
  ['BigRun', `{numWorkers: 4, template: ${pods(8)}}`, '32'],
  ['BigRun', `{count: 2, template: ${pods(8)}}`, '16'],
  ['BigRun', `{parallelism: 2, template: ${pods(1)}}`, '2'],
  // Groups of groups.
  ['GroupServer', `{replicas: 2, groupSize: 4, template: ${pods(1)}}`, '8'],
  ['GroupServer', `{replicas: 2, template: {roles: [{name: a, replicas: 3, template: ${pods(1)}}]}}`, '6'],
  ['GroupServer', `{roles: [{name: a, replicas: 3, leaderWorkerSet: {size: 2}, template: ${pods(1)}}]}`, '6'],
  ['GroupServer', `{services: {main: {replicas: 2, multinode: {nodeCount: 2}, podSpec: ${pods(4)}}}}`, '16'],
  // Roles.
  [
    'RoleJob',
    `{replicaSpecs: {Master: {replicas: 1, template: ${pods(1)}}, Worker: {replicas: 3, template: ${pods(1)}}}}`,
    '4',
  ],
  ['RoleJob', `{tasks: [{replicas: 2, template: ${pods(4)}}, {replicas: 1, template: ${pods(2)}}]}`, '10'],
  ['RoleJob', `{size: 4, leaderTemplate: ${plain}, workerTemplate: ${pods(4)}}`, '12'],
  [
    'RoleJob',
    `{roles: [{name: p, replicas: 2, entryTemplate: ${pods(4)}, workerReplicas: 1, workerTemplate: ${pods(4)}}]}`,
    '16',
  ],
  [
    'SplitServer',
    `{prefillReplicas: 2, decodeReplicas: 3, prefill: {model: m, ${limits(1)}}, decode: {model: m, ${limits(2)}}}`,
    '8',
  ],
  ['ClusterOf', `{worker: {replicas: 3, ...{}}}`.replace(', ...{}', `, spec: ${pods(1).slice(7, -1)}`), '3'],
  ['RoleJob', `{roles: [{name: p, replicas: 2, groupPattern: {size: 4, template: ${pods(1)}}}]}`, '8'],
  [
    'GroupServer',
    `{replicas: 2, workloadTemplate: {size: 2, leaderTemplate: ${pods(1)}, workerTemplate: ${pods(1)}}}`,
    '4',
  ],
  [
    'ModelBoost',
    `{backends: [{minReplicas: 1, maxReplicas: 2, workers: [{image: i, replicas: 1, pods: 2, ${limits(2)}}]}]}`,
    '4..8',
  ],
  [
    'ChatService',
    `{engine: {minReplicas: 1, maxReplicas: 1, leader: {runner: {image: i, ${limits(8)}}}, worker: {size: 1, runner: {image: i, ${limits(8)}}}}}`,
    '16',
  ],
  // Bounds.
  ['ElasticServer', `{minReplicas: 1, maxReplicas: 3, template: ${pods(2)}}`, '2..6'],
  ['ElasticServer', `{autoscaling: {enabled: true, min: 0, max: 4}, template: ${pods(1)}}`, '0..4'],
  ['ElasticServer', `{replicas: 2, autoscaling: {enabled: false, min: 0, max: 4}, template: ${pods(1)}}`, '2'],
  ['ElasticServer', `{replicas: {min: 1, max: 4}, template: ${pods(1)}}`, '1..4'],
  // Resources without a template.
  ['ChatModel', `{image: 'registry.example/app:1', replicas: 2, ${limits(1)}}`, '2'],
  [
    'ChatModel',
    `{replicas: 4, agent: {image: 'registry.example/app:1', ${limits(8)}}, template: {spec: {tolerations: []}}}`,
    '32',
  ],
  [
    'VectorStore',
    `{components: {image: i, query: {replicas: 2, ${limits(1)}}, index: {replicas: 1, ${limits(1)}}}}`,
    '3',
  ],
  // Words of their own.
  ['Workbench', `{image: 'registry.example/app:1', gpu: 1}`, '1'],
  ['TrainRun', `{image: 'registry.example/app:1', nodes: 4, gpusPerNode: 8}`, '32'],
  ['ChatModel', `{modelName: m, replicas: 2, gpu: {count: 2, type: nvidia-l4}}`, '4'],
  ['ChatModel', `{model: m, replicas: 2, resources: {gpu: "2"}}`, '4'],
  ['ChatModel', `{model: m, resources: {limits: {cpu: 1, gpu: "1"}}}`, '1'],
  ['TrainRun', `{image: {value: i}, gpu: {value: "2"}}`, '2'],
  ['TrainRun', `{image: {value: i}, gpu: {value: "0.5"}, minScale: {value: 1}, maxScale: {value: 2}}`, '0.5..1'],
  ['TrainRun', `{model: {size: 70B}, resources: {nodes: 16, gpusPerNode: 8, gpuType: H200}}`, '128'],
  ['TrainRun', `{image: i, resources: {gpu: 4, node_count: 1, cpu: 32}}`, '4'],
  ['TrainRun', `{image: i, workers: 4, gpusPerWorker: 8}`, '32'],
  ['TrainRun', `{image: i, workers: 4, resources: {gpusPerWorker: 8}}`, '32'],
  ['TrainRun', `{image: i, distributed: {nodes: 2, gpuPerNode: 8, gpuType: H100}}`, '16'],
  ['TrainRun', `{image: i, distributed: {nodes: 2, backend: nccl}}`, 'nothing'],
  ['TrainRun', `{image: i, roles: [{name: ps, replicas: 2}, {name: worker, replicas: 4, gpu: 2}]}`, '8'],
  ['TrainRun', `{image: i, replicas: 2, accelerators: [{type: nvidia-l4, count: 2}]}`, '4'],
  ['TrainRun', `{image: i, accelerators: [{type: nvidia-l4, count: 2}, {type: nvidia-t4, count: 4}]}`, 'nothing'],
  ['Search', `{maxTrials: 20, parallelTrials: 4, trial: {image: i, gpus: 1}}`, '4'],
  ['TrainRun', `{image: i, nodePool: {nodes: 2, gpusPerNode: 8}}`, 'nothing'],
  ['TrainRun', `{image: i, master: {replicas: 1, gpu: 1}, worker: {replicas: 3, gpu: 1}}`, '4'],
  ['FineTuneJob', `{baseModel: org/model, dataset: d, gpuCount: 2, autoDeploy: true}`, '2'],
  [
    'LLMService',
    `{model: {source: {uri: u}}, resources: {accelerators: 1}, scaling: {min: 0, max: 3, target: 10}}`,
    '0..3',
  ],
  ['SlurmCluster', `{workers: {replicas: 32, resources: {nvidia.com/gpu: 8}}}`, '256'],
  [
    'BentoServer',
    `{bento: b, runners: [{name: r, model: m, resources: {requests: {cpu: 1, custom: {nvidia.com/gpu: 1}}}}]}`,
    '1',
  ],
  [
    'BentoServer',
    `{resources: {limits: {cpu: 1}}, autoscaling: {min_replicas: 1, max_replicas: 5}, runners: [{${limits(1)}, replicas: 1, autoscaling: {min_replicas: 1, max_replicas: 2}}]}`,
    '1..2',
  ],
])('%s %s: %s', (kind, spec, expected) => {
  expect(total(kind, spec)).toBe(expected);
});

test.each([
  // Templated, or of two meanings.
  ['LargeModel', `{replicas: "{{ n }}", template: ${pods(2)}}`, 'unknown'],
  ['LargeModel', `{replicas: 1, instances: 2, template: ${pods(2)}}`, 'unknown'],
  ['ModelServer', `{image: i, replicas: 2, workers: 4, ${limits(1)}}`, 'unknown'],
  ['TrainRun', `{image: i, nodes: 2, gpus: 16}`, 'unknown'],
  ['App', `{components: [{properties: {image: i, ${limits(1)}}, traits: [{properties: {replicas: 3}}]}]}`, 'unknown'],
  ['StreamJob', `{job: {parallelism: 4}, taskManager: {podTemplate: ${pods(1)}}}`, 'unknown'],
  ['AutoscalingRunners', `{template: ${pods(1)}}`, 'unknown'],
  ['GpuDaemon', `{template: ${pods(1)}}`, 'unknown'],
  // A template that roles choose by its name.
  [
    'RoleJob',
    `{roleTemplates: [{name: base, template: ${pods(1)}}], roles: [{name: a, replicas: 2, templateRef: {name: base}}]}`,
    'unknown',
  ],
  // An autoscaler of a component, or of all its parts.
  ['TwoParts', `{autoscaling: {min: 1, max: 2}, runners: [{replicas: 2, model: m, ${limits(1)}}]}`, 'unknown'],
  ['TwoParts', `{resources: {limits: {cpu: 1}}, replicas: 3, runners: [{model: m, ${limits(1)}}]}`, 'unknown'],
  ['LargeModel', `{replicas: "\${N}", model: m, ${limits(1)}}`, 'unknown'],
  ['TrainRun', `{image: i, resources: {gpu: 4, nodeCount: 2}}`, 'unknown'],
  // Processes or pods, shards of pods.
  ['ModelServer', `{image: i, workers: 4, ${limits(1)}}`, 'unknown'],
  ['ModelServer', `{model: m, parallelism: 4, ${limits(4)}}`, 'unknown'],
  ['VectorStore', `{image: i, shards: 4, replicas: 2, ${limits(1)}}`, 'unknown'],
  ['RoleJob', `{workers: 3, extra: {replicas: 2, image: i, ${limits(1)}}}`, 'unknown'],
  // One component and its part.
  ['TwoParts', `{image: i, replicas: 2, worker: {image: i, replicas: 3, ${limits(1)}}}`, 'unknown'],
  // Sizes that count no pods.
  ['ModelServer', `{image: i, tensorParallelSize: 4, maxBatchSize: 32, poolSize: 8, port: 8000, ${limits(4)}}`, '4'],
  ['ModelServer', `{image: i, storage: {size: 100}, ${limits(4)}}`, '4'],
  // A part that is turned off.
  ['TwoParts', `{worker: {enabled: false, image: i, ${limits(1)}}, other: {image: i, ${limits(2)}}}`, '2'],
])('%s %s is not guessed: %s', (kind, spec, expected) => {
  expect(total(kind, spec)).toBe(expected);
});

test.each([
  ['ServerTemplate', `{template: ${pods(2)}}`, 'definition'],
  ['WorkbenchKind', `{podTemplate: {options: [{spec: {${limits(1)}, image: i}}]}}`, 'definition'],
  ['TeamQuota', '{image: i, gpu: 100}', 'nothing'],
  ['GpuNodePool', '{image: i, count: 3, gpu: 8}', 'nothing'],
  ['Cluster', '{nodePools: [{name: gpu, count: 3, gpuCount: 8, image: i}]}', 'nothing'],
  ['HardwareProfile', '{identifiers: [{identifier: nvidia.com/gpu, minCount: 1}]}', 'nothing'],
  ['FineTune', '{image: i, hyperparameters: {gpus: 4}}', 'nothing'],
  ['Dashboard', '{template: {spec: {containers: [{name: web, image: i}]}}}', 'nothing'],
])('%s %s runs nothing: %s', (kind, spec, expected) => {
  expect(total(kind, spec)).toBe(expected);
});

const job = (group: string, kind: string, spec: string) => `{apiVersion: ${group}, kind: ${kind}, spec: ${spec}}`;

test('objects inside an object are read as what they are, times the counts above them', () => {
  const worker = `{pytorchReplicaSpecs: {Worker: {replicas: 2, template: ${pods(1)}}}}`;
  const trial = job('kubeflow.org/v1', 'PyTorchJob', worker);
  expect(total('Experiment', `{parallelTrialCount: 4, maxTrialCount: 12, trialTemplate: {trialSpec: ${trial}}}`)).toBe(
    '8',
  );
  expect(total('Experiment', `{trialTemplate: {trialSpec: ${trial}}}`, 'kubeflow.org')).toBe('6');
  const deployment = job('apps/v1', 'Deployment', `{replicas: 2, selector: {}, template: ${pods(1)}}`);
  expect(total('ManifestWork', `{workload: {manifests: [${deployment}]}}`)).toBe('2');
  expect(total('ResourceGraphDefinition', `{resources: [{id: a, template: ${deployment}}]}`)).toBe('definition');
});

test('a fork of a known kind is read like the kind', () => {
  const roles = `{pytorchReplicaSpecs: {Worker: {template: ${pods(1)}}}, elasticPolicy: {}}`;
  expect(total('PyTorchJob', roles, 'training.kubedl.io')).toBe('1');
  expect(total('Deployment', `{replicas: 2, selector: {}, template: ${pods(1)}}`, 'extensions')).toBe('2');
  // Another kind of the same name.
  expect(total('Workspace', `{replicas: 2, podTemplate: ${pods(1)}}`)).toBe('2');
});
