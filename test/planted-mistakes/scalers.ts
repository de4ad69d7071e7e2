import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { asText, getIn, items } from '../../server/src/yaml/cursor.ts';
import { containerSites, manifestsOf, podSites } from './sites.ts';
import { add, appendUnder, drop, type Mistake, type Planters, pathOf, put, rename } from './steps.ts';

export const planters: Planters = {
  'keda-field-name': kedaFieldName,
  'keda-invalid': triggerWithoutThreshold,
  'keda-query': kedaQuery,
  'keda-trigger-zero': kedaTriggerZero,
  'hpa-min-zero': hpaMinZero,
  'rollout-surge': rolloutSurge,
  'ray-head-gpu': rayHeadGpu,
  'ray-invalid': rayWithoutShutdown,
  'launcher-gpu': launcherGpu,
};

// Mistakes in scalers, in rollouts, and in pods that only start others.

function kedaFieldName(analysis: DocumentAnalysis): readonly Mistake[] {
  const names = { minReplicaCount: 'minReplicas', maxReplicaCount: 'maxReplicas', cooldownPeriod: 'cooldownSeconds' };
  return manifestsOf(analysis, 'ScaledObject').flatMap(({ root, path }) =>
    Object.entries(names)
      .filter(([name]) => getIn(root, ...path, 'spec', name) !== undefined)
      .map(
        ([name, wrong]): Mistake => ({
          name: `${wrong} for ${name}`,
          steps: [rename([...path, 'spec', name], wrong)],
          place: { path: [...path, 'spec', wrong], part: 'key' },
        }),
      ),
  );
}

function triggerWithoutThreshold(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'ScaledObject').flatMap(({ root, path }) => {
    const triggers = getIn(root, ...path, 'spec', 'triggers');
    return items(triggers).flatMap((trigger, index): readonly Mistake[] => {
      const metadata = [...path, 'spec', 'triggers', index, 'metadata'];
      if (asText(getIn(trigger, 'type')) !== 'prometheus' || getIn(root, ...metadata, 'threshold') === undefined)
        return [];
      return [
        {
          name: 'no threshold',
          steps: [drop([...metadata, 'threshold'])],
          place: { path: metadata, part: 'key' },
        },
      ];
    });
  });
}

function kedaQuery(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'ScaledObject').flatMap(({ path }) =>
    ['vllm:num_requests_waiting', 'avg(vllm:num_requests_waiting)'].map((query): Mistake => {
      const spec = [...path, 'spec'];
      const trigger = {
        type: 'prometheus',
        metadata: { serverAddress: 'http://prometheus:9090', query, threshold: '5' },
      };
      const steps = [...put(spec, 'maxReplicaCount', 8), ...put(spec, 'triggers', [trigger])];
      return { name: query, steps, place: { path: [...spec, 'triggers', 0, 'metadata', 'query'], part: 'value' } };
    }),
  );
}

function rayWithoutShutdown(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'RayJob').map(({ path }) => ({
    name: 'a time to live of a cluster that stays',
    steps: [
      ...put([...path, 'spec'], 'shutdownAfterJobFinishes', false),
      ...put([...path, 'spec'], 'ttlSecondsAfterFinished', 600),
    ],
    place: { path: [...path, 'spec', 'ttlSecondsAfterFinished'], part: 'key' },
  }));
}

function kedaTriggerZero(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'ScaledObject')
    .filter(({ root, path }) => getIn(root, ...path, 'spec', 'idleReplicaCount') === undefined)
    .flatMap(({ path }): readonly Mistake[] => {
      const spec = [...path, 'spec'];
      const trigger = { type: 'cpu', metricType: 'Utilization', metadata: { value: '60' } };
      const cpu = put(spec, 'triggers', [trigger]);
      return [
        {
          name: 'CPU alone and a floor of 0',
          steps: [...cpu, ...put(spec, 'minReplicaCount', 0)],
          place: { path: [...spec, 'minReplicaCount'], part: 'value' },
        },
      ];
    });
}

