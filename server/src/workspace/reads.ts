import type { Workspace } from './workspace.ts';

/** What was read for one document besides its text: good as long as the same questions have the same answers. */
export interface Reads {
  /** Whether every answer is still the same. */
  hold(): boolean;
}

export interface Recorder {
  /** Asks the workspace a question about objects of some kinds, or returns the answer that it had before. */
  ofKinds<T>(kinds: readonly string[], question: readonly (string | null)[], ask: () => T): T;
  /** Asks what holds for the document's own file: the same object as long as it says the same. */
  ofFile<T>(question: string, ask: () => T): T;
}

interface Answer {
  readonly value: unknown;
  holds(): boolean;
}

export function recordReads(workspace: Workspace): { readonly recorder: Recorder; readonly reads: Reads } {
  const answers = new Map<string, Answer>();
  let checked = workspace.generation;

  function recall<T>(key: string, find: () => Answer): T {
    const answer = answers.get(key) ?? find();
    answers.set(key, answer);
    return answer.value as T;
  }

  return {
    recorder: {
      ofKinds: (kinds, question, ask) => recall(JSON.stringify(question), () => askKinds(workspace, kinds, ask)),
      ofFile: (question, ask) =>
        recall(question, () => {
          const value = ask();
          return { value, holds: () => ask() === value };
        }),
    },
    reads: {
      hold() {
        if (checked === workspace.generation) return true;
        for (const answer of answers.values()) if (!answer.holds()) return false;
        checked = workspace.generation;
        return true;
      },
    },
  };
}

function askKinds(workspace: Workspace, kinds: readonly string[], ask: () => unknown): Answer {
  const { answer: value, stands: first } = workspace.watched(ask);
  /** Of the kinds, when the answer was last known to hold. */
  let stamp = workspace.stampOf(kinds);
  /** Whether what it was found by is still the same: much cheaper than to ask again. */
  let stands = first;
  return {
    value,
    holds() {
      const now = workspace.stampOf(kinds);
      if (now === stamp) return true;
      if (!stands()) {
        const again = workspace.watched(ask);
        if (!isSame(again.answer, value)) return false;
        stands = again.stands;
      }
      stamp = now;
      return true;
    },
  };
}

/** Whether two answers say the same. Facts of an object that did not change are the same object, and are not looked through. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const [one, other] = [Object.entries(a), Object.entries(b)];
  return (
    one.length === other.length &&
    one.every(([key, value], index) => key === other[index]?.[0] && isSame(value, other[index]?.[1]))
  );
}
