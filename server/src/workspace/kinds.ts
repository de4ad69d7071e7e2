import { namedKinds } from '../model/kinds/index.ts';
import { modelsMentioned } from '../model/named-models.ts';

/** The relevant kinds that occur anywhere in a text, found without parsing: a file without any is never parsed. */
export function kindsIn(text: string): ReadonlySet<string> {
  const kinds = new Set(valuesOf(text, 'kind').filter((kind) => namedKinds.has(kind)));
  // Pods that share a claim must find each other.
  if (text.includes(claimUse)) kinds.add(claimUse);
  if (/\b(?:timeSlicing|mps):/.test(text)) kinds.add(sharingKind);
  if (headerOf(text).length > 0) kinds.add(headerKind);
  return kinds;
}

/** A pseudo-kind for configs of the device plugin that share GPUs. */
export const sharingKind = 'DeviceSharing';

/** A pseudo-kind for comments at the top of a file. */
export const headerKind = 'FileHeader';

/**
 * The comments at the top of a file that name cards, if its first document runs no pods: then they are about the file. Only the first document can
 * start with a comment; the others start with their marker.
 */
export function headerOf(text: string): readonly string[] {
  if (!/^\uFEFF?#/.test(text)) return [];
  const lines = text.slice(0, 4_000).split('\n');
  const end = lines.findIndex((line) => !/^\uFEFF?(?:#|\s*$)/.test(line));
  const named = lines.slice(0, end < 0 ? lines.length : end).filter((line) => modelsMentioned(line).length > 0);
  return named.length === 0 || /^[^#\n]*(?:containers|predictor|model|workerGroupSpecs)["']?:/m.test(text) ? [] : named;
}

/** A pseudo-kind for files that reference a ResourceClaim. */
export const claimUse = 'resourceClaimName';

/** The names of the objects in a text, and the names that they reference; undefined if only a parser can find them all. */
export function namesIn(text: string): ReadonlySet<string> | undefined {
  // `deployment` is the former key of what an HTTPScaledObject scales.
  const keys = ['name', 'deployment', claimUse];
  if (keys.some((key) => isIndirect(text, key))) return undefined;
  return new Set(keys.flatMap((key) => valuesOf(text, key)));
}

/** Whether a value is an alias, a block, escaped, or on the next line. */
function isIndirect(text: string, key: string): boolean {
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + key.length)) {
    indirect.lastIndex = at + key.length;
    if (indirect.test(text)) return true;
  }
  return false;
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

/** An anchor or a tag can precede a value. */
const word = /["']?[ \t]*:[ \t]*(?:[&!][^\s,[\]{}]*[ \t]+){0,2}["']?([\w.-]{1,253})/y;
const indirect =
  /["']?[ \t]*:[ \t]*(?:[&!][^\s,[\]{}]*[ \t]+){0,2}(?:[*|>]|"[^"\n]{0,253}\\|(?:[&!]\S*[ \t]*)?(?:#.*)?\r?\n[ \t]+["']?[\w.-]+["']?[ \t]*(?:\r?\n|$))/y;
