import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { apiKind, servedVersions } from '../../server/src/catalog/index.ts';
import { getIn } from '../../server/src/yaml/cursor.ts';
import { containerSites, podSites } from './sites.ts';
import { add, type Mistake, type Planters, put, rename, set } from './steps.ts';

export const planters: Planters = {
  'api-field': apiField,
  'api-removed': apiRemoved,
};

// What the API server rejects in objects of its own kinds.

function apiField(analysis: DocumentAnalysis): readonly Mistake[] {
  const containers = containerSites(analysis)
    .filter(({ workload, listed }) => listed && isTyped(workload))
    .flatMap(({ root, path, resources }): readonly Mistake[] => {
      const renamed = [...path, 'resource'];
      const policy = [...path, 'imagePullPolicy'];
      const limit = [...resources, 'limits', 'memory'];
      return [
        { name: 'resource', steps: [rename(resources, 'resource')], place: { path: renamed, part: 'key' } },
        ...['gpus', 'instances'].map(
          (key): Mistake => ({ name: key, steps: [add(path, key, 1)], place: { path: [...path, key], part: 'key' } }),
        ),
        ...['ifnotpresent', 'Allways'].map(
          (value): Mistake => ({
            name: `imagePullPolicy ${value}`,
            steps: put(path, 'imagePullPolicy', value),
            place: { path: policy, part: 'value' },
          }),
        ),
        ...['64 Gi', '64GB', 'much'].map(
          (value): Mistake => ({
            name: `memory ${value}`,
            steps:
              getIn(root, ...limit) === undefined ? [add(limit.slice(0, -1), 'memory', value)] : [set(limit, value)],
            place: { path: limit, part: 'value' },
          }),
        ),
      ];
    });
  const pods = podSites(analysis)
    .filter(({ workload }) => isTyped(workload))
    .map(
      ({ pod }): Mistake => ({
        name: 'hostIPC as a string',
        steps: put(pod, 'hostIPC', 'yes please'),
        place: { path: [...pod, 'hostIPC'], part: 'value' },
      }),
    );
  return [...containers, ...pods];
}

function apiRemoved(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis)
    .filter(({ workload }) => servedVersions(workload.kind).includes(workload.apiVersion))
    .filter(({ workload }) => workload.manifest.root.parent === undefined)
    .flatMap(({ workload: { kind, apiVersion } }): readonly Mistake[] => {
      const old = [...(apiVersion === 'apps/v1' ? ['extensions/v1beta1'] : []), apiVersion === 'v1' ? 'apps/v1' : 'v1'];
      return [
        ...old.map(
          (version): Mistake => ({
            name: `${kind} in ${version}`,
            steps: [set(['apiVersion'], version)],
            place: { path: ['apiVersion'], part: 'value' },
          }),
        ),
        {
          name: `kind ${kind.toLowerCase()}`,
          steps: [set(['kind'], kind.toLowerCase())],
          place: { path: ['kind'], part: 'value' },
        },
      ];
    });
}

function isTyped({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return apiKind(apiVersion, kind) !== undefined;
}
