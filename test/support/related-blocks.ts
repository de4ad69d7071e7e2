// Objects that refer to each other, each in as small a document as possible.

/** The parts of an object: its own name, the name of another, a number, and whether it sets a namespace. */
export interface BlockParts {
  readonly name: string;
  readonly other: string;
  readonly count: number;
  readonly namespaced: boolean;
}

/** Some differ by one typo, so that a dangling name may resemble another. */
export const blockNames = ['team', 'chat-server', 'chat-sever', 'chat', 'queue-main', 'queue-mian'] as const;

const metadata = ({ name, namespaced }: BlockParts, more = '') =>
  `metadata: {name: ${name}${namespaced ? ', namespace: prod' : ''}${more}}`;

const pod = (gpus: number, more = '') => `    metadata: {labels: {app: chat}}
    spec:
      containers:
        - {name: main, image: "vllm/vllm-openai:v0.9.1", args: [--model=meta-llama/Llama-3.1-8B], resources: {limits: {nvidia.com/gpu: ${gpus}}}}
${more}`;

const workload = (group: string, kind: string, parts: BlockParts, more = '', labels = '') => `apiVersion: ${group}
kind: ${kind}
${metadata(parts, labels)}
spec:
  replicas: 2
  selector: {matchLabels: {app: chat}}
  template:
${pod(parts.count, more)}`;

const runtime = (kind: string, parts: BlockParts) => `apiVersion: serving.kserve.io/v1alpha1
kind: ${kind}
${metadata(parts)}
spec:
  supportedModelFormats: [{name: huggingface}]
  containers: [{name: kserve-container, image: "kserve/huggingfaceserver:v0.15", resources: {limits: {nvidia.com/gpu: ${parts.count}}}}]
`;

const devices = (count: number) =>
  `devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: ${count}}}]}`;

const trainingRuntime = (kind: string, parts: BlockParts) => `apiVersion: trainer.kubeflow.org/v1alpha1
kind: ${kind}
${metadata(parts)}
spec:
  mlPolicy: {numNodes: ${parts.count}}
  template:
    spec:
      replicatedJobs:
        - name: node
          template: {spec: {template: {spec: {containers: [{name: node, image: "torch:1", resources: {limits: {nvidia.com/gpu: 8}}}]}}}}
`;

const scaler = (kind: string, apiVersion: string, parts: BlockParts, spec: string) => `apiVersion: ${apiVersion}
kind: ${kind}
${metadata(parts)}
spec:
  scaleTargetRef: {kind: Deployment, name: ${parts.other}}
${spec}`;

