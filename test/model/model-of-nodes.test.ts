import { expect, test } from 'vitest';
import { analyse } from '../support/analyse.ts';

// What node pools, compute classes and queues in the same file say about the GPU of a pod.

const pod = (selector: string, more = '') => `apiVersion: v1
kind: Pod
metadata: {name: a, namespace: ml${more}}
spec:
  ${selector}
  containers:
    - {name: a, image: "registry.example/a:1.0", resources: {limits: {nvidia.com/gpu: 1}}}
`;

const karpenter = (requirements: string, taints = '') => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: fast}
spec:
  template:
    metadata: {labels: {purpose: training}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [${requirements}]
      ${taints}
`;

const eksctl = `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c, region: us-east-1}
managedNodeGroups:
  - {name: acc, instanceType: p5.48xlarge, labels: {purpose: training}}
`;

const computeClass = `apiVersion: cloud.google.com/v1
kind: ComputeClass
metadata: {name: fast}
spec:
  priorities:
    - {machineType: g2-standard-12, spot: true}
    - {gpu: {type: nvidia-l4, count: 1}}
    - {machineFamily: n2}
`;

const queues = (flavor: string, labels: string) => `apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: ${flavor}}
spec: {nodeLabels: {${labels}}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: all}
spec:
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors:
        - {name: ${flavor}, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: team, namespace: ml}
spec: {clusterQueue: all}
`;

const types = (...names: readonly string[]) =>
  `{key: node.kubernetes.io/instance-type, operator: In, values: [${names.join(', ')}]}`;
const inQueue = ', labels: {kueue.x-k8s.io/queue-name: team}';
const anywhere = 'restartPolicy: Always';

test.each([
  [
    'a pool by its own label',
    karpenter(types('g6.xlarge', 'g6.2xlarge')),
    pod('nodeSelector: {karpenter.sh/nodepool: fast}'),
    'l4 (node-pool)',
  ],
  [
    'a pool by a label of its nodes',
    karpenter(types('g6.xlarge')),
    pod('nodeSelector: {purpose: training}'),
    'l4 (node-pool)',
  ],
  [
    'a pool of several models',
    karpenter(types('g6.xlarge', 'g5.xlarge')),
    pod('nodeSelector: {purpose: training}'),
    'l4,a10g (node-pool)',
  ],
  [
    'a pool of types that are partly unknown',
    karpenter(types('g6.xlarge', 'g999.xlarge')),
    pod('nodeSelector: {purpose: training}'),
    'null (null)',
  ],
  [
    'a pool by the words of its labels',
    karpenter(
      '{key: gpu-class, operator: In, values: [a40]}, {key: karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: ["0"]}',
    ),
    pod('nodeSelector: {purpose: training}'),
    'a40 (node-pool)',
  ],
  ['another pool', karpenter(types('g6.xlarge')), pod('nodeSelector: {purpose: serving}'), 'null (null)'],
  ['a node group', eksctl, pod('nodeSelector: {eks.amazonaws.com/nodegroup: acc}'), 'h100-80gb-sxm (node-pool)'],
  ['a label of a node group', eksctl, pod('nodeSelector: {purpose: training}'), 'h100-80gb-sxm (node-pool)'],
  ['a compute class', computeClass, pod('nodeSelector: {cloud.google.com/compute-class: fast}'), 'l4 (node-pool)'],
  ['the only pool', karpenter(types('g6.xlarge')), pod(anywhere), 'l4 (hint)'],
  ['the only pool, with other devices', karpenter(types('inf2.xlarge')), pod(anywhere), 'null (null)'],
  ['the labels of a flavor', queues('big', 'example.org/gpu: h200'), pod(anywhere, inQueue), 'h200-141gb-sxm (queue)'],
  ['the name of a flavor', queues('spot-a40', 'pool: gpus'), pod(anywhere, inQueue), 'a40 (queue)'],
  [
    'the variables of a ConfigMap',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: ml}\ndata: {GPU_TYPE: A40, GPU_COUNT: "4080"}\n',
    pod(anywhere).replace('image:', 'envFrom: [{configMapRef: {name: settings}}], image:'),
    'a40 (hint)',
  ],
  [
    'one variable of a ConfigMap',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: ml}\ndata: {card.type: L40S}\n',
    pod(anywhere).replace(
      'image:',
      'env: [{name: GPU_TYPE, valueFrom: {configMapKeyRef: {name: settings, key: card.type}}}], image:',
    ),
    'l40s (hint)',
  ],
  ['a flavor without a model', queues('big', 'pool: gpus'), pod(anywhere, inQueue), 'null (null)'],
])('%s', (_, others, text, expected) => {
  const workloads = analyse(`${others}---\n${text}`).documents.flatMap((document) => document.workloads);
  const [accelerator] = workloads.flatMap(({ podSets }) => podSets.flatMap(({ accelerators }) => accelerators));
  const models = accelerator?.model ?? (accelerator?.candidates.join() || null);
  expect(`${models} (${accelerator?.modelFrom})`).toBe(expected);
});

const required = (operator: string, ...products: readonly string[]) =>
  `affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: nvidia.com/gpu.product, operator: ${operator}, values: [${products.join(', ')}]}]}]}}}`;

test.each([
  [['NVIDIA-GeForce-RTX-3090', 'NVIDIA-A10'], 'rtx-3090,a10'],
  [['NVIDIA-GeForce-RTX-3090', 'NVIDIA-GeForce-RTX-4090'], 'rtx-3090,rtx-4090'],
  [['NVIDIA-A10', 'NVIDIA-A40'], 'a10,a40'],
])('all cards of %s, also those without a machine in the catalog', (products, expected) => {
  const [workload] = analyse(pod(required('In', ...products))).documents.flatMap((document) => document.workloads);
  expect(workload?.podSets[0]?.accelerators[0]?.candidates.join()).toBe(expected);
});

test('no price of a card that the pod avoids', () => {
  const cards = (...products: readonly string[]) =>
    analyse(pod(required('NotIn', ...products))).documents.flatMap((document) =>
      document.workloads.flatMap((workload) => document.rangeOf(workload)?.cards.map(({ gpu }) => gpu.id) ?? []),
    );
  expect(cards('NVIDIA-A2')).toContain('rtx-a6000');
  expect(cards('NVIDIA-RTX-A6000')).not.toContain('rtx-a6000');
  expect(cards('NVIDIA-RTX-A6000-SHARED')).toContain('rtx-a6000');
});

test.each([
  ['gpu.intel.com/device-id.0300-56a0.present', 'arc-a770'],
  ['feature.node.kubernetes.io/pci-0380_8086_56c0.present', 'data-center-gpu-flex-170'],
  // Integrated graphics.
  ['gpu.intel.com/device-id.0300-4680.present', null],
])('the card whose PCI device %s names', (label, expected) => {
  const text = pod(`nodeSelector: {${label}: "true"}`).replace('nvidia.com/gpu', 'gpu.intel.com/i915');
  const [workload] = analyse(text).documents.flatMap((document) => document.workloads);
  expect(workload?.podSets[0]?.accelerators[0]?.model).toBe(expected);
});
