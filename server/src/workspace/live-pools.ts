import { isInstanceTypeLabel, nodeLabelMeaning, providerOfLabel } from '../catalog/index.ts';
import type { LivePool, PublishedView } from '../fleet/cluster-view.ts';
import type { LiveCluster } from '../fleet/fit-question.ts';
import type { LiveOffers, LivePools, LiveValues, PodWants, RequiredLabel } from '../model/cross-references.ts';
import { isTaintEffect, type NodePool } from '../model/node-pool.ts';
import type { NodeTerm } from '../model/node-terms.ts';
import { tableOf } from '../yaml/table.ts';

// What a connected cluster says to analyses. Nothing here changes when a pod comes or goes: what is free is a question to the cluster itself.

type Facts<T> = Omit<T, 'asOf'>;

/** The pools on which a pod can run as far as its labels and resources say. */
export function livePools(
  live: LiveCluster | undefined,
  { labels, resources }: PodWants,
): Facts<LivePools> | undefined {
  if (live === undefined || resources.length === 0) return undefined;
  const { context, pools } = live.view;
  const found = pools.filter(
    (pool) => resources.every((name) => offers(pool, name)) && labels.every((label) => mayHave(pool, label)),
  );
  if (found.length === 0) return undefined;
  const [first = ''] = resources;
  return {
    cluster: context,
    pools: found.map(asNodePool),
    largest: Math.max(...found.map((pool) => unitsOf(pool, first))),
    canGrow: found.some(({ growth }) => growth !== null),
  };
}

/** What the nodes offer, if all of them are known. */
export function liveOffers(live: LiveCluster | undefined): Facts<LiveOffers> | undefined {
  if (live === undefined || !isComplete(live.view)) return undefined;
  const { context, pools, deviceClasses } = live.view;
  const names = pools.flatMap(({ resources }) => resources.map(({ resource }) => resource));
  return { cluster: context, resources: [...new Set(names)].sort(), deviceClasses };
}

/** The values of a label on nodes with accelerators, if all of them are known. */
export function liveValues(live: LiveCluster | undefined, key: string): Facts<LiveValues> | undefined {
  if (live === undefined || !isComplete(live.view)) return undefined;
  const values = live.view.pools.flatMap((pool) => valuesOf(pool, key));
  return { cluster: live.view.context, values: [...new Set(values)].sort() };
}

function isComplete({ state, coverage, pools }: PublishedView): boolean {
  const isRead = coverage.every(({ resource, state: read }) => resource !== 'nodes' || read === 'read');
  return state.kind === 'current' && isRead && pools.length > 0;
}

function offers(pool: LivePool, resource: string): boolean {
  return unitsOf(pool, resource) > 0;
}

function unitsOf({ largestNode }: LivePool, resource: string): number {
  return largestNode.find((one) => one.resource === resource)?.count ?? 0;
}

function valuesOf({ labels, otherLabels }: LivePool, key: string): readonly string[] {
  const common = labels.find((label) => label.key === key);
  return common === undefined ? (otherLabels.find((label) => label.key === key)?.values ?? []) : [common.value];
}

/** Labels that name single nodes are not known, so they exclude nothing. */
function mayHave(pool: LivePool, { key, values }: RequiredLabel): boolean {
  const actual = valuesOf(pool, key);
  if (actual.length === 0) return key === 'kubernetes.io/hostname';
  return values.length === 0 || values.some((value) => actual.includes(value));
}

/** A pool of a cluster as the one type of node pools. */
function asNodePool(pool: LivePool): NodePool {
  const { name, labels, taints, model, instanceTypes, capacity, zones, largestNode, toleratesRequested } = pool;
  return {
    name,
    labels: tableOf(labels.map(({ key, value }) => [key, value] as const)),
    taints: taints.flatMap(({ key, value, effect }) => (isTaintEffect(effect) ? [{ key, value, effect }] : [])),
    gpu: model?.id ?? null,
    ...(model?.id == null ? {} : { gpus: [model.id] }),
    devices: largestNode[0]?.count ?? null,
    instanceType: instanceTypes.length === 1 ? (instanceTypes[0] ?? null) : null,
    capacity: capacity === 'mixed' ? null : capacity,
    zones,
    terms: [termOf(pool)],
    toleratesRequested,
  };
}

/** The labels that decide what its nodes are and cost. */
function termOf({ labels, otherLabels }: LivePool): NodeTerm {
  const all = [...labels.map(({ key, value }) => ({ key, values: [value] })), ...otherLabels];
  return all
    .filter(
      ({ key }) =>
        nodeLabelMeaning(key) !== undefined ||
        isPlace.test(key) ||
        providerOfLabel(key) !== null ||
        isInstanceTypeLabel(key) ||
        sharing.test(key),
    )
    .map(({ key, values }) => ({ key, operator: 'In' as const, values }));
}

const isPlace = /^topology\.kubernetes\.io\/(?:region|zone)$/;
const sharing = /^nvidia\.com\/(?:gpu\.(?:replicas|sharing-strategy)|mig\.(?:config|strategy))$/;
