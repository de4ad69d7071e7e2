import type { Arbitrary } from 'fast-check';
import type { Measure } from './measure.ts';
import type { Seeds } from './seeds.ts';

/** The kinds of failures in the summary. */
export type FailureKind = 'crash' | 'crashed rule' | 'slow request' | 'damaged text' | 'difference' | 'wrong answer';

/** A failure. Failures with the same `sign` count as the same bug: one of them is shrunk and saved. */
export interface Problem {
  readonly kind: FailureKind;
  readonly sign: string;
  readonly message: string;
}

/** How thoroughly to check: a saved or shrunk input is checked at every position, one of a million at a few. */
export interface Look {
  readonly measure: Measure;
  readonly everywhere: boolean;
}

/** How inputs are generated, checked and saved. */
export interface Target<T> {
  readonly name: string;
  /** The plural noun for inputs in the summary. */
  readonly unit: string;
  inputs(seeds: Seeds): Arbitrary<T>;
  check(input: T, look: Look): Promise<readonly Problem[]>;
  /** Finds a smaller input that still fails, if fast-check's own shrinking cannot. */
  shrink?(input: T, fails: (smaller: T) => Promise<boolean>): Promise<T>;
  /** The file in which a failure is saved, and its inverse. */
  save(input: T): { readonly extension: string; readonly text: string };
  load(text: string, extension: string): T;
  /** Whether the input derives only from the repository's own texts. */
  isOwn(input: T): boolean;
  /** Inputs that are always checked first. */
  first?(seeds: Seeds): readonly T[];
}

/** An exception as a problem; its place in the code is its sign, because messages contain values. */
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
