import type { PodSetSource } from './kinds/kind.ts';

/** Makes the names of pod sets unique, because they identify the sets. */
export function withUniqueNames(sources: readonly PodSetSource[]): readonly PodSetSource[] {
  if (sources.length < 2) return sources;
  const uses = new Map<string, number>();
  return sources.map((source) => {
    const use = (uses.get(source.name) ?? 0) + 1;
    uses.set(source.name, use);
    return use === 1 ? source : { ...source, name: `${source.name} ${use}` };
  });
}
