import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { costRows } from '../../server/src/features/cost/cost-rows.ts';
import { totalOf } from '../../server/src/features/cost/cost-totals.ts';
import {
  costTree,
  type TreeGroup,
  type TreeNode,
  type TreeRow,
  type TreeSort,
  totalWords,
} from '../../server/src/features/cost/cost-tree.ts';

const deployment = (name: string, namespace: string, replicas: number, card: string, gpus = 1) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: ${namespace}, labels: {team: ${namespace === 'a' ? 'search' : '""'}}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      nodeSelector: {${card}}
      containers: [{name: main, image: 'vllm/vllm-openai:v0.11.0', resources: {limits: {nvidia.com/gpu: ${gpus}}}}]
`;
const h100 = 'node.kubernetes.io/instance-type: p5.48xlarge, topology.kubernetes.io/region: us-east-1';
const unknown = 'kubernetes.io/os: linux';
const documents = [
  deployment('chat', 'a', 2, h100),
  deployment('rank', 'b', 1, h100),
  deployment('other', 'b', 1, unknown, 2),
  deployment('chat', 'a', 1, h100),
];
const rows: readonly TreeRow[] = costRows(
  new Analysis({ strict: true }).setFile('file:///all.yaml', documents.join('---\n')),
).map((row, index) => ({ row, path: index === 1 ? 'b.yaml' : 'a.yaml', basis: 'on demand at AWS us-east-1' }));

const leaves = (nodes: readonly TreeNode<TreeRow>[]): readonly TreeNode<TreeRow>[] =>
  nodes.flatMap((node) => (node.children === undefined ? [node] : leaves(node.children)));
const labels = (sort: TreeSort, group: TreeGroup) => costTree(rows, sort, group).map(({ label }) => label);

test('each grouping has all rows once, and ids are unique', () => {
  for (const group of ['none', 'namespace', 'team', 'gpu', 'file'] as const) {
    const nodes = costTree(rows, 'cost', group);
    expect(new Set(leaves(nodes).map(({ leaf }) => leaf))).toEqual(new Set(rows));
    const ids = nodes.flatMap((node) => [node.id, ...(node.children ?? []).map(({ id }) => id)]);
    expect(new Set(ids).size).toBe(ids.length);
  }
});

test('groups and workloads are sorted by cost, name or idle cost; unknown amounts are last', () => {
  expect(labels('cost', 'none')).toEqual(['Deployment/chat', 'Deployment/chat', 'Deployment/rank', 'Deployment/other']);
  expect(labels('name', 'none')).toEqual(['Deployment/chat', 'Deployment/chat', 'Deployment/other', 'Deployment/rank']);
  expect(labels('idle', 'namespace')).toEqual(['a', 'b']);
  expect(labels('cost', 'gpu')).toEqual(['H100 80GB SXM', 'GPU model unknown']);
  expect(labels('name', 'team')).toEqual(['No team', 'search']);
  expect(labels('cost', 'file')).toEqual(['a.yaml', 'b.yaml']);
});

test('texts for the tree and for a screen reader', () => {
  const [group, other] = costTree(rows, 'cost', 'namespace');
  expect(group).toMatchObject({
    label: 'a',
    description: '$20.64/h · $20.64/h idle · 2 workloads',
    spoken: 'a, 2 workloads, 3 GPUs, $20.64 an hour',
    tooltip: 'a\n2 workloads, 3 GPUs: $20.64/h ($15,067/month), $20.64/h idle',
  });
  expect(other).toMatchObject({ description: '≥ $6.88/h · $6.88/h idle · 2 workloads' });
  expect(group?.children?.[0]).toMatchObject({
    label: 'Deployment/chat',
    description: '$13.76/h · $13.76/h idle · a.yaml',
    spoken: 'Deployment/chat, 2 × H100 80GB SXM, $13.76 an hour, $13.76 an hour idle, a.yaml',
    tooltip:
      'Deployment/chat\n2 × H100 80GB SXM\n$13.76/h · $13.76/h idle · on demand at AWS us-east-1\nNamespace a\nTeam search\na.yaml',
    icon: 'server-process',
  });
  expect(other?.children?.[1]?.description).toBe('$1.00/h … $35.60/h · a.yaml');
  expect(other?.children?.[1]?.spoken).toMatch(/^Deployment\/other, 2 GPUs, no price: .*GPU model/);
  expect(costTree(rows, 'cost', 'file')[0]?.children?.[0]?.description).toBe('$13.76/h · $13.76/h idle');
});

test('the total is a floor if prices are missing', () => {
  const total = totalOf(rows.map(({ row }) => row));
  expect(totalWords(total)).toBe(
    '4 workloads, 6 GPUs: ≥ $27.52/h ($20,090/month), $27.52/h idle, $1.00/h … $35.60/h for 1 whose GPU model is unknown',
  );
  expect(totalWords({ ...total, unpriced: 4 })).toMatch(/^4 workloads, 6 GPUs: no price, /);
});

test('a name of any length is cut', () => {
  const [row] = rows;
  if (row === undefined) throw new Error('no row');
  const name = 'x'.repeat(100_000);
  const long = { ...row, row: { ...row.row, name, namespace: name, team: name } };
  const shown = (group: TreeGroup) =>
    JSON.stringify(costTree([long], 'cost', group), (key, value) => (key === 'leaf' ? undefined : value));
  for (const group of ['none', 'namespace', 'team'] as const) expect(shown(group).length).toBeLessThan(5000);
});
