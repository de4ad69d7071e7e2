import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';

// One right object of each kind whose operator has a schema of its own, and the same object with a line changed.

const spark = `apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: etl}
spec:
  type: Python
  mode: cluster
  sparkVersion: 3.5.1
  image: registry.example/spark:3.5.1
  mainApplicationFile: local:///opt/etl.py
  restartPolicy: {type: OnFailure, onFailureRetries: 3}
  dynamicAllocation: {enabled: true, minExecutors: 1, maxExecutors: 4}
  driver:
    cores: 1
    memory: 4g
  executor:
    instances: 2
    memory: 16g
    coreRequest: 500m
    gpu: {name: nvidia.com/gpu, quantity: 1}
    tolerations: [{key: nvidia.com/gpu, operator: Exists}]
`;

const dynamo = `apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: chat}
spec:
  backendFramework: vllm
  envs: [{name: LOG_LEVEL, value: info}]
  services:
    Worker:
      componentType: worker
      replicas: 2
      envFromSecret: hub
      resources:
        limits: {gpu: "1", memory: 64Gi}
      sharedMemory: {size: 16Gi}
      multinode: {nodeCount: 2}
      extraPodSpec:
        mainContainer: {image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.1", args: [--model, Qwen/Qwen3-0.6B]}
`;

const pool = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: vllm}
spec:
  selector: {matchLabels: {app: vllm}}
  targetPorts: [{number: 8000}]
  endpointPickerRef: {name: picker, port: {number: 9002}, failureMode: FailOpen}
`;

const model = `apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferenceModel
metadata: {name: vllm-lora}
spec:
  modelName: lora
  criticality: Standard
  poolRef: {name: vllm}
  targetModels: [{name: lora-1, weight: 100}]
`;

const set = `apiVersion: kaito.sh/v1beta1
kind: InferenceSet
metadata: {name: phi}
spec:
  labelSelector: {matchLabels: {apps: phi}}
  replicas: 2
  nodeCountLimit: 4
  template:
    resource: {instanceType: Standard_NC24ads_A100_v4}
    inference: {preset: {name: phi-4-mini-instruct}}
`;

const autoscaler = `apiVersion: autoscaling.aibrix.ai/v1alpha1
kind: PodAutoscaler
metadata: {name: chat}
spec:
  scalingStrategy: KPA
  minReplicas: 1
  maxReplicas: 4
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}
  metricsSources:
    - {metricSourceType: pod, protocolType: http, port: "8000", targetMetric: gpu_cache_usage_perc, targetValue: "50"}
`;

const driver = `apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {name: driver}
spec:
  driverType: gpu
  kernelModuleType: open
  usePrecompiled: false
  image: driver
  version: 570.124.06
  rdma: {enabled: true, useHostMofed: false}
  nodeSelector: {pool: gpu}
`;

const amd = `apiVersion: amd.com/v1alpha1
kind: DeviceConfig
metadata: {name: gpus}
spec:
  driver: {enable: true, version: "6.4"}
  devicePlugin: {enableNodeLabeller: true}
  metricsExporter: {enable: true, serviceType: NodePort, nodePort: 32500}
`;

const queue = `apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: ml}
spec:
  parentQueue: org
  priority: 100
  resources:
    gpu: {quota: 4, limit: 8.5, overQuotaWeight: 1}
    cpu: {quota: -1, limit: -1}
`;

const cache = `apiVersion: serving.kserve.io/v1alpha1
kind: LocalModelCache
metadata: {name: llama}
spec:
  sourceModelUri: hf://meta-llama/Llama-3.1-8B-Instruct
  modelSize: 20Gi
  nodeGroups: [gpu-nodes]
`;

const azure = `apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: gpu}
spec:
  imageFamily: Ubuntu2204
  osDiskSizeGB: 256
  maxPods: 110
`;

const storm = `apiVersion: orchestration.aibrix.ai/v1alpha1
kind: StormService
metadata: {name: chat}
spec:
  replicas: 1
  selector: {matchLabels: {app: chat}}
  updateStrategy: {type: InPlaceUpdate}
  template:
    metadata: {labels: {app: chat}}
    spec:
      roles:
        - name: prefill
          replicas: 1
          template:
            spec:
              containers:
                - {name: main, image: "registry.example/server:1.2", resources: {limits: {nvidia.com/gpu: 1}}}
`;

const machine = `apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: workstation}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        cpu: {cores: 8, dedicatedCpuPlacement: true}
        memory: {guest: 32Gi, hugepages: {pageSize: 1Gi}}
        resources: {requests: {memory: 33Gi, cpu: 8}}
        devices:
          gpus: [{name: gpu1, deviceName: nvidia.com/GA102GL_A10}]
