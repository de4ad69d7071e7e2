import { defaultRegion, offers, type Provider, platforms } from '../catalog/index.ts';
import { platformName } from '../config/schema.ts';
import { isRegion } from './gpu-words.ts';

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

function regionsOf(provider: Provider): readonly string[] {
  const usual = defaultRegion(provider);
  const found = new Set(
    offers({ provider })
      .map(({ region }) => region)
      .filter(isRegion),
  );
  const others = [...found].filter((region) => region !== usual).sort();
  return found.has(usual) ? [usual, ...others] : others;
}
