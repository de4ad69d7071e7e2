import { asText, type Cursor, entries, getIn } from '../../yaml/cursor.ts';
import { exactly } from '../kinds/pod-sets.ts';
import { lowerCount } from '../pod.ts';
import { containerOf, isMap, podSetOf, replicasOf, requestOf } from '../values-parts.ts';
import type { Chart } from './chart.ts';

/** Charts that run Slurm's daemons as pods. */
export const slurmCharts: readonly Chart[] = [
  {
    names: [],
    source: 'https://github.com/SlinkyProject/slurm-operator/blob/main/helm/slurm/values.yaml',
    date: '2026-11-23',
    owns: (values) => nodeSets(values).length > 0,
    blocks: (values) =>
      nodeSets(values).map((root) => {
        const slurmd = getIn(root, 'slurmd') ?? root;
        const set = podSetOf(getIn(root, 'podSpec') ?? root, [containerOf({ at: slurmd, name: 'slurmd' })]);
        return {
          root,
          podSet: {
            ...set,
            replicas: getIn(root, 'replicas'),
            pods: isOnEachNode(root) ? exactly(null) : replicasOf(root),
          },
          wholeResources: true,
        };
      }),
  },
  {
    names: [],
    source: 'https://github.com/nebius/soperator/blob/main/helm/slurm-cluster/values.yaml',
    date: '2026-11-23',
    owns: (values) => workerOf(values) !== undefined,
    blocks: (values) => {
      const root = workerOf(values);
      const count = getIn(root, 'slurmd', 'resources', 'gpu');
      if (root === undefined || count === undefined) return [];
      const requests = requestOf('nvidia.com/gpu', count);
      const set = podSetOf(root, [containerOf({ at: root, name: 'slurmd', requests })]);
      const size = getIn(root, 'size');
      return [{ root, podSet: { ...set, replicas: size, pods: exactly(lowerCount(size, 1)) } }];
    },
  },
];

/** The sets of workers: a mapping by name. */
function nodeSets(values: Cursor): readonly Cursor[] {
  return entries(getIn(values, 'nodesets')).filter((set) => isMap(getIn(set, 'slurmd')));
}

function isOnEachNode(set: Cursor): boolean {
  return asText(getIn(set, 'scalingMode'))?.toLowerCase() === 'daemonset';
}

function workerOf(values: Cursor): Cursor | undefined {
  const worker = getIn(values, 'slurmNodes', 'worker');
  return isMap(getIn(worker, 'slurmd')) ? worker : undefined;
}
