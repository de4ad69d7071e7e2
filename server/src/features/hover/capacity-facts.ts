import { interruptionBand, type PlatformFacts, platforms, providerName } from '../../catalog/index.ts';
import { platformName } from '../../config/schema.ts';
import type { ProjectConfig } from '../../config.ts';
import { acceleratorsOf } from '../../cost/estimate.ts';
import { formatHourly } from '../../cost/format.ts';
import { type PodPrice, type Pricing, quote } from '../../cost/offers.ts';
import type { Range } from '../../cost/types.ts';
import type { PodSet } from '../../model/workload.ts';
import type { Block } from './markdown.ts';

/**
 * Spot against on-demand for the pods of a set: what one costs either way, how long before a node goes its pods are told, and how often
 * nodes go.
 * @param key the label or the taint that was pointed at: it tells the platform
 */
export function capacityFacts(podSet: PodSet, key: string, config: ProjectConfig): readonly Block[] {
  const onDemand = podPrices(podSet, 'on-demand', config);
  const spot = podPrices(podSet, 'spot', config);
  const facts = [...notices(podSet, key, config), ...interruptions(spot)];
  const lead = comparison(rangeOf(onDemand), rangeOf(spot));
  return [
    ...(lead === undefined ? [] : [{ kind: 'lead', text: lead } as const]),
    ...(facts.length === 0 ? [] : [{ kind: 'list', title: 'When spot nodes are taken back', items: facts } as const]),
  ];
}

/** `One pod: $24.20/h spot, $55.04/h on demand: 56% less`. */
function comparison(onDemand: Range | undefined, spot: Range | undefined): string | undefined {
  if (spot === undefined) return undefined;
  if (onDemand === undefined) return `One pod: ${formatHourly(spot)} spot, no on-demand price known`;
  const single = onDemand.min === onDemand.max && spot.min === spot.max && onDemand.min > 0;
  const less = single ? Math.round((1 - spot.min / onDemand.min) * 100) : 0;
  const saved = less > 0 ? `: ${less}% less` : '';
  return `One pod: ${formatHourly(spot)} spot, ${formatHourly(onDemand)} on demand${saved}`;
}

/** The prices of each kind of accelerator that a pod takes; empty where one has none. */
function podPrices(podSet: PodSet, pricing: Pricing, config: ProjectConfig): readonly (readonly PodPrice[])[] {
  const prices = acceleratorsOf(podSet).map(({ model, devices }) =>
    model === null || devices === null ? [] : quote(model, devices, podSet.placement, pricing, config.prices).prices,
  );
  return prices.some((some) => some.length === 0) ? [] : prices;
}

function rangeOf(prices: readonly (readonly PodPrice[])[]): Range | undefined {
  if (prices.length === 0) return undefined;
  return prices
    .map((some) => some.map(({ hourly }) => hourly))
    .reduce((total, amounts) => ({ min: total.min + Math.min(...amounts), max: total.max + Math.max(...amounts) }), {
      min: 0,
      max: 0,
    });
}

/** How long before it goes a spot node is told, on the platforms that the place leaves. */
function notices(podSet: PodSet, key: string, config: ProjectConfig): readonly string[] {
  const told = [...platforms.values()].filter(({ spotNoticeSeconds }) => spotNoticeSeconds !== null);
  const narrower: readonly ((platform: PlatformFacts) => boolean)[] = [
    ({ id }) => id === config.platform,
    ({ spotLabels, provider }) => Object.hasOwn(spotLabels, key) && isAt(podSet, provider),
    ({ provider }) => provider !== null && provider === podSet.placement.provider,
  ];
  const fitting = narrower.map((fits) => told.filter(fits)).find((some) => some.length > 0) ?? [];
  return fitting.map(({ id, spotNoticeSeconds, sources }) => {
    const source = sources.spotNoticeSeconds;
    const basis = source === undefined || source.startsWith('unsourced') ? 'without a source' : source;
    return `${platformName(id)}: ${spotNoticeSeconds} s of notice (${basis})`;
  });
}

function isAt({ placement }: PodSet, provider: string | null): boolean {
  return placement.provider === null || placement.provider === provider;
}

/** How many of its spot nodes AWS took back; no other provider tells. */
function interruptions(spot: readonly (readonly PodPrice[])[]): readonly string[] {
  const lines = spot.flat().flatMap(({ offer }) => {
    const known = interruptionBand(offer.instanceType, offer.region);
    if (offer.provider !== 'aws' || known === undefined) return [];
    const date = known.date === null ? 'date unknown' : `as of ${known.date}`;
    return [
      `${providerName('aws')} took back ${known.band} of ${offer.instanceType} in ${offer.region} within a month, ${date} (${known.source})`,
    ];
  });
  return [...new Set(lines)];
}