`;

type Change = readonly [from: string, to: string, message: string];

const kinds: Readonly<Record<string, readonly [text: string, ...changes: Change[]]>> = {
  SparkApplication: [
    spark,
    ['instances: 2', 'instance: 2', 'did you mean instances?'],
    ['instances: 2', 'instances: two', 'instances must be an integer'],
    ['mode: cluster', 'mode: yarn', 'mode must be one of'],
    ['type: OnFailure', 'type: Sometimes', 'type must be one of'],
    ['quantity: 1', 'quantity: "1"', 'quantity must be an integer'],
    [', quantity: 1', '', 'quantity'],
    ['sparkVersion: 3.5.1', 'sparkVersion: 3.5', 'sparkVersion must be a string'],
    ['maxExecutors', 'maxExecutor', 'did you mean maxExecutors?'],
  ],
  DynamoGraphDeployment: [
    dynamo,
    ['backendFramework: vllm', 'backendFramework: vLLM', 'backendFramework must be one of'],
    ['gpu: "1"', 'gpu: 1', 'gpu must be a string'],
    ['envFromSecret', 'envFromSecrets', 'did you mean envFromSecret?'],
    ['nodeCount: 2', 'nodeCount: two', 'nodeCount must be an integer'],
    ['mainContainer', 'maincontainer', 'did you mean mainContainer?'],
  ],
  InferencePool: [
    pool,
    ['failureMode: FailOpen', 'failureMode: Open', 'failureMode must be one of'],
    ['matchLabels: {app: vllm}', 'app: vllm', 'belongs under matchLabels'],
    ['targetPorts: [{number: 8000}]', 'targetPortNumber: 8000', 'older version (now targetPorts)'],
    ['endpointPickerRef', 'extensionRef', 'older version (now endpointPickerRef)'],
  ],
  InferenceModel: [
    model,
    ['criticality: Standard', 'criticality: High', 'criticality must be one of'],
    ['targetModels', 'targetModel', 'did you mean targetModels?'],
  ],
  InferenceSet: [
    set,
    ['nodeCountLimit', 'nodeCountLimits', 'did you mean nodeCountLimit?'],
    ['replicas: 2', 'replicas: two', 'replicas must be an integer'],
  ],
  PodAutoscaler: [
    autoscaler,
    ['scalingStrategy: KPA', 'scalingStrategy: Knative', 'scalingStrategy must be one of'],
    ['targetValue: "50"', 'targetValue: 50', 'targetValue must be a string'],
    ['metricSourceType: pod', 'metricSourceType: pods', 'metricSourceType must be one of'],
  ],
  NVIDIADriver: [
    driver,
    ['kernelModuleType: open', 'kernelModuleType: opensource', 'kernelModuleType must be one of'],
    ['usePrecompiled: false', 'usePrecompiled: "false"', 'usePrecompiled must be true or false'],
    ['useHostMofed', 'useHostMOFED', 'did you mean useHostMofed?'],
  ],
  DeviceConfig: [
    amd,
    ['nodePort: 32500', 'nodePort: auto', 'nodePort must be an integer'],
    ['enableNodeLabeller', 'enableNodeLabeler', 'did you mean enableNodeLabeller?'],
  ],
  Queue: [
    queue,
    ['limit: 8.5', 'limit: "8"', 'limit must be a number'],
    ['overQuotaWeight', 'overquotaWeight', 'did you mean overQuotaWeight?'],
  ],
  LocalModelCache: [
    cache,
    ['nodeGroups: [gpu-nodes]', 'nodeGroups: gpu-nodes', 'nodeGroups must be a list'],
    ['modelSize: 20Gi', 'modelSize: 20GB', 'modelSize'],
    ['sourceModelUri', 'sourceModelURI', 'did you mean sourceModelUri?'],
  ],
  AKSNodeClass: [
    azure,
    ['imageFamily: Ubuntu2204', 'imageFamily: Ubuntu22', 'imageFamily must be one of'],
    ['osDiskSizeGB: 256', 'osDiskSizeGB: 256Gi', 'osDiskSizeGB must be an integer'],
  ],
  VirtualMachine: [
    machine,
    ['guest: 32Gi', 'guest: 32GB', 'guest'],
    ['cores: 8', 'cores: "8"', 'cores must be an integer'],
    ['dedicatedCpuPlacement', 'dedicatedCPUPlacement', 'did you mean dedicatedCpuPlacement?'],
    ['memory: 33Gi', 'memory: 33GB', 'memory'],
  ],
  StormService: [
    storm,
    ['type: InPlaceUpdate', 'type: InPlace', 'type must be one of'],
    ['selector:', 'selectors:', 'did you mean selector?'],
    ['resources:', 'resource:', 'did you mean resources?'],
  ],
};

describe.each(Object.entries(kinds))('%s', (_, [text, ...changes]) => {
  const wordsIn = (written: string) => {
    const { documents } = new Analysis().setFile('file:///w/app.yaml', written);
    const findings = documents.flatMap((document) => document.findings);
    return findings.flatMap(({ severity, message }) => (severity === 'error' || severity === 'warning' ? message : []));
  };

  test('nothing wrong', () => expect(wordsIn(text)).toEqual([]));
  test('fields of later versions', () => expect(wordsIn(`${text}  rolloutWindow: {days: 3}\n`)).toEqual([]));
  test.each(changes)('%s → %s', (from, to, message) => {
    expect(text).toContain(from);
    expect(wordsIn(text.replace(from, to))).toContainEqual(expect.stringContaining(message));
  });
});

test('a placeholder in a reference', () => {
  const text = queue.replace(/gpu: \{.*\}/, 'gpu: ResourceQuota').replace(/cpu: \{.*\}/, 'cpu: ResourceQuota');
  const { documents } = new Analysis().setFile('file:///w/queue.yaml', text);
  expect(documents.flatMap(({ findings }) => findings.map(({ rule }) => rule))).toEqual([]);
});

test('jobs without GPUs are others', () => {
  const text = spark.replace(/ {4}gpu: .*\n {4}tolerations: .*\n/, '').replace('instances: 2', 'instance: 2');
  const { documents } = new Analysis().setFile('file:///w/etl.yaml', text);
  expect(documents.flatMap(({ findings }) => findings.map(({ rule }) => rule))).toEqual([]);
});
