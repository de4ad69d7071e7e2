import type { KubeObject, TestApiServer } from './api-server/server.ts';

// A GKE cluster as users know it: a full pool, one with room, a spot pool with trouble, and pods that wait.

const hour = 3_600_000;

/** The collections that the sample has. */
export const sampleCollections: readonly string[] = [
  ...['nodes', 'pods', 'namespaces', 'resourcequotas', 'events', 'configmaps'].map((name) => `/api/v1/${name}`),
  '/apis/scheduling.k8s.io/v1/priorityclasses',
];

/** @param now milliseconds since the epoch, from which ages count */
export function fillSample(server: TestApiServer, now: number): void {
  const nodes = [
    ...[1, 2, 3].map((index) =>
      node({ name: `gke-h100-${index}`, pool: 'h100', card: 'nvidia-h100-80gb', type: 'a3-highgpu-8g', gpus: 8 }, now),
    ),
    ...[1, 2].map((index) =>
      node({ name: `gke-a100-${index}`, pool: 'a100', card: 'nvidia-tesla-a100', type: 'a2-highgpu-8g', gpus: 8 }, now),
    ),
    node({ name: 'gke-l4-1', pool: 'l4-spot', card: 'nvidia-l4', type: 'g2-standard-48', gpus: 4, spot: true }, now),
    node(
      { name: 'gke-l4-2', pool: 'l4-spot', card: 'nvidia-l4', type: 'g2-standard-48', gpus: 4, cordoned: true },
      now,
    ),
    node({ name: 'gke-l4-3', pool: 'l4-spot', card: 'nvidia-l4', type: 'g2-standard-48', gpus: 0, spot: true }, now),
  ];
  for (const one of nodes) server.put('/api/v1/nodes', one);
  const pods = [
    ...[1, 2].map((index) =>
      pod(
        {
          name: `pretrain-worker-${index}`,
          namespace: 'research',
          gpus: 8,
          owner: ['PyTorchJob', 'pretrain'],
          node: `gke-h100-${index}`,
          age: 30,
        },
        now,
      ),
    ),
    pod(
      {
        name: 'llama-predictor-7d9f-x2x8c',
        namespace: 'chat',
        gpus: 1,
        owner: ['InferenceService', 'llama'],
        node: 'gke-h100-3',
        age: 49,
      },
      now,
    ),
    pod(
      {
        name: 'llama-predictor-7d9f-kq4wz',
        namespace: 'chat',
        gpus: 1,
        owner: ['InferenceService', 'llama'],
        node: 'gke-h100-3',
        age: 4,
      },
      now,
    ),
    pod(
      {
        name: 'notebook-ada-0',
        namespace: 'research',
        gpus: 2,
        owner: ['StatefulSet', 'notebook-ada'],
        node: 'gke-a100-1',
        age: 200,
      },
      now,
    ),
    pod(
      {
        name: 'embedder-5b7c-2m9ld',
        namespace: 'chat',
        gpus: 1,
        owner: ['ReplicaSet', 'embedder-5b7c'],
        node: 'gke-l4-1',
        age: 12,
      },
      now,
    ),
    ...[0, 1].map((index) =>
      pod(
        {
          name: `finetune-${index}`,
          namespace: 'research',
          gpus: 8,
          owner: ['Job', 'finetune'],
          age: 0.5,
          select: 'h100',
        },
        now,
      ),
    ),
    pod(
      {
        name: 'ablation-0',
        namespace: 'team-b',
        gpus: 4,
        owner: ['Job', 'ablation'],
        age: 2,
        select: 'a100',
        tolerates: false,
      },
      now,
    ),
  ];
  for (const one of pods) server.put('/api/v1/pods', one);
}

interface NodeParts {
  readonly name: string;
  readonly pool: string;
  readonly card: string;
  readonly type: string;
  readonly gpus: number;
  readonly spot?: boolean;
  readonly cordoned?: boolean;
}

function node({ name, pool, card, type, gpus, spot = false, cordoned = false }: NodeParts, now: number): KubeObject {
  const amounts = { cpu: '95', memory: '1000Gi', pods: '110', ...(gpus > 0 && { 'nvidia.com/gpu': String(gpus) }) };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      creationTimestamp: new Date(now - 240 * hour).toISOString(),
      labels: {
        'cloud.google.com/gke-nodepool': pool,
        'cloud.google.com/gke-accelerator': card,
        ...(spot && { 'cloud.google.com/gke-spot': 'true' }),
        'node.kubernetes.io/instance-type': type,
        'topology.kubernetes.io/region': 'us-central1',
        'topology.kubernetes.io/zone': 'us-central1-a',
      },
    },
    spec: {
      providerID: `gce://project/us-central1-a/${name}`,
      ...(cordoned && { unschedulable: true }),
      taints: [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }],
    },
    status: { capacity: amounts, allocatable: amounts, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

interface PodParts {
  readonly name: string;
  readonly namespace: string;
  readonly gpus: number;
  readonly owner: readonly [kind: string, name: string];
  /** Undefined for a pod that waits. */
  readonly node?: string;
  /** Hours. */
  readonly age: number;
  /** The pool that it selects. */
  readonly select?: string;
  readonly tolerates?: boolean;
}

function pod(parts: PodParts, now: number): KubeObject {
  const { name, namespace, gpus, owner, node: on, age, select, tolerates = true } = parts;
  const [kind, ownerName] = owner;
  const limits = { 'nvidia.com/gpu': String(gpus) };
  const message = tolerates
    ? "0/8 nodes are available: 3 Insufficient nvidia.com/gpu, 5 node(s) didn't match Pod's node affinity/selector."
    : "0/8 nodes are available: 2 node(s) had untolerated taint(s), 6 node(s) didn't match Pod's node affinity/selector.";
  const unscheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      creationTimestamp: new Date(now - age * hour).toISOString(),
      labels: kind === 'ReplicaSet' ? { 'pod-template-hash': '5b7c' } : {},
      ownerReferences: [{ kind, name: ownerName, controller: true, uid: ownerName, apiVersion: 'v1' }],
    },
    spec: {
      ...(on !== undefined && { nodeName: on }),
      ...(select !== undefined && { nodeSelector: { 'cloud.google.com/gke-nodepool': select } }),
      ...(tolerates && { tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }] }),
      containers: [{ name: 'main', resources: { requests: limits, limits } }],
    },
    status: on === undefined ? { phase: 'Pending', conditions: [unscheduled] } : { phase: 'Running' },
  };
}
