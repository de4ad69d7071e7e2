import { z } from 'zod';
import type { FlagMeaning } from '../../server/src/catalog/flag-records.ts';

// The catalog's hand-written files: one record per line, each with its source page and the date on which it was read.

const provenance = {
  source: z.union([z.url({ protocol: /^https$/ }), z.literal('unsourced')]),
  date: z.iso.date().nullable(),
  unsourced: z.tuple([z.literal('all')]).optional(),
};

/** Unsourced records are marked and have no date; all others have a page and a date. */
function saysWhence({ source, date, unsourced }: z.output<z.ZodObject<typeof provenance>>): boolean {
  return source === 'unsourced' ? date === null && unsourced !== undefined : date !== null && unsourced === undefined;
}

const use = z.enum(['serving', 'training', 'batch', 'interactive']);
const word = z.string().regex(/^\S+$/);

export const programsFile = z.strictObject({
  programs: z.array(
    z
      .strictObject({
        name: z.string().regex(/^\S+(?: \S+)?$/),
        as: z.enum(['command', 'module', 'script']),
        program: z.string().min(1).optional(),
        use: use.optional(),
        likely: z.literal(true).optional(),
        runs: z.enum(['processes', 'program']).optional(),
        operands: z.int().positive().optional(),
        valued: z.array(z.string().startsWith('-')).optional(),
        does: z.enum(['nothing', 'lists', 'ends']).optional(),
        stores: z.literal(true).optional(),
        suite: word.optional(),
        ...provenance,
      })
      .refine(saysWhence, 'a source with its date, or unsourced')
      .refine(
        ({ use, runs, does, stores, suite }) => (use ?? runs ?? does ?? stores ?? suite) !== undefined,
        'means something',
      )
      .refine(({ as, name }) => as === 'command' || !name.includes(' '), 'only commands have subcommands')
      .refine(
        ({ runs, operands, valued }) => runs === 'program' || (operands ?? valued) === undefined,
        'only where a program follows',
      ),
  ),
});

export const imagesFile = z.strictObject({
  images: z.array(
    z
      .strictObject({
        image: z.string().regex(/^(?:\*-)?[a-z0-9][a-z0-9._-]*(?:\/[a-z0-9][a-z0-9._-]*)?(?:-\*)?\/?$/),
        program: z.string().min(1),
        use,
        ...provenance,
      })
      .refine(saysWhence, 'a source with its date, or unsourced'),
  ),
  words: z.array(
    z
      .strictObject({ word: z.string().regex(/^[a-z0-9]+$/), program: z.string().min(1), use, ...provenance })
      .refine(saysWhence, 'a source with its date, or unsourced'),
  ),
  distributed: z.array(
    z
      .strictObject({ word: z.string().regex(/^[a-z0-9]+$/), ...provenance })
      .refine(saysWhence, 'a source with its date, or unsourced'),
  ),
  shells: z.array(
    z
      .strictObject({ image: z.string().regex(/^[a-z0-9-]+(?:\/[a-z0-9]+)?$/), ...provenance })
      .refine(saysWhence, 'a source with its date, or unsourced'),
  ),
  plain: z.array(
    z
      .strictObject({ image: z.string().regex(/^[a-z0-9-]+$/), ...provenance })
      .refine(saysWhence, 'a source with its date, or unsourced'),
  ),
});

const meaning: z.ZodType<FlagMeaning> = z.enum([
  'checkpoint-interval',
  'checkpoint-dir',
  'resume',
  'resume-from',
  'overwriting',
  'saving',
  'store',
  'total-steps',
  'hyperparameter',
  'processes-per-node',
  'processes',
  'ranks',
  'nodes',
  'node-rank',
  'world-size',
  'tensor-parallel',
  'pipeline-parallel',
  'data-parallel',
  'local-data-parallel',
  'data-parallel-attention',
  'pod-group',
  'device-batch',
  'global-batch',
  'sequence-length',
  'gradient-accumulation',
  'zero-stage',
  'sharding',
  'offload',
  'precision',
  'recomputation',
  'adapter',
  'adapter-rank',
  'adapter-targets',
  'base-bits',
  'optimizer',
  'tensor-split',
  'pipeline-split',
  'context-split',
  'cache-shards',
  'expert-split',
  'attention-kernel',
  'loss-kernel',
  'shape-layers',
  'shape-hidden',
  'shape-heads',
  'shape-kv-heads',
  'shape-feed-forward',
  'shape-vocabulary',
  'model',
  'number-format',
  'context-length',
  'context-stretch',
  'memory-fraction',
  'request-capacity',
  'model-file',
  'sequences',
  'batched-tokens',
  'cache-type',
  'cache-memory',
  'eager',
  'text-only',
  'expert-parallel',
  'gpu-layers',
  'slots',
  'flash-attention',
  'offload',
  'draft',
  'adapters',
  'settings-file',
  'served-name',
  'address',
  'other',
]);

export const flagsFile = z.strictObject({
  flags: z.array(
    z
      .strictObject({
        flag: z.string().regex(/^(?:\*\.)?[a-z0-9]+(?:[.-][a-z0-9]+)*(?:-\*)?$/),
        means: meaning,
        of: z.array(word).min(1).optional(),
        value: z.literal(true).optional(),
        unit: z.enum(['steps', 'epochs', 'days', 'hours', 'minutes', 'seconds', 'clock']).optional(),
        part: z.literal(true).optional(),
        off: word.optional(),
        on: word.optional(),
        ...provenance,
      })
      .refine(saysWhence, 'a source with its date, or unsourced')
      .refine(
        ({ means, unit }) => (means === 'checkpoint-interval') === (unit !== undefined),
        'an interval counts something',
      )
      .refine(({ means, off }) => (means === 'saving') === (off !== undefined), 'what turns saving off'),
  ),
  variables: z.array(
    z
      .strictObject({
        variable: z.string().regex(/^[A-Z][A-Z0-9_]*\*?$/),
        means: z.enum(['processes-per-node', 'shards', 'tensor-parallel', 'pipeline-parallel', 'pod-group']),
        ...provenance,
      })
      .refine(saysWhence, 'a source with its date, or unsourced'),
  ),
  formats: z.array(
    z
      .strictObject({
        format: z.string().regex(/^[a-z0-9]+$/),
        bytes: z.union([z.literal(2), z.literal(4)]),
        ...provenance,
      })
      .refine(saysWhence, 'a source with its date, or unsourced'),
  ),
  families: z.array(
    z.strictObject({
      means: meaning,
      every: z.array(z.array(z.string().regex(/^[a-z0-9]+$/)).min(1)).min(1),
      fill: z.array(z.string().regex(/^[a-z0-9]+$/)),
      never: z.array(z.string().regex(/^[a-z0-9]+$/)),
      inPath: z.boolean(),
      under: z.array(z.string().regex(/^[a-z0-9]+$/)).optional(),
      value: z.literal(true).optional(),
      spellings: z.array(z.tuple([z.string(), z.url({ protocol: /^https$/ })])).min(1),
      date: z.iso.date(),
    }),
  ),
});