/** Each returns a document's text, without markers. */
export const blocks: readonly ((parts: BlockParts) => string)[] = [
  (parts) => workload('apps/v1', 'Deployment', parts),
  (parts) => workload('apps/v1', 'Deployment', parts, `      nodeSelector: {karpenter.sh/nodepool: ${parts.other}}\n`),
  (parts) => workload('apps/v1', 'StatefulSet', parts, `      nodeSelector: {workload: ${parts.other}}\n`),
  (parts) =>
    workload(
      'apps/v1',
      'Deployment',
      { ...parts, count: 0 },
      `      resourceClaims: [{name: gpu, resourceClaimName: ${parts.other}}]\n`,
    ),
  (parts) =>
    workload(
      'apps/v1',
      'Deployment',
      { ...parts, count: 0 },
      `      resourceClaims: [{name: gpu, resourceClaimTemplateName: ${parts.other}}]\n`,
    ),
  (parts) =>
    `apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n${metadata(parts)}\nspec: {${devices(parts.count)}}\n`,
  (parts) =>
    `apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n${metadata(parts)}\nspec: {spec: {${devices(parts.count)}}}\n`,
  (parts) => runtime('ServingRuntime', parts),
  (parts) => runtime('ClusterServingRuntime', { ...parts, namespaced: false }),
  (parts) => `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
${metadata(parts)}
spec: {predictor: {minReplicas: ${parts.count}, maxReplicas: 4, model: {modelFormat: {name: huggingface}, runtime: ${parts.other}}}}
`,
  (parts) =>
    scaler(
      'ScaledObject',
      'keda.sh/v1alpha1',
      parts,
      `  minReplicaCount: ${parts.count}\n  maxReplicaCount: 9\n  triggers: [{type: cpu, metadata: {value: "50"}}]\n`,
    ),
  (parts) =>
    scaler(
      'HorizontalPodAutoscaler',
      'autoscaling/v2',
      parts,
      `  minReplicas: ${parts.count}\n  maxReplicas: 8\n  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]\n`,
    ),
  (parts) => `apiVersion: karpenter.sh/v1
kind: NodePool
${metadata({ ...parts, namespaced: false })}
spec:
  template:
    metadata: {labels: {workload: ${parts.other}}}
    spec:
      taints: [{key: nvidia.com/gpu, effect: NoSchedule}${parts.count > 2 ? `, {key: only, value: ${parts.other}, effect: NoSchedule}` : ''}]
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p4d.24xlarge]}]
  limits: {nvidia.com/gpu: 8}
`,
  (parts) =>
    `apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\n${metadata(parts)}\nspec: {clusterQueue: ${parts.other}}\n`,
  (parts) => `apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
${metadata({ ...parts, namespaced: false })}
spec:
  resourceGroups:
    - coveredResources: [${parts.count > 1 ? 'cpu' : 'nvidia.com/gpu'}]
      flavors: [{name: ${parts.other}, resources: [{name: ${parts.count > 1 ? 'cpu' : 'nvidia.com/gpu'}, nominalQuota: 4}]}]
`,
  (parts) => `apiVersion: batch/v1
kind: Job
${metadata(parts, `, labels: {kueue.x-k8s.io/queue-name: ${parts.other}}`)}
spec:
  template:
${pod(parts.count, '      restartPolicy: Never\n')}`,
  (parts) =>
    `apiVersion: policy/v1\nkind: PodDisruptionBudget\n${metadata(parts)}\nspec: {minAvailable: ${parts.count}, selector: {matchLabels: {app: chat}}}\n`,
  (parts) =>
    `apiVersion: v1\nkind: ConfigMap\n${metadata(parts)}\ndata: {run.sh: "torchrun --nproc-per-node=${parts.count} train.py"}\n`,
  (parts) => `apiVersion: batch/v1
kind: Job
${metadata(parts)}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "torch:1", command: [sh, /scripts/run.sh], volumeMounts: [{name: s, mountPath: /scripts}], resources: {limits: {nvidia.com/gpu: 2}}}]
      volumes: [{name: s, configMap: {name: ${parts.other}}}]
`,
  (parts) => trainingRuntime('TrainingRuntime', parts),
  (parts) => trainingRuntime('ClusterTrainingRuntime', { ...parts, namespaced: false }),
  (parts) => `apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
${metadata(parts)}
spec: {runtimeRef: {kind: ${parts.namespaced ? 'TrainingRuntime' : 'ClusterTrainingRuntime'}, name: ${parts.other}}}
`,
  (parts) => `apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceServiceConfig
${metadata(parts)}
spec: {template: {containers: [{name: main, image: "vllm/vllm-openai:v0.9.1", resources: {limits: {nvidia.com/gpu: ${parts.count}}}}]}}
`,
  (parts) => `apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
${metadata(parts)}
spec: {replicas: 2, model: {uri: "hf://meta-llama/Llama-3.1-8B"}, baseRefs: [{name: ${parts.other}}]}
`,
  (parts) => `# gpulint-disable-next-line\nkind: Service\napiVersion: v1\n${metadata(parts)}\n`,
  (parts) =>
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Values.name }}}\nspec: {replicas: {{ .Values.replicas }}, template: {spec: {containers: [{name: m, image: a, resources: {limits: {nvidia.com/gpu: {{ .Values.gpus }}}}}]}}} # ${parts.name}\n`,
  (parts) => `image: ${parts.name}\nreplicas: ${parts.count}\nresources: {limits: {nvidia.com/gpu: ${parts.count}}}\n`,
  (parts) => `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n${metadata(parts)}\nspec: {}\n`,
];