function hpaMinZero(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'HorizontalPodAutoscaler').map(({ path }) => ({
    name: 'a floor of 0',
    steps: put([...path, 'spec'], 'minReplicas', 0),
    place: { path: [...path, 'spec', 'minReplicas'], part: 'value' },
  }));
}

function rolloutSurge(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ workload, root, first: { request }, podSet }): readonly Mistake[] => {
    const spec = ['spec'];
    if (workload.kind !== 'Deployment' || workload.partial || getIn(root, 'spec', 'replicas') === undefined) return [];
    const [accelerator] = podSet.accelerators;
    if (request.form !== 'whole' || accelerator?.devices !== accelerator?.perPod) return [];
    return [
      {
        name: 'maxSurge 8',
        steps: [
          ...put(spec, 'replicas', 8),
          ...put(spec, 'strategy', { rollingUpdate: { maxSurge: 8, maxUnavailable: 0 } }),
        ],
        place: { path: [...spec, 'strategy', 'rollingUpdate', 'maxSurge'], part: 'value' },
      },
    ];
  });
}

function rayHeadGpu(analysis: DocumentAnalysis): readonly Mistake[] {
  return analysis.workloads
    .filter(({ apiVersion }) => apiVersion.startsWith('ray.io/'))
    .flatMap(({ podSets, manifest }): readonly Mistake[] => {
      const worker = containerSites(analysis).find(
        ({ workload, podSet }) => workload.manifest === manifest && podSet.name !== 'head' && podSet.pods.max !== 0,
      );
      const head = podSets.find(({ name }) => name === 'head')?.containers[0];
      if (worker === undefined || head === undefined || head.accelerators.length > 0) return [];
      const limits = [...pathOf(head.at), 'resources', 'limits'];
      if (getIn(head.at, 'resources', 'limits') === undefined) return [];
      return [
        {
          name: 'a device on the head',
          steps: [add(limits, worker.resource, 1)],
          place: { path: [...limits, worker.resource], part: 'key' },
        },
      ];
    });
}

function launcherGpu(analysis: DocumentAnalysis): readonly Mistake[] {
  const inLaunchers = analysis.workloads
    .filter(({ kind }) => kind === 'MPIJob')
    .flatMap(({ podSets, manifest }): readonly Mistake[] => {
      const worker = containerSites(analysis).find(
        ({ workload, podSet }) => workload.manifest === manifest && podSet.name === 'Worker',
      );
      const launcher = podSets.find(({ name }) => name === 'Launcher')?.containers[0];
      const alsoWorks = getIn(manifest.root, 'spec', 'runLauncherAsWorker') !== undefined;
      if (worker === undefined || launcher === undefined || alsoWorks || launcher.accelerators.length > 0) return [];
      const path = pathOf(launcher.at);
      const limits = [...path, 'resources', 'limits'];
      const steps =
        getIn(launcher.at, 'resources', 'limits') === undefined
          ? put(path, 'resources', { limits: { [worker.resource]: 1 } })
          : [add(limits, worker.resource, 1)];
      return [{ name: 'a launcher', steps, place: { path: [...limits, worker.resource], part: 'key' } }];
    });
  const inInit = podSites(analysis).flatMap(({ root, pod, first, workload, podSet }): readonly Mistake[] => {
    const { resource, resources, requested } = first;
    const alone = podSet.containers.length === 1 && !requested && !workload.partial && first.listed;
    if (!alone || getIn(root, ...pod, 'initContainers') !== undefined) return [];
    const command = ['sh', '-c', 'mkdir -p /tmp/models && wget -O /tmp/models/a https://models.example/a'];
    const init = {
      name: 'fetch',
      image: 'registry.example/tools:1',
      command,
      resources: { limits: { [resource]: first.count } },
    };
    const place = { path: [...pod, 'initContainers', 0, 'resources', 'limits', resource], part: 'key' } as const;
    return [
      {
        name: 'an init container that downloads',
        steps: [appendUnder(pod, 'initContainers', init), drop([...resources, 'limits', resource])],
        place,
      },
    ];
  });
  return [...inLaunchers, ...inInit];
}
