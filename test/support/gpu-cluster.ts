import type { KubeObject, TestApiServer } from './api-server/server.ts';

// Objects of a small GPU cluster, for the substitute API server.

/** A node of a GKE pool with A100 40GB GPUs. */
export function gpuNode(name: string, pool: string, gpus = 8): KubeObject {
  const amounts = { cpu: '95', memory: '1000Gi', pods: '110', 'nvidia.com/gpu': String(gpus) };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      creationTimestamp: '2026-07-01T00:00:00Z',
      labels: {
        'cloud.google.com/gke-nodepool': pool,
        'cloud.google.com/gke-accelerator': 'nvidia-tesla-a100',
        'node.kubernetes.io/instance-type': 'a2-highgpu-8g',
        'topology.kubernetes.io/region': 'us-central1',
        'topology.kubernetes.io/zone': 'us-central1-a',
      },
    },
    spec: {
      providerID: `gce://project/us-central1-a/${name}`,
      taints: [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }],
    },
    status: { capacity: amounts, allocatable: amounts, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** @param node undefined for a pod that waits */
export function gpuPod(name: string, gpus: number, node?: string, namespace = 'team'): KubeObject {
  const requests = { 'nvidia.com/gpu': String(gpus) };
  const refused = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: '0/2 nodes are available',
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      creationTimestamp: '2026-07-31T00:00:00Z',
      ownerReferences: [{ kind: 'Job', name: 'train', controller: true, uid: 'j', apiVersion: 'batch/v1' }],
    },
    spec: {
      ...(node !== undefined && { nodeName: node }),
      tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }],
      containers: [{ name: 'main', resources: { requests, limits: requests } }],
    },
    status: node === undefined ? { phase: 'Pending', conditions: [refused] } : { phase: 'Running' },
  };
}

/** Two nodes with 16 GPUs in the pool a100: 12 are used, and a pod that requests 8 waits. */
export function fillCluster(server: TestApiServer): void {
  server.put('/api/v1/nodes', gpuNode('n1', 'a100'));
  server.put('/api/v1/nodes', gpuNode('n2', 'a100'));
  server.put('/api/v1/pods', gpuPod('full', 8, 'n1'));
  server.put('/api/v1/pods', gpuPod('half', 4, 'n2', 'other'));
  server.put('/api/v1/pods', gpuPod('waits', 8));
}
