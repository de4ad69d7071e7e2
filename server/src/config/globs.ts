/**
 * Whether a path, relative and with forward slashes, is meant by a glob: `*` and `?` within a name, `**` over folders, `{a,b}`. A pattern
 * without a slash is meant at any depth, and a pattern that names a folder covers what is below it, as in .gitignore.
 *
 * No regular expression is made of the pattern: it comes with a repository that need not be trusted, and must not be able to hang.
 */
export function matchesGlob(path: string, glob: string): boolean {
  const names = path.split('/');
  return alternatives(glob).some((pattern) => {
    const bare = pattern.replace(/^\.?\//, '').replace(/\/+$/, '');
    if (bare === '') return false;
    const anchored = /^\.?\//.test(pattern) || bare.includes('/');
    const steps = [...(anchored ? [] : ['**']), ...bare.split('/')];
    return matchesSteps(names, steps);
  });
}

/** More alternatives than a person writes are not made. */
const mostAlternatives = 100;

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
      .slice(0, mostAlternatives);
    rest = rest.slice(brace[0].length);
  }
}

/** The steps lead to the path, or to a folder that it is in. Each pair of places is looked at once. */
function matchesSteps(names: readonly string[], steps: readonly string[]): boolean {
  let reached = new Set([0]);
  for (const [index, step] of steps.entries()) {
    const next = new Set<number>();
    for (const place of reached) {
      const name = names[place];
      if (step === '**') {
        // At the end it stands for what is inside a folder, and not for the folder's own name.
        const first = index === steps.length - 1 ? place + 1 : place;
        for (let later = first; later <= names.length; later += 1) next.add(later);
      } else if (name !== undefined && matchesName(name, step)) next.add(place + 1);
    }
    reached = next;
  }
  return reached.size > 0;
}

/** `*` and `?` in one name, in time of the product of both lengths. */
function matchesName(name: string, pattern: string): boolean {
  let at = 0;
  let from = 0;
  let star = -1;
  let retry = 0;
  while (at < name.length) {
    if (pattern[from] === '*') {
      star = from;
      retry = at;
      from += 1;
    } else if (from < pattern.length && (pattern[from] === '?' || pattern[from] === name[at])) {
      at += 1;
      from += 1;
    } else if (star >= 0) {
      retry += 1;
      at = retry;
      from = star + 1;
    } else return false;
  }
  while (pattern[from] === '*') from += 1;
  return from === pattern.length;
}
