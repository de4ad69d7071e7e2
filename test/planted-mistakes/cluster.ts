import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { containerSites, podSites } from './sites.ts';
import { appendUnder, type Mistake, type Planters } from './steps.ts';

export const planters: Planters = {
  'kubernetes-version': kubernetesVersion,
  'mig-strategy-mismatch': migStrategy,
};

// What is a mistake on the project's cluster alone.

/** Slices asked for by name, on nodes that do not offer them so. */
function migStrategy(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ request, workload }) => request.form === 'mig' && workload.role !== 'definition')
    .flatMap(({ resources, resource }) =>
      ['single', 'none'].map((strategy) => ({
        name: `the strategy ${strategy}`,
        steps: [],
        place: { path: [...resources, 'limits', resource], part: 'key' } as const,
        config: `migStrategy: ${strategy}`,
      })),
    );
}

/** Operators of tolerations that are younger than the cluster. */
function kubernetesVersion(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ pod, podSet }) =>
    ['Lt', 'Gt'].map((operator) => ({
      name: `the operator ${operator}`,
      steps: [
        appendUnder(pod, 'tolerations', { key: 'example.org/memory', operator, value: '40', effect: 'NoSchedule' }),
      ],
      place: { path: [...pod, 'tolerations', podSet.tolerations.length, 'operator'], part: 'value' } as const,
      config: 'kubernetesVersion: "1.34"',
    })),
  );
}
