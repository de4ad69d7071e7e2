import { describe, expect, test } from 'vitest';
import { poolChange } from '../../server/src/features/actions/use-pool.ts';
import type { LivePool } from '../../server/src/fleet/cluster-view.ts';
import { viewMaker } from '../../server/src/fleet/view.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { analyse } from '../support/analyse.ts';
import { clusterOf } from '../support/cluster-objects.ts';
import { sampleObjects } from '../support/sample-cluster.ts';

const now = Date.parse('2026-11-22T14:00:00Z');
const about = { context: 'prod', serverVersion: null, state: { kind: 'current' }, asOf: now, coverage: [] } as const;
const { view } = viewMaker(() => ({ hourly: null, because: 'no prices' }))(clusterOf(sampleObjects(now)), about);

function pool(name: string, changes: Partial<LivePool> = {}): LivePool {
  const found = view.pools.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no pool ${name}`);
  return { ...found, toleratesRequested: false, ...changes };
}

/** The file afterwards, or the reason why it stays as it is. @param spec lines of the pod's spec */
function used(spec: string, target: LivePool, at = 'nvidia.com/gpu'): string {
  const text = `apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    spec:
      restartPolicy: Never
${spec}      containers:
        - name: main
          image: registry.example/train:1.0
          resources:
            limits:
              nvidia.com/gpu: 4
`;
  const change = poolChange(analyse(text), text.indexOf(at), target);
  if ('problem' in change) return change.problem;
  const after = applyEdits(text, change.edits);
  return after.slice(after.indexOf('restartPolicy'), after.indexOf('      containers'));
}

const selected = '      nodeSelector:\n        cloud.google.com/gke-nodepool: a100\n';
const tolerated =
  '      tolerations:\n        - key: nvidia.com/gpu\n          operator: Equal\n          value: present\n          effect: NoSchedule\n';

describe('using a pool', () => {
  test('selects it and tolerates its taints', () => {
    const after = used('', pool('a100'));
    expect(after).toContain(selected);
    expect(after).toContain(tolerated);
  });

  test('adds nothing twice', () => {
    expect(used(selected + tolerated, pool('a100'))).toBe('The pods already select a100.');
    expect(used('      tolerations:\n        - operator: Exists\n', pool('a100'))).not.toContain('value: present');
  });

  test('does not write tolerations that the platform adds', () => {
    const after = used('', pool('a100', { toleratesRequested: true }));
    expect(after).toContain(selected);
    expect(after).not.toContain('tolerations');
  });

  test('replaces the label of another pool and of its GPU', () => {
    const other =
      '      nodeSelector:\n        cloud.google.com/gke-nodepool: h100 # for now\n        cloud.google.com/gke-accelerator: nvidia-h100-80gb\n';
    const after = used(other, pool('a100'));
    expect(after).toContain('gke-nodepool: a100 # for now\n');
    expect(after).toContain('gke-accelerator: nvidia-tesla-a100\n');
  });

  test('adds to existing tolerations', () => {
    const own = '      tolerations:\n        - key: team\n          operator: Exists\n';
    const after = used(own, pool('a100'));
    expect(after).toContain(`${own}        - key: nvidia.com/gpu\n`);
  });

  test('says which selector keeps the pods out', () => {
    expect(used('      nodeSelector:\n        team: blue\n', pool('a100'))).toBe(
      'The pods select team blue, which the nodes of a100 do not have. Remove it first.',
    );
  });

  test('changes only workloads that request GPUs', () => {
    const none = 'Place the cursor in a workload that requests GPUs.';
    const text = 'apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n';
    expect(poolChange(analyse(text), 30, pool('a100'))).toEqual({ problem: none });
  });

  test('leaves templates alone', () => {
    const spec = '      nodeSelector: {{ toYaml .Values.nodeSelector }}\n';
    expect(used(spec, pool('a100'))).toMatch(/cannot be changed without breaking the file|requests GPUs/);
  });
});
