/**
 * Whether a path, relative and with forward slashes, is meant by a glob: `*`, `?` and `[a-z]` within a name, `**` over folders, `{a,b}`. A
 * pattern without a slash is meant at any depth, and a pattern that names a folder covers what is below it, as in .gitignore.
 *
 * No regular expression is made of the pattern: it comes with a repository that need not be trusted, and must not be able to hang. A pattern
 * that is longer than people write means nothing. The editor, the command line and its walk over folders all ask here.
 */
export function matchesGlob(path: string, glob: string): boolean {
  const names = path.split('/');
  return stepsOf(glob).some((steps) => matchesSteps(names, steps));
}

/** The same for any of several globs, of which no more than a person writes are asked. */
export function matchesAny(path: string, globs: readonly string[]): boolean {
  return globs.slice(0, MOST_GLOBS).some((glob) => matchesGlob(path, glob));
}

const MOST_GLOBS = 500;
const LONGEST_GLOB = 500;
const MOST_ALTERNATIVES = 100;

/** The names that a glob leads over, for each of its alternatives. A walk asks the same few globs for every file. */
function stepsOf(glob: string): readonly (readonly string[])[] {
  let steps = known.get(glob);
  if (steps === undefined) {
    if (known.size >= MOST_GLOBS) known.clear();
    steps = glob.length > LONGEST_GLOB ? [] : alternatives(glob).flatMap(toSteps);
    known.set(glob, steps);
  }
  return steps;
}

const known = new Map<string, readonly (readonly string[])[]>();

function toSteps(pattern: string): readonly (readonly string[])[] {
  const bare = pattern.replace(/^\.?\//, '').replace(/(?<!\/)\/+$/, '');
  if (bare === '') return [];
  const anchored = /^\.?\//.test(pattern) || bare.includes('/');
  return [[...(anchored ? [] : ['**']), ...bare.split('/')]];
}

/** The patterns that braces stand for; braces that do not close stand for themselves. */
function alternatives(glob: string): readonly string[] {
  let patterns: readonly string[] = [''];
  let rest = glob;
  for (;;) {
    const brace = /^([^{]*)\{([^{}]*)\}/.exec(rest);
    if (brace === null) return patterns.map((pattern) => pattern + rest);
    const choices = (brace[2] ?? '').split(',');
    patterns = patterns
      .flatMap((pattern) => choices.map((choice) => pattern + (brace[1] ?? '') + choice))
      .slice(0, MOST_ALTERNATIVES);
    rest = rest.slice(brace[0].length);
  }
}

/** The steps lead to the path, or to a folder that it is in. Each pair of places is looked at once. */
function matchesSteps(names: readonly string[], steps: readonly string[]): boolean {
  let reached = new Set([0]);
  for (const [index, step] of steps.entries()) {
    const next = new Set<number>();
    if (step === '**') {
      // At the end it stands for what is inside a folder, and not for the folder's own name.
      const first = Math.min(...reached) + (index === steps.length - 1 ? 1 : 0);
      for (let later = first; later <= names.length; later += 1) next.add(later);
    } else {
      for (const place of reached) {
        const name = names[place];
        if (name !== undefined && matchesName(name, step)) next.add(place + 1);
      }
    }
    if (next.size === 0) return false;
    reached = next;
  }
  return true;
}

/** One name, in time of the product of both lengths. */
function matchesName(name: string, pattern: string): boolean {
  let at = 0;
  let from = 0;
  let star = -1;
  let retry = 0;
  while (at < name.length) {
    const next = pattern[from] === '*' ? undefined : behindCharacter(name.charAt(at), pattern, from);
    if (pattern[from] === '*') {
      star = from;
      retry = at;
      from += 1;
    } else if (next !== undefined) {
      at += 1;
      from = next;
    } else if (star >= 0) {
      retry += 1;
      at = retry;
      from = star + 1;
    } else return false;
  }
  while (pattern[from] === '*') from += 1;
  return from === pattern.length;
}

/** Where a pattern goes on behind a character that it means; undefined where it means another. */
function behindCharacter(character: string, pattern: string, from: number): number | undefined {
  const sign = pattern[from];
  const close = sign === '[' ? pattern.indexOf(']', from + 2) : -1;
  if (close === -1) return sign === '?' || sign === character ? from + 1 : undefined;
  const negated = pattern[from + 1] === '!' || pattern[from + 1] === '^';
  let isIn = false;
  for (let at = from + (negated ? 2 : 1); at < close; at += 1) {
    const isRange = pattern[at + 1] === '-' && at + 2 < close;
    const last = isRange ? pattern.charAt(at + 2) : pattern.charAt(at);
    if (pattern.charAt(at) <= character && character <= last) isIn = true;
    if (isRange) at += 2;
  }
  return isIn === negated ? undefined : close + 1;
}
