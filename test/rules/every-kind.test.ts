import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';

// The same mistake in the pods of each kind: a rule that names kinds, or needs their types, would miss it in some.

const indented = (text: string, by: number) => text.replaceAll('\n', `\n${' '.repeat(by)}`);

interface Pod {
  readonly image?: string;
  readonly command?: string;
  readonly resources?: string;
  /** More fields of the container. */
  readonly container?: string;
  /** More fields of the pod. */
  readonly pod?: string;
}

const defaults = {
  image: 'registry.example/trainer:1.4',
  command: 'command: [python, train.py]',
  resources: 'resources: {limits: {nvidia.com/gpu: 2}}',
};

function fieldsOf({ image, command, resources, container }: Pod): string {
  const lines = [`image: ${image ?? defaults.image}`, command ?? defaults.command, resources ?? defaults.resources];
  return [...lines, ...(container === undefined ? [] : [container])].join('\n');
}

const placed = ({ pod }: Pod) =>
  ['nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}', ...(pod ? [pod] : [])].join('\n');

/** A pod spec, at an indentation. @param name the name of its container */
const specOf = (pod: Pod, by: number, name = 'main') =>
  indented(`containers:\n  - name: ${name}\n    ${indented(fieldsOf(pod), 4)}\n${placed(pod)}`, by);

/** A template of a workflow, which has one container. */
const templateOf = (pod: Pod, by: number) =>
  indented(`container:\n  ${indented(fieldsOf(pod), 2)}\n${placed(pod)}`, by);

