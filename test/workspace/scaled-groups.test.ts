import { describe, expect, test } from 'vitest';
import { hover } from '../../server/src/features/hover.ts';
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
  ])('have the pods of as many groups as a %s says', (kind, apiVersion, bounds) => {
    const analysis = project({ 'group.yaml': group, 'scaler.yaml': scaler(kind, apiVersion, bounds) });
    expect(analysis.file(`${root}/group.yaml`)?.documents[0]?.workloads[0]?.podSets[0]?.pods).toEqual({
      min: 4,
      max: 12,
    });
    const text = scaler(kind, apiVersion, bounds);
    const said = hover(analysis.file(`${root}/scaler.yaml`)!, text.indexOf('3'))?.blocks.map(
      (block) => 'text' in block && block.text,
    );
    expect(said?.[0]).toMatch(/^3 replicas of group at most: \$[\d,]+/);
    expect(said?.at(-1)).toMatch(/^One replica costs .*; hover over its GPUs in group.yaml/);
  });
});
