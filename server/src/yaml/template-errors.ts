import type { YamlProblem } from './node.ts';
import { maskFields, maskStandIns, maskTokens, maskVariables } from './other-templates.ts';
import type { Span } from './span.ts';
import type { Mask } from './template.ts';

/**
 * Whether an error of syntax is one whatever the template renders: all actions are values on the line of their key or item, and none is at the error
 * or on the line above it. What another renderer also fills in can be any text.
 */
export function isCertainError({ original, actions }: Mask, { span }: YamlProblem): boolean {
  if (otherMarks.test(original) || otherMasks.some((maskOf) => maskOf(original) !== undefined)) return false;
  const lines = linesAround(original, span.start);
  return actions.every(
    (action) =>
      isValue(original, action.span, action.text) && (action.span.end <= lines.start || action.span.start >= lines.end),
  );
}

const otherMasks = [maskVariables, maskTokens, maskStandIns, maskFields];

/** Signs of renderers with another syntax: `[[ tag ]]`, `<%= tag %>`, `((tag))`. */
const otherMarks = /\[\[|<%|%\{|^[^#\n]*:[ \t]+\(\(/m;

/** An action that writes one value: no control structure, no block of lines, and not alone on its line. */
function isValue(text: string, { start }: Span, action: string): boolean {
  const line = text.lastIndexOf('\n', start - 1) + 1;
  return (
    start - line < 500 && !block.test(action) && /^[ \t]*(?:- +|[\w./-]+:[ \t]|.*["'])/.test(text.slice(line, start))
  );
}

const block =
  /^\{%|^\{\{#|[\r\n]|\b(?:if|else|end|range|with|define|block|template|include|tpl|toYaml|toToml|toJson|indent|nindent|Files|lookup|safe)\b/;

/** The line of an error, and the last one above it with text. */
function linesAround(text: string, at: number): Span {
  const line = text.lastIndexOf('\n', at - 1) + 1;
  const from = Math.max(0, line - 5000);
  const above = text.slice(from, line).split('\n');
  while (above.length > 0 && /^\s*(?:#.*)?$/.test(above.at(-1) ?? '')) above.pop();
  above.pop();
  const end = text.indexOf('\n', at);
  return { start: from + above.join('\n').length, end: end === -1 ? text.length : end };
}
