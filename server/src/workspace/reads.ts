import type { Workspace } from './workspace.ts';

/** The lookups of one document's analysis, which is current as long as they have the same results. */
export interface Reads {
  /** Whether all results are still the same. */
  readonly isCurrent: () => boolean;
}

/** Looks things up for one document and records the results. */
export interface Recorder {
  /** Looks up objects of some kinds, or returns the recorded result. */
  lookUpKinds<T>(kinds: readonly string[], question: readonly (string | null)[], lookUp: () => T): T;
  /**
   * Whether the workspace has ever had an object of some kinds. Without any, most lookups of them have a known result and need not be made.
   * @param kinds always the same array, by which the answer is remembered
   */
  hasHad(kinds: readonly string[]): boolean;
  /** Looks up the context of the document's own file, which is compared by identity. */
  lookUpFile<T>(question: string, lookUp: () => T): T;
}

interface Answer {
  readonly value: unknown;
  isCurrent(): boolean;
}

/** Answers questions about the workspace once and remembers them, so that it is known when an answer changes. */
export function recordReads(workspace: Workspace): { readonly recorder: Recorder; readonly reads: Reads } {
  const answers = new Map<string | readonly string[], Answer>();
  let checked = workspace.generation;

  function recall<T>(key: string | readonly string[], find: () => Answer): T {
    const known = answers.get(key);
    if (known !== undefined) return known.value as T;
    const answer = find();
    answers.set(key, answer);
    return answer.value as T;
  }

  return {
    recorder: {
      lookUpKinds: (kinds, question, lookUp) =>
        recall(JSON.stringify(question), () => trackKinds(workspace, kinds, lookUp)),
      hasHad: (kinds) =>
        recall(kinds, () => {
          const value = workspace.stampOf(kinds) > 0;
          return { value, isCurrent: () => workspace.stampOf(kinds) > 0 === value };
        }),
      lookUpFile: (question, lookUp) =>
        recall(question, () => {
          const value = lookUp();
          return { value, isCurrent: () => lookUp() === value };
        }),
    },
    reads: {
      isCurrent() {
        if (checked === workspace.generation) return true;
        for (const answer of answers.values()) if (!answer.isCurrent()) return false;
        checked = workspace.generation;
        return true;
      },
    },
  };
}

function trackKinds(workspace: Workspace, kinds: readonly string[], lookUp: () => unknown): Answer {
  const { answer: value, isUnchanged: first } = workspace.watched(lookUp);
  /** The stamp of the kinds when the result was last known to be current. */
  let stamp = workspace.stampOf(kinds);
  /** Whether the inputs of the lookup are unchanged: much cheaper than another lookup. */
  let isUnchanged = first;
  return {
    value,
    isCurrent() {
      const now = workspace.stampOf(kinds);
      if (now === stamp) return true;
      if (!isUnchanged()) {
        const again = workspace.watched(lookUp);
        if (!isSame(again.answer, value)) return false;
        isUnchanged = again.isUnchanged;
      }
      stamp = now;
      return true;
    },
  };
}

/** Whether two results are equal. Facts of an unchanged object are identical, so they are not compared in depth. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const [one, other] = [Object.entries(a), Object.entries(b)];
  return (
    one.length === other.length &&
    one.every(([key, value], index) => key === other[index]?.[0] && isSame(value, other[index]?.[1]))
  );
}
