import { cloudOfAnnotations } from '../model/cloud-signs.ts';
import type { ServiceFacts, VolumeClaimFacts } from '../model/cross-references.ts';
import { likeKind } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { isListedContainer, lowerCount } from '../model/pod.ts';
import { lowerQuantity } from '../model/quantity.ts';
import type { LimitFacts, QuotaFacts, ResourceBound, ServicePort } from '../model/referenced.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { Manifest, PodSet, Workload } from '../model/workload.ts';
import type { ContainerFacts } from '../model/workload-facts.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  keyOf,
} from '../yaml/cursor.ts';
import { type Table, tableOf } from '../yaml/table.ts';

// What other objects of its namespace give a pod or take from it.

/**
 * The resources that a LimitRange gives to containers. A maximum without a default is the default.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/v1/defaults.go
 */
function limitDefaults(spec: Cursor | undefined): readonly string[] {
  const ofContainers = items(getIn(spec, 'limits')).filter((item) => asText(getIn(item, 'type')) === 'Container');
  const keys = ['default', 'defaultRequest', 'max', 'min'];
  const names = ofContainers.flatMap((item) => keys.flatMap((key) => entries(getIn(item, key)).map(keyOf)));
  return [...new Set(names)];
}

/** What a LimitRange gives and allows. In a namespace that a template names, it allows everything. */
export function limitFacts(root: Cursor): LimitFacts {
  const spec = getIn(root, 'spec');
  const metadata = getIn(root, 'metadata');
  const isUnknown = isIncomplete(metadata) || isTemplated(getIn(metadata, 'namespace'));
  const bounds = (isUnknown ? [] : items(getIn(spec, 'limits'))).flatMap((item): readonly ResourceBound[] => {
    const type = asText(getIn(item, 'type'));
    if (type !== 'Container' && type !== 'Pod') return [];
    return boundKeys.flatMap((bound) =>
      entries(getIn(item, bound)).flatMap((entry) => {
        const { text, value } = lowerQuantity(entry);
        return value === null ? [] : [{ type, bound, resource: keyOf(entry), text, value }];
      }),
    );
  });
  return { names: limitDefaults(spec), bounds };
}

const boundKeys = ['max', 'min', 'maxLimitRequestRatio'] as const;

/** The limits of a ResourceQuota; none if it applies only to some pods. */
export function quotaFacts(spec: Cursor | undefined): QuotaFacts {
  const scoped = getIn(spec, 'scopes') !== undefined || getIn(spec, 'scopeSelector') !== undefined;
  const hard = scoped ? [] : entries(getIn(spec, 'hard'));
  return {
    hard: tableOf(
      hard.flatMap((entry): [string, number][] => {
        const { value } = lowerQuantity(entry);
        return value === null || !Number.isInteger(value) ? [] : [[keyOf(entry), value]];
      }),
    ),
  };
}

/** The size in bytes (null if unknown), access modes and storage class of a volume or of a claim for one. */
export function volumeClaimFacts(spec: Cursor | undefined, size: Cursor | undefined): VolumeClaimFacts {
  const [modes, storageClass] = [getIn(spec, 'accessModes'), getIn(spec, 'storageClassName')];
  return {
    bytes: size === undefined ? null : lowerQuantity(size).value,
    // One that a template writes may be any.
    accessModes: [modes, ...items(modes)].some(isUnseen) ? [] : items(modes).flatMap((mode) => asText(mode) ?? []),
    storageClass: isTemplated(storageClass) ? null : (asText(storageClass) ?? null),
    isProvisioned: getIn(spec, 'volumeName') === undefined && asText(getIn(spec, 'volumeMode')) !== 'Block',
  };
}

