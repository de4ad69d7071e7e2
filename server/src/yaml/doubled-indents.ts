import type { Span } from './span.ts';
import { findActions, outputIndent } from './template-action.ts';

/**
 * The actions whose first line gets two indentations: the spaces before the action, and those of `indent`. The other lines have only the second, so the
 * YAML is broken. Only below keys that have more than one line of output.
 */
export function doubledIndents(text: string): readonly Span[] {
  if (!mayDouble.test(text)) return [];
  return findActions(text).flatMap(({ span, text: action }) => {
    const column = doubles.test(action) ? (outputIndent({ span, text: action }) ?? 0) : 0;
    if (column === 0) return [];
    const before = text.slice(Math.max(0, span.start - 300), span.start);
    return hasLines.test(before) ? [span] : [];
  });
}

const mayDouble = /\n[ \t]+\{\{[^{}\n]*\btoYaml\b[^{}\n]*[\s|]indent\b/;

/** Neither a trim marker nor a function that removes the spaces. */
const doubles = /^\{\{\s(?![^{}]*\btrim\w*\b[^{}]*$)[^{}]*\btoYaml\b[^{}]*[\s|]indent\s+\d+\s*-?\}\}$/;

/** The line above, and the spaces before the action. */
const hasLines =
  /(?:^|\n)[ \t]*(?:- )?(?:resources|tolerations|affinity|env|volumes|volumeMounts|livenessProbe|readinessProbe|startupProbe|initContainers|sidecars):[ \t]*\r?\n[ \t]+$/;
