/** Objects that name each other, so that what one file says of another changes as they come, go and are copied. */
export const related: readonly string[] = [
  'apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: lq}\nspec: {clusterQueue: cq}\n',
  'apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: cq}\nspec:\n  resourceGroups:\n    - coveredResources: [nvidia.com/gpu]\n      flavors: [{name: f, resources: [{name: nvidia.com/gpu, nominalQuota: 2}]}]\n',
  'apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: cq}\nspec:\n  resourceGroups:\n    - coveredResources: [cpu]\n      flavors: [{name: f, resources: [{name: cpu, nominalQuota: 2}]}]\n',
  'apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, labels: {kueue.x-k8s.io/queue-name: lq}}\nspec:\n  template:\n    spec:\n      containers: [{name: c, image: a/b:1, resources: {limits: {nvidia.com/gpu: 4}}}]\n',
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  replicas: 2\n  selector: {matchLabels: {a: d}}\n  template:\n    metadata: {labels: {a: d}}\n    spec:\n      containers: [{name: c, image: vllm/vllm-openai:v0.9.0, resources: {limits: {nvidia.com/gpu: 1}}}]\n',
  'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}\n  minReplicas: 1\n  maxReplicas: 4\n  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]\n',
  'apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: s}\nspec:\n  scaleTargetRef: {name: d}\n  minReplicaCount: 0\n  triggers: [{type: cpu, metricType: Utilization, metadata: {value: "60"}}]\n',
  'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: np}\nspec:\n  template:\n    spec:\n      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]\n      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}]\n',
  'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: np2}\nspec:\n  template:\n    spec:\n      taints: [{key: team, value: ml, effect: NoSchedule}]\n      requirements: [{key: karpenter.k8s.aws/instance-gpu-name, operator: In, values: [a100]}]\n',
  'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  nodeSelector: {karpenter.sh/nodepool: np}\n  containers: [{name: c, image: a/b:1, resources: {limits: {nvidia.com/gpu: 1}}}]\n',
  'apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: rt}\nspec:\n  supportedModelFormats: [{name: vllm}]\n  containers: [{name: kserve-container, image: vllm/vllm-openai:v0.9.0, resources: {limits: {nvidia.com/gpu: 2}}}]\n',
  'apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: is}\nspec:\n  predictor:\n    model: {modelFormat: {name: vllm}, runtime: rt, args: ["--tensor-parallel-size=4"]}\n',
  'apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: pvc}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n',
  'apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: rct}\nspec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}}\n',
  'apiVersion: v1\nkind: Pod\nmetadata: {name: q}\nspec:\n  resourceClaims: [{name: g, resourceClaimTemplateName: rct}]\n  containers: [{name: c, image: a/b:1, resources: {claims: [{name: g}]}}]\n  volumes: [{name: v, persistentVolumeClaim: {claimName: pvc}}]\n',
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: device-plugin}\ndata:\n  a: |\n    version: v1\n    sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n',
];
