import { wordSet } from '../../catalog/word-patterns.ts';
import { asBoolean, asText, type Cursor, entries, getIn, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import { claimedDevices } from '../claims.ts';
import type { PodCount } from '../kinds/kind.ts';
import { between, exactly } from '../kinds/pod-sets.ts';
import { workerPods } from '../kinds/ray.ts';
import { lowerCount } from '../pod.ts';
import { containerOf, firstOf, isMap, podSetOf, replicasOf } from '../values-parts.ts';
import type { Container } from '../workload.ts';
import type { Chart, ChartBlock } from './chart.ts';
import { type Persistence, persistenceOf } from './persistence.ts';

/** Charts of clusters, of batch runners and of applications in which some use GPUs. */
export const appCharts: readonly Chart[] = [
  {
    names: ['app-template'],
    source: 'https://github.com/bjw-s-labs/helm-charts/tree/main/charts/library/common/templates',
    date: '2026-11-22',
    owns: (values) => containersIn(values, 'controllers', 'containers'),
    blocks: (values) =>
      getIn(values, 'controllers') === undefined && isMap(getIn(values, 'image'))
        ? singleContainer(values)
        : entries(getIn(values, 'controllers')).map((controller) => ({
            ...withRawClaims(
              withVolumes(
                controllerOf(controller, controller, getIn(values, 'defaultPodOptions')),
                persistenceOf(values, keyOf(controller), getIn(controller, 'statefulset', 'volumeClaimTemplates')),
              ),
              getIn(values, 'rawResources'),
            ),
            wholeResources: true,
          })),
    shared: ['defaultPodOptions', 'defaultContainerOptions'],
  },
  {
    names: [],
    source: 'https://github.com/truecharts/public/tree/master/charts/library/common',
    date: '2026-11-22',
    owns: (values) => containersIn(values, 'workload', 'podSpec', 'containers'),
    blocks: (values) =>
      entries(getIn(values, 'workload')).flatMap((workload) => {
        const pod = getIn(workload, 'podSpec');
        if (pod === undefined) return [];
        // Their mounts are those of the containers that a selector chooses.
        const all = getIn(values, 'persistence');
        const mountsOf = () => (all === undefined ? [] : [{ name: '', mountPath: '', at: all }]);
        return [withVolumes(controllerOf(workload, pod, getIn(values, 'podOptions')), { volumes: [], mountsOf })];
      }),
    shared: ['podOptions'],
  },
  {
    names: ['ray-cluster'],
    source: 'https://github.com/ray-project/kuberay/tree/master/helm-chart/ray-cluster/templates',
    date: '2026-11-22',
    owns: (values) => {
      const [head, worker] = [getIn(values, 'head'), getIn(values, 'worker')];
      const isRay = (group: Cursor | undefined) =>
        firstOf(group, ['rayStartParams', 'rayVersion', 'initArgs', 'groupName', 'enableInTreeAutoscaling']) !==
        undefined;
      const scales = isMap(head) && firstOf(worker, ['minReplicas', 'maxReplicas']) !== undefined;
      return isRay(head) || isRay(worker) || scales || (isMap(head) && isMap(getIn(values, 'additionalWorkerGroups')));
    },
    blocks: rayGroups,
  },
  {
    names: ['gha-runner-scale-set'],
    source: 'https://github.com/actions/actions-runner-controller/tree/master/charts/gha-runner-scale-set',
    date: '2026-11-22',
    owns: (values) => getIn(values, 'githubConfigUrl') !== undefined && isMap(getIn(values, 'template', 'spec')),
    blocks: (values) => {
      const pod = getIn(values, 'template', 'spec');
      if (pod === undefined) return [];
      const max = getIn(values, 'maxRunners');
      const pods = between(lowerCount(getIn(values, 'minRunners'), 0), max === undefined ? null : lowerCount(max, 0));
      const { containers: _, ...set } = podSetOf(pod, []);
      return [{ root: pod, podSet: { ...set, pods, replicas: max } }];
    },
  },
  {
    names: [
      'frigate',
      'jellyfin',
      'plex',
      'plex-media-server',
      'stable-diffusion',
      'tdarr',
      'emby',
      'whisper',
      'comfyui',
    ],
    source: 'https://github.com/k8s-at-home/library-charts/tree/main/charts/stable/common',
    date: '2026-11-22',
    owns: () => false,
    blocks: singleContainer,
    shared: ['pms'],
  },
];

/** The first versions of the common library, and of app-template: one container, whose fields are next to those of its pod. */
function singleContainer(values: Cursor): readonly ChartBlock[] {
  const pms = getIn(values, 'pms');
  const container = containerOf({ at: values, name: 'main', resources: getIn(pms, 'resources') });
  const controller = getIn(values, 'controller');
  const pods = controller === undefined ? replicasOf(values) : replicasOf(controller);
  const block = { root: values, podSet: { ...podSetOf(values, [container]), pods } };
  return [withVolumes(block, persistenceOf(values, undefined, getIn(values, 'volumeClaimTemplates')))];
}

/** The pods with the volumes of the common library. */
function withVolumes(block: ChartBlock, { volumes, mountsOf }: Persistence): ChartBlock {
  const { podSet } = block;
  const containers = podSet.containers?.map((one) => ({
    ...one,
    volumeMounts: [...one.volumeMounts, ...mountsOf(keyOf(one.at))],
  }));
  return { ...block, podSet: { ...podSet, volumes, ...(containers && { containers }) } };
}

/** Whether an entry below a key of the values has a mapping of containers with images. */
function containersIn(values: Cursor, key: string, ...path: readonly string[]): boolean {
  return entries(getIn(values, key)).some((controller) =>
    entries(getIn(controller, ...path)).some((container) => container.node.kind === 'map'),
  );
}

/**
 * A controller of the common library: mappings of containers by name, with the options of its pod above them.
 * @param holder the mapping with `containers`
 * @param defaults the options of all pods, which apply where a controller has none
 */
function controllerOf(controller: Cursor, holder: Cursor, defaults: Cursor | undefined): ChartBlock {
  const pod = withDefaults(getIn(controller, 'pod') ?? (holder === controller ? undefined : holder), defaults);
  const containers = [...named(holder, 'initContainers', 'init'), ...named(holder, 'containers', 'app')];
  const set = podSetOf(pod ?? controller, containers);
  return {
    root: controller,
    podSet: { ...set, name: keyOf(controller), replicas: getIn(controller, 'replicas'), pods: podsOf(controller) },
  };
}

/**
 * The claims of app-template's pods, where `rawResources` has the only template: its name is made of the release's. The `spec` there has the
 * fields of the object besides its metadata, its own `spec` among them.
 */
function withRawClaims(block: ChartBlock, raw: Cursor | undefined): ChartBlock {
  const [template, ...others] = entries(raw).filter(
    (object) =>
      asText(getIn(object, 'kind')) === 'ResourceClaimTemplate' && asBoolean(getIn(object, 'enabled')) !== false,
  );
  if (template === undefined || others.length > 0) return block;
  const isOfTemplate = (claim: Cursor) => getIn(claim, 'resourceClaimTemplateName') !== undefined;
  const all = items(getIn(block.podSet.pod, 'resourceClaims'));
  const own = all.filter(isOfTemplate);
  const names = new Set(own.map((claim) => asText(getIn(claim, 'resourceClaimTemplateName'))));
  if (names.size !== 1) return block;
  const body = getIn(template, 'spec') ?? getIn(template, 'manifest');
  const devices = claimedDevices(getIn(body, 'spec', 'spec'));
  if (devices.length === 0) return block;
  const claims = all.filter((claim) => !isOfTemplate(claim));
  const claimed = own.flatMap((at) => devices.map((device) => ({ ...device, at })));
  return { ...block, podSet: { ...block.podSet, claims, claimed } };
}

/** The options of a pod, completed by those of all pods. */
function withDefaults(written: Cursor | undefined, defaults: Cursor | undefined): Cursor | undefined {
  const own = isTemplated(written) ? asOpenMap(written) : written;
  if (own?.node.kind !== 'map' || defaults?.node.kind !== 'map') return own ?? defaults;
  const { node } = own;
  const missing = defaults.node.entries.filter(({ key }) => getIn(own, key) === undefined);
  return {
    ...own,
    node: { ...node, entries: [...missing.map((entry) => ({ ...entry, shared: true })), ...node.entries] },
  };
}

/** Options that a template writes: a mapping with any keys. */
function asOpenMap(cursor: Cursor | undefined): Cursor | undefined {
  if (cursor === undefined) return undefined;
  const node = { kind: 'map', entries: [], flow: false, incomplete: true, span: cursor.node.span } as const;
  return { ...cursor, node };
}

function named(holder: Cursor, key: string, type: Container['type']): readonly Container[] {
  return entries(getIn(holder, key)).flatMap((container) =>
    container.node.kind === 'map' && asBoolean(getIn(container, 'enabled')) !== false && !isStrayField(container)
      ? [containerOf({ at: container, name: keyOf(container), type })]
      : [],
  );
}

/** Whether an entry next to the containers of the common library is a field that belongs in one of them: `resources`. */
export function isStrayField(entry: Cursor): boolean {
  return containerFields.has(keyOf(entry)) && getIn(entry, 'image') === undefined;
}

const containerFields = wordSet('resources env envFrom image command args', 'probes securityContext lifecycle ports');

/** Whether the values of a controller make a DaemonSet. */
export function runsPerNode(controller: Cursor): boolean {
  return asText(getIn(controller, 'type'))?.toLowerCase() === 'daemonset';
}

/** One per node in a DaemonSet; a Job or CronJob runs one pod at a time. */
function podsOf(controller: Cursor): PodCount {
  const type = (asText(getIn(controller, 'type')) ?? 'deployment').toLowerCase();
  if (runsPerNode(controller) || isTemplated(getIn(controller, 'type'))) return exactly(null);
  if (!/job$/.test(type)) return replicasOf(controller);
  if (asBoolean(getIn(controller, 'enabled')) === false) return exactly(0);
  return exactly(lowerCount(firstOf(getIn(controller, type) ?? controller, ['parallelism']), 1));
}

function rayGroups(values: Cursor): readonly ChartBlock[] {
  const head = getIn(values, 'head');
  const scales = getIn(head, 'enableInTreeAutoscaling');
  const image = (group: Cursor) => getIn(group, 'image') ?? getIn(values, 'image');
  const block = (group: Cursor, name: string, pods: PodCount): ChartBlock => {
    const container = containerOf({ at: group, name, image: image(group) });
    return { root: group, podSet: { ...podSetOf(group, [container]), name, pods }, wholeResources: true };
  };
  const worker = getIn(values, 'worker');
  const groups = [...(worker === undefined ? [] : [worker]), ...entries(getIn(values, 'additionalWorkerGroups'))];
  return [
    ...(isMap(head) && head !== undefined ? [block(head, 'head', exactly(1))] : []),
    ...groups.flatMap((group) =>
      isMap(group) ? [block(group, keyOf(group), workersOf(group, scales, group === worker ? 1 : 0))] : [],
    ),
  ];
}

/** @param unset the replicas in the chart's own values */
function workersOf(group: Cursor, scales: Cursor | undefined, unset: number): PodCount {
  if (asBoolean(getIn(group, 'disabled')) === true) return exactly(0);
  return isTemplated(scales) ? exactly(null) : workerPods(group, asBoolean(scales) === true, unset);
}
