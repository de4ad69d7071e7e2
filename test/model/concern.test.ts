import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { acceleratorResourceNames, familyExamples, nodeLabels } from '../../server/src/catalog/index.ts';
import { requestsAccelerators } from '../../server/src/model/accelerators.ts';
import { concernWords, mayConcernAccelerators } from '../../server/src/model/concern.ts';
import { kindEntry, knownKinds } from '../../server/src/model/kinds/index.ts';
import { affectsAccelerators, objectKinds } from '../../server/src/model/kinds/object-kinds.ts';
import { lowerDocument } from '../../server/src/model/lower.ts';
import { defaultModelOptions } from '../../server/src/model/options.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';

const object = (name: string) => {
  const [group = '', kind = ''] = name.split('/');
  return `apiVersion: ${group === '' ? 'v1' : `${group}/v1`}\nkind: ${kind}\nmetadata: {name: some}\n`;
};
const [plain, bearing] = [true, false].map((expected) =>
  knownKinds().filter((name) => {
    const [group = '', kind = ''] = name.split('/');
    return (kindEntry(group, kind)?.words !== undefined) === expected;
  }),
) as [string[], string[]];
const resources = [
  ...acceleratorResourceNames(),
  ...familyExamples(),
  // Names that only look like accelerators.
  ...[
    'gpu',
    'vgpu',
    'npu',
    'vnpu',
    'fast-npu',
    'xpu',
    'dcu',
    'mlu',
    'gcu',
    'ipu',
    'edgetpu',
    'coral',
    'accelerator',
  ].map((path) => `acme.example/${path}`),
];

describe('which documents are read', () => {
  test.each(resources)('a pod that requests %s is', (resource) => {
    expect(
      mayConcernAccelerators(`${object('/Pod')}spec: {containers: [{resources: {limits: {${resource}: 1}}}]}`),
    ).toBe(true);
  });

  test.each(bearing)('%s is, with any fields', (kind) => {
    expect(mayConcernAccelerators(object(kind))).toBe(true);
  });

  test.each(
    objectKinds.filter(affectsAccelerators).flatMap(({ group, kinds }) => kinds.map((kind) => `${group}/${kind}`)),
  )('%s is, with any fields', (kind) => {
    expect(mayConcernAccelerators(object(kind))).toBe(true);
  });

  test.each(nodeLabels())('what selects %s is', (label) => {
    expect(mayConcernAccelerators(`${object('/Pod')}spec: {nodeSelector: {${label}: some}}`)).toBe(true);
  });

  test('a kind whose pods name what they request is, but only with a resource or one of its own words', () => {
    expect(plain.length).toBeGreaterThan(10);
    for (const name of plain) {
      const [group = '', kind = ''] = name.split('/');
      // Kubernetes' own groups: the name of another group may contain a word.
      if (!group.includes('.')) expect([name, mayConcernAccelerators(object(name))]).toEqual([name, false]);
      for (const word of kindEntry(group, kind)?.words ?? [])
        expect([name, mayConcernAccelerators(`${object(name)}spec: {${word} some}`)]).toEqual([name, true]);
    }
  });

  test('a multi-node KServe predictor is, by its parallel sizes alone', () => {
    const text = `${object('serving.kserve.io/InferenceService')}spec:
  predictor:
    model: {modelFormat: {name: huggingface}}
    workerSpec: {pipelineParallelSize: 2, tensorParallelSize: 4}
`;
    expect(mayConcernAccelerators(text)).toBe(true);
  });

  test.each([
    'image: registry.example/answer:0.12-rocm',
    'command: [amd-smi]',
    'env: [{name: HIP_VISIBLE_DEVICES, value: "0"}]',
    'env: [{name: HSA_OVERRIDE_GFX_VERSION, value: "11.0.0"}]',
  ])('a pod for AMD GPUs without a request is, by its %s', (text) => {
    expect(mayConcernAccelerators(`${object('/Pod')}spec: {containers: [{${text}}]}`)).toBe(true);
  });

  test('every fixture with accelerators is', () => {
    const folder = 'test/fixtures/model';
    const missed = readdirSync(folder)
      .filter((name) => name.endsWith('.yaml'))
      .flatMap((name) => {
        const { documents } = parseYaml(readFileSync(`${folder}/${name}`, 'utf8'));
        const unread = documents.filter(({ text }) => !mayConcernAccelerators(text));
        return unread.some((document) =>
          lowerDocument(document, defaultModelOptions).workloads.some(requestsAccelerators),
        )
          ? [name]
          : [];
      });
    expect(missed).toEqual([]);
  });

  test('no word contains another', () => {
    expect(concernWords.filter((word) => concernWords.some((other) => other !== word && word.includes(other)))).toEqual(
      [],
    );
  });

  test('a long text without any of them is searched once', () => {
    const text = 'nvidi amd.co karpente qualcomm.com/qai '.repeat(100_000);
    const start = performance.now();
    expect(mayConcernAccelerators(text)).toBe(false);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
