/**
 * Whether a glob matches a relative path with forward slashes: `*`, `?` and `[a-z]` within a name, `**` across folders, `{a,b}`. A pattern
 * without a slash matches at any depth, and a pattern that matches a folder covers its content, as in .gitignore.
 *
 * No regular expression is built from the pattern: it comes with a repository that may be untrusted, and must not be able to hang us. An
 * overlong pattern matches nothing. The editor, the command line and its folder walk all use this function.
 */
export function matchesGlob(path: string, glob: string): boolean {
  const names = path.split('/');
  return stepsOf(glob).some((steps) => matchesSteps(names, steps));
}

/** Whether any of several globs matches; only the first `MAX_GLOBS` are used. */
export function matchesAny(path: string, globs: readonly string[]): boolean {
  return globs.slice(0, MAX_GLOBS).some((glob) => matchesGlob(path, glob));
}

const MAX_GLOBS = 500;
const MAX_GLOB_LENGTH = 500;
const MAX_ALTERNATIVES = 100;

/** The path segments of each alternative of a glob, cached because a walk tests the same few globs on every file. */
function stepsOf(glob: string): readonly (readonly string[])[] {
  let steps = known.get(glob);
  if (steps === undefined) {
    if (known.size >= MAX_GLOBS) known.clear();
    steps = glob.length > MAX_GLOB_LENGTH ? [] : alternatives(glob).flatMap(toSteps);
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

/** Expands braces into patterns; unclosed braces are literal. */
function alternatives(glob: string): readonly string[] {
  let patterns: readonly string[] = [''];
  let rest = glob;
  for (;;) {
    const brace = /^([^{]*)\{([^{}]*)\}/.exec(rest);
    if (brace === null) return patterns.map((pattern) => pattern + rest);
    const choices = (brace[2] ?? '').split(',');
    patterns = patterns
      .flatMap((pattern) => choices.map((choice) => pattern + (brace[1] ?? '') + choice))
      .slice(0, MAX_ALTERNATIVES);
    rest = rest.slice(brace[0].length);
  }
}

/** Whether the steps match the path or one of its parent folders. Each pair of positions is visited once. */
function matchesSteps(names: readonly string[], steps: readonly string[]): boolean {
  let reached = new Set([0]);
  for (const [index, step] of steps.entries()) {
    const next = new Set<number>();
    if (step === '**') {
      // A trailing `**` matches the content of a folder, but not the folder itself.
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

/** Matches one name, in time proportional to the product of both lengths. */
function matchesName(name: string, pattern: string): boolean {
  let at = 0;
  let from = 0;
  let star = -1;
  let retry = 0;
  while (at < name.length) {
    const next = pattern[from] === '*' ? undefined : afterCharacter(name.charAt(at), pattern, from);
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

/** The position in the pattern after matching a character; undefined if it does not match. */
function afterCharacter(character: string, pattern: string, from: number): number | undefined {
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
