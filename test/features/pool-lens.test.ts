import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { codeLenses } from '../../server/src/features/code-lens.ts';
import { hover } from '../../server/src/features/hover/hover.ts';

function fileAt(path: string) {
  return new Analysis({ strict: true }).setFile(
    'file:///pools.yaml',
    readFileSync(`test/fixtures/cost-by-hand/${path}`, 'utf8'),
  );
}

test('pools of several tools have a price per node and at their limit', () => {
  expect(codeLenses(fileAt('pools-aws/pools.yaml')).map(({ title }) => title)).toEqual([
    // 16 GPUs are two machines of $21.957642.
    'big · p4d.24xlarge · $21.96/h on demand per node · at most $43.92/h for 2 nodes',
    'small · 7 machines from g6e.2xlarge to g6e.48xlarge · $0.99–$11.39/h spot per node · no limit',
    expect.stringMatching(
      /^memory · \d+ machines from g6e\.xlarge to g6e\.48xlarge · \$1\.86–\$30\.13\/h on demand per node · no limit$/,
    ),
    // 5 × $3.912.
    't4 · g4dn.12xlarge · $3.91/h on demand per node · at most $19.56/h for 5 nodes',
    // 2 × $5.672.
    'cluster-gpu · g5.12xlarge · $5.67/h on demand per node · at most $11.34/h for 2 nodes',
  ]);
  expect(codeLenses(fileAt('pools-gke/pools.yaml')).map(({ title }) => title)).toEqual([
    'l4-class · g2-standard-24 or g2-standard-48 · $2.00–$4.00/h on demand per node · limit unknown',
    'spot-a100 · a2-highgpu-1g · $2.12/h spot per node · limit unknown',
    'shared-l4 · g2-standard-4 · $0.71/h on demand per node · at most $2.12/h for 3 nodes',
  ]);
});

test('a pool on spot and on demand has both prices', () => {
  const file = fileAt('spot-first/pools.yaml');
  expect(codeLenses(file).map(({ title }) => title)).toEqual([
    'either · g6.xlarge · $0.36–$0.80/h spot or on demand per node · no limit',
    'spot-then-larger · g2-standard-4 or a2-highgpu-1g · $0.36–$3.67/h spot or on demand per node · limit unknown',
    'on-demand-then-spot · g2-standard-4 · $0.36–$0.71/h spot or on demand per node · limit unknown',
    'spot-then-one-card · g2-standard-24 or a2-highgpu-1g · $1.20–$3.67/h spot or on demand per node · limit unknown',
  ]);
  const shown = hover(file, file.text.indexOf('kind: NodePool') + 1);
  expect(shown?.blocks[1]).toEqual({
    kind: 'table',
    head: ['Machine', 'Region', 'GPUs', '$/h', '$/month'],
    rows: [
      ['g6.xlarge', 'us-east-1', '1', '$0.36 spot', '$264'],
      ['g6.xlarge', 'us-east-1', '1', '$0.80 on demand', '$588'],
    ],
  });
});

test('the hover of a pool lists its machines', () => {
  const file = fileAt('pools-gke/pools.yaml');
  const shown = hover(file, file.text.indexOf('kind: ComputeClass') + 1);
  expect(shown?.blocks).toEqual([
    { kind: 'lead', text: 'g2-standard-24 or g2-standard-48 · $2.00–$4.00/h on demand per node · limit unknown' },
    {
      kind: 'table',
      head: ['Machine', 'Region', 'GPUs', '$/h on demand', '$/month'],
      rows: [
        ['g2-standard-24', 'us-central1', '2', '$2.00', '$1,461'],
        ['g2-standard-48', 'us-central1', '4', '$4.00', '$2,921'],
      ],
    },
  ]);
});

