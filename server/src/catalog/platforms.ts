import { tableOf } from '../yaml/table.ts';
import { sourceText, storedPlatforms } from './stored.ts';
import type { PlatformFacts } from './types.ts';

/** How each platform labels and reclaims GPU nodes, by id (gke-standard, eks-karpenter, aks ...). */
export const platforms: ReadonlyMap<string, PlatformFacts> = new Map(
  storedPlatforms.platforms.map(({ date: _date, sources, ...platform }) => [
    platform.id,
    {
      ...platform,
      spotLabels: tableOf(Object.entries(platform.spotLabels)),
      sources: tableOf(
        Object.entries(sources).map(([field, places]) => [field, sourceText(storedPlatforms.sources, places)] as const),
      ),
    },
  ]),
);