/** The same for the claim that NVIDIA's operator makes for a NIMCache; without access modes if the claim exists already. */
export function nimClaimFacts(pvc: Cursor | undefined): VolumeClaimFacts {
  const [mode, size, storageClass] = ['volumeAccessMode', 'size', 'storageClass'].map((key) => getIn(pvc, key));
  const isMade = asBoolean(getIn(pvc, 'create')) === true && mode !== undefined && !isUnseen(mode);
  return {
    bytes: size === undefined ? null : lowerQuantity(size).value,
    accessModes: isMade ? [asText(mode) ?? ''] : [],
    storageClass: isTemplated(storageClass) ? null : (asText(storageClass) ?? null),
    isProvisioned: isMade,
  };
}

/** Which pods a Service selects, and where it sends their requests. */
export function serviceFacts(root: Cursor): ServiceFacts {
  const spec = getIn(root, 'spec');
  const [type, address] = [getIn(spec, 'type'), getIn(spec, 'clusterIP')];
  const isUnknown = isTemplated(spec) || isTemplated(type) || isTemplated(address);
  const selector = getIn(spec, 'selector');
  const labels = entries(selector).map((label) => [keyOf(label), asText(label)] as const);
  const ports = getIn(spec, 'ports');
  const targets = items(ports).map((port) => {
    const target = getIn(port, 'targetPort') ?? getIn(port, 'port');
    return isIncomplete(port) || isTemplated(target) ? undefined : asText(target);
  });
  const metadata = getIn(root, 'metadata');
  const annotations = getIn(metadata, 'annotations');
  const names = entries(annotations).map(keyOf);
  const own = getIn(metadata, 'labels');
  const ownLabels = entries(own).map((label): [string, string] => [keyOf(label), asText(label) ?? '']);
  const isOpen = [metadata, own, ports].some(isIncomplete) || isTemplated(getIn(metadata, 'namespace'));
  return {
    cloud: cloudOfAnnotations(root),
    // Pods of its namespace get a certain address of its own in environment variables.
    hasAddress: !isUnknown && asText(type) !== 'ExternalName' && asText(address) !== 'None',
    selects:
      labels.length === 0 || isIncomplete(selector) || labels.some(([, value]) => value === undefined)
        ? null
        : tableOf(labels.map(([key, value]): [string, string] => [key, value ?? ''])),
    targets:
      targets.length === 0 || isIncomplete(ports) || targets.includes(undefined)
        ? null
        : targets.flatMap((target) => target ?? []),
    ports: isOpen ? null : servicePorts(items(ports)),
    labels: isOpen || entries(own).some(isTemplated) ? null : tableOf(ownLabels),
    scraped: scrapedPort(annotations),
    type: isUnknown || names.some((key) => key.endsWith('/target-type')) ? null : (asText(type) ?? 'ClusterIP'),
    waits:
      getIn(spec, 'publishNotReadyAddresses') === undefined &&
      !names.some((key) => key.endsWith('/tolerate-unready-endpoints')),
    hasHealthCheck:
      isIncomplete(annotations) || names.some((key) => key.endsWith('/backend-config') || /\/health-?check/.test(key)),
  };
}

function scrapedPort(annotations: Cursor | undefined): string | null {
  const [scrape, port] = ['scrape', 'port'].map((key) => getIn(annotations, `prometheus.io/${key}`));
  return asText(scrape) === 'true' && !isTemplated(port) ? (asText(port) ?? null) : null;
}

function servicePorts(ports: readonly Cursor[]): readonly ServicePort[] | null {
  const found = ports.flatMap((at): readonly ServicePort[] => {
    const [port, name] = [getIn(at, 'port'), getIn(at, 'name')];
    const isUnknown = isIncomplete(at) || isTemplated(at) || isTemplated(port) || isTemplated(name);
    return isUnknown ? [] : [{ port: asText(port) ?? '', name: asText(name) ?? null }];
  });
  return ports.length === 0 || found.length < ports.length ? null : found;
}

