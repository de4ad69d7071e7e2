import { type Field, isTemplateText, type Template } from './fields.ts';
import { isLiteral, isMark, type Token } from './hcl-tokens.ts';

// Conditions of HCL whose results are written next to them.

type Choice = Pick<Template, 'choice' | 'compared'>;

/** `? "SPOT" : "ON_DEMAND"`, `== "" ? [] : [var.name]` after a value, with the number of its tokens. */
export function choiceAt(tokens: readonly Token[], at: number): (Choice & { readonly length: number }) | undefined {
  const [first, second, third] = tokens.slice(at, at + 3);
  const isEqual = isMark(first, '=') && isMark(second, '=');
  const isOther = isMark(first, '!') && isMark(second, '=');
  const compared = (isEqual || isOther) && isLiteral(third) ? { value: third.text, isEqual } : undefined;
  const start = compared === undefined ? at : at + 3;
  if (!isMark(tokens[start], '?')) return undefined;
  const yes = resultAt(tokens, start + 1);
  const colon = start + 1 + (yes?.length ?? 0);
  const no = isMark(tokens[colon], ':') ? resultAt(tokens, colon + 1) : undefined;
  if (yes === undefined || no === undefined) return undefined;
  // The texts of lists matter where neither is empty: `? ["g5.xlarge"] : ["m5.large"]`.
  const isBoth = yes.items !== undefined && no.items !== undefined;
  return {
    choice: isBoth ? [yes.items, no.items] : [yes.text, no.text],
    ...(compared && { compared }),
    length: colon + 1 + no.length - at,
  };
}

/** A result of a condition. `items`: of a list of texts. */
interface Result {
  readonly text: string;
  readonly items?: readonly string[];
  readonly length: number;
}

/** A result, as a text. Of other lists and mappings, only whether they are empty matters. */
function resultAt(tokens: readonly Token[], at: number): Result | undefined {
  const first = tokens[at];
  if (isLiteral(first)) return { text: first.text, length: 1 };
  if (!isMark(first, '[') && !isMark(first, '{')) return undefined;
  let open = 0;
  for (const [index, { kind, text }] of tokens.slice(at, at + maxTokens).entries()) {
    if (kind !== 'mark') continue;
    if ('[{('.includes(text)) open += 1;
    if (']})'.includes(text)) open -= 1;
    if (open > 0) continue;
    const within = tokens.slice(at + 1, at + index).filter((one) => one.kind !== 'line' && !isMark(one, ','));
    const items =
      isMark(first, '[') && within.length > 0 && within.every(isLiteral) ? within.map((one) => one.text) : [];
    return { text: index === 1 ? emptyList : someList, ...(items.length > 0 && { items }), length: index + 1 };
  }
  return undefined;
}

/** Longer results are pools themselves. */
const maxTokens = 40;

/** The result of a condition that is an empty list. */
export const emptyList = '[]';

const someList = '[…]';

/** Whether a value is one of two lists, of which only their emptiness is known. */
export function choosesList(value: Field): boolean {
  return isTemplateText(value) && value.choice?.some((one) => one === emptyList || one === someList) === true;
}
