import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { asNumber, asText, entries, getIn, items, keyOf } from '../../server/src/yaml/cursor.ts';
import { containerSites, isWhole, manifestsOf } from './sites.ts';
import {
  add,
  drop,
  type Mistake,
  type Path,
  type Planters,
  put,
  putUnder,
  rename,
  type Step,
  set,
  write,
} from './steps.ts';

export const planters: Planters = {
  'autoscaling-annotation': autoscalingAnnotation,
  'container-name': containerName,
  'floor-over-ceiling': floorOverCeiling,
  'keda-idle-replicas': kedaIdleReplicas,
  'lws-restart-policy': lwsRestartPolicy,
  'min-available': minAvailable,
  'ray-autoscaling-off': rayAutoscalingOff,
  'rayjob-left-running': rayJobLeftRunning,
  'scale-to-zero-candidate': scaleToZeroCandidate,
  'scale-to-zero-ineffective': scaleToZeroIneffective,
  'workers-left-running': workersLeftRunning,
  'yaml-syntax': yamlSyntax,
};

// Mistakes in scalers, gangs, Ray clusters and training jobs.

const knative = 'autoscaling.knative.dev/';

function autoscalingAnnotation(analysis: DocumentAnalysis): readonly Mistake[] {
  const services = manifestsOf(analysis, 'Service').filter(({ manifest }) => /knative/.test(manifest.apiVersion));
  // Without Knative, none of its annotations has an effect.
  const inferences = manifestsOf(analysis, 'InferenceService').filter(
    ({ manifest }) => !manifest.annotations.some(({ value }) => /^(?:Standard|RawDeployment)$/.test(value)),
  );
  const places = [
    ...services.map(({ path }) => [...path, 'spec', 'template', 'metadata']),
    ...inferences.map(({ path }) => [...path, 'metadata']),
  ];
  const inPlace = places.flatMap((metadata): readonly Mistake[] => {
    const where = (name: string): Path => [...metadata, 'annotations', `${knative}${name}`];
    const annotate = (name: string, value: string) => putUnder(metadata, 'annotations', `${knative}${name}`, value);
    return [
      {
        name: 'a number without quotes',
        steps: [annotate('max-scale', '3'), write(where('max-scale'), '3')],
        place: { path: where('max-scale'), part: 'value' },
      },
      ...['minReplicas', 'min_scale', 'minscale', 'maxReplicas'].map(
        (near): Mistake => ({
          name: `a key that is near: ${near}`,
          steps: [annotate(near, '0')],
          place: { path: where(near), part: 'key' },
        }),
      ),
      {
        name: 'a floor over the ceiling',
        steps: [annotate('min-scale', '6'), annotate('max-scale', '2')],
        place: { path: where('min-scale'), part: 'value' },
      },
    ];
  });
  const levels = services.map(
    ({ path }): Mistake => ({
      name: 'on the Service',
      steps: [putUnder([...path, 'metadata'], 'annotations', `${knative}window`, '60s')],
      place: { path: [...path, 'metadata', 'annotations', `${knative}window`], part: 'key' },
    }),
  );
  return [...inPlace, ...levels];
}

function kedaIdleReplicas(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'ScaledObject').flatMap(({ path }): readonly Mistake[] => {
    const spec = [...path, 'spec'];
    const place = { path: [...spec, 'idleReplicaCount'], part: 'value' } as const;
    return [
      { name: 'idle 1', steps: put(spec, 'idleReplicaCount', 1), place },
      {
        name: 'idle 0 of a floor of 0',
        steps: [...put(spec, 'idleReplicaCount', 0), ...put(spec, 'minReplicaCount', 0)],
        place,
      },
    ];
  });
}

