import { type PlatformFacts, platforms, providerName } from '../../catalog/index.ts';
import { platformName } from '../../config/schema.ts';
import type { ProjectConfig } from '../../config.ts';
import { type CapacityPrices, capacityPrices } from '../../cost/capacity-prices.ts';
import { formatHourly } from '../../cost/format.ts';
import type { PodSet } from '../../model/workload.ts';
import type { Block } from './markdown.ts';

/**
 * Spot against on-demand for the pods of a set: what one costs either way, how much notice pods get before a node goes, and how often
 * nodes go.
 * @param key the label or the taint under the pointer: it shows the platform
 */
export function capacityFacts(podSet: PodSet, key: string, config: ProjectConfig): readonly Block[] {
  const prices = capacityPrices(podSet, config.prices);
  const facts = [...notices(podSet, key, config), ...interruptionLines(prices)];
  const lead = comparison(prices);
  return [
    ...(lead === undefined ? [] : [{ kind: 'lead', text: lead } as const]),
    ...(facts.length === 0 ? [] : [{ kind: 'list', title: 'When spot nodes are taken back', items: facts } as const]),
  ];
}

/** `One pod: $24.20/h spot, $55.04/h on demand: 56% less`. */
function comparison({ onDemand, spot, spotDiscount }: CapacityPrices): string | undefined {
  if (spot === undefined) return undefined;
  if (onDemand === undefined) return `One pod: ${formatHourly(spot)} spot, no on-demand price known`;
  const less = Math.round((spotDiscount ?? 0) * 100);
  const saved = less > 0 ? `: ${less}% less` : '';
  return `One pod: ${formatHourly(spot)} spot, ${formatHourly(onDemand)} on demand${saved}`;
}

/** How much notice a spot node gets before it goes, on the platforms that the place leaves. */
function notices(podSet: PodSet, key: string, config: ProjectConfig): readonly string[] {
  const known = [...platforms.values()].filter(({ spotNoticeSeconds }) => spotNoticeSeconds !== null);
  const narrower: readonly ((platform: PlatformFacts) => boolean)[] = [
    ({ id }) => id === config.platform,
    ({ spotLabels, provider }) => Object.hasOwn(spotLabels, key) && isAt(podSet, provider),
    ({ provider }) => provider !== null && provider === podSet.placement.provider,
  ];
  const fitting = narrower.map((fits) => known.filter(fits)).find((some) => some.length > 0) ?? [];
  return fitting.map(({ id, spotNoticeSeconds, sources }) => {
    const source = sources.spotNoticeSeconds;
    const basis = source === undefined || source.startsWith('unsourced') ? 'without a source' : source;
    return `${platformName(id)}: ${spotNoticeSeconds} s of notice (${basis})`;
  });
}

function isAt({ placement }: PodSet, provider: string | null): boolean {
  return placement.provider === null || placement.provider === provider;
}

/** How many of its spot nodes AWS took back; no other provider publishes it. */
function interruptionLines({ interruptions }: CapacityPrices): readonly string[] {
  const lines = interruptions.map(({ provider, instanceType, region, band, date, source }) => {
    const asOf = date === null ? 'date unknown' : `as of ${date}`;
    return `${providerName(provider)} took back ${band} of ${instanceType} in ${region} within a month, ${asOf} (${source})`;
  });
  return [...new Set(lines)];
}
