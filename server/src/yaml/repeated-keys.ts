import type { YamlEntry, YamlProblem } from './node.ts';
import type { Span } from './span.ts';

const maxFew = 12;

/**
 * Notes the keys of one mapping, and adds a problem for each that it already has. Two mappings that run together repeat many keys in a row:
 * only the first of a row is a problem.
 * @param isTemplate whether the text is a template, whose branches may repeat keys
 * @param entries those before the key; most mappings have few, and need no set
 */
export function watchKeys(
  problems: YamlProblem[],
  isTemplate: boolean,
  entries: readonly YamlEntry[],
): (key: string, span: Span) => void {
  let all: Set<string> | undefined;
  let inRow = false;
  return (key, span) => {
    if (entries.length >= maxFew) all ??= new Set(entries.map((entry) => entry.key));
    const isRepeated = all === undefined ? hasKey(entries, key) : all.has(key);
    if (isRepeated && !inRow && !isTemplate)
      problems.push({
        message: `The key ${key} appears more than once in this mapping: only the last value applies`,
        span,
        readable: true,
      });
    inRow = isRepeated;
    all?.add(key);
  };
}

function hasKey(entries: readonly YamlEntry[], key: string): boolean {
  for (const entry of entries) if (entry.key === key) return true;
  return false;
}