function floorOverCeiling(analysis: DocumentAnalysis): readonly Mistake[] {
  const bounded = (path: Path, min: string, max: string): Mistake => ({
    name: `${min} over ${max}`,
    steps: [...put(path, min, 9), ...put(path, max, 3)],
    place: { path: [...path, min], part: 'value' },
  });
  return [
    ...manifestsOf(analysis, 'InferenceService').flatMap(({ root, path }) =>
      getIn(root, ...path, 'spec', 'predictor') === undefined
        ? []
        : [bounded([...path, 'spec', 'predictor'], 'minReplicas', 'maxReplicas')],
    ),
    ...manifestsOf(analysis, 'HorizontalPodAutoscaler').map(({ path }) =>
      bounded([...path, 'spec'], 'minReplicas', 'maxReplicas'),
    ),
    ...manifestsOf(analysis, 'ScaledObject').map(({ path }) =>
      bounded([...path, 'spec'], 'minReplicaCount', 'maxReplicaCount'),
    ),
    ...manifestsOf(analysis, 'PyTorchJob')
      .filter(({ root, path }) => getIn(root, ...path, 'spec', 'elasticPolicy') !== undefined)
      .map(({ path }) => bounded([...path, 'spec', 'elasticPolicy'], 'minReplicas', 'maxReplicas')),
    ...rayGroups(analysis).map(({ group }) => bounded(group, 'minReplicas', 'maxReplicas')),
  ];
}

function lwsRestartPolicy(analysis: DocumentAnalysis): readonly Mistake[] {
  const held = new Set(containerSites(analysis).map(({ workload }) => workload.manifest));
  return manifestsOf(analysis, 'LeaderWorkerSet').flatMap(({ manifest, root, path }) => {
    const template = [...path, 'spec', 'leaderWorkerTemplate'];
    if (!held.has(manifest) || (asNumber(getIn(root, ...template, 'size')) ?? 1) < 2) return [];
    return ['None', 'Default'].map(
      (policy): Mistake => ({
        name: `restartPolicy ${policy}`,
        steps: put(template, 'restartPolicy', policy),
        place: { path: [...template, 'restartPolicy'], part: 'value' },
      }),
    );
  });
}

function minAvailable(analysis: DocumentAnalysis): readonly Mistake[] {
  const jobs = manifestsOf(analysis, 'Job').filter(({ manifest }) => /volcano/.test(manifest.apiVersion));
  return jobs.flatMap(({ root, path }) => {
    const spec = [...path, 'spec'];
    const tasks = items(getIn(root, ...spec, 'tasks'));
    const most = tasks.reduce((sum, task) => sum + (asNumber(getIn(task, 'replicas')) ?? 1), 0);
    const owners = [{ owner: spec, pods: most }].concat(
      tasks.map((task, index) => ({ owner: [...spec, 'tasks', index], pods: asNumber(getIn(task, 'replicas')) ?? 1 })),
    );
    const place = { path: [...spec, 'minAvailable'], part: 'value' } as const;
    const whole = tasks.every(
      (task) => getIn(task, 'minAvailable') === undefined && getIn(task, 'dependsOn') === undefined,
    );
    const holds = analysis.workloads.every(({ podSets }) => podSets.every((one) => one.accelerators.length > 0));
    const partial: readonly Mistake[] =
      most < 2 || !whole || !holds
        ? []
        : [
            {
              name: `minAvailable ${most - 1} of ${most} that torch needs`,
              steps: [...put(spec, 'plugins', { pytorch: ['--port=23456'] }), ...put(spec, 'minAvailable', most - 1)],
              place,
            },
          ];
    const over = owners.map(
      ({ owner, pods }): Mistake => ({
        name: `minAvailable ${pods + 1} of ${pods}`,
        steps: put(owner, 'minAvailable', pods + 1),
        place: { path: [...owner, 'minAvailable'], part: 'value' },
      }),
    );
    return [...over, ...partial];
  });
}

function rayAutoscalingOff(analysis: DocumentAnalysis): readonly Mistake[] {
  return rayGroups(analysis).flatMap(({ cluster, group, holds, scaled, queued }): readonly Mistake[] => {
    // Kueue refuses the autoscaler.
    if (!holds || queued) return [];
    const place = { path: [...group, 'minReplicas'], part: 'key' } as const;
    const off = scaled ? [drop([...cluster, 'enableInTreeAutoscaling'])] : [];
    const bounds = (replicas: number) => [
      ...put(group, 'replicas', replicas),
      ...put(group, 'minReplicas', 1),
      ...put(group, 'maxReplicas', 4),
    ];
    return [
      { name: 'between its bounds', steps: [...off, ...bounds(2)], place },
      { name: 'at its floor', steps: [...off, ...bounds(1)], place },
    ];
  });
}

