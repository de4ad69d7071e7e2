import type { DocumentAnalysis, FileAnalysis } from '../../server/src/analysis.ts';
import { gpuProgram } from '../../server/src/evidence/gpu-programs.ts';
import { modelDirectory } from '../../server/src/evidence/model-volume.ts';
import { modelLoader } from '../../server/src/evidence/server-start.ts';
import { defaultModelOptions } from '../../server/src/model/options.ts';
import { asText, getIn, isTemplated, items } from '../../server/src/yaml/cursor.ts';
import { containerSites, isWhole, manifestsOf, podSites, usesOneDevice } from './sites.ts';
import { add, drop, type Mistake, type Planters, pathOf, put, putUnder, set } from './steps.ts';

export const planters: Planters = {
  'backend-port': backendPort,
  'client-address': clientAddress,
  'policy-port': policyPort,
  'rendezvous-port': rendezvousPort,
  'gpu-without-request': gpuWithoutRequest,
  'hpa-metric-unknown': hpaMetricUnknown,
  'limitrange-exceeded': limitRangeExceeded,
  'limitrange-gives-gpus': limitRangeGivesGpus,
  'metric-range': metricRange,
  'model-volume-too-small': modelVolumeTooSmall,
  'model-volume-unused': modelVolumeUnused,
  'probe-too-early': probeTooEarly,
  'quota-too-small': quotaTooSmall,
  'route-setting': routeSetting,
  'utilization-without-request': utilizationWithoutRequest,
};

// Mistakes about what a namespace, an autoscaler, a probe or a volume gives to a pod.

const pods = {
  type: 'Pods',
  pods: { metric: { name: 'waiting' }, target: { type: 'AverageValue', averageValue: '5' } },
};

function resourceMetric(name: string) {
  return { type: 'Resource', resource: { name, target: { type: 'Utilization', averageUtilization: 70 } } };
}

function hpaMetricUnknown(analysis: DocumentAnalysis): readonly Mistake[] {
  const scalers = manifestsOf(analysis, 'HorizontalPodAutoscaler').flatMap(({ path }) =>
    ['nvidia.com/gpu', 'gpu-memory'].map((name): Mistake => {
      const spec = [...path, 'spec'];
      const place = { path: [...spec, 'metrics', 1, 'resource', 'name'], part: 'value' } as const;
      return { name, steps: put(spec, 'metrics', [pods, resourceMetric(name)]), place };
    }),
  );
  const objects = manifestsOf(analysis, 'ScaledObject').flatMap(({ path, root }) =>
    items(getIn(root, ...path, 'spec', 'triggers')).map(
      (_, index): Mistake => ({
        name: 'a trigger type',
        steps: put([...path, 'spec', 'triggers', index], 'type', 'promtheus'),
        place: { path: [...path, 'spec', 'triggers', index, 'type'], part: 'value' },
      }),
    ),
  );
  return [...scalers, ...objects];
}

function metricRange(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'HorizontalPodAutoscaler').flatMap(({ path }) =>
    [
      ['DCGM_FI_PROF_GR_ENGINE_ACTIVE', '80'],
      ['DCGM_FI_DEV_GPU_UTIL', '0.8'],
    ].map(([name = '', averageValue = '']): Mistake => {
      const spec = [...path, 'spec'];
      const metric = { type: 'Pods', pods: { metric: { name }, target: { type: 'AverageValue', averageValue } } };
      const place = { path: [...spec, 'metrics', 1, 'pods', 'target', 'averageValue'], part: 'value' } as const;
      return { name, steps: put(spec, 'metrics', [pods, metric]), place };
    }),
  );
}

function utilizationWithoutRequest(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'HorizontalPodAutoscaler').flatMap(({ manifest, path, root }): readonly Mistake[] => {
    const target = getIn(root, ...path, 'spec', 'scaleTargetRef');
    const workload = file.documents
      .flatMap(({ workloads }) => workloads)
      .find(
        (one) =>
          one.name === asText(getIn(target, 'name')) &&
          one.kind === asText(getIn(target, 'kind')) &&
          one.namespace === manifest.namespace,
      );
    const bare = workload?.podSets.some(({ containers }) =>
      containers.some(
        ({ type, resources }) =>
          type === 'app' && ['requests', 'limits'].every((key) => getIn(resources, key, 'memory') === undefined),
      ),
    );
    if (workload === undefined || bare !== true || !isWhole(workload)) return [];
    const spec = [...path, 'spec'];
    const place = { path: [...spec, 'metrics', 1, 'resource', 'name'], part: 'value' } as const;
    return [{ name: 'memory', steps: put(spec, 'metrics', [pods, resourceMetric('memory')]), place }];
  });
}

