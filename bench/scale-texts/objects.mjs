// Many objects, and objects with long lists.
import { many, pod, containers, config } from './parts.mjs';

/** @type {readonly import('./parts.mjs').Growing[]} */
export const objects = [
  {
    name: 'documents',
    most: 8000,
    make: (n) =>
      many(
        n,
        (i) =>
          `---\napiVersion: v1\nkind: Pod\nmetadata: { name: p${i} }\nspec: { containers: [{ name: a, image: b, resources: { limits: { nvidia.com/gpu: 1 } } }] }\n`,
      ).slice(0, 1_000_000),
  },
  {
    name: 'documents with claims',
    most: 4500,
    make: (n) =>
      many(
        n,
        (i) =>
          `---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: { name: c${i} }\nspec: { spec: { devices: { requests: [{ name: g, exactly: { deviceClassName: gpu.nvidia.com } }] } } }\n`,
      ),
  },
  {
    name: 'pods with claims',
    most: 3000,
    make: (n) =>
      many(
        n,
        (i) =>
          `---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: { name: c${i} }\nspec: { devices: { requests: [{ name: g, exactly: { deviceClassName: gpu.nvidia.com } }] } }\n---\napiVersion: v1\nkind: Pod\nmetadata: { name: p${i} }\nspec:\n  resourceClaims: [{ name: a, resourceClaimName: c${i} }]\n  containers: [{ name: a, image: b, resources: { claims: [{ name: a }] } }]\n`,
      ).slice(0, 1_000_000),
  },
  {
    name: 'items of a List',
    most: 6000,
    make: (n) =>
      `apiVersion: v1\nkind: List\nitems:\n${many(n, (i) => `  - apiVersion: v1\n    kind: Pod\n    metadata: { name: p${i} }\n    spec: { containers: [{ name: a, image: b, resources: { limits: { nvidia.com/gpu: 1 } } }] }\n`)}`,
  },
  {
    name: 'items of a List with anchors',
    most: 6000,
    make: (n) =>
      `apiVersion: v1\nkind: List\nx: &x a\ny: *x\nitems:\n${many(n, (i) => `  - apiVersion: v1\n    kind: Pod\n    metadata: { name: p${i} }\n    spec: { containers: [{ name: a, image: b, resources: { limits: { nvidia.com/gpu: 1 } } }] }\n`)}`,
  },
  {
    name: 'small items of a List',
    most: 60_000,
    make: (n) => `# gpu\napiVersion: v1\nkind: List\nitems:\n${'  - a: 1\n'.repeat(n)}`,
  },
  {
    name: 'nested Lists',
    most: 3000,
    make: (n) =>
      `apiVersion: v1\nkind: List\nitems:\n${many(n, () => `- apiVersion: v1\n  kind: List\n  items:\n  - apiVersion: v1\n    kind: Pod\n    spec: { containers: [{ name: a, resources: { limits: { nvidia.com/gpu: 1 } } }] }\n`)}`,
  },
  {
    name: 'embedded config',
    most: 10_000,
    make: (n) =>
      config(
        `  config.yaml: |\n    version: v1\n    sharing:\n      timeSlicing:\n        resources:\n${many(n, () => `          - name: nvidia.com/gpu\n            replicas: 4\n`)}`,
      ),
  },
  {
    name: 'embedded configs',
    most: 5000,
    make: (n) =>
      config(
        many(
          n,
          (i) =>
            `  config${i}.yaml: |\n    version: v1\n    sharing:\n      timeSlicing:\n        resources:\n          - name: nvidia.com/gpu\n            replicas: 4\n`,
        ),
      ),
  },
  {
    name: 'embedded MIG config',
    most: 9000,
    make: (n) =>
      config(
        `  config.yaml: |\n    version: v1\n    mig-configs:\n${many(n, (i) => `      all-${i}:\n        - devices: all\n          mig-enabled: true\n          mig-devices: { 1g.5gb: 7 }\n`)}`,
      ),
  },
  {
    name: 'a long query',
    most: 900_000,
    make: (n) =>
      `apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: { name: a }\nspec:\n  scaleTargetRef: { name: b }\n  triggers:\n    - type: prometheus\n      metadata: { query: "${'sum(a) by '.repeat(n / 10)}", threshold: "1" }\n`,
  },
  {
    name: 'triggers',
    most: 10_000,
    make: (n) =>
      `apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: { name: a }\nspec:\n  scaleTargetRef: { name: b }\n  minReplicaCount: 0\n  triggers:\n${many(n, (i) => `    - type: prometheus\n      metadata: { query: "gpu${i}", threshold: "1" }\n`)}`,
  },
  {
    name: 'metrics',
    most: 9000,
    make: (n) =>
      `apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: { name: a }\nspec:\n  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: server }\n  metrics:\n${many(n, () => `    - type: Resource\n      resource: { name: cpu, target: { type: Utilization, averageUtilization: 50 } }\n`)}---\n${pod}${containers}`,
  },
  {
    name: 'node pools',
    most: 3000,
    make: (n) =>
      many(
        n,
        (i) =>
          `---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: n${i} }\nspec:\n  template:\n    spec:\n      taints: [{ key: nvidia.com/gpu, value: v${i}, effect: NoSchedule }]\n      requirements: [{ key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge] }]\n`,
      ),
  },
  {
    name: 'requirements of a node pool',
    most: 10_000,
    make: (n) =>
      `apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: n }\nspec:\n  template:\n    spec:\n      requirements:\n${many(n, () => `        - { key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge] }\n`)}`,
  },
  {
    name: 'taints of a node pool',
    most: 12_000,
    make: (n) =>
      `apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: n }\nspec:\n  template:\n    spec:\n      requirements: [{ key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge] }]\n      taints:\n${many(n, (i) => `        - { key: nvidia.com/gpu, value: v${i}, effect: NoSchedule }\n`)}`,
  },
  {
    name: 'replica specs',
    most: 3000,
    make: (n) =>
      `apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: { name: a }\nspec:\n  pytorchReplicaSpecs:\n${many(n, (i) => `    Worker${i}:\n      replicas: 2\n      template:\n        spec:\n          containers:\n            - name: pytorch\n              image: a\n              resources: { limits: { nvidia.com/gpu: 8 } }\n`)}`,
  },
  {
    name: 'worker groups',
    most: 3000,
    make: (n) =>
      `apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: { name: a }\nspec:\n  headGroupSpec: { template: { spec: { containers: [{ name: h, image: a }] } } }\n  workerGroupSpecs:\n${many(n, (i) => `    - groupName: g${i}\n      replicas: 2\n      template:\n        spec:\n          containers:\n            - name: ray\n              image: a\n              resources: { limits: { nvidia.com/gpu: 8 } }\n`)}`,
  },
  {
    name: 'templates of a Workflow',
    most: 4000,
    make: (n) =>
      `apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: { name: a }\nspec:\n  entrypoint: t0\n  templates:\n${many(n, (i) => `    - name: t${i}\n      container:\n        image: a\n        command: [python, train.py]\n        resources: { limits: { nvidia.com/gpu: 8 } }\n`)}`,
  },
  {
    name: 'steps of a Workflow',
    most: 4000,
    make: (n) =>
      `apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: { name: a }\nspec:\n  entrypoint: main\n  templates:\n    - name: main\n      steps:\n${many(n, (i) => `        - - { name: s${i}, template: t${i} }\n`)}${many(n, (i) => `    - name: t${i}\n      container:\n        image: a\n        resources: { limits: { nvidia.com/gpu: 8 } }\n`)}`,
  },
  {
    name: 'tasks of a volcano Job',
    most: 3000,
    make: (n) =>
      `apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: { name: a }\nspec:\n  minAvailable: 3\n  tasks:\n${many(n, (i) => `    - name: t${i}\n      replicas: 2\n      template:\n        spec:\n          containers:\n            - name: ray\n              image: a\n              resources: { limits: { nvidia.com/gpu: 8 } }\n`)}`,
  },
  {
    name: 'replicated jobs',
    most: 2500,
    make: (n) =>
      `apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: { name: a }\nspec:\n  replicatedJobs:\n${many(n, (i) => `    - name: t${i}\n      replicas: 2\n      template:\n        spec:\n          template:\n            spec:\n              containers:\n                - name: ray\n                  image: a\n                  resources: { limits: { nvidia.com/gpu: 8 } }\n`)}`,
  },
  {
    name: 'flavors of a queue',
    most: 7000,
    make: (n) =>
      `apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: { name: a }\nspec:\n  resourceGroups:\n    - coveredResources: [nvidia.com/gpu]\n      flavors:\n${many(n, (i) => `        - name: f${i}\n          resources: [{ name: nvidia.com/gpu, nominalQuota: 4 }]\n`)}`,
  },
  {
    name: 'covered resources',
    most: 20_000,
    make: (n) =>
      `apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: { name: a }\nspec:\n  resourceGroups:\n    - coveredResources: [${many(n, (i) => `example.com/gpu${i}, `)}]\n      flavors:\n        - name: f\n          resources: [${many(n, (i) => `{ name: example.com/gpu${i} }, `)}]\n`.slice(
        0,
        1_000_000,
      ),
  },
  {
    name: 'unknown kind with pods',
    most: 3000,
    make: (n) =>
      `apiVersion: example.com/v1\nkind: Foo\nspec:\n${many(n, (i) => `  p${i}:\n    template:\n      spec:\n        containers:\n          - name: a\n            image: b\n            resources: { limits: { nvidia.com/gpu: 1 } }\n`)}`,
  },
  {
    name: 'Helm values',
    most: 5000,
    make: (n) =>
      many(
        n,
        (i) =>
          `w${i}:\n  replicaCount: 2\n  image: { repository: a, tag: b }\n  resources: { limits: { nvidia.com/gpu: 1 } }\n  nodeSelector: {}\n  tolerations: []\n`,
      ),
  },
  {
    name: 'selectors that conflict',
    most: 15_000,
    make: (n) =>
      `${pod}${containers}      nodeSelector:\n${many(n, (i) => `        nvidia.com/gpu.product: NVIDIA-L${i}\n`)}`,
  },
];
