import fc from 'fast-check';
import { type Mutation, mutate, mutatorNames, scale } from './mutate.ts';
import type { Seed, Seeds } from './seeds.ts';

/** A text made from seeds. */
export interface Mutant {
  readonly text: string;
  readonly own: boolean;
  /** Determines where to look, and under which config. */
  readonly dice: number;
}

const number = fc.nat(scale - 1);

const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom(...mutatorNames),
  at: number,
  choice: number,
});

/** Seeds with a few mutations. Short seeds are more frequent: most bugs show within twenty lines. */
export function mutants({ all }: Seeds): fc.Arbitrary<Mutant> {
  const short = all.filter(({ text }) => text.length <= 6000);
  return fc
    .record({
      seed: number,
      other: number,
      long: fc.nat(199),
      mutations: fc.oneof(
        { weight: 8, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 4 }) },
        { weight: 1, arbitrary: fc.array(mutation, { maxLength: 12 }) },
      ),
      dice: number,
    })
    .map(({ seed, other, long, mutations, dice }) => {
      const first = choose(long === 0 ? all : short, seed);
      const second = choose(short, other);
      const spliced = mutations.some(
        ({ kind }) => kind === 'splice' || kind === 'insertBlock' || kind === 'appendDocument',
      );
      return { text: mutate(first.text, second.text, mutations), own: first.own && (second.own || !spliced), dice };
    });
}

function choose(seeds: readonly Seed[], number: number): Seed {
  const share = (number / scale) ** 2.5;
  return seeds[Math.floor(share * seeds.length)] ?? { text: '', own: true };
}

/** A reproducible stream of random numbers from one seed. */
export function diceOf(start: number): (sides: number) => number {
  let state = (start * 2654435761 + 1) >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}
