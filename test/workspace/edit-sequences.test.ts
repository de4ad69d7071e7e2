import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitrarySteps, playSteps } from '../support/edit-sequences.ts';

test('after any steps, all files have the results of a new analysis of the same files in any order', () => {
  fc.assert(
    fc.property(arbitrarySteps(), (steps) => {
      expect(playSteps(steps, (index) => index % 4 === 3)).toBeUndefined();
    }),
    { seed: 14, numRuns: Number(process.env.GPULINT_RUNS ?? 60) },
  );
});
