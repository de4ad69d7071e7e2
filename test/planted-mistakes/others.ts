import type { DocumentAnalysis, FileAnalysis } from '../../server/src/analysis.ts';
import type { Manifest, Workload } from '../../server/src/model/workload.ts';
import { asText, entries, getIn, items, keyOf } from '../../server/src/yaml/cursor.ts';
import { containerSites, isWhole, manifestsOf, podSites } from './sites.ts';
import { add, appendUnder, drop, type Mistake, type Path, type Planters, put, putUnder } from './steps.ts';

export const planters: Planters = {
  'cpu-metric-for-gpu': cpuMetric,
  'queue-coverage': queueCoverage,
  'reference-not-found': slipInName,
  'scale-to-zero-candidate': scaledObjectAtOne,
  'scale-to-zero-ineffective': scaledObjectBesideHpa,
  'toleration-missing': poolNotTolerated,
};

// Mistakes that only show beside another object of the file.

/** Only the CPU, where something else was watched. */
function cpuMetric(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  const scalers = manifestsOf(analysis, 'HorizontalPodAutoscaler', 'ScaledObject');
  const services = analysis.workloads.flatMap((workload): readonly Mistake[] => {
    const { scaling } = workload;
    if (workload.kind !== 'InferenceService' || workload.partial || scaling?.mechanism !== 'hpa') return [];
    if (scaling.mechanismFrom !== 'annotation' || !servesOnGpus(workload)) return [];
    const owner = [...pathTo(workload), 'spec', 'predictor'];
    const named = ['scaleMetric', 'autoScaling'].filter((key) => getIn(scaling.owner, key) !== undefined);
    const bounds = [...put(owner, 'minReplicas', 1), ...put(owner, 'maxReplicas', 5)];
    const steps = [...named.map((key) => drop([...owner, key])), ...bounds];
    return [{ name: 'no metric named', steps, place: { path: [...owner, 'maxReplicas'], part: 'key' } }];
  });
  const apart = scalers.flatMap(({ manifest, path }): readonly Mistake[] => {
    if (!servesOnGpus(targetOf(manifest, file))) return [];
    const spec = [...path, 'spec'];
    if (manifest.kind === 'ScaledObject') {
      const trigger = { type: 'cpu', metricType: 'Utilization', metadata: { value: '80' } };
      return [
        {
          name: 'a CPU trigger alone',
          steps: [...put(spec, 'triggers', [trigger]), ...put(spec, 'minReplicaCount', 1)],
          place: { path: [...spec, 'triggers', 0, 'type'], part: 'value' },
        },
      ];
    }
    const target = { type: 'Utilization', averageUtilization: 80 };
    return [
      {
        name: 'a CPU metric alone',
        steps: put(spec, 'metrics', [{ type: 'Resource', resource: { name: 'cpu', target } }]),
        place: { path: [...spec, 'metrics', 0, 'resource', 'name'], part: 'value' },
      },
    ];
  });
  return [...services, ...apart];
}

/** A slip of the keys in the name of what is scaled. */
function slipInName(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'HorizontalPodAutoscaler', 'ScaledObject').flatMap(({ manifest, path }) => {
    const target = targetOf(manifest, file);
    if (target?.name == null || target.name.length < 5 || target.namespace !== manifest.namespace) return [];
    const place = [...path, 'spec', 'scaleTargetRef', 'name'];
    const wrong = `${target.name.slice(0, 2)}x${target.name.slice(2)}`;
    return [
      {
        name: 'a letter too many',
        steps: put([...path, 'spec', 'scaleTargetRef'], 'name', wrong),
        place: { path: place, part: 'value' },
      },
    ];
  });
}

/** Workloads in a queue without a quota for what they ask, and flavors that list too little. */
function queueCoverage(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  const locals = manifestsIn(file, 'LocalQueue');
  const queues = manifestsIn(file, 'ClusterQueue');
  const queued = analysis.workloads.flatMap((workload): readonly Mistake[] => {
    if (!isWhole(workload)) return [];
    const site = containerSites(analysis).find((one) => one.workload === workload);
    const bare = locals.find(({ namespace, root }) => {
      const queue = queues.find(({ name }) => name === asText(getIn(root, 'spec', 'clusterQueue')));
      const groups = items(getIn(queue?.root, 'spec', 'resourceGroups'));
      const covered = groups.flatMap((group) => items(getIn(group, 'coveredResources')).map(asText));
      return namespace === workload.namespace && queue !== undefined && !covered.includes(site?.resource);
    });
    if (site === undefined || bare?.name == null) return [];
    const metadata = [...pathTo(workload), 'metadata'];
    const label = 'kueue.x-k8s.io/queue-name';
    return [
      {
        name: 'in a queue without GPUs',
        steps: [putUnder(metadata, 'labels', label, bare.name)],
        place: { path: [...metadata, 'labels', label], part: 'value' },
      },
    ];
  });
  const flavors = manifestsOf(analysis, 'ClusterQueue').flatMap(({ manifest, path }) =>
    items(getIn(manifest.root, 'spec', 'resourceGroups')).flatMap((group, index): readonly Mistake[] => {
      const where = [...path, 'spec', 'resourceGroups', index];
      if (items(getIn(group, 'flavors')).length === 0) return [];
      return [
        {
          name: 'a resource that the flavors do not list',
          steps: [appendUnder(where, 'coveredResources', 'ephemeral-storage')],
          place: { path: [...where, 'flavors', 0, 'name'], part: 'value' },
        },
      ];
    }),
  );
  return [...queued, ...flavors];
}

