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

/** The result of a lookup, and whether another one would have the same. */
interface Answer {
  readonly value: unknown;
  isCurrent(): boolean;
}

/** Answers questions about the workspace once and remembers them, so that it is known when an answer changes. */
export function recordReads(workspace: Workspace): { readonly recorder: Recorder; readonly reads: Reads } {
  const recorder = new Recording(workspace);
  return { recorder, reads: { isCurrent: () => recorder.isCurrent() } };
}

// Classes, because their functions are shared: thousands of documents have their recordings, each with many answers.

class Recording implements Recorder {
  readonly #workspace: Workspace;
  readonly #answers = new Map<string, Answer>();
  /** Kinds without any object so far, on which the analysis depends. They are few, so a list is the fastest. */
  readonly #absent: (readonly string[])[] = [];
  #checked: number;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
    this.#checked = workspace.generation;
  }

  lookUpKinds<T>(kinds: readonly string[], question: readonly (string | null)[], lookUp: () => T): T {
    const key = JSON.stringify(question);
    const answer = this.#answers.get(key) ?? this.#keep(key, new KindAnswer(this.#workspace, kinds, lookUp));
    return answer.value as T;
  }

  hasHad(kinds: readonly string[]): boolean {
    if (this.#absent.includes(kinds)) return false;
    // Stamps only grow: once a kind has been in the workspace, this answer never changes back.
    if (this.#workspace.stampOf(kinds) > 0) return true;
    this.#absent.push(kinds);
    return false;
  }

  lookUpFile<T>(question: string, lookUp: () => T): T {
    const answer = this.#answers.get(question) ?? this.#keep(question, new FileAnswer(lookUp));
    return answer.value as T;
  }

  isCurrent(): boolean {
    const { generation } = this.#workspace;
    if (this.#checked === generation) return true;
    for (const kinds of this.#absent) if (this.#workspace.stampOf(kinds) > 0) return false;
    for (const answer of this.#answers.values()) if (!answer.isCurrent()) return false;
    this.#checked = generation;
    return true;
  }

  #keep(key: string, answer: Answer): Answer {
    this.#answers.set(key, answer);
    return answer;
  }
}

class FileAnswer implements Answer {
  readonly value: unknown;
  readonly #lookUp: () => unknown;

  constructor(lookUp: () => unknown) {
    this.value = lookUp();
    this.#lookUp = lookUp;
  }

  isCurrent(): boolean {
    return this.#lookUp() === this.value;
  }
}

class KindAnswer implements Answer {
  readonly value: unknown;
  readonly #workspace: Workspace;
  readonly #kinds: readonly string[];
  readonly #lookUp: () => unknown;
  /** The stamp of the kinds when the result was last known to be current. */
  #stamp: number;
  /** Whether the inputs of the lookup are unchanged: much cheaper than another lookup. */
  #isUnchanged: () => boolean;

  constructor(workspace: Workspace, kinds: readonly string[], lookUp: () => unknown) {
    const { answer, isUnchanged } = workspace.watched(lookUp);
    this.value = answer;
    this.#workspace = workspace;
    this.#kinds = kinds;
    this.#lookUp = lookUp;
    this.#stamp = workspace.stampOf(kinds);
    this.#isUnchanged = isUnchanged;
  }

  isCurrent(): boolean {
    const now = this.#workspace.stampOf(this.#kinds);
    if (now === this.#stamp) return true;
    if (!this.#isUnchanged()) {
      const again = this.#workspace.watched(this.#lookUp);
      if (!isSame(again.answer, this.value)) return false;
      this.#isUnchanged = again.isUnchanged;
    }
    this.#stamp = now;
    return true;
  }
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
