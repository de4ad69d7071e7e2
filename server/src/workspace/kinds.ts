import { namedKinds } from '../model/kinds/index.ts';

/** The relevant kinds that occur anywhere in a text, found without parsing: a file without any is never parsed. */
export function kindsIn(text: string): ReadonlySet<string> {
  const kinds = new Set(valuesOf(text, 'kind').filter((kind) => namedKinds.has(kind)));
  // Pods that share a claim must find each other.
  if (text.includes(claimUse)) kinds.add(claimUse);
  return kinds;
}

/** A pseudo-kind for files that reference a ResourceClaim. */
export const claimUse = 'resourceClaimName';

/** The names of the objects in a text, and the names that they reference. */
export function namesIn(text: string): ReadonlySet<string> {
  // `deployment` is the former key of what an HTTPScaledObject scales.
  return new Set(['name', 'deployment', claimUse].flatMap((key) => valuesOf(text, key)));
}

/** `indexOf` skips most of a long text faster than a regular expression. */
function valuesOf(text: string, key: string): readonly string[] {
  const values: string[] = [];
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + key.length)) {
    word.lastIndex = at + key.length;
    const found = word.exec(text)?.[1];
    if (found !== undefined) values.push(found);
  }
  return values;
}

const word = /["']?[ \t]*:[ \t]*["']?([\w.-]{1,253})/y;
