// @ts-check
// A process with the substitute API server and a large cluster, for `bench/cluster.mjs`. It reports when pods have been listed, and changes pods
// on request.
import process from 'node:process';
import { startApiServer } from '../test/support/api-server/server.ts';
import { gpuNode } from '../test/support/gpu-cluster.ts';

const NODES = 5000;
const PODS = 50_000;
const POOLS = 40;

const [nodesAt, podsAt] = ['/api/v1/nodes', '/api/v1/pods'];
const others = ['namespaces', 'resourcequotas', 'events', 'configmaps'].map((name) => `/api/v1/${name}`);
const server = await startApiServer(nodesAt, podsAt, ...others);
// As large as what clients write into their objects.
const managedFields = [{ manager: 'kubelet', fieldsV1: { text: 'f:status '.repeat(300) } }];

/** @param {string} name @param {number} index */
function node(name, index) {
  const made = gpuNode(name, `pool-${index % POOLS}`);
  const amounts = { cpu: '64', memory: '256Gi', pods: '110' };
  const without = { spec: {}, status: { capacity: amounts, allocatable: amounts } };
  const labels = { 'node.kubernetes.io/instance-type': 'n2-standard-64' };
  return index % 2 === 0
    ? { ...made, metadata: { ...made.metadata, managedFields } }
    : { ...made, ...without, metadata: { name, labels, managedFields } };
}

/** @param {number} index @param {string} [phase] */
function pod(index, phase = 'Running') {
  const gpus = index % 5 === 0 ? 1 + (index % 3) : 0;
  const requests = { cpu: '500m', memory: '2Gi', ...(gpus > 0 && { 'nvidia.com/gpu': String(gpus) }) };
  const waits = index % 500 === 0;
  const name = `job-${Math.floor(index / 20)}-${index % 20}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: `team-${index % 60}`,
      uid: `pod-${index}`,
      creationTimestamp: '2026-07-31T00:00:00Z',
      labels: {
        app: `job-${Math.floor(index / 20)}`,
        'pod-template-hash': String(Math.floor(index / 20)),
        index: String(index),
      },
      ownerReferences: [
        { kind: 'Job', name: `job-${Math.floor(index / 20)}`, controller: true, uid: 'j', apiVersion: 'batch/v1' },
      ],
      managedFields,
    },
    spec: {
      ...(!waits && { nodeName: `node-${(gpus > 0 ? 2 : 1) * (index % (NODES / 2))}` }),
      tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }],
      containers: [
        { name: 'main', image: 'registry.example.com/team/job:1', resources: { requests, limits: requests } },
      ],
    },
    status: { phase: waits ? 'Pending' : phase },
  };
}

for (let index = 0; index < NODES; index++) server.put(nodesAt, node(`node-${index}`, index));
for (let index = 0; index < PODS; index++) server.put(podsAt, pod(index));
server.compact();

void server.until(() => server.watches(podsAt) > 0).then(() => process.send?.({ listed: Date.now() }));
let next = 1;
process.on('message', (message) => {
  if (message === 'change') {
    for (let count = 0; count < 50; count++) {
      next = (next * 7 + 3) % PODS;
      server.put(podsAt, pod(next, count % 2 === 0 ? 'Pending' : 'Running'));
    }
    server.compact();
  } else void server.close().then(() => process.exit());
});
process.send?.({ url: server.url, nodes: NODES, pods: PODS });
