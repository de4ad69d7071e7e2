import { allInstanceTypes, instanceType as machineNamed, providerName, saleOf } from '../catalog/index.ts';
import type { NoEstimate } from './no-estimate.ts';
import { modelName } from './requested-words.ts';

/** Why the machines with these devices have no price on demand, if their provider says so. */
export function saleWords(reason: Extract<NoEstimate, { kind: 'priceUnknown' }>): string | undefined {
  const { models, devices, instanceType, provider } = reason;
  if (instanceType !== null) return machineSaleWords(instanceType);
  const machines = allInstanceTypes().filter(
    ({ gpu, gpuCount, provider: seller }) =>
      seller === provider && (gpuCount ?? 0) >= devices && models.includes(gpu ?? ''),
  );
  const [machine, ...others] = machines;
  const sale = saleOf(machine?.name ?? '');
  if (machine === undefined || sale === undefined || others.some(({ name }) => saleOf(name) !== sale)) return undefined;
  return machineSaleWords(machine.name, ` (${modelName(machine.gpu ?? '')})`);
}

/** Why a machine has no price on demand; undefined if its provider says nothing. `card`: shown behind its name. */
export function machineSaleWords(machine: string, card = ''): string | undefined {
  const sale = saleOf(machine);
  if (sale === undefined) return undefined;
  const name = machineNamed(machine)?.name ?? machine;
  const seller = providerName(sale.provider);
  if (sale.planned) return `${seller} set ${sale.retired} as the retirement date of ${name}`;
  if (sale.retired !== undefined) return `${seller} retired ${name} on ${sale.retired}`;
  if (sale.ways === undefined || sale.ways.length === 0) return `${seller} starts no new ${name}`;
  return `${name}${card} has no on-demand price: ${seller} sells it ${listed(sale.ways.map((way) => wayWords[way]))}`;
}

/** `a, b or c`. */
function listed(words: readonly string[]): string {
  return words.join(', ').replace(/, (?=[^,]*$)/, ' or ');
}

const wayWords = {
  spot: 'as spot',
  'flex-start': 'with flex-start',
  reservation: 'by reservation',
  'capacity block': 'in capacity blocks',
  commitment: 'with a commitment',
} as const;
