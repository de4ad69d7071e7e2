import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitrarySteps, playSteps } from '../support/edit-sequences.ts';

test('after any steps all files are shown as a new analysis of the same files shows them, in whatever order it reads them', () => {
  fc.assert(
    fc.property(arbitrarySteps(), (steps) => {
      expect(playSteps(steps, (index) => index % 4 === 3)).toBeUndefined();
    }),
    { seed: 14, numRuns: Number(process.env.GPULINT_RUNS ?? 60) },
  );
});