test('a group that divides its nodes has the sum of both parts at its limit', () => {
  const group = (region: string) => `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c, region: ${region}}
nodeGroups:
  - name: split
    maxSize: 5
    instancesDistribution:
      instanceTypes: [g5.12xlarge, g5.24xlarge]
      onDemandBaseCapacity: 1
      onDemandPercentageAboveBaseCapacity: 25
`;
  const titles = (region: string) =>
    codeLenses(new Analysis({ strict: true }).setFile('file:///c.yaml', group(region))).map(({ title }) => title);
  // One and a quarter of the other four are on demand: 2 × 8.144 + 3 × 3.7791.
  const title =
    'split · g5.12xlarge or g5.24xlarge · $2.46–$8.14/h spot or on demand per node · at most $27.63/h for 5 nodes';
  expect(titles('us-east-1')).toEqual([title]);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of envsubst
  expect(titles('${AWS_REGION}')).toEqual([title]);
});

test('nodes with TPUs cost what their chips cost', () => {
  const text = `apiVersion: cloud.google.com/v1
kind: ComputeClass
metadata: {name: trillium}
spec:
  priorities:
    - {tpu: {type: tpu-v6e-slice, count: 4, topology: 2x4}, spot: true}
---
apiVersion: cloud.google.com/v1
kind: ComputeClass
metadata: {name: v5p}
spec:
  priorities:
    - {tpu: {type: tpu-v5p-slice, count: 4, topology: 4x4x4}}
`;
  // 4 × 0.59266 in us-central1; 4 × 4.20 in us-east1, as us-central1 has none.
  expect(codeLenses(new Analysis({ strict: true }).setFile('file:///t.yaml', text)).map(({ title }) => title)).toEqual([
    'trillium · ct6e-standard-4t · $2.37/h spot per node · limit unknown',
    'v5p · ct5p-hightpu-4t · $16.80/h on demand per node · limit unknown',
  ]);
});

test('a pool without a price says why', () => {
  const pool = (requirements: string) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: p}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: gpu}
      requirements: [${requirements}]
`;
  const titles = (requirements: string) =>
    codeLenses(new Analysis({ strict: true }).setFile('file:///p.yaml', pool(requirements))).map(({ title }) => title);
  const a100 = '{key: karpenter.azure.com/sku-gpu-name, operator: In, values: [A100]}';
  const counts = '{key: karpenter.azure.com/sku-gpu-count, operator: In, values: ["2", "4"]}';
  const on = (types: string) => `{key: karpenter.sh/capacity-type, operator: In, values: [${types}]}`;
  expect(titles([a100, counts, on('spot')].join(', '))).toEqual([
    'p · price unknown: the price sheet has no spot price for it (on demand: $7.35–$14.69/h)',
  ]);
  expect(titles([a100, counts, on('spot, on-demand')].join(', '))).toEqual([
    'p · Standard_NC48ads_A100_v4 or Standard_NC96ads_A100_v4 · $7.35–$14.69/h on demand, spot price unknown, per node · no limit',
  ]);
  // The family of these machines is N.
  const some = '{key: karpenter.azure.com/sku-gpu-count, operator: Gt, values: ["0"]}';
  expect(titles(`${some}, {key: karpenter.azure.com/sku-family, operator: In, values: [NC]}`)).toEqual([
    'p · price unknown: the catalog has no machine that meets its requirements',
  ]);
  // Pools without accelerators have no lens.
  expect(titles('{key: karpenter.azure.com/sku-family, operator: In, values: [D]}')).toEqual([]);
});

test('a machine that is larger than the limit of its pool is none of its nodes', () => {
  const pool = (limits: string) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: capped}
spec:
  limits: ${limits}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [g6.12xlarge, g6.48xlarge]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
`;
  const titles = (limits: string) =>
    codeLenses(new Analysis({ strict: true }).setFile('file:///pool.yaml', pool(limits))).map(({ title }) => title);
  // A g6.12xlarge has 48 CPUs at 4.6016, a g6.48xlarge 192 at 13.3504.
  expect(titles('{cpu: 100}')).toEqual([
    'capped · g6.12xlarge · $4.60/h on demand per node · at most $9.20/h for 2 nodes',
  ]);
  expect(titles('{cpu: 192}')).toEqual([
    'capped · g6.12xlarge or g6.48xlarge · $4.60–$13.35/h on demand per node · at most $18.41/h for 1–4 nodes',
  ]);
});