/** The names of all ports of the containers. */
export function portNames(podSets: readonly PodSet[]): readonly string[] | null {
  const ports = podSets.flatMap(({ containers }) => containers).map(({ at }) => getIn(at, 'ports'));
  const listed = podSets.flatMap(({ pod }) => [pod, getIn(pod, 'containers'), getIn(pod, 'initContainers')]);
  const names = ports.flatMap(items).map((port) => getIn(port, 'name'));
  if ([...listed, ...ports.flatMap((one) => [one, ...items(one)])].some(isIncomplete)) return null;
  return [...ports, ...names].some(isTemplated) ? null : names.flatMap((name) => asText(name) ?? []);
}

/** The app containers of a pod template; null if a template or the pod's own `resources` may add requests. */
export function containerFacts(podSets: readonly PodSet[]): readonly ContainerFacts[] | null {
  const [only, ...others] = podSets;
  if (only === undefined || others.length > 0 || getIn(only.pod, 'resources') !== undefined) return null;
  const { containers } = only;
  if ([only.pod, getIn(only.pod, 'containers')].some(isIncomplete)) return null;
  if (containers.some(({ at, resources }) => !isListedContainer(at) || hasUnknown(at, resources))) return null;
  return containers
    .filter(({ type }) => type === 'app')
    .map(({ name, resources }) => ({
      name,
      requests: ['cpu', 'memory'].filter((resource) =>
        ['requests', 'limits'].some((key) => getIn(resources, key, resource) !== undefined),
      ),
    }));
}

function hasUnknown(container: Cursor, resources: Cursor | undefined): boolean {
  const parts = [resources, getIn(resources, 'requests'), getIn(resources, 'limits')];
  return isIncomplete(container) || parts.some((part) => isIncomplete(part) || isTemplated(part));
}

/** The largest nominal quota of a ClusterQueue's flavors, by resource: a pod set gets all of a resource from one flavor. */
export function largestQuotas(spec: Cursor | undefined): Table<number> {
  if (['cohort', 'cohortName'].some((key) => getIn(spec, key) !== undefined)) return tableOf<number>([]);
  const largest = new Map<string, number>();
  const flavors = items(getIn(spec, 'resourceGroups')).flatMap((group) => items(getIn(group, 'flavors')));
  for (const resource of flavors.flatMap((flavor) => items(getIn(flavor, 'resources')))) {
    const name = asText(getIn(resource, 'name')) ?? '';
    const quota = getIn(resource, 'nominalQuota');
    const value = quota === undefined ? null : lowerQuantity(quota).value;
    // An unknown quota may be the largest.
    const known = value !== null && Number.isInteger(value) ? value : Number.MAX_SAFE_INTEGER;
    largest.set(name, Math.max(largest.get(name) ?? 0, known));
  }
  return tableOf(largest);
}

/** What the pods of a workload that stays up request of each accelerator resource, at the least. */
export function demandOf({ kind, apiVersion, podSets }: Workload): Table<number> {
  const sums = new Map<string, number>();
  if (likeKind(groupOf(apiVersion), kind)?.staysUp !== true) return tableOf(sums);
  for (const { accelerators, pods } of podSets) {
    for (const { requested, perPod } of accelerators) {
      const name = resourceName(requested);
      if (name !== undefined) sums.set(name, (sums.get(name) ?? 0) + (perPod ?? 0) * (pods.min ?? 0));
    }
  }
  return tableOf(sums);
}

/** The labels of the pods of a workload with one pod template. */
export function podLabels([podSet, ...others]: readonly PodSet[]): Table<string> {
  const labels = others.length === 0 ? (podSet?.labels ?? []) : [];
  return tableOf(labels.map(({ value, at }): [string, string] => [keyOf(at), value]));
}

/** `spec.replicas`: null if it is templated, undefined if it is not set. */
export function writtenReplicas({ root }: Manifest): number | null | undefined {
  const replicas = getIn(root, 'spec', 'replicas');
  return replicas === undefined ? undefined : lowerCount(replicas, 1);
}
