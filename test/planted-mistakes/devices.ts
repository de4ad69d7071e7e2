import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { getIn, items } from '../../server/src/yaml/cursor.ts';
import { containerSites, manifestsOf } from './sites.ts';
import { add, drop, type Mistake, type Planters, pathOf, put, set } from './steps.ts';

export const planters: Planters = {
  'dra-shape': draShape,
  'tensor-parallel-mismatch': tensorParallel,
};

// Mistakes in claims of devices, and in how many devices a server is told to use.

function draShape(analysis: DocumentAnalysis): readonly Mistake[] {
  const claims = manifestsOf(analysis, 'ResourceClaim', 'ResourceClaimTemplate').flatMap(
    ({ manifest, root, path }): readonly Mistake[] => {
      const nested = /\/v1(beta2)?$/.test(manifest.apiVersion);
      const owner = manifest.kind === 'ResourceClaim' ? [...path, 'spec'] : [...path, 'spec', 'spec'];
      const version = [...path, 'apiVersion'];
      const removed: Mistake = {
        name: 'the version of 1.30',
        steps: [set(version, 'resource.k8s.io/v1alpha2')],
        place: { path: version, part: 'value' },
      };
      const requests = items(getIn(root, ...owner, 'devices', 'requests')).flatMap((_, index): readonly Mistake[] => {
        const request = [...owner, 'devices', 'requests', index];
        const key = nested ? 'deviceClassName' : 'exactly';
        const value = nested ? 'gpu.nvidia.com' : { deviceClassName: 'gpu.nvidia.com' };
        const former = nested ? 'exactly' : 'deviceClassName';
        if (getIn(root, ...request, former) === undefined) return [];
        return [
          {
            name: `${key} under ${manifest.apiVersion}`,
            steps: [drop([...request, former]), add(request, key, value)],
            place: { path: [...request, key], part: 'key' },
          },
        ];
      });
      return [removed, ...requests];
    },
  );
  const pods = analysis.workloads.flatMap(({ podSets }) =>
    podSets.flatMap((podSet): readonly Mistake[] => {
      const pod = pathOf(podSet.pod);
      const declared = items(getIn(podSet.pod, 'resourceClaims')).flatMap((claim, index): readonly Mistake[] => {
        const entry = [...pod, 'resourceClaims', index];
        const template = getIn(claim, 'resourceClaimTemplateName');
        if (template === undefined) return [];
        const source = { resourceClaimTemplateName: 'one-gpu' };
        return [
          {
            name: 'under source',
            steps: [drop([...entry, 'resourceClaimTemplateName']), add(entry, 'source', source)],
            place: { path: [...entry, 'source'], part: 'key' },
          },
        ];
      });
      const named = podSet.containers.flatMap(({ at: container }) =>
        items(getIn(container, 'resources', 'claims')).map((_, index): Mistake => {
          const path = [...pathOf(container), 'resources', 'claims', index, 'name'];
          return { name: 'a claim that is not declared', steps: [set(path, 'other')], place: { path, part: 'value' } };
        }),
      );
      return [...declared, ...named];
    }),
  );
  return [...claims, ...pods];
}

function tensorParallel(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(
      ({ workload: { kind, role }, resource }) =>
        /^(Pod|Deployment|StatefulSet)$/.test(kind) && role !== 'training' && resource === 'nvidia.com/gpu',
    )
    .filter(
      ({ container, podSet, listed }) =>
        listed && container.type === 'app' && podSet.accelerators.every(({ devices, perPod }) => devices === perPod),
    )
    .filter(({ container: { env } }) => env.every(({ name }) => !/VISIBLE|RAY|NODE|LWS/.test(name)))
    .flatMap(({ root, path, count }) => {
      const told = [count + 1, ...(count > 1 ? [1] : [])];
      return told.map((tensor): Mistake => {
        const command = ['vllm', 'serve', '/mnt/models/llm', '--tensor-parallel-size', String(tensor)];
        return {
          name: `${tensor} shards on ${count}`,
          steps: [
            ...(getIn(root, ...path, 'args') === undefined ? [] : [drop([...path, 'args'])]),
            ...put(path, 'command', command),
          ],
          place: { path: [...path, 'command', 3], part: 'value' },
        };
      });
    });
}
