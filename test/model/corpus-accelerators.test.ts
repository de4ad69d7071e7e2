import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { knownAccelerator } from '../../server/src/catalog/index.ts';
import type { YamlNode } from '../../server/src/yaml/node.ts';

const corpus = path.join(import.meta.dirname, '../../../shared/corpus/dev');
const skipped = existsSync(corpus) ? '' : ' (skipped: ../shared/corpus/dev is not there)';

/** Why an object with an accelerator's resource name is not a workload: by its kind and the path to the name. */
const reasons: readonly (readonly [where: RegExp, why: string])[] = [
  [/ .*(tolerations|taints)\b.*key$/, 'lets pods onto nodes, or keeps them off; takes nothing'],
  [/^kueue\.x-k8s\.io\//, 'a quota'],
  [/^scheduling\.volcano\.sh\/Queue /, 'a quota'],
  [/^karpenter\.sh\//, 'nodes, which pods take'],
  [/^\/Node /, 'a node, which pods take'],
  [/DeviceClass .*extendedResourceName$/, 'a name that pods request'],
  [/ sharing\.timeSlicing\.resources/, "a device plugin's config without its ConfigMap"],
  [/^inference\.networking\.x-k8s\.io\/InferenceModel /, 'the kind has no such field and makes no pods'],
  [/ [Ss]pec\.replicatedJobs.*template\.spec\.resources\.requests/, 'resources of a pod, which hold no accelerators'],
  [/no object tests\.(?:set|asserts)\./, 'a test of helm-unittest'],
  [/ apiVersion.*kind\./, 'invalid indentation: reported as a syntax error'],
  [
    / {2,}image| image\.registry|affinity\.nodeAffinity\.containers/,
    'broken indentation: the field is in the wrong place',
  ],
];

test.skipIf(skipped !== '')(
  `real manifests: what names an accelerator is a workload, or there is a reason why not${skipped}`,
  { timeout: 300_000 },
  () => {
    const without: string[] = [];
    let seen = 0;
    for (const entry of readdirSync(corpus, { withFileTypes: true, recursive: true })) {
      if (!entry.isFile()) continue;
      const file = path.join(entry.parentPath, entry.name);
      const { documents } = new Analysis().setFile('file:///x.yaml', readFileSync(file, 'utf8'));
      for (const { document, manifests, workloads } of documents) {
        const taking = workloads
          .filter(({ podSets }) => podSets.some(({ accelerators }) => accelerators.length > 0))
          .map(({ manifest }) => manifest.root.node.span);
        for (const { offset, way } of document.root === null ? [] : namesIn(document.root, '')) {
          seen += 1;
          if (taking.some(({ start, end }) => start <= offset && offset <= end)) continue;
          const object = [...manifests]
            .reverse()
            .find(({ root: { node } }) => node.span.start <= offset && offset <= node.span.end);
          const group = object?.apiVersion.replace(/(^|\/)v\d\w*$/, '') ?? '';
          const place = `${object === undefined ? 'no object' : `${group}/${object.kind}`} ${way}`;
          if (!reasons.some(([where]) => where.test(place))) without.push(`${place}  ${path.relative(corpus, file)}`);
        }
      }
    }
    expect(without).toEqual([]);
    expect(seen).toBeGreaterThan(1000);
  },
);

/** The paths to accelerators' resource names, as keys and as values. */
function* namesIn(node: YamlNode, way: string): Generator<{ readonly offset: number; readonly way: string }> {
  if (node.kind === 'map') {
    for (const { key, keySpan, value } of node.entries) {
      if (knownAccelerator(key) !== undefined) yield { offset: keySpan.start, way: `${way}.${key}` };
      yield* namesIn(value, way === '' ? key : `${way}.${key}`);
    }
  } else if (node.kind === 'seq') {
    for (const { value } of node.items) yield* namesIn(value, way);
  } else if (typeof node.value === 'string' && knownAccelerator(node.value) !== undefined) {
    yield { offset: node.span.start, way };
  }
}
