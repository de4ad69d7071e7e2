import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { at, text } from '../../server/src/fleet/json.ts';
import { holdsResources, readNode, readPod } from '../../server/src/fleet/read.ts';
import type { FleetSnapshot } from '../../server/src/fleet/types.ts';
import { schedulerWords, type Verdict, verdictOf } from '../../server/src/fleet/verdict.ts';

const fixtures = path.join(import.meta.dirname, '../fixtures/fleet');
const cluster = documents('cluster.yaml');
const snapshot: FleetSnapshot = {
  nodes: cluster.filter((object) => at(object, 'kind') === 'Node').map(readNode),
  pods: cluster.filter(holdsResources).map((pod) => readPod(pod, new Map())),
  namespaces: new Map([['default', new Map()]]),
};

describe('what the scheduler does with a pod', () => {
  test.each(documents('pods.yaml').map((pod) => [text(at(pod, 'metadata', 'name')), pod] as const))('%s', (_, pod) => {
    const expected = text(at(pod, 'metadata', 'annotations', 'expected'));
    expect(shown(verdictOf(readPod(pod, new Map()), snapshot))).toBe(expected);
  });

  test('says in its own words what is short, and whether evictions would help', () => {
    const pod = readPod({ spec: { containers: [{ resources: { limits: { 'nvidia.com/gpu': 2 } } }] } }, new Map());
    const verdict = verdictOf(pod, snapshot);
    expect(verdict.kind === 'refused' && schedulerWords(verdict)).toBe(
      '0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient nvidia.com/gpu. ' +
        'no new claims to deallocate, preemption: 0/4 nodes are available: 1 No preemption victims found for incoming pod, ' +
        '3 Preemption is not helpful for scheduling.',
    );
  });
});

function documents(file: string): readonly unknown[] {
  return parseAllDocuments(readFileSync(path.join(fixtures, file), 'utf8')).map((document) => document.toJS());
}

function shown(verdict: Verdict): string {
  if (verdict.kind === 'fits') return verdict.nodes.join(' ');
  if (verdict.kind !== 'refused') return verdict.kind;
  const reasons = [...verdict.reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  const evicted = verdict.evictions.map(
    ({ node, victims }) => ` evicts ${victims.map(({ name }) => name).join(' ')} from ${node}`,
  );
  return reasons.join(', ') + evicted.join('');
}
