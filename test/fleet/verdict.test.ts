import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { at, text } from '../../server/src/fleet/json.ts';
import { readBudget } from '../../server/src/fleet/live-read.ts';
import { bestEviction } from '../../server/src/fleet/preemption.ts';
import { readNode, readPod } from '../../server/src/fleet/read.ts';
import { tolerates } from '../../server/src/fleet/tolerations.ts';
import { schedulerWords, type Verdict } from '../../server/src/fleet/verdict.ts';
import { type FleetSnapshot, holdsResources, verdictOf } from '../support/snapshot-verdict.ts';

const fixtures = path.join(import.meta.dirname, '../fixtures/fleet');
const cluster = documents('cluster.yaml');
const snapshot: FleetSnapshot = {
  nodes: cluster.filter((object) => at(object, 'kind') === 'Node').map(readNode),
  pods: cluster.filter(holdsResources).map((pod) => readPod(pod, new Map())),
  namespaces: new Map([['default', new Map()]]),
};

test.each([
  ['Gt', '950', '951', true],
  ['Gt', '950', '950', false],
  ['Lt', '950', '949', true],
  ['Lt', '950', '-1', true],
  ['Lt', '950', '0949', false],
  ['Lt', '950', 'low', false],
  ['Lt', '', '1', false],
])('a toleration %s %s of a taint with the value %s: %s', (operator, value, taint, expected) => {
  const toleration = { key: 'sla', operator, value, effect: '' };
  expect(tolerates(toleration, { key: 'sla', value: taint, effect: 'NoSchedule' })).toBe(expected);
});

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

  test.each([
    ['none', [], 'newer'],
    ['one of another namespace', [budget({ app: 'older' }, 0, 'elsewhere')], 'newer'],
    ['one that still allows an eviction', [budget({ app: 'newer' }, 1)], 'newer'],
    ['one with an empty selector', [budget({}, 0)], 'newer'],
    ['one of the pod that would go', [budget({ app: 'newer' }, 0)], 'older'],
    ['one of both', [budget({ tier: 'batch' }, 0)], 'newer'],
  ])('evicts the pod that budgets do not protect: %s', (_, budgets, victim) => {
    const held = ['older', 'newer'].map((name) =>
      pod(name, { nodeName: 'n', priority: name === 'older' ? -1 : -2 }, { app: name, tier: 'batch' }),
    );
    const full = { nodes: [nodeOf('n', 2)], pods: held, namespaces: new Map(), budgets };
    expect(victimsOf(verdictOf(pod('new', {}), full))).toEqual([victim]);
  });

  test.each([
    ['the pod that started last', { a: '2026-01-02T03:04:05Z', b: '2026-01-02T03:04:04Z' }, 'a'],
    ['one that has not started', { a: undefined, b: '2026-01-02T03:04:05Z' }, 'a'],
    [
      'if they started together, the one that is listed last',
      { a: '2026-01-02T03:04:05Z', b: '2026-01-02T03:04:05Z' },
      'b',
    ],
  ])('evicts, among pods of equal priority, %s', (_, started, victim) => {
    const held = Object.entries(started)
      .reverse()
      .map(([name, startTime]) => pod(name, { nodeName: 'n', priority: -1 }, {}, { startTime }));
    const full = { nodes: [nodeOf('n', 2)], pods: held, namespaces: new Map() };
    expect(victimsOf(verdictOf(pod('new', {}), full))).toEqual([victim]);
  });

  test('evicts from the node whose pods started last', () => {
    const held = ['2026-01-02T03:04:05Z', '2026-01-02T03:04:07Z', '2026-01-02T03:04:06Z'].map((startTime, index) =>
      pod(`on-${index}`, { nodeName: `n${index}`, priority: -1 }, {}, { startTime }),
    );
    const nodes = held.map(({ nodeName }) => nodeOf(nodeName, 1));
    const verdict = verdictOf(pod('new', {}), { nodes, pods: held, namespaces: new Map() });
    expect(verdict.kind === 'refused' && bestEviction(verdict.evictions)?.node).toBe('n1');
  });
});

function nodeOf(name: string, gpus: number) {
  return readNode({ metadata: { name }, status: { allocatable: { pods: '9', 'nvidia.com/gpu': String(gpus) } } });
}

function victimsOf(verdict: Verdict): readonly string[] | undefined {
  return verdict.kind === 'refused' ? verdict.evictions[0]?.victims.map(({ name }) => name) : undefined;
}

function budget(matchLabels: object, disruptionsAllowed: number, namespace = 'default') {
  return readBudget({
    metadata: { namespace },
    spec: { selector: { matchLabels } },
    status: { disruptionsAllowed },
  });
}

function pod(name: string, spec: object, labels: object = {}, status: object = {}) {
  const containers = [{ resources: { limits: { 'nvidia.com/gpu': 1 } } }];
  return readPod(
    { metadata: { name, namespace: 'default', labels }, spec: { ...spec, containers }, status },
    new Map(),
  );
}

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
