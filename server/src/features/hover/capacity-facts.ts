import { type PlatformFacts, platforms, providerName } from '../../catalog/index.ts';
import { platformName } from '../../config/schema.ts';
import type { ProjectConfig } from '../../config.ts';
import { dateWords } from '../../cost/assumption-words.ts';
import { type CapacityPrices, capacityPrices } from '../../cost/capacity-prices.ts';
import { formatHourly } from '../../cost/money.ts';
import type { PodSet } from '../../model/workload.ts';
import { sourceName } from './gpu-words.ts';
import type { Block } from './render.ts';

/**
 * Spot compared with on-demand for the pods of a set: the price of one pod, the notice before an interruption, and how often interruptions
 * happen.
 * @param key the label or taint under the pointer; it indicates the platform
 */
export function capacityFacts(podSet: PodSet, key: string, config: ProjectConfig): readonly Block[] {
  const prices = capacityPrices(podSet, config.prices);
  const facts = [...notices(podSet, key, config), ...interruptionLines(prices)];
  const lead = comparison(prices);
  return [
    ...(lead === undefined ? [] : [{ kind: 'lead', text: lead } as const]),
    ...(facts.length === 0 ? [] : [{ kind: 'list', title: 'Spot interruptions', items: facts } as const]),
  ];
}

/** `One pod: $24.20/h spot, $55.04/h on demand (56% less on spot)`. */
function comparison({ onDemand, spot, spotDiscount }: CapacityPrices): string | undefined {
  if (spot === undefined) return undefined;
  if (onDemand === undefined) return `One pod: ${formatHourly(spot)} spot, on-demand price unknown`;
  const less = Math.round((spotDiscount ?? 0) * 100);
  const saved = less > 0 ? ` (${less}% less on spot)` : '';
  return `One pod: ${formatHourly(spot)} spot, ${formatHourly(onDemand)} on demand${saved}`;
}

/** The notice before a spot interruption, on the platforms that the placement leaves. */
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
    const basis = source === undefined || source.startsWith('unsourced') ? 'no source' : sourceName(source);
    return `${platformName(id)}: ${spotNoticeSeconds} s notice (${basis})`;
  });
}

function isAt({ placement }: PodSet, provider: string | null): boolean {
  return placement.provider === null || placement.provider === provider;
}

/** The share of its spot nodes that AWS reclaimed; no other provider publishes it. */
function interruptionLines({ interruptions }: CapacityPrices): readonly string[] {
  const lines = interruptions.map(({ provider, instanceType, region, band, date, source }) => {
    const nodes = `${instanceType} spot nodes in ${region}`;
    return `${providerName(provider)} reclaimed ${band} of ${nodes} within a month, ${dateWords(date)} (${sourceName(source)})`;
  });
  return [...new Set(lines)];
}
