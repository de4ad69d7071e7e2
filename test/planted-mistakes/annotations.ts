import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { asText, getIn } from '../../server/src/yaml/cursor.ts';
import { containerSites, isWhole, manifestsOf, type PodSite, podSites } from './sites.ts';
import { add, appendUnder, type Mistake, type Path, type Planters, put, putUnder, type Step } from './steps.ts';

export const planters: Planters = {
  'disruption-annotation': disruptionAnnotation,
  'fraction-annotations': fractionAnnotations,
  'label-as-annotation': labelAsAnnotation,
  'surge-both-zero': surgeBothZero,
  'trainjob-reserved-env': trainJobReservedEnv,
};

// Mistakes in annotations of pods and of what makes them, in rollouts, and in what trainers own.

function disruptionAnnotation(analysis: DocumentAnalysis): readonly Mistake[] {
  const old = podSites(analysis).flatMap((site) => annotated(site, 'karpenter.sh/do-not-evict', 'true', 'key'));
  const holders = new Set(containerSites(analysis).map(({ workload }) => workload.manifest));
  const kept = manifestsOf(analysis, ...keepsAnnotations)
    .filter(({ manifest }) => holders.has(manifest))
    .filter(() => !/do-not-disrupt|safe-to-evict/.test(analysis.text))
    .flatMap(({ path }) =>
      [
        ['karpenter.sh/do-not-disrupt', 'true'],
        ['cluster-autoscaler.kubernetes.io/safe-to-evict', 'false'],
      ].map(
        ([key = '', value = '']): Mistake => ({
          name: `${key} on the object`,
          steps: [putUnder([...path, 'metadata'], 'annotations', key, value)],
          place: { path: [...path, 'metadata', 'annotations', key], part: 'key' },
        }),
      ),
    );
  return [...old, ...kept];
}

function labelAsAnnotation(analysis: DocumentAnalysis): readonly Mistake[] {
  const key = 'kai.scheduler/queue';
  if (analysis.text.includes(key)) return [];
  return podSites(analysis).flatMap((site) => annotated(site, key, 'research', 'key'));
}

/** Kinds that do not copy their annotations to pods. */
const keepsAnnotations = [
  ...['Deployment', 'StatefulSet', 'Job', 'CronJob', 'JobSet', 'LeaderWorkerSet', 'PyTorchJob', 'MPIJob'],
  ...['RayCluster', 'RayJob', 'RayService'],
];

function fractionAnnotations(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap((site): readonly Mistake[] => {
    if (site.first.resource !== 'nvidia.com/gpu' || !isWhole(site.workload) || site.workload.byShape) return [];
    const scheduled = put(site.pod, 'schedulerName', 'kai-scheduler');
    return [
      ...annotated(site, 'gpu-fraction', '1.5', 'value'),
      ...annotated(site, 'gpu-fraction', '500m', 'value'),
      ...annotated(site, 'gpu-memory', '8Gi', 'value'),
      ...annotated(site, 'gpu-fraction', '0.5', 'key'),
    ].map((mistake) => ({ ...mistake, steps: [...mistake.steps, ...scheduled] }));
  });
}

function surgeBothZero(analysis: DocumentAnalysis): readonly Mistake[] {
  const holders = new Set(containerSites(analysis).map(({ workload }) => workload.manifest));
  return manifestsOf(analysis, 'Deployment')
    .filter(({ manifest }) => holders.has(manifest) && manifest.apiVersion.startsWith('apps/'))
    .flatMap(({ path }) =>
      [0, '0%'].map((zero): Mistake => {
        const spec = [...path, 'spec'];
        return {
          name: `maxUnavailable ${zero} and maxSurge 0`,
          steps: put(spec, 'strategy', { rollingUpdate: { maxSurge: 0, maxUnavailable: zero } }),
          place: { path: [...spec, 'strategy', 'rollingUpdate', 'maxUnavailable'], part: 'value' },
        };
      }),
    );
}

function trainJobReservedEnv(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'TrainJob').flatMap(({ root, path }): readonly Mistake[] => {
    const trainer = [...path, 'spec', 'trainer'];
    const runtime = asText(getIn(root, ...path, 'spec', 'runtimeRef', 'name')) ?? '';
    if (!/torch/.test(runtime) || getIn(root, ...trainer) === undefined) return [];
    const index = getIn(root, ...trainer, 'env')?.node;
    const item = index?.kind === 'seq' ? index.items.length : 0;
    return ['PET_NNODES', 'PET_NODE_RANK', 'PET_MASTER_ADDR'].map((name) => ({
      name,
      steps: [appendUnder(trainer, 'env', { name, value: '2' })],
      place: { path: [...trainer, 'env', item, 'name'], part: 'value' },
    }));
  });
}

/** An annotation of the pods themselves. */
function annotated({ root, pod }: PodSite, key: string, value: string, part: 'key' | 'value'): readonly Mistake[] {
  // Kinds that write pods in words of their own have their annotations elsewhere.
  if (pod.at(-1) !== 'spec' || getIn(root, ...pod, 'containers') === undefined) return [];
  const template: Path = pod.slice(0, -1);
  const path = [...template, 'metadata', 'annotations', key];
  const step: Step =
    getIn(root, ...template, 'metadata') === undefined
      ? add(template, 'metadata', { annotations: { [key]: value } })
      : putUnder([...template, 'metadata'], 'annotations', key, value);
  return [{ name: `${key}: ${value}`, steps: [step], place: { path, part } }];
}
