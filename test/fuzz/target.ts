import type { Arbitrary } from 'fast-check';
import type { Measure } from './measure.ts';
import type { Seeds } from './seeds.ts';

/** The kinds of failures, as the summary counts them. */
export type FailureKind = 'crash' | 'crashed rule' | 'slow request' | 'damaged text' | 'difference' | 'wrong answer';

/** Something that must not be. Failures with the same `sign` are taken for the same bug: one of them is shrunk and saved. */
export interface Problem {
  readonly kind: FailureKind;
  readonly sign: string;
  readonly message: string;
}

/** How thoroughly to look: a saved or shrunk input is looked at in every place, one of a million in a few. */
export interface Look {
  readonly measure: Measure;
  readonly everywhere: boolean;
}

/** What is generated, how it is checked, and how an input is written down. */
export interface Target<T> {
  readonly name: string;
  /** What the summary calls one input, in the plural. */
  readonly unit: string;
  inputs(seeds: Seeds): Arbitrary<T>;
  check(input: T, look: Look): Promise<readonly Problem[]>;
  /** A smaller input that still fails, where fast-check's own shrinking does not know one. */
  shrink?(input: T, fails: (smaller: T) => Promise<boolean>): Promise<T>;
  /** The file that a failure is saved as, and the way back. */
  save(input: T): { readonly extension: string; readonly text: string };
  load(text: string, extension: string): T;
  /** Only the repository's own texts went into it. */
  isOwn(input: T): boolean;
  /** Inputs that are always looked at first. */
  first?(seeds: Seeds): readonly T[];
}

/** What was thrown, as a problem; its place in the code is its sign, because messages hold values. */
export function thrown(where: string, error: unknown): Problem {
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const place = /at (?:async )?(?:Object\.|Module\.)?([\w$.#<>]+) .*?([\w-]+)\.ts:/.exec(
    stack.slice(stack.indexOf('\n')),
  );
  return {
    kind: 'crash',
    sign: `crash-${where}-${place === null ? '' : `${place[2]}-${place[1]}`}`,
    message: `${where} threw: ${message}\n${stack.split('\n').slice(1, 6).join('\n')}`,
  };
}
