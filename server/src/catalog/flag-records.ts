import { lazy } from '../yaml/lazy.ts';
import { flagsJson } from './data.ts';

/** What a flag sets. Rules and estimates look for meanings; the spellings of each program are data. */
export type FlagMeaning =
  // Progress of a trainer.
  | 'checkpoint-interval'
  | 'checkpoint-dir'
  | 'resume'
  | 'resume-from'
  | 'overwriting'
  | 'saving'
  | 'store'
  | 'total-steps'
  | 'hyperparameter'
  // Processes and their groups.
  | 'processes-per-node'
  | 'processes'
  | 'ranks'
  | 'nodes'
  | 'node-rank'
  | 'world-size'
  | 'tensor-parallel'
  | 'pipeline-parallel'
  | 'data-parallel'
  | 'local-data-parallel'
  | 'data-parallel-attention'
  | 'pod-group'
  // What decides the memory of training.
  | 'device-batch'
  | 'global-batch'
  | 'sequence-length'
  | 'gradient-accumulation'
  | 'zero-stage'
  | 'sharding'
  | 'offload'
  | 'precision'
  | 'recomputation'
  | 'adapter'
  | 'adapter-rank'
  | 'adapter-targets'
  | 'base-bits'
  | 'optimizer'
  | 'tensor-split'
  | 'pipeline-split'
  | 'context-split'
  | 'expert-split'
  | 'attention-kernel'
  | 'loss-kernel'
  | 'shape-layers'
  | 'shape-hidden'
  | 'shape-heads'
  | 'shape-kv-heads'
  | 'shape-feed-forward'
  | 'shape-vocabulary'
  // Model servers.
  | 'model'
  | 'number-format'
  | 'context-length'
  | 'context-stretch'
  | 'memory-fraction'
  | 'request-capacity'
  | 'settings-file'
  | 'model-file'
  | 'sequences'
  | 'batched-tokens'
  | 'cache-type'
  | 'cache-memory'
  | 'cache-shards'
  | 'eager'
  | 'text-only'
  | 'expert-parallel'
  | 'gpu-layers'
  | 'slots'
  | 'flash-attention'
  | 'offload'
  | 'draft'
  | 'adapters'
  | 'served-name'
  | 'address'
  | 'other';

export type FlagUnit = 'steps' | 'epochs' | 'days' | 'hours' | 'minutes' | 'seconds' | 'clock';

/** One flag in one meaning. */
export interface FlagRecord {
  /**
   * Without leading dashes, in lower case, with `-` for `_`. `*.` at the start: also as the end of a dotted path. `-*` at the end: more words
   * may follow.
   */
  readonly flag: string;
  readonly means: FlagMeaning;
  /** The programs in which the flag has this meaning; absent: every program that has the flag. */
  readonly of?: readonly string[];
  /** The flag takes one value. */
  readonly value?: boolean;
  /** The unit of an interval; `clock`: days:hours:minutes:seconds. */
  readonly unit?: FlagUnit;
  /** One of several flags whose values add up. */
  readonly part?: boolean;
  /** The value that turns the flag off, and one that turns it on. */
  readonly off?: string;
  readonly on?: string;
}

/** Spellings of one meaning, described by their words: at least one word of each group, in any order, and no unlisted word. */
export interface FlagFamily {
  readonly means: FlagMeaning;
  readonly every: readonly (readonly string[])[];
  /** Other words that may occur. */
  readonly fill: readonly string[];
  /** Words that rule the meaning out, anywhere in a dotted path. */
  readonly never: readonly string[];
  /** The spelling may be the end of a dotted path and may span its last two parts: `checkpoint.interval`. */
  readonly inPath: boolean;
  /** The words of the part above, where the last part is a single word; absent: any. */
  readonly under?: readonly string[];
  readonly value?: boolean;
}

export type VariableMeaning = 'processes-per-node' | 'shards' | 'tensor-parallel' | 'pipeline-parallel' | 'pod-group';

/** An environment variable with the same effect as a flag. */
export interface VariableRecord {
  /** `*` at the end: every variable with this prefix. */
  readonly variable: string;
  readonly means: VariableMeaning;
}

/** The name of a number format whose size is known. */
interface FormatRecord {
  readonly format: string;
  readonly bytes: 2 | 4;
}

const stored = flagsJson as unknown as {
  readonly flags: readonly FlagRecord[];
  readonly families: readonly FlagFamily[];
  readonly variables: readonly VariableRecord[];
  readonly formats: readonly FormatRecord[];
};

export const flagRecords = stored.flags;
export const flagFamilies = stored.families;

const formats = lazy(() => new Map(stored.formats.map(({ format, bytes }) => [format, bytes])));

/** Bytes per number in a format; undefined if the format is unknown. */
export function bytesOfFormat(format: string): 2 | 4 | undefined {
  return formats().get(format.toLowerCase());
}

const variables = lazy(() => {
  const names = new Map<VariableMeaning, Set<string>>();
  for (const { variable, means } of stored.variables) {
    const known = names.get(means) ?? new Set();
    names.set(means, known.add(variable));
  }
  return names;
});

/** The environment variables with a meaning. */
export function variablesOf(means: VariableMeaning): ReadonlySet<string> {
  return variables().get(means) ?? new Set();
}
