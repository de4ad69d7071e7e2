import { expect, test } from 'vitest';
import { renderCluster } from '../../server/src/cli/cluster/table.ts';
import { colorStyle, plainStyle } from '../../server/src/cli/terminal.ts';
import { clusterMarkdown, poolYaml } from '../../server/src/features/cluster/cluster-text.ts';
import { clusterTree } from '../../server/src/features/cluster/cluster-tree.ts';
import { dashboardPage } from '../../server/src/features/cluster/dashboard.ts';
import type { DrawnCluster } from '../../server/src/features/cluster/drawn-cluster.ts';
import { at, fields } from '../../server/src/fleet/json.ts';
import { readClusterPod } from '../../server/src/fleet/live-read.ts';
import { viewMaker } from '../../server/src/fleet/view.ts';
import { clusterOf } from '../support/cluster-objects.ts';
import { sampleObjects } from '../support/sample-cluster.ts';

// Whoever may write to a cluster chooses these texts: messages of pods, annotations, names of classes.

const now = Date.parse('2026-11-22T14:00:00Z');
const evil =
  '\u001b]0;owned\u0007\r\n\u202e$(bug)[x](command:evil)<img src=x onerror=alert(1)>|##vso[task]\u2028\u200b';
const unseen = /[\p{Cc}\p{Zl}\p{Zp}\u200b\u202a-\u202e]/u;

/** Every word after the first of a text is replaced: names of fields and types stay. */
function hostile(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => hostile(item, key));
  if (typeof value === 'string') return written.has(key) ? `${value}${evil}` : value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(fields(value).map(([name, field]) => [name, hostile(field, name)]));
}

const written = new Set(['message', 'reason', 'name', 'namespace', 'nodeName', 'schedulerName']);

const make = viewMaker(() => ({ hourly: { min: 1, max: 1 }, basis: `a price${evil}` }));
const about = {
  context: `prod${evil}`,
  serverVersion: `v1.36.2${evil}`,
  state: { kind: 'unreachable', message: `gone${evil}` },
  asOf: now,
  coverage: [],
} as const;
const objects = sampleObjects(now).map((object) =>
  at(object, 'kind') === 'PriorityClass' ? object : hostile(object, ''),
);
const cluster: DrawnCluster = { ...make(clusterOf(objects), about), now };

test('the tree shows every character of hostile text, on one line', () => {
  let rows = 0;
  const visit = (parent: string | null): void => {
    for (const one of clusterTree(cluster, { kind: 'tree', parent, sort: 'free', filter: '' })) {
      rows += 1;
      for (const part of [one.label, one.description, one.spoken, ...one.tooltip.split('\n')])
        expect(part).not.toMatch(unseen);
      if (one.children !== null) visit(one.id);
    }
  };
  visit(null);
  expect(rows).toBeGreaterThan(20);
});

test('a terminal gets no escape sequence but the colors', () => {
  for (const style of [plainStyle, colorStyle]) {
    const text = [...renderCluster(cluster.view, now, style)].join('');
    expect(text).toContain('owned');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colors that gpulint writes itself.
    expect(text.replace(/\u001b\[\d+m/g, '').replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\u202e]/u);
    expect(text).not.toContain('##vso[');
  }
});

test('Markdown has neither its links nor its markup', () => {
  const text = clusterMarkdown(cluster.view);
  expect(text).not.toMatch(/(?<!\\)\[x\]|(?<!\\)<img/);
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\u202e]/u);
});

test('the dashboard has none of its elements', () => {
  const page = dashboardPage(cluster, '0123456789abcdef');
  expect(page).not.toContain('<img');
  expect(page.replaceAll('\n', '')).not.toMatch(unseen);
});

test('a comment of the YAML for a pool ends with its line', () => {
  for (const { id } of cluster.view.pools) {
    const comments = poolYaml(cluster.view, id)
      .split('\n')
      .filter((line) => line.startsWith('#'));
    expect(comments.length).toBeGreaterThan(0);
    expect(comments.join('')).not.toMatch(unseen);
  }
  expect(cluster.view.pools.length).toBeGreaterThan(0);
});

test('of a long message of a pod, the start is kept', () => {
  const conditions = [{ type: 'PodScheduled', status: 'False', message: 'x'.repeat(1_000_000) }];
  expect(readClusterPod({ metadata: { name: 'a' }, status: { conditions } })?.words).toHaveLength(4096);
});
