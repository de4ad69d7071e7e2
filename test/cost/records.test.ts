import { expect, test } from 'vitest';
import { toReportFile } from '../../server/src/cli/reports/json.ts';
import { assumptionLines } from '../../server/src/cost/assumption-words.ts';
import { priceBasis } from '../../server/src/features/cost/price-basis.ts';
import { analyse } from '../support/analyse.ts';
import { configOf } from '../support/config-line.ts';

const pod = (spec: string, metadata = 'name: p') => `apiVersion: v1
kind: Pod
metadata: {${metadata}}
spec:
${spec}`;

const container = (limits: string) => `  containers:
    - name: main
      image: registry.example/a:1
      resources: {limits: {${limits}}}
`;

function costOf(text: string) {
  const [document] = analyse(text, configOf(text)).documents;
  return document!.costOf(document!.workloads[0]!);
}

test('an assumption is a record with values and their source; the wording comes last', () => {
  const config = '#### config: {gpu: l4, provider: gcp, prices: {discountPercent: 10}}\n';
  const { cost } = costOf(config + pod(container('nvidia.com/gpu: 1')));
  expect(cost?.assumptions).toEqual([
    { kind: 'gpu', model: 'l4', nodePool: null, from: 'config' },
    { kind: 'provider', provider: 'gcp', from: 'config' },
    { kind: 'capacity', capacity: 'on-demand', from: 'default' },
    { kind: 'region', region: 'us-central1', from: 'default' },
    { kind: 'discount', percent: 10, from: 'config' },
  ]);
  const [gpu, , capacity] = assumptionLines(cost!.assumptions);
  expect([gpu, capacity]).toEqual(['GPU model L4 from the config', 'Capacity type unknown: on-demand price']);
  const [named, , byDefault] = assumptionLines(cost!.assumptions, { gpu: '.gpulint.yaml' });
  expect([named, byDefault]).toEqual([
    'GPU model L4 from .gpulint.yaml',
    'Capacity type unknown: on-demand price (default)',
  ]);
  expect(priceBasis([cost!])).toMatch(/minus your discount$/);
});

test.each([
  [container('nvidia.com/gpu: 1'), { kind: 'modelUnknown', requested: { kind: 'resource', name: 'nvidia.com/gpu' } }],
  [container('nvidia.com/mig-9g.99gb: 1'), { kind: 'noProfile', profile: '9g.99gb', selected: false }],
  [container('nvidia.com/gpu: 0'), { kind: 'noAccelerator' }],
  [
    `  nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}\n${container('nvidia.com/gpu: 16')}`,
    { kind: 'priceUnknown', models: ['h100-80gb-sxm'], devices: 16, instanceType: null, provider: null, sellers: [] },
  ],
])('a missing estimate has its reason: %#', (spec, unknown) => {
  expect(costOf(pod(spec))).toEqual({ cost: null, unknown, podSets: [] });
});

test('the JSON report keeps its names for fields that replace a resource', () => {
  const claim = '  resourceClaims: [{name: gpu, resourceClaimName: shared-gpu}]\n';
  const fraction = pod(container('cpu: 1'), 'name: p, annotations: {gpu-fraction: "0.5"}');
  const reported = [pod(claim + container('cpu: 1')), fraction].flatMap((text) =>
    toReportFile('a.yaml', 'a.yaml', analyse(text)).workloads.flatMap(({ podSets }) =>
      podSets.flatMap(({ accelerators }) => accelerators.map(({ resource }) => resource)),
    ),
  );
  expect(reported).toEqual(['claim:shared-gpu', 'annotation:gpu-fraction']);
});

test('an earlier revision that runs next to a canary is not counted, and named', () => {
  const service = (fields: string, annotations = '') => `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: rank${annotations}}
spec:
  predictor:
    minReplicas: 1
    maxReplicas: 2
    ${fields}
    nodeSelector: {node.kubernetes.io/instance-type: g5.2xlarge}
${container('nvidia.com/gpu: 1').replaceAll(/^/gm, '  ')}`;
  const words = (text: string) => assumptionLines(costOf(text).cost!.assumptions);
  const line = 'An earlier revision also runs (canaryTrafficPercent): its pods are not counted';
  expect(words(service('canaryTrafficPercent: 20'))).toContain(line);
  for (const fields of ['canaryTrafficPercent: 100', 'timeout: 60']) expect(words(service(fields))).not.toContain(line);
  const standard = ', annotations: {serving.kserve.io/deploymentMode: Standard}';
  expect(words(service('canaryTrafficPercent: 20', standard))).not.toContain(line);
});

test("SageMaker's machines have the price of EC2, unless the project states its own", () => {
  const words = (text: string) => assumptionLines(costOf(text).cost!.assumptions);
  const on = (type: string) =>
    pod(`  nodeSelector: {node.kubernetes.io/instance-type: ${type}}\n${container('nvidia.com/gpu: 8')}`);
  const line = 'No SageMaker prices: price of the same machine on EC2';
  expect(words(on('ml.p5.48xlarge'))).toContain(line);
  expect(words(on('p5.48xlarge'))).not.toContain(line);
  const own = '#### config: {prices: {gpus: {h100-80gb-sxm: 8}}}\n';
  expect(words(own + on('ml.p5.48xlarge'))).not.toContain(line);
});
