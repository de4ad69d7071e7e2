import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { splitDocuments } from '../../server/src/yaml/parse.ts';
import {
  arbitraryEdits,
  arbitrarySteps,
  filesAfter,
  noFiles,
  projectUris,
  type Step,
  stepsOf,
} from '../support/edit-sequences.ts';
import { scale } from './mutate.ts';
import { root, type Seed, type Seeds } from './seeds.ts';

/** Changes to a set of files, and how often to compare the answers on the way; they are always compared at the end. */
export interface Sequence {
  readonly steps: readonly Step[];
  readonly every: number;
  readonly own: boolean;
}

/** Edits of projects: small objects that refer to each other, and real texts whose documents do, each in one of several files. */
export function sequences({ all }: Seeds): fc.Arbitrary<Sequence> {
  const families = all.filter(({ text }) => text.length < 8000 && /^---/m.test(text) && naming.test(text));
  const real = fc
    .record({
      seed: fc.nat(scale - 1),
      disk: fc.boolean(),
      edits: arbitraryEdits(12),
      every: fc.integer({ min: 1, max: 5 }),
    })
    .map(({ seed, disk, edits, every }) => {
      const family = families[Math.floor((seed / scale) * families.length)];
      const start = family === undefined ? [] : project(family, disk);
      return {
        steps: [...start, ...stepsOf(edits, start.reduce(filesAfter, noFiles))],
        every,
        own: family?.own ?? true,
      };
    });
  const made = fc
    .record({ steps: arbitrarySteps(), every: fc.integer({ min: 1, max: 5 }) })
    .map(({ steps, every }) => ({ steps, every, own: true }));
  return fc.oneof(made, real);
}

const naming =
  /\b(?:HorizontalPodAutoscaler|ScaledObject|LocalQueue|ClusterQueue|NodePool|ServingRuntime|ResourceClaim\w*|PersistentVolumeClaim|PodGroup)\b/;

/** The documents of a text in three files; the second may be known only from disk. */
function project({ text }: Seed, disk: boolean): readonly Step[] {
  const parts = splitDocuments(text).map((part) => part.text.replace(/^---[ \t]*\r?\n/, ''));
  return projectUris.slice(0, 3).flatMap((uri, file): Step[] => {
    const own = parts.filter((_, index) => index % 3 === file).join('---\n');
    if (own === '') return [];
    return disk && file === 1
      ? [{ op: 'disk', uri, text: own, config: 0 }]
      : [{ op: 'set', uri, text: own, config: null, relatedFiles: 0 }];
  });
}

const folder = path.join(root, '../shared/robustness/stale');

/** Sequences that once gave stale answers, if they are on this machine. */
export function savedSequences(): readonly Sequence[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const { h }: { h: readonly { u: string; text: string }[] } = JSON.parse(
        readFileSync(path.join(folder, name), 'utf8'),
      );
      const steps = h.map(({ u, text }): Step => ({ op: 'set', uri: u, text, config: null, relatedFiles: 0 }));
      return { steps, every: 1, own: false };
    });
}
