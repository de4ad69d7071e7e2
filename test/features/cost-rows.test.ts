import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { costRows, rowAmount } from '../../server/src/features/cost/cost-rows.ts';
import { leftOutWords, totalOf } from '../../server/src/features/cost/cost-totals.ts';

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: train
  namespace: research
  labels: {example.com/Owner: ml, app.kubernetes.io/team: "vision"}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge, topology.kubernetes.io/region: us-east-1}
  containers:
    - name: train
      image: registry.example.com/train:1
      resources: {limits: {nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Pod
metadata: {name: other}
spec:
  containers: [{name: main, image: 'registry.example.com/main:1', resources: {limits: {nvidia.com/gpu: 2}}}]
`;

test('a row says what a workload costs, whose it is, and why there is no price', () => {
  const rows = costRows(new Analysis({ strict: true }).setFile('file:///pods.yaml', pod));
  expect(rows).toMatchObject([
    {
      kind: 'Pod',
      namespace: 'research',
      name: 'train',
      team: 'vision',
      gpus: { min: 8, max: 8 },
      cards: ['H100 80GB SXM'],
      providers: ['AWS'],
      hourly: { min: 55.04, max: 55.04 },
      idleHourly: null,
      problem: null,
      release: null,
    },
    { name: 'other', team: null, cards: [], providers: [], hourly: null },
  ]);
  expect(rows[1]?.problem).toMatch(/GPU model/);
  expect(pod.slice(rows[0]?.span.start, rows[0]?.span.end)).toBe('kind');
  expect(totalOf(rows)).toEqual({
    workloads: 2,
    unpriced: 1,
    perNode: 0,
    device: 'GPU',
    ranged: { workloads: 1, hourly: rows[1]?.possibleHourly },
    gpus: { min: 10, max: 10 },
    hourly: { min: 55.04, max: 55.04 },
    isOpen: false,
    monthly: { min: 40_179.2, max: 40_179.2 },
    ending: 0,
    idleHourly: 0,
  });
});

test('a row of a DaemonSet has the price of one node, and pods on spot nodes without a spot price that on demand', () => {
  const pods = (machine: string, more = '') => `
      nodeSelector: {node.kubernetes.io/instance-type: ${machine}${more}}
      containers: [{name: main, image: 'registry.example.com/main:1', resources: {limits: {nvidia.com/gpu: 1}}}]
`;
  const object = (kind: string, fields: string, spec: string) => `apiVersion: apps/v1
kind: ${kind}
metadata: {name: a}
spec:
  ${fields}selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:${spec}`;
  const rowsOf = (text: string) => costRows(new Analysis({ strict: true }).setFile('file:///a.yaml', text));
  const [daemon] = rowsOf(object('DaemonSet', '', pods('g6.xlarge')));
  expect(daemon).toMatchObject({ hourly: null, nodeHourly: { min: 0.8048, max: 0.8048 }, providers: ['AWS'] });
  expect(daemon && rowAmount(daemon)).toBe('$0.80/h per node');
  const words = (texts: readonly string[]) => leftOutWords(totalOf(texts.flatMap(rowsOf)));
  const [onNodes, bare] = [object('DaemonSet', '', pods('g6.xlarge')), object('DaemonSet', '', pods('made-up.large'))];
  expect([words([onNodes]), words([bare]), words([bare, onNodes, onNodes])]).toEqual([
    '1 workload with a price per node',
    '1 workload without a price',
    '2 workloads with a price per node and 1 workload without a price',
  ]);
  const spot = ', kubernetes.azure.com/scalesetpriority: spot';
  expect(rowsOf(object('Deployment', 'replicas: 1\n  ', pods('Standard_NC24ads_A100_v4', spot)))).toMatchObject([
    { hourly: { min: 3.673, max: 3.673 }, capacity: 'on-demand', nodeHourly: null },
  ]);
  const onSpot = ', karpenter.sh/capacity-type: spot';
  expect(rowsOf(object('Deployment', 'replicas: 1\n  ', pods('g6.xlarge', onSpot)))).toMatchObject([
    { hourly: { min: 0.3618, max: 0.3618 }, capacity: 'spot' },
  ]);
});
