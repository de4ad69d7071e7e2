import type { PodCount } from './kind.ts';
import { between } from './pod-sets.ts';

// The pods of workflows whose steps do not wait for each other.

/** The pods of one template that run at once: at the workflow's busiest moment, and at most. null: unknown. */
export interface Runs {
  readonly busiest: number | null;
  readonly most: number | null;
  /** The stages in which they run; missing: in all. */
  readonly stages?: readonly string[];
  /** It runs, but next to which others is unknown. */
  readonly runs?: true;
  /** The bound of all templates together. */
  readonly together?: number;
}

/** What a template runs, directly or through others, by the index of the template that has the pods. */
export type Use = ReadonlyMap<number, Runs>;

/**
 * Tasks in branches that do not wait for each other: each moment has at most those of one stage, none of which waits for another.
 * @param whole all of them at once
 */
export function inBranches(
  uses: readonly Use[],
  heavy: readonly number[],
  isOrdered: (a: number, b: number) => boolean,
  whole: Use,
): Use {
  let stages: readonly (readonly number[])[] = [[]];
  for (const task of heavy) {
    const joined = stages.flatMap((stage): (readonly number[])[] => {
      const free = stage.filter((other) => !isOrdered(other, task));
      return free.length === stage.length ? [[...stage, task]] : [stage, [...free, task]];
    });
    stages = [...new Map(joined.map((stage) => [stage.join(), stage])).values()];
    if (stages.length > maxBranches) return whole;
  }
  const found = new Map<number, Runs>(whole);
  for (const [index, runs] of found) {
    const using = stages.map((stage) => stage.filter((task) => uses[task]?.has(index)));
    const counts = using.map((tasks) =>
      tasks.reduce<number | null>((sum, task) => sumOf(sum, uses[task]?.get(index)?.most ?? null), 0),
    );
    if (using.every((tasks) => tasks.length === 0)) continue;
    const most = counts.every((count) => count !== null) ? Math.max(...counts.map((count) => count ?? 0)) : null;
    const own = using.flatMap((tasks, at) => (tasks.length > 0 ? String(at) : []));
    found.set(index, { ...runs, most, stages: own });
  }
  return found;
}

/** With more branches than this, their amounts are not separated. */
const maxBranches = 64;

/** The template with most devices per pod of those that certainly run: its pods, or others with as many devices, are there at the busiest moment. */
export function heaviestOf(use: Use, weights: readonly number[]): number | undefined {
  const sure = [...use].flatMap(([index, { runs }]) => (runs ? index : []));
  return sure.sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0))[0];
}

/** The pods at once, from the busiest certain moment to the most possible. If several may run at once, at least one of the heaviest does. */
export function podsOf({ busiest, most, stages, together }: Runs, isHeaviest = false): PodCount {
  const least = busiest ?? (most === null ? null : isHeaviest ? 1 : 0);
  return {
    ...between(least, most),
    ...(stages && { stages }),
    ...(together && { together: { most: together, always: 0 } }),
  };
}

/** The sum of two numbers of runs. */
export function sumOf(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}
