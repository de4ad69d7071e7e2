import { providerName } from '../catalog/index.ts';
import type { Inherited, ObjectName } from '../model/referenced.ts';
import type { Assumption } from './assumption.ts';
import { formatHourly, plural } from './format.ts';
import { modelName, requestedWords } from './requested-words.ts';

// The one wording of assumptions, for hover and reports alike.

/** Where values of the config come from, by key: `.gpulint.yaml`, `user settings`. */
export type ValueOrigins = Readonly<
  Partial<Record<'gpu' | 'nodePools' | 'provider' | 'region' | 'capacity' | 'prices' | 'sharing.replicas', string>>
>;

/**
 * A sentence for each, without repetition.
 * @param origins names the place of each value, for readers who can change it there; undefined in reports
 */
export function assumptionLines(assumptions: readonly Assumption[], origins?: ValueOrigins): readonly string[] {
  return [...new Set(assumptions.map((assumption) => sentence(assumption, origins)))];
}

function sentence(assumption: Assumption, origins: ValueOrigins | undefined): string {
  const from = (key: keyof ValueOrigins) => `from ${origins?.[key] ?? 'the config'}`;
  const byDefault = origins === undefined ? '' : ' (default)';
  switch (assumption.kind) {
    case 'readWith':
      return `What this file leaves open is from ${assumption.file}`;
    case 'inherited':
      return `${factWords[assumption.fact]} from ${objectWords(assumption.from)}`;
    case 'unbounded':
      return `No upper bound on ${assumption.podSet} replicas: counted at ${assumption.pods}`;
    case 'gpu':
      return assumption.nodePool === null
        ? `GPU not named: ${modelName(assumption.model)} ${from('gpu')}`
        : `Node pool ${assumption.nodePool}: ${modelName(assumption.model)} ${from('nodePools')}`;
    case 'models': {
      const { models } = assumption;
      const counted = models.length > 2 ? 'all' : 'both';
      return `The selector fits ${models.map(modelName).join(' and ')}: ${counted} are counted in the range`;
    }
    case 'provider':
      return `Provider ${providerName(assumption.provider)} ${from('provider')}`;
    case 'providers':
      return 'Provider not told: from the cheapest provider to the dearest, each with its cheapest offer';
    case 'region':
      return assumption.from === 'config'
        ? `Region ${assumption.region} ${from('region')}`
        : `Region not told: ${assumption.region}${byDefault}`;
    case 'otherRegion':
      return `No ${assumption.pricing} price for ${assumption.wanted}: ${assumption.region} instead`;
    case 'capacity':
      return assumption.from === 'config'
        ? `Capacity ${assumption.capacity} ${from('capacity')}`
        : `Capacity not told: ${assumption.capacity}${byDefault}`;
    case 'onDemand':
      return `No ${assumption.wanted} price${assumption.wanted === 'spot' ? ' known' : ''}: on-demand instead`;
    case 'share':
      return shareWords(assumption);
    case 'podsPerGpu':
      return `${assumption.pods} pods to a card ${from('sharing.replicas')}`;
    case 'discount':
      return `On-demand list prices less ${assumption.percent}% ${from('prices')}`;
    case 'spotElsewhere': {
      const { provider, instanceType, cards, hourly, date } = assumption;
      const price = `${formatHourly(hourly)}${cards === 1 ? '' : ` for ${plural(cards, 'card')}`}`;
      return `Spot at ${providerName(provider ?? '')} is cheapest on ${instanceType}: ${price}, ${dateWords(date)}`;
    }
  }
}

const factWords: Readonly<Record<Inherited['fact'], string>> = {
  gpuCount: 'GPU count',
  nodeCount: 'Node count',
  replicas: 'Replicas',
  devices: 'Devices',
};

/** `ServingRuntime vllm in ../runtimes.yaml`. */
function objectWords({ kind, name, file }: ObjectName): string {
  return `${kind} ${name}${file === null ? '' : ` in ${file}`}`;
}

function shareWords({ requested, form, share }: Extract<Assumption, { readonly kind: 'share' }>): string {
  const words = requestedWords(requested);
  if (form === 'mig') return `${words.replace('nvidia.com/mig-', 'MIG ')} counted as ${fraction(share)} of a card`;
  const each = requested.kind === 'resource' ? `each ${words}` : `each ${requested.name} device`;
  return `Shared card: ${form === 'whole' ? each : words} counted as ${fraction(share)} of it`;
}

/** `1/7`; shares that are no unit fraction are written in percent. */
function fraction(share: number): string {
  const parts = 1 / share;
  return Math.abs(parts - Math.round(parts)) < 1e-6 ? `1/${Math.round(parts)}` : `${Math.round(share * 100)}%`;
}

/** `as of 2026-07-20`; `date unknown`. */
export function dateWords(date: string | null): string {
  return date === null ? 'date unknown' : `as of ${date}`;
}

/** Where a price has no source because the project pays it: what stands for one, in reports and hovers. */
export const ownPriceWords = 'your price';
