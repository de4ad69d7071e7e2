import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { isServedKind } from '../../server/src/evidence/rejection.ts';
import { asText, getIn } from '../../server/src/yaml/cursor.ts';
import { manifestsOf, podSites } from './sites.ts';
import { add, type Mistake, type Path, type Planters, pathOf, put, putUnder, rename, set } from './steps.ts';

export const planters: Planters = {
  'disruption-budget-invalid': bothBounds,
  'hpa-metric-invalid': badTarget,
  'job-invalid': failedIndexes,
  'label-invalid': badLabel,
  'quota-invalid': badQuota,
  'quota-never-counted': uncounted,
  'restart-policy-invalid': badPolicy,
  'schedule-invalid': badSchedule,
  'update-strategy-invalid': badStrategy,
};

// What the API server rejects in controllers, autoscalers, quotas and other objects.

function badLabel(analysis: DocumentAnalysis): readonly Mistake[] {
  return analysis.manifests.filter(isServedKind).flatMap((manifest): readonly Mistake[] => {
    const metadata = [...pathOf(manifest.root), 'metadata'];
    if (getIn(manifest.root, 'metadata') === undefined) return [];
    return ['org/model-7b', 'two words', 'ends-', 'a'.repeat(64)].map((value) => ({
      name: `model: ${value}`,
      steps: [putUnder(metadata, 'labels', 'model', value)],
      place: { path: [...metadata, 'labels', 'model'], part: 'value' },
    }));
  });
}

function badPolicy(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ workload: { kind, apiVersion, partial }, pod }): readonly Mistake[] => {
    const wrong = apiVersion.startsWith('apps/')
      ? ['Never', 'OnFailure']
      : kind === 'Job' && apiVersion.startsWith('batch/v1')
        ? ['Always']
        : [];
    return partial
      ? []
      : wrong.map((value) => ({
          name: `restartPolicy ${value} in a ${kind}`,
          steps: put(pod, 'restartPolicy', value),
          place: { path: [...pod, 'restartPolicy'], part: 'value' },
        }));
  });
}

function failedIndexes(analysis: DocumentAnalysis): readonly Mistake[] {
  const jobs = [
    ...manifestsOf(analysis, 'Job').map(({ root, path }) => ({ root, spec: [...path, 'spec'] })),
    ...manifestsOf(analysis, 'CronJob').map(({ root, path }) => ({
      root,
      spec: [...path, 'spec', 'jobTemplate', 'spec'],
    })),
  ];
  return jobs
    .filter(({ root, spec }) => getIn(root, ...spec, 'backoffLimitPerIndex') === undefined)
    .filter(
      ({ root, spec }) => getIn(root, 'apiVersion') !== undefined && getIn(root, ...spec, 'template') !== undefined,
    )
    .filter(({ root }) => asText(getIn(root, 'apiVersion'))?.startsWith('batch/v') === true)
    .map(({ spec }) => ({
      name: 'maxFailedIndexes',
      steps: [add(spec, 'maxFailedIndexes', 2)],
      place: { path: [...spec, 'maxFailedIndexes'], part: 'key' },
    }));
}

function badSchedule(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'CronJob').flatMap(({ path }) =>
    ['0 0 2 * * *', '60 * * * *', '0 24 * * *', '* * 0 * *', '* * * 13 *', '@midday', 'TZ=UTC 0 2 * * *'].map((value) =>
      changed([...path, 'spec', 'schedule'], value),
    ),
  );
}

function changed(path: Path, value: string): Mistake {
  return { name: value, steps: [set(path, value)], place: { path, part: 'value' } };
}

function badStrategy(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'Deployment').map(({ path }) => {
    const spec = [...path, 'spec'];
    return {
      name: 'Recreate with rollingUpdate',
      steps: put(spec, 'strategy', { type: 'Recreate', rollingUpdate: { maxSurge: 1 } }),
      place: { path: [...spec, 'strategy', 'rollingUpdate'], part: 'key' },
    };
  });
}

function badTarget(analysis: DocumentAnalysis): readonly Mistake[] {
  const metric = { type: 'Pods', pods: { metric: { name: 'queue' }, target: { type: 'Value', value: 5 } } };
  return manifestsOf(analysis, 'HorizontalPodAutoscaler').map(({ path }) => ({
    name: 'a value for pods',
    steps: put([...path, 'spec'], 'metrics', [metric]),
    place: { path: [...path, 'spec', 'metrics', 0, 'pods', 'target', 'value'], part: 'key' },
  }));
}

function bothBounds(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'PodDisruptionBudget').map(({ path }) => ({
    name: 'both bounds',
    steps: put([...path, 'spec'], 'maxUnavailable', 1),
    place: { path: [...path, 'spec', 'maxUnavailable'], part: 'key' },
  }));
}

function badQuota(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'ResourceQuota').flatMap(({ path }) =>
    ['gpu', 'gpus', 'requests.gpu', 'vram'].map((key) => ({
      name: key,
      steps: put([...path, 'spec', 'hard'], key, 4),
      place: { path: [...path, 'spec', 'hard', key], part: 'key' as const },
    })),
  );
}

function uncounted(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'ResourceQuota').flatMap(({ root, path }) => {
    const counted = [...path, 'spec', 'hard', 'requests.nvidia.com/gpu'];
    if (getIn(root, ...counted) === undefined) return [];
    return ['nvidia.com/gpu', 'limits.nvidia.com/gpu'].map((key) => ({
      name: key,
      steps: [rename(counted, key)],
      place: { path: [...counted.slice(0, -1), key], part: 'key' as const },
    }));
  });
}
