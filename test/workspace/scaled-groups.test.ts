import { describe, expect, test } from 'vitest';
import { hover } from '../../server/src/features/hover/hover.ts';
import { gpuDeployment } from '../support/manifests.ts';
import { project, root } from './project.ts';

describe('groups of pods that are scaled together', () => {
  const group = `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: group}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 4
    workerTemplate:
      spec:
        nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
        containers:
          - {name: main, image: "registry.example/server:1", resources: {limits: {nvidia.com/gpu: 1}}}
`;
  const scaler = (kind: string, apiVersion: string, bounds: string) => `apiVersion: ${apiVersion}
kind: ${kind}
metadata: {name: scaler}
spec:
  scaleTargetRef: {apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: group}
  ${bounds}
`;

  test.each([
    ['HorizontalPodAutoscaler', 'autoscaling/v2', 'minReplicas: 1\n  maxReplicas: 3'],
    ['ScaledObject', 'keda.sh/v1alpha1', 'minReplicaCount: 1\n  maxReplicaCount: 3\n  triggers: [{type: cron}]'],
    ['HTTPScaledObject', 'http.keda.sh/v1alpha1', 'replicas: {min: 1, max: 3}'],
    ['PodAutoscaler', 'autoscaling.aibrix.ai/v1alpha1', 'minReplicas: 1\n  maxReplicas: 3'],
  ])('have the pods of all groups within the bounds of a %s', (kind, apiVersion, bounds) => {
    const analysis = project({ 'group.yaml': group, 'scaler.yaml': scaler(kind, apiVersion, bounds) });
    expect(analysis.file(`${root}/group.yaml`)?.documents[0]?.workloads[0]?.podSets[0]?.pods).toEqual({
      min: 4,
      max: 12,
    });
    const text = scaler(kind, apiVersion, bounds);
    const said = hover(analysis.file(`${root}/scaler.yaml`)!, text.indexOf('3'))?.blocks.map(
      (block) => 'text' in block && block.text,
    );
    expect(said?.[0]).toMatch(/^At most 3 replicas of group: \$[\d,]+/);
    expect(said?.at(-1)).toMatch(/^One replica costs .*; hover over its GPUs in group.yaml/);
  });
});

test('a scaler applies to the API group of its target', () => {
  const set = (apiVersion: string) => `apiVersion: ${apiVersion}
kind: StatefulSet
metadata: {name: server}
spec:
  replicas: 2
  template:
    spec:
      containers: [{name: main, image: "registry.example/server:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`;
  const pods = (apiVersion: string, target: string) => {
    const scaler = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaler}
spec: {scaleTargetRef: {${target}kind: StatefulSet, name: server}, minReplicas: 3, maxReplicas: 5}
`;
    const analysis = project({ 'set.yaml': set(apiVersion), 'scaler.yaml': scaler });
    return analysis.file(`${root}/set.yaml`)?.documents[0]?.workloads[0]?.podSets[0]?.pods.max;
  };
  expect(pods('apps/v1', 'apiVersion: apps/v1, ')).toBe(5);
  expect(pods('apps/v1', 'apiVersion: extensions/v1beta1, ')).toBe(5);
  expect(pods('apps.kruise.io/v1beta1', 'apiVersion: apps.kruise.io/v1beta1, ')).toBe(5);
  expect(pods('apps.kruise.io/v1beta1', 'apiVersion: apps/v1, ')).toBe(2);
  expect(pods('apps.kruise.io/v1beta1', '')).toBe(5);
  expect(pods('apps/v1', 'apiVersion: "{{ .Values.api }}", ')).toBe(5);
});

test('the hover of the kind shows the evictions that a PodDisruptionBudget allows', () => {
  const server = `apiVersion: apps/v1
kind: Deployment
metadata: {name: server}
spec:
  replicas: 3
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server, tier: gold}}
    spec:
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
      containers: [{name: main, image: "registry.example/server:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`;
  const budget = (said: string, labels = 'app: server') => `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: keep}
spec: {${said}, selector: {matchLabels: {${labels}}}}
`;
  const budgetFacts = (text: string, name = 'pdb.yaml') => {
    const analysis = project({ 'a/server.yaml': server, [name]: text });
    const found = hover(analysis.file(`${root}/a/server.yaml`)!, server.indexOf('Deployment'));
    return found?.blocks
      .flatMap((block) => ('text' in block && /Disruption/.test(block.text) ? [block.text] : []))
      .join();
  };
  const allows = 'PodDisruptionBudget keep (pdb.yaml) allows';
  expect(budgetFacts(budget('minAvailable: 2'))).toBe(`${allows} the eviction of 1 of 3 pods at a time.`);
  expect(budgetFacts(budget('maxUnavailable: 2'))).toBe(`${allows} the eviction of 2 of 3 pods at a time.`);
  const never = `${allows} no eviction: node drains and consolidation wait until the budget changes.`;
  for (const said of ['minAvailable: 3', 'maxUnavailable: 0', 'minAvailable: 100%'])
    expect(budgetFacts(budget(said))).toBe(never);
  expect(budgetFacts(budget('minAvailable: 50%'))).toBe(`${allows} the eviction of 1 of 3 pods at a time.`);
  expect(budgetFacts(budget('minAvailable: half'))).toBe(
    'PodDisruptionBudget keep (pdb.yaml) limits evictions while nodes are drained: minAvailable half.',
  );
  expect(budgetFacts(budget('minAvailable: 2', 'app: other'))).toBe('');
  expect(budgetFacts(budget('minAvailable: 2'), 'b/pdb.yaml')).toBe('');
});

describe('a scaler in a sibling folder', () => {
  const server = gpuDeployment('chat');
  const scaler = `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: scaler}
spec: {scaleTargetRef: {name: chat}, minReplicaCount: 0, maxReplicaCount: 3, triggers: [{type: redis}]}
`;
  const patch = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: chat}\nspec: {replicas: 2}\n';
  const pods = (files: Readonly<Record<string, string>>) =>
    project({ 'a/server.yaml': server, ...files }).file(`${root}/a/server.yaml`)?.documents[0]?.workloads[0]?.podSets[0]
      ?.pods;

  test('of a project with an object of the same name scales that one only', () => {
    expect(pods({ 'b/server.yaml': server, 'b/scaler.yaml': scaler })).toEqual({ min: 1, max: 1 });
    expect(pods({ 'b/all.yaml': `${server}---\n${scaler}` })).toEqual({ min: 1, max: 1 });
  });

  test('with no such object, or with a patch of it, scales the other', () => {
    expect(pods({ 'b/scaler.yaml': scaler })).toEqual({ min: 0, max: 3 });
    expect(pods({ 'b/patch.yaml': patch, 'b/scaler.yaml': scaler })).toEqual({ min: 0, max: 3 });
  });
});
