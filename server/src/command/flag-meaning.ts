import {
  type FlagFamily,
  type FlagMeaning,
  type FlagRecord,
  flagFamilies,
  flagRecords,
} from '../catalog/flag-records.ts';
import { lazy, oncePerName } from '../yaml/lazy.ts';
import type { Flag } from './flags.ts';
import { wordsOf } from './name-words.ts';

/** A flag's name, as `readFlags` returns it. */
export type FlagName = Pick<Flag, 'name' | 'written'> & Partial<Pick<Flag, 'isVariable'>>;

/** A flag with a meaning in the catalog: its own record, or the family that its words match. */
export type FoundMeaning = FlagRecord | FlagFamily;

/**
 * The catalog entry that gives a flag a meaning; undefined if it does not have that meaning. Records take precedence over families.
 * @param program the program that reads the flag, if known: some flags have a meaning in one program only
 */
export function meaningOf(flag: FlagName, means: FlagMeaning, program?: string): FoundMeaning | undefined {
  if (flag.name.length > maxName) return undefined;
  for (const record of recordsOf(flag.name)) {
    const { of } = record;
    if (record.means === means && (of === undefined || (program !== undefined && of.includes(program)))) return record;
  }
  return flag.isVariable === true ? undefined : familiesOf(flag.written).find((family) => family.means === means);
}

// What a flag matches, whatever it means: most flags match nothing, and many questions are asked about each.

/** The most specific first. */
const recordsOf = oncePerName((name): readonly FlagRecord[] =>
  patternsOf(name).flatMap((pattern) => recordsByFlag().get(pattern) ?? []),
);

const familiesOf = oncePerName((written): readonly FlagFamily[] => {
  const parts = partsOf(written);
  const word = parts.at(-1)?.at(-1) ?? '';
  return (familiesByWord().get(word) ?? []).filter((family) => belongsTo(parts, family));
});

/** The programs that have flags with a meaning. */
export function programsWith(means: FlagMeaning): ReadonlySet<string> {
  return programsByMeaning().get(means) ?? new Set();
}

const programsByMeaning = lazy(() => {
  const found = new Map<FlagMeaning, Set<string>>();
  for (const { means, of = [] } of flagRecords) {
    found.set(means, new Set([...(found.get(means) ?? []), ...of]));
  }
  return found;
});

/** Whether a flag is known to take one value. */
export function takesValue(flag: FlagName): boolean {
  if (valued().has(flag.name)) return true;
  return flag.name.length <= maxName && familiesOf(flag.written).some(({ value }) => value === true);
}

/** All flags in the catalog are shorter. */
const maxName = 120;

/** A family has all words of a flag, so its last word finds the few families that it may belong to. */
const familiesByWord = lazy(() => {
  const found = new Map<string, FlagFamily[]>();
  for (const family of flagFamilies) {
    for (const words of [...family.every, family.fill]) for (const word of words) addTo(found, word, family);
  }
  return found;
});

const recordsByFlag = lazy(() => {
  const found = new Map<string, FlagRecord[]>();
  for (const record of flagRecords) addTo(found, record.flag, record);
  return found;
});

/** Adds what a list does not end with. */
function addTo<V>(lists: Map<string, V[]>, key: string, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else if (list.at(-1) !== value) list.push(value);
}

const valued = lazy(() => new Set(flagRecords.filter(({ value }) => value).map(({ flag }) => flag)));

/** The record patterns that a name matches: `a.b`, `*.a.b`, `*.b` for a dotted path; `a-b`, `*.a-b`, `a-b-*`, `a-*` for other names. */
function patternsOf(name: string): readonly string[] {
  const patterns = [name, `*.${name}`];
  if (!name.includes('.')) {
    patterns.push(`${name}-*`);
    for (let at = name.lastIndexOf('-'); at > 0; at = name.lastIndexOf('-', at - 1))
      patterns.push(`${name.slice(0, at)}-*`);
    return patterns;
  }
  for (let at = name.lastIndexOf('.'); at > 0; at = name.lastIndexOf('.', at - 1))
    patterns.push(`*.${name.slice(at + 1)}`);
  return patterns;
}

/** The words of each part of a dotted path. */
function partsOf(written: string): readonly (readonly string[])[] {
  return written.split('.').map(wordsOf);
}

function belongsTo(parts: readonly (readonly string[])[], family: FlagFamily): boolean {
  const { every, fill, never, under } = family;
  const last = parts.at(-1) ?? [];
  if (parts.length > 1 && (!family.inPath || parts.flat().some((word) => never.includes(word)))) return false;
  const fits = (some: readonly string[]) =>
    some.length > 0 &&
    some.every((word) => fill.includes(word) || every.some((group) => group.includes(word))) &&
    every.every((group) => some.some((word) => group.includes(word)));
  const parent = parts.at(-2);
  if (!fits(last)) return parent !== undefined && fits([...parent, ...last]);
  // Many programs' settings share a common word: `wandb.resume`.
  return last.length > 1 || parent === undefined || under === undefined || parent.every((word) => under.includes(word));
}
