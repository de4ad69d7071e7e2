import { allInstanceTypes, isMachineLabel, type MachineShape, nodeLabelMeaning } from '../catalog/index.ts';
import { capacityLeft } from '../catalog/node-labels.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { isAllowed } from '../model/machine-terms.ts';
import type { NodePool } from '../model/node-pool.ts';
import type { NodeRequirement, NodeTerm } from '../model/node-terms.ts';
import { providerOfTerms, regionsOfTerms } from '../model/placement.ts';
import { lazy } from '../yaml/lazy.ts';

/**
 * Whether a pool may add nodes for pods that select nodes only by what follows from their machines and their place: instance types, cards, regions,
 * capacity types. Any other label may be that of other nodes, unless it only excludes some.
 * @param cards how many of them a pod requests
 */
export function canMeet({ terms = [], labels }: NodePool, wanted: readonly NodeTerm[], cards: number): boolean {
  const isOnAzure = lazy(() => providerOfTerms(terms) === 'azure');
  const isStated = (one: NodeRequirement) => describesNodes(one) || excludes(one) || (marksAzure(one) && isOnAzure());
  const isOpen = (one: NodeRequirement) =>
    !(excludes(one) && Object.hasOwn(labels, one.key) && isExcluded(one, labels));
  return wanted.some(
    (term) => term.every(isStated) && term.every(isOpen) && terms.some((own) => agree(own, term, cards)),
  );
}

/** Whether a requirement only excludes nodes: those without the label meet it. */
function excludes({ operator }: NodeRequirement): boolean {
  return operator === 'NotIn' || operator === 'DoesNotExist';
}

function isExcluded({ key, operator, values }: NodeRequirement, labels: NodePool['labels']): boolean {
  return operator === 'DoesNotExist' || values.includes(labels[key] ?? '');
}

function describesNodes({ key }: NodeRequirement): boolean {
  return isMachineLabel(key) || nodeLabelMeaning(key) !== undefined || general.has(key) || cardPresent.test(key);
}

const general = wordSet(
  'topology.kubernetes.io/region topology.kubernetes.io/zone kubernetes.io/os kubernetes.io/arch nvidia.com/gpu.present',
  'failure-domain.beta.kubernetes.io/region failure-domain.beta.kubernetes.io/zone beta.kubernetes.io/os beta.kubernetes.io/arch',
);

/** Node Feature Discovery labels each node with the vendors of its cards: 10de is NVIDIA, 1002 AMD. */
const cardPresent = /^feature\.node\.kubernetes\.io\/pci-(?:[0-9a-f]{4}_)?(?:10de|1002)\.present$/;

/** AKS labels all nodes with NVIDIA cards, formerly without its domain. https://learn.microsoft.com/azure/aks/use-labels */
function marksAzure({ key, operator, values }: NodeRequirement): boolean {
  if (key !== 'kubernetes.azure.com/accelerator' && key !== 'accelerator') return false;
  return operator === 'Exists' ? key !== 'accelerator' : operator === 'In' && values.includes('nvidia');
}

function agree(own: NodeTerm, wanted: NodeTerm, cards: number): boolean {
  const isShared = (one: NodeRequirement) =>
    own.every(
      ({ key, operator, values }) =>
        key !== one.key ||
        operator !== 'In' ||
        one.operator !== 'In' ||
        values.some((value) => one.values.includes(value)),
    );
  const here = regionsOfTerms([own]);
  const there = regionsOfTerms([wanted]);
  const isNear = here.length === 0 || there.length === 0 || here.some((region) => there.includes(region));
  const [bought, asked] = [capacityOf(own), capacityOf(wanted)];
  const isSold = bought === undefined || asked === undefined || bought === asked;
  if (!isNear || !isSold || !wanted.every(isShared)) return false;
  return machinesOf(own).some((type) => (type.gpuCount ?? cards) >= cards && isAllowed([wanted], type));
}

/** The machines with accelerators that a term of a pool allows. */
function machinesOf(own: NodeTerm): readonly MachineShape[] {
  const found = machines.get(own) ?? allInstanceTypes().filter((type) => type.gpu !== null && isAllowed([own], type));
  machines.set(own, found);
  return found;
}

const machines = new WeakMap<NodeTerm, readonly MachineShape[]>();

function capacityOf(term: NodeTerm): string | undefined {
  return term.flatMap(({ key, operator, values }) => capacityLeft(key, operator, values) ?? [])[0];
}