function backendPort(analysis: DocumentAnalysis): readonly Mistake[] {
  const at = {
    Ingress: ['spec', 'defaultBackend', 'service', 'port', 'number'],
    HTTPRoute: ['spec', 'rules', 0, 'backendRefs', 0, 'port'],
    ServiceMonitor: ['spec', 'endpoints', 0, 'port'],
  };
  return Object.entries(at).flatMap(([kind, path]) =>
    manifestsOf(analysis, kind).map((found): Mistake => {
      const place = { path: [...found.path, ...path], part: 'value' } as const;
      return { name: kind, steps: [set(place.path, kind === 'ServiceMonitor' ? 'metrics' : 8443)], place };
    }),
  );
}

/** A timeout of ingress-nginx with a unit. */
function routeSetting(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'Ingress').flatMap(({ path, root }): readonly Mistake[] => {
    const at = [...path, 'metadata', 'annotations', 'nginx.ingress.kubernetes.io/proxy-read-timeout'];
    const isOther = getIn(root, 'spec', 'ingressClassName') !== undefined;
    if (isOther || getIn(root, ...at.slice(path.length)) === undefined) return [];
    return [{ name: 'unit', steps: [set(at, '600s')], place: { path: at, part: 'value' } }];
  });
}

/** The port of another server in an InferencePool that is right. */
function policyPort(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  const isPlain =
    file.documents.length === 2 && file.documents.some(({ text }) => /vllm-openai|ollama\/ollama/.test(text));
  return manifestsOf(analysis, 'InferencePool').flatMap(({ path, root }): readonly Mistake[] => {
    const at = [...path, 'spec', 'targetPorts', 0, 'number'];
    if (!isPlain || getIn(root, ...at) === undefined) return [];
    return [{ name: 'another port', steps: [set(at, 8085)], place: { path: at, part: 'value' } }];
  });
}

/** A port of Ray's head that is not for clients. */
function rendezvousPort(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ first, workload }): readonly Mistake[] => {
    const env = first.container.env.find(
      ({ name, value }) => name === 'RAY_ADDRESS' && value?.value === 'ray://head:10001',
    );
    if (env?.value === undefined || !isWhole(workload)) return [];
    const path = pathOf(env.value.at);
    return ['6379', '8265'].map(
      (port): Mistake => ({ name: port, steps: [set(path, `ray://head:${port}`)], place: { path, part: 'value' } }),
    );
  });
}

/** The base address of a server of the file, without /v1. */
function clientAddress({ workloads }: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  const names = new Set(
    file.documents.flatMap(({ workloads: all }) =>
      all.flatMap(({ name, podSets }) =>
        podSets.some(({ containers: [one] }) => /ollama\/ollama|vllm-openai/.test(one?.image?.value ?? ''))
          ? [name]
          : [],
      ),
    ),
  );
  const env = workloads.flatMap(({ podSets }) =>
    podSets.flatMap(({ containers }) => containers.flatMap((one) => one.env)),
  );
  return env.flatMap(({ name, value }): readonly Mistake[] => {
    const [, start = '', host = ''] = /^(http:\/\/([a-z-]+)(?::\d+)?)\/v1$/.exec(value?.value ?? '') ?? [];
    if (value === undefined || name !== 'OPENAI_API_BASE_URL' || !names.has(host)) return [];
    const path = pathOf(value.at);
    return [{ name: 'no /v1', steps: [set(path, start)], place: { path, part: 'value' } }];
  });
}

function limitRangeGivesGpus(analysis: DocumentAnalysis): readonly Mistake[] {
  return manifestsOf(analysis, 'LimitRange').flatMap(({ path }) =>
    (['default', 'max', 'defaultRequest', 'min'] as const).map((field): Mistake => {
      const item = [...path, 'spec', 'limits', 0];
      const place = { path: [...item, field, 'amd.com/gpu'], part: 'key' } as const;
      return { name: field, steps: [putUnder(item, field, 'amd.com/gpu', 2)], place };
    }),
  );
}