/** One replica of a server that KEDA could let go. */
function scaledObjectAtOne(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'ScaledObject').flatMap(({ manifest, path }): readonly Mistake[] => {
    if (!servesOnGpus(targetOf(manifest, file)) || !wakes(manifest)) return [];
    const spec = [...path, 'spec'];
    const idle =
      getIn(manifest.root, 'spec', 'idleReplicaCount') === undefined ? [] : [drop([...spec, 'idleReplicaCount'])];
    const place = { path: [...spec, 'minReplicaCount'], part: 'key' } as const;
    return [{ name: 'a floor of one', steps: [...idle, ...put(spec, 'minReplicaCount', 1)], place }];
  });
}

/** The target of a ScaledObject becomes that of an HPA. */
function scaledObjectBesideHpa(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  const scalers = manifestsIn(file, 'HorizontalPodAutoscaler');
  return manifestsOf(analysis, 'ScaledObject').flatMap(({ manifest, path }): readonly Mistake[] => {
    const other = scalers.find(
      (scaler) => scaler.namespace === manifest.namespace && servesOnGpus(targetOf(scaler, file)) && wakes(manifest),
    );
    const name = asText(getIn(other?.root, 'spec', 'scaleTargetRef', 'name'));
    const kind = asText(getIn(other?.root, 'spec', 'scaleTargetRef', 'kind'));
    if (name === undefined || kind === undefined) return [];
    const spec = [...path, 'spec'];
    const idle =
      getIn(manifest.root, 'spec', 'idleReplicaCount') === undefined ? [] : [drop([...spec, 'idleReplicaCount'])];
    return [
      {
        name: 'the target of an HPA',
        steps: [...idle, ...put(spec, 'minReplicaCount', 0), ...put(spec, 'scaleTargetRef', { kind, name })],
        place: { path: [...spec, 'minReplicaCount'], part: 'key' },
      },
    ];
  });
}

/** A pod is sent to a pool whose taint it does not tolerate. */
function poolNotTolerated(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  const pool = manifestsIn(file, 'NodePool').find(({ root }) => {
    const [taint, ...more] = items(getIn(root, 'spec', 'template', 'spec', 'taints'));
    return (
      taint !== undefined && more.length === 0 && !/^(?:nvidia|amd)\.com\/gpu$/.test(asText(getIn(taint, 'key')) ?? '')
    );
  });
  if (pool?.name == null) return [];
  const name = pool.name;
  return podSites(analysis).flatMap(({ pod, podSet, workload, first }): readonly Mistake[] => {
    const labels = [...podSet.labels, ...workload.manifest.labels];
    if (labels.some(({ at: label }) => keyOf(label).includes('kueue'))) return [];
    if (!isWhole(workload) || first.resource !== 'nvidia.com/gpu' || podSet.selectors.length > 0) return [];
    if (podSet.placement.provider !== null && podSet.placement.provider !== 'aws') return [];
    const sent = [add(pod, 'nodeSelector', { 'karpenter.sh/nodepool': name })];
    const steps = podSet.tolerations.length === 0 ? sent : [...sent, drop([...pod, 'tolerations'])];
    const place = { path: [...first.resources, 'limits', first.resource], part: 'key' } as const;
    const has = entries(podSet.pod).some(
      (entry) => keyOf(entry) === 'nodeSelector' || keyOf(entry) === 'runtimeClassName',
    );
    return has ? [] : [{ name: 'a pool whose taint is not tolerated', steps, place }];
  });
}

function manifestsIn({ documents }: FileAnalysis, kind: string): readonly Manifest[] {
  return documents.flatMap(({ manifests }) => manifests.filter((manifest) => manifest.kind === kind));
}

function targetOf({ root, namespace }: Manifest, { documents }: FileAnalysis): Workload | undefined {
  const target = getIn(root, 'spec', 'scaleTargetRef');
  const kind = asText(getIn(target, 'kind')) ?? 'Deployment';
  return documents
    .flatMap(({ workloads }) => workloads)
    .find((one) => one.kind === kind && one.namespace === namespace && one.name === asText(getIn(target, 'name')));
}

function servesOnGpus(workload: Workload | undefined): boolean {
  if (workload === undefined || workload.partial || workload.role !== 'serving') return false;
  return workload.podSets.some(({ accelerators }) => accelerators.some(({ perPod }) => perPod !== 0));
}

/** It sees more than the CPU. */
function wakes({ root }: Manifest): boolean {
  const types = items(getIn(root, 'spec', 'triggers')).map((trigger) => asText(getIn(trigger, 'type')));
  return types.some((type) => type !== 'cpu' && type !== 'memory');
}

function pathTo({ manifest }: Workload): Path {
  const path: (string | number)[] = [];
  for (let here = manifest.root; here.parent !== undefined && here.step !== undefined; here = here.parent) {
    path.unshift(here.step);
  }
  return path;
}