function rayJobLeftRunning(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'RayJob').flatMap(({ manifest, root, path }): readonly Mistake[] => {
    const spec = [...path, 'spec'];
    const key = 'shutdownAfterJobFinishes';
    const whole = analysis.workloads.some((one) => one.manifest === manifest && isWhole(one));
    const holds = containerSites(analysis).some(({ workload }) => workload.manifest === manifest);
    if (!whole || !holds || getIn(root, ...spec, key) === undefined) return [];
    // ray-invalid reports a time to live of such a cluster.
    const stays = put(spec, 'ttlSecondsAfterFinished', 0);
    return [
      { name: 'false', steps: [...stays, set([...spec, key], false)], place: { path: [...spec, key], part: 'value' } },
      { name: 'not set', steps: [...stays, drop([...spec, key])], place: { path: spec, part: 'key' } },
    ];
  });
}

function workersLeftRunning(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'MPIJob').flatMap(({ manifest, root, path }): readonly Mistake[] => {
    const place = [...path, 'spec', 'runPolicy', 'cleanPodPolicy'];
    const whole = analysis.workloads.some((one) => one.manifest === manifest && isWhole(one));
    const holds = containerSites(analysis).some(
      ({ workload, podSet }) => workload.manifest === manifest && podSet.name === 'Worker',
    );
    if (!whole || !holds || getIn(root, ...place) === undefined) return [];
    if (getIn(root, ...path, 'spec', 'runPolicy', 'ttlSecondsAfterFinished') !== undefined) return [];
    return [{ name: 'None', steps: [set(place, 'None')], place: { path: place, part: 'value' } }];
  });
}

function scaleToZeroCandidate(analysis: DocumentAnalysis): readonly Mistake[] {
  return predictors(analysis)
    .filter(({ mechanism }) => mechanism !== 'hpa' && mechanism !== 'none')
    .flatMap(({ predictor, set: written }): readonly Mistake[] => [
      {
        name: 'a floor of 1',
        steps: put(predictor, 'minReplicas', 1),
        place: { path: [...predictor, 'minReplicas'], part: 'key' },
      },
      ...(written
        ? [
            {
              name: 'no floor',
              steps: [drop([...predictor, 'minReplicas'])],
              place: { path: predictor, part: 'key' as const },
            },
          ]
        : []),
    ]);
}

function scaleToZeroIneffective(analysis: DocumentAnalysis): readonly Mistake[] {
  return predictors(analysis).flatMap(({ predictor, metadata, mechanism, root }): readonly Mistake[] => {
    const mode = 'serving.kserve.io/deploymentMode';
    const scaler = 'serving.kserve.io/autoscalerClass';
    const floor = put(predictor, 'minReplicas', 0);
    const place = { path: [...predictor, 'minReplicas'], part: 'key' } as const;
    if (mechanism === 'hpa') return [{ name: 'minReplicas 0 with an HPA', steps: floor, place }];
    const scaled = getIn(root, ...metadata, 'annotations', scaler) !== undefined;
    const knativeOnly = entries(getIn(root, ...metadata, 'annotations')).some((one) => keyOf(one).startsWith(knative));
    if (knativeOnly || (mechanism !== 'keda' && scaled)) return [];
    const standard: readonly Step[] = scaled
      ? [drop([...metadata, 'annotations', scaler])]
      : [putUnder(metadata, 'annotations', mode, 'RawDeployment')];
    return [{ name: 'minReplicas 0 and no KEDA', steps: [...standard, ...floor], place }];
  });
}

