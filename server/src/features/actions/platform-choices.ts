import { type PriceSheet, type Provider, platforms, regionsOf } from '../../catalog/index.ts';
import { platformName } from '../../config/schema.ts';

/** A platform for clusters. */
export interface PlatformChoice {
  readonly id: string;
  readonly name: string;
  readonly provider: Provider | null;
  /** Regions with prices, the default one first; empty if one price applies everywhere. */
  readonly regions: readonly string[];
}

/** The platforms by name; self-managed clusters come last. */
export function platformChoices(sheet: PriceSheet): readonly PlatformChoice[] {
  return [...platforms.values()]
    .map(({ id, provider }) => ({
      id,
      name: platformName(id),
      provider,
      regions: provider === null ? [] : regionsOf(provider, sheet),
    }))
    .sort((a, b) => Number(a.provider === null) - Number(b.provider === null) || (a.name < b.name ? -1 : 1));
}
