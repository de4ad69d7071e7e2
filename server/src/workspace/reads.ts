import { type Claims, joinClaims } from '../model/claims.ts';
import { lazy } from '../yaml/lazy.ts';
import type { DocumentSummary } from './summary.ts';
import type { Workspace } from './workspace.ts';

/** What was read of the workspace for one document: good as long as the same questions have the same answers. */
export interface Reads {
  /** Whether every answer is still the same. */
  hold(): boolean;
}

/** Asks the workspace a question of some kinds, or tells what was answered to it before. */
export type Read = <T>(kinds: readonly string[], question: readonly (string | null)[], ask: () => T) => T;

interface Answer {
  /** The kinds of which something was asked. */
  readonly kinds: readonly string[];
  /** Of the kinds, when the answer was last known to hold. */
  stamp: number;
  readonly ask: () => unknown;
  readonly answer: unknown;
  /** Whether what it was found by is still the same: much cheaper than to ask again. */
  stands: () => boolean;
}

export function recordReads(workspace: Workspace): { readonly read: Read; readonly reads: Reads } {
  const asked = new Map<string, Answer>();
  let checked = workspace.generation;
  return {
    read<T>(kinds: readonly string[], question: readonly (string | null)[], ask: () => T): T {
      const key = JSON.stringify(question);
      const known = asked.get(key);
      if (known !== undefined) return known.answer as T;
      const found = workspace.watched(ask);
      asked.set(key, { kinds, stamp: workspace.stampOf(kinds), ask, ...found });
      return found.answer;
    },
    reads: {
      hold() {
        if (checked === workspace.generation) return true;
        for (const answer of asked.values()) {
          const stamp = workspace.stampOf(answer.kinds);
          if (stamp === answer.stamp) continue;
          if (!answer.stands()) {
            const now = workspace.watched(answer.ask);
            if (!isSame(now.answer, answer.answer)) return false;
            answer.stands = now.stands;
          }
          answer.stamp = stamp;
        }
        checked = workspace.generation;
        return true;
      },
    },
  };
}

/** What the documents of a file say of claims together, read when somebody asks. */
export function claimsOf(summaries: readonly DocumentSummary[]): Claims {
  const joined = lazy(() => joinClaims(summaries.map(({ claims }) => claims())));
  return { devices: (kind, name) => joined().devices(kind, name), users: (name) => joined().users(name) };
}

/** The claims of a file as one of its documents reads them. */
export function recordClaims(first: Claims): {
  readonly claims: Claims;
  readonly goesWith: (claims: Claims) => boolean;
} {
  let now = first;
  const asked = new Map<string, { readonly ask: (claims: Claims) => unknown; readonly answer: unknown }>();
  const read = <T>(question: string, ask: (claims: Claims) => T): T => {
    const answer = ask(now);
    asked.set(question, { ask, answer });
    return answer;
  };
  return {
    claims: {
      devices: (kind, name) => read(`${kind} ${name}`, (claims) => claims.devices(kind, name)),
      users: (name) => read(name, (claims) => claims.users(name)),
    },
    goesWith(claims) {
      if ([...asked.values()].some(({ ask, answer }) => ask(claims) !== answer)) return false;
      now = claims;
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