function containerName(analysis: DocumentAnalysis): readonly Mistake[] {
  const kinds = ['PyTorchJob', 'TFJob', 'JAXJob', 'PaddleJob', 'XGBoostJob'];
  return containerSites(analysis).flatMap(({ workload, podSet, container, path }) => {
    const only = podSet.containers.filter(({ type }) => type === 'app').length === 1;
    const ours = kinds.includes(workload.kind) && workload.apiVersion.startsWith('kubeflow.org/');
    if (!only || !ours || !isWhole(workload) || asText(getIn(container.at, 'name')) === undefined) return [];
    return ['trainer', 'main'].map(
      (name): Mistake => ({
        name: `called ${name}`,
        steps: [set([...path, 'name'], name)],
        place: { path: [...path, 'name'], part: 'value' },
      }),
    );
  });
}

function yamlSyntax(analysis: DocumentAnalysis): readonly Mistake[] {
  // A template may be anything; what says nothing of accelerators is not read at all.
  if (analysis.document.template || !/gpu/i.test(analysis.text)) return [];
  return analysis.manifests.slice(0, 1).flatMap(({ root }): readonly Mistake[] => {
    const flow = root.node.kind === 'map' && root.node.flow;
    if (root.parent !== undefined || getIn(root, 'metadata', 'name') === undefined) return [];
    const name = ['metadata', 'name'];
    const twice: Mistake = {
      name: 'a key that is set twice',
      steps: [add([], 'zzz', 'Pod'), rename(['zzz'], 'kind2'), respell('kind2', 'kind')],
      place: { path: ['kind'], part: 'line' },
    };
    // What cannot be read has no paths: the place is looked up before.
    return flow
      ? [twice]
      : [
          twice,
          { name: 'a quote that is not closed', steps: [write(name, '"open')], place: { path: name, part: 'line' } },
        ];
  });
}

interface RayGroup {
  readonly cluster: Path;
  readonly group: Path;
  readonly holds: boolean;
  readonly scaled: boolean;
  readonly queued: boolean;
}

function rayGroups(analysis: DocumentAnalysis): readonly RayGroup[] {
  const specs: Readonly<Record<string, Path>> = {
    RayCluster: ['spec'],
    RayJob: ['spec', 'rayClusterSpec'],
    RayService: ['spec', 'rayClusterConfig'],
  };
  return manifestsOf(analysis, ...Object.keys(specs)).flatMap(({ manifest, root, path }) => {
    const cluster = [...path, ...(specs[manifest.kind] ?? [])];
    return items(getIn(root, ...cluster, 'workerGroupSpecs')).map((_, index) => {
      const group = [...cluster, 'workerGroupSpecs', index];
      return {
        cluster,
        group,
        holds: containerSites(analysis).some((site) => group.every((step, depth) => site.path[depth] === step)),
        queued: getIn(root, ...path, 'metadata', 'labels', 'kueue.x-k8s.io/queue-name') !== undefined,
        scaled: getIn(root, ...cluster, 'enableInTreeAutoscaling') !== undefined,
      };
    });
  });
}

function predictors(analysis: DocumentAnalysis) {
  return manifestsOf(analysis, 'InferenceService').flatMap(({ manifest, root, path }) => {
    const workload = analysis.workloads.find((one) => one.manifest === manifest);
    const predictor = [...path, 'spec', 'predictor'];
    const holds = containerSites(analysis).some((site) => site.workload === workload);
    if (workload?.scaling == null || !holds || !isWhole(workload)) return [];
    const { mechanism } = workload.scaling;
    const written = getIn(root, ...predictor, 'minReplicas') !== undefined;
    return [{ root, predictor, metadata: [...path, 'metadata'], mechanism, set: written }];
  });
}

/** Writes a key that no edit would write: one that its mapping has already. */
function respell(from: string, to: string): Step {
  return ({ text, root }) => {
    const entry = root?.kind === 'map' ? root.entries.find(({ key }) => key === from) : undefined;
    if (entry === undefined) return undefined;
    const { start, end } = entry.keySpan;
    return [{ span: entry.keySpan, newText: text.slice(start, end).replace(from, to) }];
  };
}
