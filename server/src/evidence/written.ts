import { asNumber, type Cursor, childAt, entries, isNull, isTemplated, items } from '../yaml/cursor.ts';

/** The text of a string that is in the file; undefined if it is missing, empty, templated or not a string. */
export function writtenText(cursor: Cursor | undefined): string | undefined {
  if (cursor?.node.kind !== 'scalar' || isUnknown(cursor)) return undefined;
  return typeof cursor.node.value === 'string' && cursor.node.value !== '' ? cursor.node.value : undefined;
}

/** The same for a number. */
export function writtenNumber(cursor: Cursor | undefined): number | undefined {
  return isUnknown(cursor) ? undefined : asNumber(cursor);
}

/** Whether a field is set: present and not null. A template counts as set. */
export function isSet(cursor: Cursor | undefined): cursor is Cursor {
  return cursor !== undefined && (!isNull(cursor) || isTemplated(cursor));
}

/** Whether a value is filled in before the object is applied: a template, a placeholder, or a name in braces or capitals. */
export function isUnknown(cursor: Cursor | undefined): boolean {
  if (cursor?.node.kind !== 'scalar') return false;
  const { templated, source } = cursor.node;
  return templated || isPlaceholderText(source);
}

/** The same for a key. */
export function isPlaceholderText(text: string): boolean {
  if (plainText.test(text)) return false;
  return (
    /[${}<>%@#[\]]|\.\.\.|\u2026|^[A-Z]+(?:[ -][A-Z]+)+$|\bX{3,}\b/.test(text) ||
    text
      .slice(0, 300)
      .split(/[-.]/)
      .some((word) => isConstantName(word) || blankWord.test(word))
  );
}

/** What most values are. A long text goes through the other patterns. */
const plainText = /^[a-z0-9]{0,40}(?:[-./:_][a-z0-9]{1,40}){0,10}$/;

/** What scripts replace without brackets: `PODNAME`, `JOBID`. */
const blankWord = /^[A-Z]{0,20}(?:NAME|NAMESPACE|USER|UUID|(?:JOB|POD|RUN|TASK|USER|NET)ID)$/;

/** Whether a word is written as constants of programs are: `GPU_COUNT`. */
export function isConstantName(word: string): boolean {
  return word.length < 100 && word.includes('_') && /^[A-Z][A-Z0-9_]*[A-Z0-9]$/.test(word);
}

/** All places at a path of keys and `*` (each item or entry), separated by dots: `containers.*.ports.*.hostPort`. */
export function placesAt(cursor: Cursor | undefined, path: string): readonly Cursor[] {
  const found: Cursor[] = [];
  if (cursor !== undefined) collect(cursor, stepsOf(path), 0, found);
  return found;
}

function collect(cursor: Cursor, steps: readonly string[], from: number, found: Cursor[]): void {
  let here: Cursor | undefined = cursor;
  for (let at = from; at < steps.length; at++) {
    const step = steps[at] ?? '';
    if (step === '*') {
      for (const each of cursorsIn(here)) collect(each, steps, at + 1, found);
      return;
    }
    here = childAt(here, step);
    if (here === undefined) return;
  }
  found.push(here);
}

/** Whether pods choose their nodes by more than labels: few do, and rules read many places of both fields. */
export function hasAffinityOrSpread(pod: Cursor): boolean {
  return childAt(pod, 'affinity') !== undefined || childAt(pod, 'topologySpreadConstraints') !== undefined;
}

/** The items of a sequence, or the values of a mapping. */
export function cursorsIn(cursor: Cursor): readonly Cursor[] {
  return cursor.node.kind === 'seq' ? items(cursor) : entries(cursor);
}

/** The rules' paths are few, and thousands of objects are searched for each. */
const stepsByPath = new Map<string, readonly string[]>();

function stepsOf(path: string): readonly string[] {
  const known = stepsByPath.get(path);
  if (known !== undefined) return known;
  const steps = path === '' ? [] : path.split('.');
  stepsByPath.set(path, steps);
  return steps;
}
