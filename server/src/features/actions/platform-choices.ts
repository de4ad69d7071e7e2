import { type Provider, platforms, regionsOf } from '../../catalog/index.ts';
import { platformName } from '../../config/schema.ts';

/** A place where a cluster can run. */
export interface PlatformChoice {
  readonly id: string;
  readonly name: string;
  readonly provider: Provider | null;
  /** Regions that there are prices for, the usual one first; empty where one price holds everywhere. */
  readonly regions: readonly string[];
}

/** The platforms to choose from, by name; clusters of one's own come last. */
export function platformChoices(): readonly PlatformChoice[] {
  return [...platforms.values()]
    .map(({ id, provider }) => ({
      id,
      name: platformName(id),
      provider,
      regions: provider === null ? [] : regionsOf(provider),
    }))
    .sort((a, b) => Number(a.provider === null) - Number(b.provider === null) || (a.name < b.name ? -1 : 1));
}
