import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isClusterKind, knownKinds, likeKind, namedKinds, scalableKinds } from '../../server/src/model/kinds/index.ts';
import { kindsFor } from '../../server/src/model/kinds/object-kinds.ts';
import { groupOf, lowerManifests } from '../../server/src/model/manifest.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';

const folder = 'test/fixtures/model';

const shown = new Set(
  readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => parseYaml(readFileSync(`${folder}/${name}`, 'utf8')).documents)
    .flatMap((document) => lowerManifests(document))
    .map(({ apiVersion, kind }) => `${groupOf(apiVersion)}/${kind}`),
);

test('each kind in the table has a fixture with its expected model', () => {
  expect(knownKinds().filter((kind) => !shown.has(kind))).toEqual([]);
});

/** Kinds that reference accelerators or workloads but run nothing themselves. */
const silent = [
  ...[
    'serving.kserve.io/InferenceGraph',
    'apps.nvidia.com/NIMCache',
    'nvidia.com/ClusterPolicy',
    '/ConfigMap',
    '/Node',
  ],
  ...['kueue.x-k8s.io/ClusterQueue', 'kueue.x-k8s.io/LocalQueue', 'kueue.x-k8s.io/ResourceFlavor'],
  ...['kueue.x-k8s.io/Topology', 'autoscaling.x-k8s.io/ProvisioningRequest', 'scheduling.volcano.sh/Queue'],
  ...['keda.sh/ScaledObject', 'http.keda.sh/HTTPScaledObject', 'autoscaling/HorizontalPodAutoscaler'],
  ...['autoscaling.aibrix.ai/PodAutoscaler', 'policy/PodDisruptionBudget', 'resource.k8s.io/DeviceClass'],
  ...['karpenter.sh/NodePool', 'karpenter.sh/NodeOverlay', 'karpenter.k8s.aws/EC2NodeClass'],
  ...['karpenter.azure.com/AKSNodeClass', 'cloud.google.com/ComputeClass', 'eksctl.io/ClusterConfig'],
];

test('each kind that runs nothing also has a fixture and is not in the table', () => {
  expect(silent.filter((kind) => !shown.has(kind))).toEqual([]);
  expect(silent.filter((kind) => knownKinds().includes(kind))).toEqual([]);
});

test('the relation of a kind to others follows from its entry', () => {
  expect(scalableKinds('CloneSet')).toEqual(['apps.kruise.io/CloneSet']);
  expect(scalableKinds('StatefulSet')).toEqual(['apps/StatefulSet', 'apps.kruise.io/StatefulSet']);
  expect(scalableKinds('DaemonSet')).toEqual([]);
  expect(scalableKinds('constructor')).toEqual([]);
  expect(
    ['LeaderWorkerSet', 'ServingRuntime', 'ResourceClaim', 'Secret'].filter((kind) => !namedKinds.has(kind)),
  ).toEqual([]);
  expect(['DaemonSet', 'PyTorchJob'].filter((kind) => namedKinds.has(kind))).toEqual([]);
  expect(isClusterKind('serving.kserve.io/ClusterServingRuntime')).toBe(true);
  expect(isClusterKind('serving.kserve.io/ServingRuntime')).toBe(false);
  expect(kindsFor('pool').slice(0, 4)).toEqual(['NodePool', 'Provisioner', 'ClusterConfig', 'ComputeClass']);
  // An old group, whose kinds have the same shape.
  expect(likeKind('extensions', 'Deployment')?.staysUp).toBe(true);
});