/** More of the node's disk than a LimitRange of the file allows a container. */
function limitRangeExceeded(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  const disk = 'ephemeral-storage';
  const ranges = file.documents.flatMap(({ manifests }) => manifests.filter(({ kind }) => kind === 'LimitRange'));
  return podSites(analysis).flatMap(({ first: { resources, workload } }): readonly Mistake[] => {
    const range = ranges.find(({ namespace }) => namespace === workload.namespace);
    const isBound = items(getIn(range?.root, 'spec', 'limits')).some((item) => getIn(item, 'max', disk) !== undefined);
    if (!isBound || !isWhole(workload)) return [];
    const path = [...resources, 'limits', disk];
    return [{ name: '900Ti', steps: [putUnder(resources, 'limits', disk, '900Ti')], place: { path, part: 'value' } }];
  });
}

function quotaTooSmall(analysis: DocumentAnalysis, file: FileAnalysis): readonly Mistake[] {
  const quotas = file.documents.flatMap(({ manifests }) => manifests.filter(({ kind }) => kind === 'ResourceQuota'));
  return podSites(analysis).flatMap(({ first }): readonly Mistake[] => {
    const { resources, resource, requested, workload } = first;
    const quota = quotas.find(
      ({ root, namespace }) =>
        namespace === workload.namespace && getIn(root, 'spec', 'hard', `requests.${resource}`) !== undefined,
    );
    if (quota === undefined || requested || !isWhole(workload) || usesOneDevice(first)) return [];
    const path = [...resources, 'limits', resource];
    return [{ name: 'more than the quota', steps: [set(path, 64)], place: { path, part: 'key' } }];
  });
}

function probeTooEarly(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(
      ({ container, podSet, workload, listed }) =>
        listed && isWhole(workload) && modelLoader(container, podSet, workload, defaultModelOptions) !== undefined,
    )
    .map(({ path, container }): Mistake => {
      const probe = { httpGet: { path: '/health', port: 8000 }, initialDelaySeconds: 5, periodSeconds: 5 };
      const startup = getIn(container.at, 'startupProbe') === undefined ? [] : [drop([...path, 'startupProbe'])];
      const steps = [...startup, ...put(path, 'livenessProbe', probe)];
      return { name: 'a budget of 20 s', steps, place: { path: [...path, 'livenessProbe'], part: 'key' } };
    });
}

function modelVolumeTooSmall(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis).flatMap(({ container, podSet, workload }): readonly Mistake[] => {
    const loader = modelLoader(container, podSet, workload, defaultModelOptions);
    if (loader?.weightsGiB === undefined || !isWhole(workload)) return [];
    const volume = modelDirectory(container, podSet, loader.program)?.volume;
    if (volume?.source !== 'emptyDir' || getIn(volume.at, 'emptyDir', 'medium') !== undefined) return [];
    const path = [...pathOf(volume.at), 'emptyDir'];
    const place = { path: [...path, 'sizeLimit'], part: 'key' } as const;
    return [{ name: '500Mi', steps: put(path, 'sizeLimit', '500Mi'), place }];
  });
}

function modelVolumeUnused(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ pod, podSet, workload, first: { container, path } }): readonly Mistake[] => {
    const model = modelLoader(container, podSet, workload, defaultModelOptions)?.model;
    if (model === undefined || !/^[\w.-]+\/[\w.-]+$/.test(model) || !isWhole(workload)) return [];
    if (getIn(container.at, 'volumeMounts') !== undefined || podSet.volumes.length > 0) return [];
    // A script may move directories.
    if (container.command.some(({ value }) => /^-\w*c$/.test(value))) return [];
    const mount = { name: 'models', mountPath: '/model-store' };
    const volume = { name: 'models', persistentVolumeClaim: { claimName: 'models' } };
    const steps = [add(path, 'volumeMounts', [mount]), add(pod, 'volumes', [volume])];
    return [
      { name: 'a claim elsewhere', steps, place: { path: [...path, 'volumeMounts', 0, 'mountPath'], part: 'value' } },
    ];
  });
}

function gpuWithoutRequest(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ first, podSet, workload }): readonly Mistake[] => {
    const { container, resources, resource, requested, path } = first;
    const program = gpuProgram(container);
    const plain = podSet.selectors.length === 0 && getIn(podSet.pod, 'runtimeClassName') === undefined;
    const alone = podSet.containers.length === 1 && workload.podSets.length === 1;
    if (program === undefined || !plain || !alone || requested || !isWhole(workload)) return [];
    // Any image may replace a placeholder.
    if (isTemplated(container.image?.at)) return [];
    if (podSet.annotations.length + workload.manifest.annotations.length > 0) return [];
    const start = pathOf(program.at);
    const rest = resources.length > path.length ? start : path;
    return [
      { name: 'no limit', steps: [drop([...resources, 'limits', resource])], place: { path: rest, part: 'value' } },
    ];
  });
}
