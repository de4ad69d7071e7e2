import { normalizeUri } from '../config/places.ts';
import { oncePerName } from '../yaml/lazy.ts';
import type { Scope } from './named.ts';
import { placeAt } from './place.ts';
import type { Recorder } from './reads.ts';
import { clusterKind, type Workspace } from './workspace.ts';

/** Always the same array: see `hasHad`. */
export const clusterKinds: readonly string[] = [clusterKind];

/** A question with what it is about, by which its result is remembered. */
type Question = readonly (string | null)[];

/** Asks the workspace for one document, and records each question with its result. */
export class Asks {
  readonly scope: Scope;
  readonly #recorder: Recorder;

  constructor(workspace: Workspace, uri: string, recorder: Recorder) {
    const { key, folders, fileName } = placeOf(uri);
    this.scope = { key, folders, fileName, workspace };
    this.#recorder = recorder;
  }

  /** Whether the workspace has ever had an object of some kinds, which are always the same array. */
  hasHad(kinds: readonly string[]): boolean {
    return this.#recorder.hasHad(kinds);
  }

  /** A lookup of objects of some kinds. */
  read<T>(kinds: readonly string[], question: Question, lookUp: () => T): T {
    return this.#recorder.lookUpKinds(kinds, question, lookUp);
  }

  /** A lookup whose result is undefined without an object of its kinds. */
  readOne<T>(kinds: readonly string[], question: Question, lookUp: () => T | undefined): T | undefined {
    return this.hasHad(kinds) ? this.read(kinds, question, lookUp) : undefined;
  }

  /** A lookup that finds nothing without an object of its kinds. */
  readList<T>(kinds: readonly string[], question: Question, lookUp: () => readonly T[]): readonly T[] {
    return this.hasHad(kinds) ? this.read(kinds, question, lookUp) : [];
  }

  isConnected(): boolean {
    const { workspace } = this.scope;
    return this.hasHad(clusterKinds) && this.read(clusterKinds, ['connected'], () => workspace.cluster !== undefined);
  }

  /** Asks the connected cluster. Without one, no question is written down: pods have many. */
  readLive<T>(question: () => string, lookUp: () => T | undefined): (T & { readonly asOf: number }) | undefined {
    return this.isConnected()
      ? asOfNow(this.scope.workspace, this.read(clusterKinds, [question()], lookUp))
      : undefined;
  }
}

/** Adds the time, which is no part of the recorded answer: it changes with each pod of the cluster, and the facts do not. */
function asOfNow<T>({ cluster }: Workspace, facts: T | undefined): (T & { readonly asOf: number }) | undefined {
  return facts === undefined ? undefined : { ...facts, asOf: cluster?.view.asOf ?? 0 };
}

/** A file has many documents. */
const placeOf = oncePerName((uri) => placeAt(normalizeUri(uri)));
