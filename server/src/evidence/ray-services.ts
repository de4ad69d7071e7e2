import { wordsOf } from '../command/name-words.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { clusterIn } from '../model/kinds/ray.ts';
import { groupOf } from '../model/manifest.ts';
import type { Workload } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isUnseen, items } from '../yaml/cursor.ts';

/** A Service for the pods of a Ray cluster that selects a label which none of them has. */
export interface MissedRayService {
  readonly service: string;
  readonly key: string;
  readonly value: string;
  /** The label that KubeRay gives the pods which the Service means. */
  readonly instead: string;
}

/**
 * The Service in the file of a Ray cluster that has the name of one of KubeRay's own, or selects `ray-head` by name, but a label that no pod has.
 * KubeRay adds only labels with a domain to those of the templates and groups:
 * https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/common/pod.go
 */
export function missedRayService(workload: Workload, crossReferences: CrossReferences): MissedRayService | undefined {
  const { apiVersion, kind, name, namespace, partial, manifest } = workload;
  if (groupOf(apiVersion) !== 'ray.io' || partial || name === null) return undefined;
  if (kind !== 'RayCluster' && kind !== 'RayService') return undefined;
  const spec = getIn(manifest.root, 'spec');
  const labels = labelsIn(kind === 'RayCluster' ? spec : clusterIn(spec));
  if (labels === undefined) return undefined;
  for (const { service, isOwn } of namesFor(name)) {
    const found = crossReferences.service(namespace, service);
    const selects = found?.file === null ? found.facts.selects : null;
    if (selects === null) continue;
    for (const [key, value] of Object.entries(selects)) {
      if (key.includes('/') || labels.some((one) => asText(getIn(one, key)) === value)) continue;
      const words = wordsOf(value);
      if (!isOwn && !(words.includes('ray') && words.includes('head'))) continue;
      if (crossReferences.keptRunning(namespace, selects).length > 0) continue;
      const isServe = service.endsWith('-serve-svc');
      return { service, key, value, instead: isServe ? 'ray.io/serve=true' : 'ray.io/node-type=head' };
    }
  }
  return undefined;
}

/** The labels of the templates and of the groups; undefined if a template may write some. */
function labelsIn(cluster: Cursor | undefined): readonly Cursor[] | undefined {
  const list = getIn(cluster, 'workerGroupSpecs');
  const head = getIn(cluster, 'headGroupSpec');
  const groups = [...(head === undefined ? [] : [head]), ...items(list)];
  const metadata = groups.map((group) => getIn(group, 'template', 'metadata'));
  const labels = [...metadata.map((one) => getIn(one, 'labels')), ...groups.map((group) => getIn(group, 'labels'))];
  const read = labels.flatMap((one) => one ?? []);
  const above = [cluster, list, ...groups, ...groups.map((group) => getIn(group, 'template')), ...metadata];
  const isHidden = [...above, ...read].some(isUnseen) || read.some((one) => entries(one).some(isUnseen));
  return head === undefined || isHidden ? undefined : read;
}

/** What people call the Services of a cluster; `isOwn`: KubeRay's own names. */
function namesFor(name: string) {
  const own = ['head-svc', 'serve-svc'].map((end) => ({ service: `${name}-${end}`, isOwn: true }));
  const others = [name, `${name}-head`, `${name}-service`, `${name}-svc`, 'ray-head', 'ray-head-svc'];
  return [...own, ...others.map((service) => ({ service, isOwn: false }))];
}
