import type { YamlProblem } from './node.ts';
import type { Span } from './span.ts';

/**
 * Notes the keys of one mapping, and adds a problem for each that it already has. Two mappings that run together repeat many keys in a row:
 * only the first of a row is a problem.
 * @param isTemplate whether the text is a template, whose branches may repeat keys
 */
export function watchKeys(problems: YamlProblem[], isTemplate: boolean): (key: string, span: Span) => void {
  // Many mappings have one key: only those with more need a set.
  let first: string | undefined;
  let others: Set<string> | undefined;
  let inRow = false;
  return (key, span) => {
    const isRepeated = key === first || others?.has(key) === true;
    if (isRepeated && !inRow && !isTemplate)
      problems.push({
        message: `The key ${key} appears more than once in this mapping: only the last value applies`,
        span,
        readable: true,
      });
    inRow = isRepeated;
    if (first === undefined) first = key;
    else {
      others ??= new Set();
      others.add(key);
    }
  };
}
