import { allInstanceTypes, isInstanceTypeLabel } from '../catalog/index.ts';
import type { CrossReferences, Landing } from '../model/cross-references.ts';
import { isAllowed } from '../model/machine-terms.ts';
import type { NodeRequirement, NodeTerm } from '../model/node-terms.ts';
import { wantedLabels } from '../model/nodes-of-others.ts';
import type { PodSet } from '../model/workload.ts';
import { describePools, livePoolsOf } from './pool-taints.ts';

type Machine = ReturnType<typeof allInstanceTypes>[number];

/** The machines of the pools that a pod selects by their labels, all of which the catalog has. */
export interface PoolMachines {
  /** `NodePool gpu (infra/pools.yaml)`. */
  readonly whose: string;
  readonly machines: readonly Machine[];
}

/** Pools in a sibling folder may be of another cluster. The connected cluster knows its nodes better. */
export function poolMachinesOf(podSet: PodSet, crossReferences: CrossReferences): PoolMachines | undefined {
  const landing = selectedPools(podSet, crossReferences);
  if (landing === undefined) return undefined;
  const machines = machinesNamed(landing.terms);
  return machines.length === 0 ? undefined : { whose: describePools(landing), machines };
}

/** How many GPUs the pools may have at once that a pod selects by their labels; undefined if nothing limits them. */
export function roomOf(podSet: PodSet, crossReferences: CrossReferences): PoolRoom | undefined {
  const landing = selectedPools(podSet, crossReferences);
  return landing === undefined || landing.most === null
    ? undefined
    : { whose: describePools(landing), most: landing.most };
}

export interface PoolRoom {
  readonly whose: string;
  readonly most: number;
}

/** All pools that a pod selects by their labels, if each of their cards is one device. */
function selectedPools(podSet: PodSet, crossReferences: CrossReferences): Landing | undefined {
  const { selectors } = podSet;
  if (selectors.length === 0 || livePoolsOf(podSet, crossReferences) !== undefined) return undefined;
  const landing = crossReferences.landingOf(wantedLabels(selectors), false);
  if (landing === undefined || landing.isElsewhere === true || landing.siblingFolder || landing.isPart)
    return undefined;
  const keys = [...selectors, ...landing.terms.flat()].map(({ key }) => key);
  return keys.some((key) => divides.test(key)) ? undefined : landing;
}

/** Labels by which nodes share or partition their cards, so a node offers more devices than its machine has. */
const divides =
  /^nvidia\.com\/(?:device-plugin\.config|mig[.-]|gpu\.(?:replicas|sharing-strategy))|\/gke-(?:max-shared-clients|gpu-partition|gpu-sharing)/;

/** The machines of terms that each name types or families; none if the catalog lacks one of those. */
function machinesNamed(terms: readonly NodeTerm[]): readonly Machine[] {
  if (!terms.every((term) => term.some(isNaming) && term.filter(isNaming).every(isKnown))) return [];
  const machines = allInstanceTypes().filter((machine) => isAllowed(terms, machine));
  const isSourced = ({ gpuCount, unsourced }: Machine) =>
    Number.isInteger(gpuCount) && !unsourced.some((field) => ['all', 'gpuCount'].includes(field));
  return machines.every(isSourced) ? machines : [];
}

function isNaming({ key, operator, values }: NodeRequirement): boolean {
  return operator === 'In' && values.length > 0 && (isInstanceTypeLabel(key) || /\/instance-family$/.test(key));
}

function isKnown({ key, operator, values }: NodeRequirement): boolean {
  return values.every((value) =>
    allInstanceTypes().some((machine) => isAllowed([[{ key, operator, values: [value] }]], machine)),
  );
}
