import { describe, expect, test } from 'vitest';
import type { FileAnalysis } from '../../server/src/analysis.ts';
import { claimedIn, claimFix, claimFractions } from '../../server/src/features/actions/claimed.ts';
import { fractionFix, fractionsOf } from '../../server/src/features/actions/fractions.ts';
import { resizableIn } from '../../server/src/features/actions/resizable.ts';
import { memoryRecords } from '../../server/src/features/memory-records.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { analyse } from '../support/analyse.ts';
import { configOf } from '../support/config-line.ts';

// Every form of "Use less of a GPU…" in every kind of cluster: what it writes can be read again, fits by its own estimate, and only forms that work in
// the cluster are listed.

const small = 'Qwen/Qwen2.5-0.5B-Instruct';
const products = {
  h100: 'nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3',
  l4: 'nvidia.com/gpu.product: NVIDIA-L4',
  t4: 'nvidia.com/gpu.product: Tesla-T4',
  a10g: 'node.kubernetes.io/instance-type: g5.xlarge',
  l40s: 'nvidia.com/gpu.product: NVIDIA-L40S',
  'gke-l4': 'cloud.google.com/gke-accelerator: nvidia-l4',
  'gke-a100': 'cloud.google.com/gke-accelerator: nvidia-a100-80gb',
  mi300x: 'amd.com/gpu.product-name: AMD_Instinct_MI300X_OAM',
} as const;

interface Case {
  readonly on: keyof typeof products;
  readonly config: string;
  readonly scheduler?: string;
  readonly model?: string;
  readonly gpus?: number;
}

function manifest({ on, config, scheduler, model = small, gpus = 1 }: Case): string {
  const vendor = on === 'mi300x' ? 'amd' : 'nvidia';
  const parallel = gpus > 1 ? `, --tensor-parallel-size=${gpus}` : '';
  return `#### config: {${config}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
spec:
  selector:
    matchLabels: {app: chat}
  template:
    metadata:
      labels: {app: chat}
    spec:
${scheduler === undefined ? '' : `      schedulerName: ${scheduler}\n`}      nodeSelector:
        ${products[on]}
      containers:
        - name: main
          image: ${vendor === 'amd' ? 'rocm/vllm:v0.11.0' : 'vllm/vllm-openai:v0.11.0'}
          args: [--model=${model}, --max-model-len=4096, --dtype=half${parallel}]
          resources:
            requests:
              ${vendor}.com/gpu: ${gpus}
            limits:
              ${vendor}.com/gpu: ${gpus}
`;
}

function listed(text: string): {
  readonly file: FileAnalysis;
  readonly forms: ReadonlyMap<string, string | undefined>;
} {
  const file = analyse(text, configOf(text));
  const at = text.indexOf('limits:') + 'limits:\n'.length + 16;
  const place = resizableIn(file, { start: at, end: at });
  const budget = { characters: 1e6, fileCharacters: 1e6 };
  const forms = place === undefined ? [] : fractionsOf(place);
  return {
    file,
    forms: new Map(
      forms.map((one) => {
        const made = place && fractionFix(place, one, budget);
        return [one.id, made && applyEdits(text, made.edits)];
      }),
    ),
  };
}

// biome-ignore format: one line for each case
const cases: readonly (readonly [forms: string, Case])[] = [
  ['mig hami volcano time-slice', { on: 'h100', config: 'migStrategy: mixed' }],
  ['mig hami volcano time-slice', { on: 'h100', config: 'migStrategy: single' }],
  ['hami volcano time-slice', { on: 'h100', config: 'migStrategy: none' }],
  ['card mig time-slice hami volcano', { on: 'gke-a100', config: 'provider: gcp' }],
  ['card time-slice hami volcano', { on: 'gke-a100', config: 'provider: gcp, migStrategy: none' }],
  ['time-slice hami volcano', { on: 'l4', config: '' }],
  ['time-slice hami volcano', { on: 'l40s', config: 'sharing: {strategy: mps, replicas: 4}' }],
  ['time-slice hami volcano', { on: 'gke-l4', config: 'provider: gcp, sharing: {strategy: mps, replicas: 3}' }],
  ['time-slice hami volcano', { on: 't4', config: 'sharing: {strategy: time-slicing, replicas: 2}' }],
  ['card time-slice hami volcano', { on: 'a10g', config: '' }],
  ['time-slice hami volcano', { on: 'l4', config: '', scheduler: 'hami-scheduler' }],
  ['time-slice hami volcano', { on: 'l4', config: '', scheduler: 'volcano' }],
  ['time-slice hami volcano gpu-fraction', { on: 'l4', config: '', scheduler: 'kai-scheduler' }],
  ['time-slice hami volcano gpu-fraction', { on: 'l4', config: '', scheduler: 'runai-scheduler' }],
  ['amd.com/cpx_nps4', { on: 'mi300x', config: '' }],
  ['count-1', { on: 'h100', config: '', gpus: 4 }],
  ['count-2', { on: 'l40s', config: '', model: 'Qwen/Qwen2.5-32B-Instruct' }],
];

