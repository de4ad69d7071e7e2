import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import type { Workload } from '../../server/src/model/workload.ts';
import { containerSites, isWhole } from './sites.ts';
import { type Mistake, type Planters, pathOf, put, set } from './steps.ts';

export const planters: Planters = {
  'world-size': worldSize,
};

// Numbers of nodes, processes and slots that do not fit the pods.

function worldSize(analysis: DocumentAnalysis): readonly Mistake[] {
  return [...slotsPerWorker(analysis), ...launchedNodes(analysis), ...elastic(analysis)];
}

function slotsPerWorker(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ workload, podSet }) => workload.kind === 'MPIJob' && podSet.name === 'Worker' && isWhole(workload))
    .filter(({ request, resource }) => request.form === 'whole' && /^(nvidia|amd)\.com\/gpu$/.test(resource))
    .filter(({ workload }) => {
      const line = lineOf(workload);
      // Options that place processes whatever the slots are.
      return /^mpirun\b/.test(line) && !/npernode|ppr|-ppn|map-by|bind-to|rankfile|\$/.test(line);
    })
    .map(({ count }) => ({
      name: `${count * 2} slots for ${count}`,
      steps: put(['spec'], 'slotsPerWorker', count * 2),
      place: { path: ['spec', 'slotsPerWorker'], part: 'value' },
    }));
}

/** A policy for a job whose launch has one size. */
function elastic(analysis: DocumentAnalysis): readonly Mistake[] {
  return analysis.workloads
    .filter((workload) => isWhole(workload) && workload.kind === 'PyTorchJob' && workload.podSets.length === 1)
    .flatMap(({ podSets }) =>
      podSets.flatMap(({ containers }) =>
        containers.flatMap(({ command, args }) =>
          [...command, ...args].flatMap(({ value, at: place }): readonly Mistake[] =>
            !/^--nnodes=\d+$/.test(value) || place.shared
              ? []
              : [
                  {
                    name: `${value} with bounds`,
                    steps: put(['spec'], 'elasticPolicy', { minReplicas: 1, maxReplicas: 64 }),
                    place: { path: pathOf(place), part: 'value' },
                  },
                ],
          ),
        ),
      ),
    );
}

function launchedNodes(analysis: DocumentAnalysis): readonly Mistake[] {
  return analysis.workloads.filter(isWhole).flatMap((workload) =>
    workload.podSets.flatMap(({ containers }) =>
      containers.flatMap(({ command, args }) =>
        [...command, ...args].flatMap(({ value, at: place }, index, all): readonly Mistake[] => {
          if (place.shared) return [];
          const path = pathOf(place);
          const nodes = /^(--nnodes)=(\d+)$/.exec(value);
          if (nodes !== null && (workload.kind === 'PyTorchJob' || workload.kind === 'Job'))
            return [Number(nodes[2]) + 1, Number(nodes[2]) - 1]
              .filter((count) => count > 1)
              .map((count) => ({
                name: `--nnodes=${count}`,
                steps: [set(path, `--nnodes=${count}`)],
                place: { path, part: 'value' },
              }));
          const next = all[index + 1];
          if (workload.kind !== 'MPIJob' || value !== '-np' || next === undefined || !/^\d+$/.test(next.value))
            return [];
          return [{ name: '-np 1000', steps: [set(pathOf(next.at), '1000')], place: { path, part: 'value' } }];
        }),
      ),
    ),
  );
}

function lineOf({ podSets }: Workload): string {
  const launcher = podSets.find(({ name }) => name === 'Launcher');
  const words = launcher?.containers.flatMap(({ command, args }) => [...command, ...args]) ?? [];
  return words.map(({ value }) => value).join(' ');
}
