import type { ClusterQueue, LocalQueue, ResourceFlavor } from './cluster-objects.ts';
import { at, list, text, textMap, texts } from './json.ts';
import { readTaint, readToleration } from './read.ts';
import { amountsOf } from './requests.ts';

// kubernetes-sigs/kueue@00b014c1: apis/kueue/v1beta1 (clusterqueue, localqueue and resourceflavor types); v1beta2 renames the cohort.

/** A LocalQueue as the API server returns it. */
export function readLocalQueue(object: unknown): LocalQueue {
  return {
    namespace: text(at(object, 'metadata', 'namespace')) ?? 'default',
    name: text(at(object, 'metadata', 'name')) ?? '',
    clusterQueue: text(at(object, 'spec', 'clusterQueue')) ?? '',
    stopped: isStopped(at(object, 'spec', 'stopPolicy')),
  };
}

/** A ClusterQueue as the API server returns it. Quota that is reserved counts as used. */
export function readClusterQueue(object: unknown): ClusterQueue {
  const spec = at(object, 'spec');
  const reserved = list(at(object, 'status', 'flavorsReservation'));
  const used = reserved.length > 0 ? reserved : list(at(object, 'status', 'flavorsUsage'));
  const usedOf = (flavor: string, resource: string) => {
    const ofFlavor = used.find((each) => at(each, 'name') === flavor);
    const found = list(at(ofFlavor, 'resources')).find((each) => at(each, 'name') === resource);
    return amountOf(resource, at(found, 'total')) ?? 0;
  };
  return {
    name: text(at(object, 'metadata', 'name')) ?? '',
    cohort: text(at(spec, 'cohort')) ?? text(at(spec, 'cohortName')) ?? '',
    stopped: isStopped(at(spec, 'stopPolicy')),
    groups: list(at(spec, 'resourceGroups')).map((group) => ({
      resources: texts(at(group, 'coveredResources')),
      flavors: list(at(group, 'flavors')).map((flavor) => {
        const name = text(at(flavor, 'name')) ?? '';
        const resources = list(at(flavor, 'resources')).map((each) => {
          const resource = text(at(each, 'name')) ?? '';
          return {
            name: resource,
            nominal: amountOf(resource, at(each, 'nominalQuota')) ?? 0,
            borrowing: amountOf(resource, at(each, 'borrowingLimit')),
            used: usedOf(name, resource),
          };
        });
        return { name, resources };
      }),
    })),
  };
}

/** A ResourceFlavor as the API server returns it. */
export function readFlavor(object: unknown): ResourceFlavor {
  return {
    name: text(at(object, 'metadata', 'name')) ?? '',
    labels: textMap(at(object, 'spec', 'nodeLabels')),
    taints: list(at(object, 'spec', 'nodeTaints')).map(readTaint),
    tolerations: list(at(object, 'spec', 'tolerations')).map(readToleration),
  };
}

function isStopped(policy: unknown): boolean {
  return policy === 'Hold' || policy === 'HoldAndDrain';
}

/** In the scheduler's units: cpu in thousandths. */
function amountOf(resource: string, quantity: unknown): number | null {
  return amountsOf({ [resource]: quantity }).get(resource) ?? null;
}