describe.each(cases)('%s', (forms, one) => {
  const text = manifest(one);
  const { file, forms: made } = listed(text);

  test('are listed', () => {
    const kinds = new Set([...made.keys()].map((id) => id.replace(/^(mig|card) .*/, '$1').replace(' ', '-')));
    expect([...kinds].sort()).toEqual(forms.split(' ').sort());
  });

  test('each can be written, and fits by its own estimate', () => {
    for (const [id, after] of made) {
      expect(after, id).toBeDefined();
      if (after === undefined) continue;
      expect(after.split('\n').filter((line) => line.startsWith('#'))).toEqual(
        text.split('\n').filter((line) => line.startsWith('#')),
      );
      const again = analyse(after, file.config);
      expect(again.parse, id).toBe('ok');
      const [workload] = again.documents.flatMap(({ workloads }) => workloads);
      const records = workload === undefined ? [] : memoryRecords(workload);
      expect(
        records.map(({ model }) => model),
        id,
      ).toEqual([one.model ?? small]);
      expect(
        records.map(({ fits }) => fits),
        `${id}: ${JSON.stringify(records)}`,
      ).not.toContain(false);
      for (const { needGiB, haveGiB } of records)
        expect(needGiB ?? 0, id).toBeLessThanOrEqual(haveGiB ?? Number.POSITIVE_INFINITY);
      const rules = again.documents.flatMap(({ findings }) => findings.map(({ rule }) => rule));
      expect(rules, id).not.toContain('model-does-not-fit');
      expect(rules, id).not.toContain('kv-cache-too-small');
      expect(rules, id).not.toContain('shared-memory-unguarded');
      expect(
        again.documents.flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'error')),
        id,
      ).toEqual([]);
    }
  });
});

/** A server on the GPU of a claim that each pod has for itself, or that pods share. */
function claiming(
  kind: 'ResourceClaim' | 'ResourceClaimTemplate',
  on: 'l4' | 'h100' | 'mi300x',
  config: string,
): string {
  const isTemplate = kind === 'ResourceClaimTemplate';
  const pad = isTemplate ? '  ' : '';
  const text = manifest({ on, config })
    .replace(/ {10}resources:[\s\S]*$/, '          resources:\n            claims: [{name: gpu}]\n')
    .replace(
      '      containers:',
      `      resourceClaims:\n        - {name: gpu, ${isTemplate ? 'resourceClaimTemplateName' : 'resourceClaimName'}: one}\n      containers:`,
    );
  return `${text}---
apiVersion: resource.k8s.io/v1
kind: ${kind}
metadata:
  name: one
spec:
${isTemplate ? '  spec:\n' : ''}${pad}  devices:
${pad}    requests:
${pad}      - name: gpu
${pad}        exactly:
${pad}          deviceClassName: gpu.${on === 'mi300x' ? 'amd' : 'nvidia'}.com
`;
}

// biome-ignore format: one line for each case
const claimCases: readonly (readonly [forms: string, kind: 'ResourceClaim' | 'ResourceClaimTemplate', on: 'l4' | 'h100' | 'mi300x', config: string])[] = [
  ['claimed-memory mig', 'ResourceClaimTemplate', 'h100', ''],
  ['claimed-memory', 'ResourceClaimTemplate', 'h100', 'migStrategy: none'],
  ['claimed-memory', 'ResourceClaimTemplate', 'l4', ''],
  ['', 'ResourceClaimTemplate', 'l4', 'sharing: {strategy: mps, replicas: 2}'],
  ['claimed-memory shared-claim', 'ResourceClaim', 'l4', ''],
  ['shared-claim', 'ResourceClaim', 'l4', 'sharing: {strategy: mps, replicas: 3}'],
  ['amd.com/cpx_nps4', 'ResourceClaimTemplate', 'mi300x', ''],
];

test.each(claimCases)('by a claim: %s for a %s on %s {%s}', (forms, kind, on, config) => {
  const text = claiming(kind, on, config);
  const file = analyse(text, configOf(text));
  const at = text.indexOf('name: gpu, resource');
  const place = claimedIn(file, { start: at, end: at });
  expect(place).toBeDefined();
  const list = place === undefined ? [] : claimFractions(place);
  const kinds = new Set(list.map(({ id }) => id.replace(/^(mig) .*/, '$1').replace(' ', '-')));
  expect([...kinds].sort().join(' ')).toBe(forms);
  for (const { id, hourly } of list) {
    const made = place && claimFix(place, id, file, { characters: 1e6, fileCharacters: 1e6 });
    expect(made, id).toBeDefined();
    if (made === undefined) continue;
    const again = analyse(applyEdits(text, [...made.inClaim, ...made.inPod]), file.config);
    const found = again.documents.flatMap(({ findings }) => findings);
    expect(found.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(found.map(({ rule }) => rule)).not.toContain('shared-memory-unguarded');
    const [workload] = again.documents.flatMap(({ workloads }) => workloads);
    const [device] = workload?.podSets[0]?.accelerators ?? [];
    // Other pods use a shared claim; until then, the GPU is that of one.
    const share = id === 'shared claim' ? 1 : 1 / 2;
    expect(device?.devices ?? 2, id).toBeLessThanOrEqual(share);
    expect(hourly === null || hourly.min > 0).toBe(true);
    expect(workload === undefined ? [] : memoryRecords(workload).map(({ fits }) => fits)).not.toContain(false);
  }
});
