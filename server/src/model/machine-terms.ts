import {
  allInstanceTypes,
  type GpuModel,
  gpus,
  gpusByLabel,
  gpusInLabel,
  instanceTypesOf,
  isInstanceTypeLabel,
  isMachineLabel,
  type MachineShape,
  machineLabels,
  nodeLabelMeaning,
  physicalCount,
  providerOfLabel,
} from '../catalog/index.ts';
import { lazy } from '../yaml/lazy.ts';
import type { NodeRequirement, NodeTerm } from './node-terms.ts';

// The machines that requirements on node labels allow.

type Labels = ReturnType<typeof machineLabels>;

/**
 * Whether a machine meets one of the terms, by the rules of the scheduler: a label that the machine does not have meets only `NotIn` and
 * `DoesNotExist`. Labels that do not follow from the instance type, and values that are unknown, do not exclude it.
 */
export function isAllowed(terms: readonly NodeTerm[], machine: MachineShape): boolean {
  if (terms.length === 0) return true;
  const labels = machineLabels(machine);
  return terms.some((term) => term.every((requirement) => meets(requirement, machine, labels)));
}

function meets(requirement: NodeRequirement, machine: MachineShape, labels: Labels): boolean {
  const { key, operator, values } = requirement;
  const value = isMachineLabel(key) ? labels.get(key) : null;
  if (value !== null) return holds(requirement, value === undefined ? [] : [value]);
  if (!isDeviceLabel(key)) return operator !== 'DoesNotExist' || !isMachineLabel(key);
  const owner = providerOfLabel(key);
  if (owner !== null && owner !== machine.provider) return holds(requirement, []);
  // Names that the catalog does not have exclude nothing.
  if (operator === 'In' && !values.some((one) => gpusByLabel(key, one).length > 0)) return true;
  const gpu = gpus.get(machine.gpu ?? '');
  if (gpu !== undefined && gpu.labels[key] === undefined && nodeLabelMeaning(key) === 'gpu-model') {
    if (operator === 'In') return values.some((one) => gpusInLabel(key, one).includes(gpu));
    if (operator === 'NotIn') return !values.some((one) => namesOnly(key, one, gpu));
  }
  return holds(requirement, gpu?.labels[key] ?? []);
}

/** Whether a value names this whole card and no other. */
export function namesOnly(key: string, value: string, gpu: GpuModel): boolean {
  const [first, ...others] = gpusInLabel(key, value);
  return first === gpu && others.length === 0 && !/-(?:MIG|SHARED)\b/.test(value);
}

function isDeviceLabel(key: string): boolean {
  const meaning = nodeLabelMeaning(key);
  return meaning === 'gpu-model' || meaning === 'gpu-memory';
}

/** @param actual the values that the label may have; none if the machine does not have it */
function holds({ key, operator, values }: NodeRequirement, actual: readonly string[]): boolean {
  const isListed = () => actual.some((value) => values.some((one) => isSame(key, one, value)));
  switch (operator) {
    case 'In':
      return isListed();
    case 'NotIn':
      return !isListed();
    case 'Exists':
      return actual.length > 0;
    case 'DoesNotExist':
      return actual.length === 0;
    case 'Gt':
      return actual.some((value) => Number(value) > Number(values[0]));
    case 'Lt':
      return actual.some((value) => Number(value) < Number(values[0]));
  }
}

/** SageMaker's and Azure's names of instance types have several spellings, and Nebius labels nodes with a part of them. */
function isSame(key: string, written: string, value: string): boolean {
  return (
    written === value || (key.endsWith('instance-type') && instanceTypesOf(written).some(({ name }) => name === value))
  );
}

/**
 * The models of the known machines that the terms allow: `instance-category: g` with `instance-generation: 6` are L4 and L40S. Empty if one of the
 * terms does not limit the machines.
 */
export function modelsOfMachines(terms: readonly NodeTerm[]): readonly GpuModel[] {
  if (terms.length === 0 || !terms.every((term) => term.some(limits)) || terms.some(namesUnknown)) return [];
  const question = JSON.stringify(terms);
  const known = answers.get(question);
  if (known !== undefined) return known;
  // Images for Arm are rare, and Karpenter adds such machines only if a requirement names them.
  const isArm = terms.some((term) => term.some(({ values }) => values.some((value) => arm.test(value))));
  const ids = [...allInstanceTypes(), ...withAttachedCards()].flatMap((type) =>
    type.gpu !== null && (isArm || !hasArm(type)) && isAllowed(terms, type) ? [type.gpu] : [],
  );
  const models = [...new Set(ids)].flatMap((id) => gpus.get(id) ?? []);
  if (answers.size >= 200) answers.clear();
  answers.set(question, models);
  return models;
}

/**
 * The different numbers of cards of the known machines that the terms allow, smallest first; a machine with a part of a card has a fraction. Empty if
 * one of the terms does not limit the machines.
 */
export function cardsOfMachines(terms: readonly NodeTerm[]): readonly number[] {
  if (terms.length === 0 || !terms.every((term) => term.some(limits)) || terms.some(namesUnknown)) return [];
  const question = JSON.stringify(terms);
  const known = cardCounts.get(question);
  if (known !== undefined) return known;
  const allowed = allInstanceTypes().filter((type) => type.gpu !== null && isAllowed(terms, type));
  const counts = [...new Set(allowed.flatMap(({ gpuCount }) => gpuCount ?? []))].sort((a, b) => a - b);
  if (cardCounts.size >= 200) cardCounts.clear();
  cardCounts.set(question, counts);
  return counts;
}

const cardCounts = new Map<string, readonly number[]>();

const arm = /^(?:arm64|g5g|p6e|a4x|t4g)/;

/** Grace, the CPU next to GH200 and GB200, is an Arm processor. */
function hasArm({ name, gpu }: MachineShape): boolean {
  return arm.test(name) || /^g[bh]\d/.test(gpu ?? '');
}

/** Google's N1 machines, to which cards are attached. https://cloud.google.com/compute/docs/gpus#n1-gpus */
const withAttachedCards = lazy((): readonly MachineShape[] => {
  const own = new Set(allInstanceTypes().flatMap(({ provider, gpu }) => (provider === 'gcp' ? (gpu ?? []) : [])));
  const attached = [...gpus.values()].filter(({ id, labels }) => labels[gkeAccelerator] !== undefined && !own.has(id));
  const shape = { provider: 'gcp', name: 'n1-standard-8', vcpu: null, memoryGiB: null } as const;
  return attached.flatMap(({ id }) => [1, 2, 4, 8].map((gpuCount) => ({ ...shape, gpu: id, gpuCount })));
});

const gkeAccelerator = 'cloud.google.com/gke-accelerator';

/** A project has few distinct terms, but each workload repeats them at each keystroke. */
const answers = new Map<string, readonly GpuModel[]>();

/** Whether a term allows a machine that the catalog does not have, or a card whose label it does not have. */
function namesUnknown(term: NodeTerm): boolean {
  return term.some(({ key, operator, values }) => {
    if (operator !== 'In') return false;
    if (isInstanceTypeLabel(key)) return values.some((name) => instanceTypesOf(name).length === 0);
    return nodeLabelMeaning(key) === 'gpu-model' && values.some((name) => gpusByLabel(key, name).length === 0);
  });
}

function limits({ key, operator }: NodeRequirement): boolean {
  return (
    key !== physicalCount &&
    operator !== 'NotIn' &&
    operator !== 'DoesNotExist' &&
    (isMachineLabel(key) || isDeviceLabel(key))
  );
}
