import type { YamlProblem } from './node.ts';
import type { Span } from './span.ts';

const maxFew = 12;

/**
 * Notes the keys of one mapping, and adds a problem for each that it already has. Two mappings that run together repeat many keys in a row:
 * only the first of a row is a problem.
 * @param isTemplate whether the text is a template, whose branches may repeat keys
 */
export function watchKeys(problems: YamlProblem[], isTemplate: boolean): (key: string, span: Span) => void {
  // Most mappings have few keys: only others need a set.
  const few: string[] = [];
  let all: Set<string> | undefined;
  let inRow = false;
  return (key, span) => {
    const isRepeated = all === undefined ? few.includes(key) : all.has(key);
    if (isRepeated && !inRow && !isTemplate)
      problems.push({
        message: `The key ${key} appears more than once in this mapping: only the last value applies`,
        span,
        readable: true,
      });
    inRow = isRepeated;
    if (all !== undefined) all.add(key);
    else if (few.push(key) > maxFew) all = new Set(few);
  };
}
