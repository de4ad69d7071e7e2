import { shiftSpan } from './span.ts';
import type { DocumentText } from './split.ts';
import { findActions, isControl, wordsOf } from './template-action.ts';
import { unbalancedAction } from './unbalanced-actions.ts';

/** No chart has more variables and blocks around its documents. Each document reads them again. */
const maxOpen = 50;
/** Beyond this, what is open is not looked for: the end of a block may still bring it below the limit. */
const maxKept = 1000;
/** Each document keeps the text of what is open. */
const maxLength = 4000;

/**
 * Adds to each document of a Go template the actions of earlier documents that apply in it: the blocks that they leave open (a loop whose body
 * has several documents), and the variables that they set. An action that begins or ends no block is a problem of its document.
 * @param text the whole file; empty if it is no template
 */
export function withOpenBlocks(parts: readonly DocumentText[], text: string): readonly DocumentText[] {
  return withUnbalanced(withOpened(parts), text);
}

/** Adds to its document the action that spoils the whole file. */
function withUnbalanced(parts: readonly DocumentText[], text: string): readonly DocumentText[] {
  const found = unbalancedAction(text);
  if (found === undefined) return parts;
  return parts.map((part) => {
    const span = shiftSpan(found.span, -part.base);
    const isHere = span.start >= 0 && span.end <= part.text.length;
    return isHere ? { ...part, unbalanced: { ...found, span } } : part;
  });
}

function withOpened(parts: readonly DocumentText[]): readonly DocumentText[] {
  if (parts.length < 2 || !parts.some(({ text }) => text.includes('{{'))) return parts;
  const open: OpenAction[] = [];
  let exceeded = false;
  return parts.map((part) => {
    exceeded ||= open.length > maxKept;
    if (exceeded) return part;
    const length = open.reduce((sum, { text }) => sum + text.length, 0);
    const opened = open.length > maxOpen || length > maxLength ? '' : open.map(({ text }) => text).join('');
    for (const action of findActions(part.text)) {
      const { word } = wordsOf(action);
      const { text } = action;
      if (!isControl(action) || /^(?:\{%|%\{)/.test(text) || /^\{\{[-~]?\s*\/\*/.test(text)) continue;
      if (word === 'end') close(open, text);
      else open.push({ text, isBlock: opensBlock.test(word), assigns: assignsOuter.test(text) });
    }
    return opened === '' ? part : { ...part, opened };
  });
}

interface OpenAction {
  readonly text: string;
  readonly isBlock: boolean;
  /** It may change a variable of the text around it. */
  readonly assigns: boolean;
}

const opensBlock = /^(?:if|with|range|define|block)$/;

/** `:=` makes a variable that ends with its block. */
const assignsOuter = /^\{\{[-~]?\s*\$\w+\s*=/;

/** Removes the last open block. One that changes variables stays, with its end: what they hold then depends on whether it runs. */
function close(open: OpenAction[], end: string): void {
  let begin = open.length - 1;
  while (begin > 0 && open[begin]?.isBlock === false) begin -= 1;
  const closed = open.splice(Math.max(0, begin));
  if (closed[0]?.isBlock !== true || !closed.some(({ assigns }) => assigns)) return;
  // No more is kept than shows that it is too much.
  const text = [...closed.map((one) => one.text), end].join('').slice(0, maxLength + 1);
  open.push({ text, isBlock: false, assigns: true });
}
