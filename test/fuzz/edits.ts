import { Analysis } from '../../server/src/analysis.ts';
import {
  applyStep,
  difference,
  filesAfter,
  freshAnalysis,
  freshSnapshotOf,
  noFiles,
  type Step,
  snapshotOf,
} from '../support/edit-sequences.ts';
import { type Sequence, savedSequences, sequences } from './sequences.ts';
import { fewer, shrinkText } from './shrink.ts';
import { type Look, type Problem, type Target, thrown } from './target.ts';
import { crashesOf } from './texts.ts';

/** Sequences of edits across several files: the incremental state must equal a new analysis after any step, in any order. */
export const edits: Target<Sequence> = {
  name: 'edits',
  unit: 'sequences',
  inputs: sequences,
  first: savedSequences,
  async check({ steps, every }, look) {
    try {
      return sequenceProblems(steps, every, look);
    } catch (error) {
      return [thrown('edits', error)];
    }
  },
  async shrink(input, fails) {
    let shrunk: Sequence = { ...input, steps: await fewer(input.steps, (steps) => fails({ ...input, steps })) };
    for (const [index, step] of shrunk.steps.entries()) {
      if (!('text' in step)) continue;
      const withText = (text: string): Sequence => ({
        ...shrunk,
        steps: shrunk.steps.map((one, at) => (at === index ? { ...step, text } : one)),
      });
      shrunk = withText(await shrinkText(step.text, (text) => fails(withText(text)), 400));
    }
    return shrunk;
  },
  save: ({ steps, every }) => ({ extension: 'json', text: `${JSON.stringify({ every, steps }, null, 2)}\n` }),
  load: (text) => ({ ...JSON.parse(text), own: true }),
  isOwn: ({ own }) => own,
};

/** The first step after which the answers differ from a new analysis of the same files. */
export function sequenceProblems(steps: readonly Step[], every: number, { measure }: Look): readonly Problem[] {
  const analysis = new Analysis();
  let files = noFiles;
  for (const [index, step] of steps.entries()) {
    const before = files;
    files = filesAfter(files, step);
    measure.time(
      `step ${step.op}`,
      () => applyStep(analysis, step),
      () => applyStep(freshAnalysis(before, 1), step),
    );
    if (index + 1 < steps.length && index % every !== 0) continue;
    const shown = snapshotOf(analysis, files);
    const differs = difference(shown, freshSnapshotOf(files, index + 1));
    if (differs !== undefined) {
      const { place, is = '', fresh = '' } = differs;
      const from = Math.max(0, [...is].findIndex((letter, at) => letter !== fresh[at]) - 80);
      const message = `after step ${index + 1} (${step.op}) ${place} differs from a new analysis:\n  ${is.slice(from, from + 240)}\n  ${fresh.slice(from, from + 240)}`;
      return [{ kind: 'difference', sign: `difference-in-${place.split(' ').at(-1)}`, message }];
    }
    const crashes = [...files.open.values()].flatMap(({ uri }) => {
      const file = analysis.file(uri);
      return file === undefined ? [] : crashesOf(file);
    });
    if (crashes.length > 0) return crashes;
  }
  return [];
}
