// What a pod may have many of.
import { many, head, pod, containers, inPod, inContainer, container } from './parts.mjs';

/** @type {readonly import('./parts.mjs').Growing[]} */
export const pods = [
  {
    name: 'tolerations',
    most: 16_000,
    make: inPod('tolerations', (i) => `        - { key: k${i}, operator: Exists, effect: NoSchedule }\n`),
  },
  {
    name: 'GPU tolerations',
    most: 14_000,
    make: inPod(
      'tolerations',
      (i) => `        - { key: nvidia.com/gpu, operator: Equal, value: v${i}, effect: NoSchedule }\n`,
    ),
  },
  {
    name: 'tolerations with a mistake',
    most: 14_000,
    make: inPod(
      'tolerations',
      (i) => `        - { key: nvidia.com/gpu, operator: Exists, value: v${i}, effect: NoSchedule }\n`,
    ),
  },
  { name: 'containers', most: 8000, make: (n) => `${pod}      containers:\n${many(n, container)}` },
  {
    name: 'init containers',
    most: 8000,
    make: (n) => `${pod}${containers}      initContainers:\n${many(n, container)}`,
  },
  {
    name: 'containers that mount',
    most: 4000,
    make: (n) =>
      `${pod}      volumes:\n${many(n, (i) => `        - { name: v${i}, emptyDir: {} }\n`)}      containers:\n${many(n, (i) => `${container(i)}          volumeMounts: [{ name: v${i}, mountPath: /m${i} }]\n`)}`,
  },
  {
    name: 'containers that checkpoint',
    most: 3000,
    make: (n) =>
      `${pod.replace('Deployment', 'Job').replace('apps/v1', 'batch/v1')}      volumes:\n${many(n, (i) => `        - { name: v${i}, emptyDir: {} }\n`)}      containers:\n${many(n, (i) => `${container(i)}          command: [python, train.py, --output_dir=/m${i}/x, --save_steps=10]\n          volumeMounts: [{ name: v${i}, mountPath: /m${i} }]\n`)}`,
  },
  {
    name: 'containers of one name',
    most: 8000,
    make: (n) => `${pod}      containers:\n${many(n, () => container(0))}`,
  },
  {
    name: 'containers that serve',
    most: 5000,
    make: (n) =>
      `${pod}      containers:\n${many(n, (i) => `${container(i)}          args: [vllm, serve, meta-llama/Llama-3.1-8B, --tensor-parallel-size, "2"]\n`)}`,
  },
  {
    name: 'containers that torchrun',
    most: 5000,
    make: (n) =>
      `${pod.replace('Deployment', 'Job').replace('apps/v1', 'batch/v1')}      containers:\n${many(n, (i) => `${container(i)}          command: [torchrun, --nproc_per_node=4, --nnodes=2, train.py]\n`)}`,
  },
  {
    name: 'environment variables',
    most: 25_000,
    make: inContainer('env', (i) => `            - { name: V${i}, value: "${i}" }\n`),
  },
  {
    name: 'environment variables of one name',
    most: 20_000,
    make: inContainer('env', () => `            - { name: NVIDIA_VISIBLE_DEVICES, value: all }\n`),
  },
  {
    name: 'environment of NCCL',
    most: 20_000,
    make: inContainer('env', () => `            - { name: NCCL_P2P_DISABLE, value: "1" }\n`),
  },
  {
    name: 'environment, world size',
    most: 20_000,
    make: inContainer('env', (i) => `            - { name: ${i % 2 ? 'WORLD_SIZE' : 'NNODES'}, value: "$(V${i})" }\n`),
  },
  { name: 'volumes', most: 20_000, make: inPod('volumes', (i) => `        - { name: v${i}, emptyDir: {} }\n`) },
  {
    name: 'volumes and mounts',
    most: 9000,
    make: (n) =>
      `${pod}${containers}          volumeMounts:\n${many(n, (i) => `            - { name: v${i}, mountPath: /m${i} }\n`)}      volumes:\n${many(n, (i) => `        - { name: v${i}, configMap: { name: m${i} } }\n`)}`,
  },
  {
    name: 'mounts and paths',
    most: 8000,
    make: (n) =>
      `${pod}${containers}          args:\n${many(n, (i) => `            - /m${i}/run.sh\n`)}          volumeMounts:\n${many(n, (i) => `            - { name: v${i}, mountPath: /m${i} }\n`)}      volumes:\n${many(n, (i) => `        - { name: v${i}, configMap: { name: m } }\n`)}`,
  },
  {
    name: 'labels',
    most: 30_000,
    make: (n) =>
      head.replace('metadata:\n', `metadata:\n  labels:\n${many(n, (i) => `    gpu${i}.example.com/a: "${i}"\n`)}`) +
      pod.slice(head.length) +
      containers,
  },
  {
    name: 'pod annotations',
    most: 25_000,
    make: (n) =>
      `${head}spec:\n  template:\n    metadata:\n      annotations:\n${many(n, (i) => `        gpu${i}.example.com/a: "${i}"\n`)}    spec:\n${containers}`,
  },
  {
    name: 'autoscaling annotations',
    most: 15_000,
    make: (n) =>
      `apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: { name: s }\nspec:\n  template:\n    metadata:\n      annotations:\n${many(n, () => `        autoscaling.knative.dev/minScale: "1"\n`)}    spec:\n${containers}`,
  },
  {
    name: 'node selectors',
    most: 25_000,
    make: inPod('nodeSelector', (i) => `        gpu${i}.example.com/pool: "p${i}"\n`),
  },
  {
    name: 'node selectors of one GPU',
    most: 15_000,
    make: inPod('nodeSelector', () => `        cloud.google.com/gke-accelerator: nvidia-l4\n`),
  },
  {
    name: 'affinity terms',
    most: 8000,
    make: (n) =>
      `${pod}${containers}      affinity:\n        nodeAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n${many(n, (i) => `              - matchExpressions: [{ key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-L4, x${i}] }]\n`)}`,
  },
  {
    name: 'affinity expressions',
    most: 11_000,
    make: (n) =>
      `${pod}${containers}      affinity:\n        nodeAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n              - matchExpressions:\n${many(n, (i) => `                  - { key: karpenter.sh/capacity-type, operator: In, values: [spot, x${i}] }\n`)}`,
  },
  {
    name: 'affinity values',
    most: 60_000,
    make: (n) =>
      `${pod}${containers}      affinity:\n        nodeAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n              - matchExpressions:\n                  - key: node.kubernetes.io/instance-type\n                    operator: In\n                    values:\n${many(n, (i) => `                      - g5.${i}\n`)}`.slice(
        0,
        1_000_000,
      ),
  },
  {
    name: 'resources',
    most: 25_000,
    make: (n) =>
      `${pod}${containers.replace('{ limits: { nvidia.com/gpu: 1 } }', `\n            limits:\n${many(n, (i) => `              example.com/gpu-${i}: 1\n`)}`)}`,
  },
  {
    name: 'MIG resources',
    most: 20_000,
    make: (n) =>
      `${pod}${containers.replace('{ limits: { nvidia.com/gpu: 1 } }', `\n            limits:\n${many(n, (i) => `              nvidia.com/mig-${i}g.5gb: 1\n`)}`)}`,
  },
  {
    name: 'flow in a pod',
    most: 9000,
    make: (n) =>
      `{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [${many(n, (i) => `{name: c${i}, image: a, resources: {requests: {nvidia.com/gpu: 1}}},`)}]}}`,
  },
  {
    name: 'JSON',
    most: 9000,
    make: (n) =>
      `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [${many(n, (i) => `${i ? ',' : ''}{"name": "c${i}", "image": "a", "resources": {"requests": {"nvidia.com/gpu": 1}}}`)}]}}`,
  },
  {
    name: 'anchored pods',
    most: 5000,
    make: (n) =>
      `${pod}      containers:\n${many(n, (i) => container(i).replace('- name', `- &c${i}\n          name`).replace('limits', 'requests'))}x: [${many(n, (i) => `*c${i}, `)}]\n`,
  },
  {
    name: 'claims of a pod',
    most: 12_000,
    make: inPod('resourceClaims', (i) => `        - { name: c${i}, resourceClaimTemplateName: t }\n`),
  },
  {
    name: 'claims of a pod and its container',
    most: 9000,
    make: (n) =>
      `${pod}      resourceClaims:\n${many(n, (i) => `        - { name: c${i}, resourceClaimTemplateName: t }\n`)}      containers:\n        - name: a\n          image: b\n          resources:\n            claims:\n${many(n, (i) => `              - name: c${i}\n`)}---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: { name: t }\nspec: { spec: { devices: { requests: [{ name: g, exactly: { deviceClassName: gpu.nvidia.com } }] } } }\n`,
  },
  {
    name: 'images',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: ${'a/'.repeat(n / 2)}\n          resources: { limits: { nvidia.com/gpu: 1 } }\n`,
  },
  {
    name: 'images of dots',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: a${'.'.repeat(n)}\n          resources: { limits: { nvidia.com/gpu: 1 } }\n`,
  },
  {
    name: 'images of dashes',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: a${'-'.repeat(n)}!\n          resources: { limits: { nvidia.com/gpu: 1 } }\n`,
  },
  {
    name: 'images of colons',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: a${':a'.repeat(n / 2)}!\n          resources: { limits: { nvidia.com/gpu: 1 } }\n`,
  },
  {
    name: 'a long name',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: ${'a-'.repeat(n / 2)}\n          image: a\n          resources: { limits: { nvidia.com/gpu: 1 } }\n`,
  },
  {
    name: 'a long quantity',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: a\n          resources: { limits: { nvidia.com/gpu: ${'9'.repeat(n)} } }\n`,
  },
  {
    name: 'a long quoted quantity',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: a\n          resources: { limits: { nvidia.com/gpu: "${'1 '.repeat(n / 2)}x" } }\n`,
  },
  {
    name: 'a long label of a GPU',
    most: 900_000,
    make: (n) => `${pod}${containers}      nodeSelector:\n        nvidia.com/gpu.product: ${'a-'.repeat(n / 2)}\n`,
  },
  {
    name: 'a long instance type',
    most: 900_000,
    make: (n) =>
      `${pod}${containers}      nodeSelector:\n        node.kubernetes.io/instance-type: ${'a.'.repeat(n / 2)}\n`,
  },
  {
    name: 'a long taint',
    most: 900_000,
    make: (n) =>
      `${pod}${containers}      tolerations:\n        - key: ${'nvidia.com/'.repeat(n / 11)}\n          operator: Exists\n`,
  },
  {
    name: 'a long resource',
    most: 900_000,
    make: (n) =>
      `${pod}      containers:\n        - name: a\n          image: a\n          resources:\n            limits:\n              nvidia.com/${'a'.repeat(n)}: 1\n`.slice(
        0,
        1_000_000,
      ),
  },
  {
    name: 'a long MIG resource',
    most: 500,
    make: (n) =>
      `${pod}      containers:\n${many(n, (i) => `        - name: a${i}\n          image: a\n          resources:\n            limits:\n              nvidia.com/mig-${'1g.'.repeat(300)}: 1\n`)}`,
  },
  {
    name: 'containers to be fixed',
    most: 6000,
    make: (/** @type {number} */ n) =>
      // Without a selector it would be a patch, which says nothing by what it leaves out.
      `${pod.replace('  replicas: 2', '  selector: { matchLabels: { app: server } }')}      containers:\n${many(n, (i) => container(i).replace('limits', 'requests'))}`,
  },
];