const objectOf = (apiVersion: string, kind: string, spec: string) =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: app}\nspec:\n  ${spec}\n`;

const inTemplate = (apiVersion: string, kind: string, more: string) => (pod: Pod) =>
  objectOf(
    apiVersion,
    kind,
    `${more}\n  template:\n    metadata: {labels: {app: app}}\n    spec:\n      ${specOf(pod, 6)}`,
  );

const selector = 'selector: {matchLabels: {app: app}}';
const inWorkflow = (kind: string, head: string, by: number) => (pod: Pod) =>
  objectOf('argoproj.io/v1alpha1', kind, `${head}- name: train\n${' '.repeat(by)}${templateOf(pod, by)}`);

const kinds: Readonly<Record<string, (pod: Pod) => string>> = {
  Pod: (pod) => objectOf('v1', 'Pod', specOf(pod, 2)),
  Deployment: inTemplate('apps/v1', 'Deployment', selector),
  StatefulSet: inTemplate('apps/v1', 'StatefulSet', `serviceName: app\n  ${selector}`),
  ReplicaSet: inTemplate('apps/v1', 'ReplicaSet', selector),
  Rollout: inTemplate('argoproj.io/v1alpha1', 'Rollout', selector),
  DeploymentConfig: inTemplate('apps.openshift.io/v1', 'DeploymentConfig', 'selector: {app: app}'),
  CloneSet: inTemplate('apps.kruise.io/v1alpha1', 'CloneSet', selector),
  'Knative Service': (pod) =>
    objectOf('serving.knative.dev/v1', 'Service', `template:\n    spec:\n      ${specOf(pod, 6)}`),
  Job: (pod) =>
    objectOf('batch/v1', 'Job', `template:\n    spec:\n      restartPolicy: Never\n      ${specOf(pod, 6)}`),
  CronJob: (pod) =>
    objectOf(
      'batch/v1',
      'CronJob',
      `schedule: "0 3 * * *"\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n          ${specOf(pod, 10)}`,
    ),
  ScaledJob: (pod) =>
    objectOf(
      'keda.sh/v1alpha1',
      'ScaledJob',
      `triggers: [{type: cron, metadata: {timezone: UTC, start: 0 1 * * *, end: 0 2 * * *, desiredReplicas: "1"}}]\n  jobTargetRef:\n    template:\n      spec:\n        ${specOf(pod, 8)}`,
    ),
  PyTorchJob: (pod) =>
    objectOf(
      'kubeflow.org/v1',
      'PyTorchJob',
      `pytorchReplicaSpecs:\n    Master:\n      replicas: 1\n      template:\n        spec:\n          ${specOf(pod, 10, 'pytorch')}`,
    ),
  JobSet: (pod) =>
    objectOf(
      'jobset.x-k8s.io/v1alpha2',
      'JobSet',
      `replicatedJobs:\n    - name: train\n      template:\n        spec:\n          template:\n            spec:\n              ${specOf(pod, 14)}`,
    ),
  LeaderWorkerSet: (pod) =>
    objectOf(
      'leaderworkerset.x-k8s.io/v1',
      'LeaderWorkerSet',
      `leaderWorkerTemplate:\n    size: 2\n    workerTemplate:\n      spec:\n        ${specOf(pod, 8)}`,
    ),
  'Volcano Job': (pod) =>
    objectOf(
      'batch.volcano.sh/v1alpha1',
      'Job',
      `schedulerName: volcano\n  minAvailable: 1\n  tasks:\n    - name: train\n      replicas: 1\n      template:\n        spec:\n          ${specOf(pod, 10)}`,
    ),
  RayCluster: (pod) =>
    objectOf(
      'ray.io/v1',
      'RayCluster',
      `headGroupSpec:\n    rayStartParams: {}\n    template:\n      spec:\n        containers: [{name: head, image: "registry.example/ray:2.40.0"}]\n  workerGroupSpecs:\n    - groupName: gpu\n      replicas: 1\n      minReplicas: 1\n      maxReplicas: 1\n      rayStartParams: {}\n      template:\n        spec:\n          ${specOf(pod, 10)}`,
    ),
  Notebook: (pod) => objectOf('kubeflow.org/v1', 'Notebook', `template:\n    spec:\n      ${specOf(pod, 6)}`),
  AppWrapper: (pod) =>
    objectOf(
      'workload.codeflare.dev/v1beta2',
      'AppWrapper',
      `components:\n    - template:\n        apiVersion: v1\n        kind: Pod\n        metadata: {name: app}\n        spec:\n          ${specOf(pod, 10)}`,
    ),
  'Katib Experiment': (pod) =>
    objectOf(
      'kubeflow.org/v1beta1',
      'Experiment',
      `parallelTrialCount: 2\n  trialTemplate:\n    primaryContainerName: main\n    trialSpec:\n      apiVersion: batch/v1\n      kind: Job\n      spec:\n        template:\n          spec:\n            restartPolicy: Never\n            ${specOf(pod, 12)}`,
    ),
  DynamoGraphDeployment: (pod) =>
    objectOf(
      'nvidia.com/v1alpha1',
      'DynamoGraphDeployment',
      `services:\n    Worker:\n      replicas: 1\n      extraPodSpec:\n        ${indented(placed(pod), 8)}\n        mainContainer:\n          ${indented(fieldsOf(pod), 10)}`,
    ),
  DaskCluster: (pod) =>
    objectOf('kubernetes.dask.org/v1', 'DaskCluster', `worker:\n    replicas: 2\n    spec:\n      ${specOf(pod, 6)}`),
  SparkApplication: (pod) =>
    objectOf(
      'sparkoperator.k8s.io/v1beta2',
      'SparkApplication',
      `type: Python\n  driver: {cores: 1}\n  executor:\n    instances: 2\n    template:\n      spec:\n        ${specOf(pod, 8)}`,
    ),
  'a kind that nobody knows': (pod) =>
    objectOf('ml.example.com/v1', 'TrainingRun', `replicas: 1\n  template:\n    spec:\n      ${specOf(pod, 6)}`),
  Workflow: inWorkflow('Workflow', 'entrypoint: train\n  templates:\n    ', 6),
  CronWorkflow: inWorkflow(
    'CronWorkflow',
    'schedule: "0 3 * * *"\n  workflowSpec:\n    entrypoint: train\n    templates:\n      ',
    8,
  ),
  WorkflowTemplate: inWorkflow('WorkflowTemplate', 'templates:\n    ', 6),
  'Workflow with several containers': (pod) =>
    objectOf(
      'argoproj.io/v1alpha1',
      'Workflow',
      `entrypoint: train\n  templates:\n    - name: train\n      containerSet:\n        containers:\n          - name: main\n            ${indented(fieldsOf(pod), 12)}\n      ${indented(placed(pod), 6)}`,
    ),
  TaskRun: (pod) =>
    objectOf(
      'tekton.dev/v1',
      'TaskRun',
      `podTemplate:\n    ${indented(placed(pod), 4)}\n  taskSpec:\n    steps:\n      - name: main\n        ${indented(fieldsOf(pod).replace(/^resources/m, 'computeResources'), 8)}`,
    ),
};

const mistakes: Readonly<Record<string, readonly [rule: RegExp, pod: Pod]>> = {
  'a request without a limit': [/^gpu-limits-required$/, { resources: 'resources: {requests: {nvidia.com/gpu: 2}}' }],
  'a request below its limit': [
    /^gpu-requests-equal-limits$/,
    { resources: 'resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}' },
  ],
  'half a GPU': [/^gpu-quantity-whole$/, { resources: 'resources: {limits: {nvidia.com/gpu: 0.5}}' }],
  'a misspelled resource': [/^gpu-resource-name$/, { resources: 'resources: {limits: {nvidia.com/gpus: 2}}' }],
  'a misspelled profile': [/^mig-/, { resources: 'resources: {limits: {nvidia.com/mig-1g.5g: 1}}' }],
  'a misspelled field': [/^api-field$/, { resources: 'resources: {limit: {nvidia.com/gpu: 2}}' }],
  'no quantity': [
    /^(?:api-field|resource-invalid)$/,
    { resources: 'resources: {limits: {nvidia.com/gpu: 2, memory: 64GB}}' },
  ],
  'more GPUs than a machine has': [/^gpus-exceed-node$/, { resources: 'resources: {limits: {nvidia.com/gpu: 32}}' }],
  'a mutable tag': [/^image-not-pinned$/, { image: 'registry.example/trainer:latest' }],
  'an image for CPUs': [/^cpu-image-with-gpu$/, { image: 'tensorflow/tensorflow:2.16.1' }],
  'more processes than GPUs': [/^nproc-per-node$/, { command: 'command: [torchrun, --nproc_per_node=4, train.py]' }],
  'more shards than GPUs': [
    /^tensor-parallel-(?:mismatch|link)$/,
    {
      image: 'vllm/vllm-openai:v0.8.5',
      command: 'args: [--model, Qwen/Qwen2.5-7B-Instruct, --tensor-parallel-size=4]',
    },
  ],
  'a hidden GPU': [/^hidden-gpus$/, { container: 'env: [{name: CUDA_VISIBLE_DEVICES, value: "0"}]' }],
  'a variable twice': [
    /^duplicate-name$/,
    { container: 'env: [{name: EPOCHS, value: "3"}, {name: EPOCHS, value: "5"}]' },
  ],
  'a number as a variable': [/^value-not-string$/, { container: 'env: [{name: EPOCHS, value: 3}]' }],
  'a privileged container': [/^privileged-gpu$/, { container: 'securityContext: {privileged: true}' }],
  'a word that is no policy': [/^api-field$/, { container: 'imagePullPolicy: ifNotPresent' }],
  'an effect that is none': [
    /^toleration-invalid$/,
    { pod: 'tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoShedule}]' },
  ],
  'a number in an affinity': [
    /^value-not-string$/,
    {
      pod: 'affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: nvidia.com/gpu.count, operator: In, values: [8]}]}]}}}',
    },
  ],
  'a medium that is none': [
    /^emptydir-medium$/,
    {
      container: 'volumeMounts: [{name: shm, mountPath: /dev/shm}]',
      pod: 'volumes: [{name: shm, emptyDir: {medium: memory}}]',
    },
  ],
  'a volume that is missing': [/^object-reference$/, { container: 'volumeMounts: [{name: data, mountPath: /data}]' }],
};

/** What only the kind can tell: where volumes come from, what is outside the pod, and whether a server's pods are parts of one. */
const open: ReadonlySet<string> = new Set([
  'WorkflowTemplate: a volume that is missing',
  'CloneSet: a volume that is missing',
  'DaskCluster: a volume that is missing',
  'DaskCluster: more shards than GPUs',
  'Katib Experiment: a volume that is missing',
  'Katib Experiment: more shards than GPUs',
  'DynamoGraphDeployment: a volume that is missing',
  'SparkApplication: a volume that is missing',
  'TaskRun: a volume that is missing',
  'TaskRun: a number in an affinity',
  'TaskRun: a medium that is none',
  'a kind that nobody knows: a volume that is missing',
]);

describe.each(Object.entries(kinds))('%s', (kind, write) => {
  const rulesIn = (pod: Pod) => {
    const { documents } = new Analysis({ strict: true }).setFile('file:///w/app.yaml', write(pod));
    return documents.flatMap(({ findings }) => findings.map(({ rule }) => rule));
  };

  test.each(Object.entries(mistakes))('%s', (name, [rule, pod]) => {
    expect(rulesIn({})).not.toContainEqual(expect.stringMatching(rule));
    const found = expect.stringMatching(rule);
    if (open.has(`${kind}: ${name}`)) expect(rulesIn(pod)).not.toContainEqual(found);
    else expect(rulesIn(pod)).toContainEqual(found);
  });
});
