import { gpusNamed } from '../catalog/gpu-names.ts';
import { acceleratorResource, isGpuLabel } from '../catalog/index.ts';
import type { GpuModel } from '../catalog/types.ts';
import { modelsInResource } from '../model/named-models.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { PodSet, Selector } from '../model/workload.ts';
import { asText, type Cursor, getIn, isTemplated, isUnseen, keyOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { wantedLabels } from './pod-selectors.ts';
import { placesAt } from './written.ts';

/** A place in a pod that keeps it from its nodes, and what is wrong there. */
export interface Misplacement {
  readonly at: Cursor;
  readonly message: string;
}

/** The vendors by the domains of their resources and labels, and by the PCI vendor in labels of Node Feature Discovery. */
const vendors = [
  ['NVIDIA', /^nvidia\.com\//, /^nvidia\.com\/|\/pci-(?:\w+_)?10de\./],
  ['AMD', /^amd\.com\//, /^(?:beta\.)?amd\.com\/|\/pci-(?:\w+_)?1002\./],
  ['Intel', /^(?:gpu\.intel\.com|habana\.ai)\//, undefined],
] as const;

/**
 * A node label or a runtime of another vendor than that of the pod's devices. Intel's labels are also on nodes with cards of others, as most
 * processors have a GPU.
 */
export function otherVendor({ accelerators, selectors, containers, pod }: PodSet): Misplacement | undefined {
  const [resource, ...others] = new Set(accelerators.map(({ requested }) => resourceName(requested)));
  if (resource === undefined || others.length > 0) return undefined;
  const own = vendors.find(([, pattern]) => pattern.test(resource));
  if (own === undefined) return undefined;
  const [name] = own;
  for (const { key, values, at } of name === 'Intel' ? [] : selectors) {
    const [vendor] = vendors.find(([, , label]) => label?.test(key)) ?? [];
    if (vendor === undefined || vendor === name || values.some((one) => isTemplated(one.at) || one.value === 'false'))
      continue;
    return {
      at,
      message: `The pod selects nodes with ${vendor} GPUs but requests ${resource}: unless a node has both, it stays Pending`,
    };
  }
  const runtime = getIn(pod, 'runtimeClassName');
  if (
    runtime === undefined ||
    isTemplated(runtime) ||
    name === 'NVIDIA' ||
    !/^nvidia(?:-cdi|-legacy)?$/.test(asText(runtime) ?? '')
  )
    return undefined;
  // Such a pod may use a card of each.
  if (containers.some(({ env }) => env.some((one) => one.name.startsWith('NVIDIA_')))) return undefined;
  return {
    at: runtime,
    message: `runtimeClassName nvidia is NVIDIA's, but the pod requests ${resource}: without that runtime on the node, it does not start`,
  };
}

/** A label of nodes with other cards than those that the name of the resource says: `nvidia.com/a100` next to a label of RTX 3090. */
export function otherModel({ accelerators, selectors }: PodSet): Misplacement | undefined {
  const [resource, ...others] = new Set(accelerators.map(({ requested }) => resourceName(requested)));
  if (resource === undefined || others.length > 0 || selectors.length === 0) return undefined;
  if (acceleratorResource(resource)?.form !== 'whole') return undefined;
  const own = new Set(modelsInResource(resource).map(coreOf));
  const isOther = ({ value, at }: Selector['values'][number]): boolean => {
    const models = isTemplated(at) ? [] : gpusNamed(value);
    return models.length > 0 && !models.some((model) => own.has(coreOf(model)));
  };
  const selector =
    own.size === 0
      ? undefined
      : selectors.find(({ key, values }) => isGpuLabel(key) && values.length > 0 && values.every(isOther));
  const [first] = selector?.values ?? [];
  return (
    selector &&
    first && {
      at: selector.at,
      message: `The pod selects nodes with ${shorten(first.value, 40)} but requests ${shorten(resource, 30)}: unless a node has both, it stays Pending`,
    }
  );
}

/** The card without its memory and form: a resource may stand for all of them. */
function coreOf({ id }: GpuModel): string {
  return id.replace(/-(?:\d+gb|sxm|pcie|nvl).*$/, '');
}

const hostname = 'kubernetes.io/hostname';

/** More pods than nodes, if the pods must be on different nodes and select some by name. */
export function crowdedNodes({ labels, pod, pods, selectors }: PodSet): Misplacement | undefined {
  const named = selectors.find(({ key }) => key === hostname);
  const count = pods.min ?? 0;
  if (
    named === undefined ||
    count <= named.values.length ||
    named.values.some(({ at }) => isUnseen(at) || isUnseen(at.parent))
  )
    return undefined;
  const apart = placesAt(pod, 'affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.*').some(
    (term) => {
      const wanted = wantedLabels(term);
      const all = ['matchLabels', 'matchExpressions'].flatMap((part) => placesAt(term, `labelSelector.${part}.*`));
      if (asText(getIn(term, 'topologyKey')) !== hostname || wanted.length < all.length) return false;
      const isOwn = ({ key, at }: (typeof wanted)[number]) =>
        labels.some((own) => keyOf(own.at) === key && own.value === asText(at));
      return wanted.length > 0 && wanted.every(isOwn);
    },
  );
  const nodes = named.values.length === 1 ? '1 node' : `${named.values.length} nodes`;
  return apart
    ? {
        at: named.at,
        message: `${count} pods must be on different nodes, but they select ${nodes}: the others stay Pending`,
      }
    : undefined;
}
