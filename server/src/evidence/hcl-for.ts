import type { Field } from './fields.ts';
import { isMark, type Token } from './hcl-tokens.ts';

// `for` expressions of HCL that make a mapping of each item of a variable or a local value.

/** What such an expression makes, in the words of `for_each`. */
export interface ObjectOfEach {
  /** The items, as `for_each` has them. */
  readonly each: Field;
  /** The key of the item; null if it is computed, or in a list. */
  readonly name: Field;
  /** The tokens after the `{` of the mapping, up to its `}`. */
  readonly tokens: readonly Token[];
  /** The place after the expression. */
  readonly end: number;
}

/** `for zone in local.zones : "gpu-${zone}" => {…}`, `for pool in var.pools : {…}`, with the place of the `for`; undefined for other expressions. */
export function objectOfEach(tokens: readonly Token[], from: number): ObjectOfEach | undefined {
  const head: Token[] = [];
  let at = from;
  for (; at < tokens.length && head.length < maxHead; at += 1) {
    const token = tokens[at];
    if (isMark(token, '{')) break;
    if (token !== undefined && token.kind !== 'line') head.push(token);
  }
  const words = head.map(({ kind, text }) => (kind === 'text' ? '"' : text)).join(' ');
  const [, first = '', second, owner = '', quoted, key = quoted] = expression.exec(words) ?? [];
  const end = isMark(tokens[at], '{') && first !== '' ? closeOf(tokens, at + 1) : undefined;
  // Items that a condition leaves out are unknown.
  const last = end === undefined ? 0 : placeAfter(tokens, end);
  if (end === undefined || !isMark(tokens[last], head.some(isArrow) ? '}' : ']')) return undefined;
  const names = new Map(
    second === undefined
      ? [[first, 'value']]
      : [
          [first, 'key'],
          [second, 'value'],
        ],
  );
  const renamed = tokens
    .slice(at + 1, end + 1)
    .flatMap((token, index, all) => (isKey(all, index) ? token : renamedIn(token, all[index - 1], names)));
  const text = head.find(({ kind }) => kind === 'text');
  const template = key === '"' ? renamedText(text?.text ?? '', names) : nameIn(key ?? '', names);
  const name = template === undefined ? null : template.includes('${') ? { template } : template;
  return { each: { template: `\${${owner.replaceAll(' ', '')}}` }, name, tokens: renamed, end: last + 1 };
}

/** More than the words before the mapping. */
const maxHead = 30;

const expression =
  /^for (\w+)(?: , (\w+))? in (?:toset \( )?((?:var|local)(?: \. [\w-]+){1,3})(?: \))? :(?: (?:(")|(\w+(?: \. [\w-]+)?)) = >)?$/;

function isArrow(token: Token): boolean {
  return isMark(token, '>');
}

/** The place of the `}` of a mapping whose `{` is before the place. */
function closeOf(tokens: readonly Token[], from: number): number | undefined {
  let open = 1;
  for (let at = from; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (isMark(token, '{')) open += 1;
    if (isMark(token, '}')) open -= 1;
    if (open === 0) return at;
    if (token?.opens === true) return undefined;
  }
  return undefined;
}

/** The place of the next mark or word on any line. */
function placeAfter(tokens: readonly Token[], at: number): number {
  let next = at + 1;
  while (tokens[next]?.kind === 'line' || isMark(tokens[next], ',')) next += 1;
  return next;
}

type Names = ReadonlyMap<string, string>;

/** Whether a token is the key of a value. */
function isKey(tokens: readonly Token[], at: number): boolean {
  const [before, next, second] = [tokens[at - 1], tokens[at + 1], tokens[at + 2]];
  const isFirst = before === undefined || before.kind === 'line' || isMark(before, '{') || isMark(before, ',');
  return isFirst && (isMark(next, ':') || (isMark(next, '=') && !isMark(second, '=')));
}

/** A token with the item's names as `each.key` and `each.value`. */
function renamedIn(token: Token, before: Token | undefined, names: Names): readonly Token[] {
  if (token.kind === 'text') return [{ ...token, text: renamedText(token.text, names) }];
  const part = token.kind === 'word' && !isMark(before, '.') ? names.get(token.text) : undefined;
  if (part === undefined) return [token];
  return [
    { ...token, text: 'each' },
    { kind: 'mark', text: '.', known: true },
    { ...token, text: part },
  ];
}

function renamedText(text: string, names: Names): string {
  return text.replace(/\$\{(\w+)(?=[.}])/g, (whole, name: string) => {
    const part = names.get(name);
    return part === undefined ? whole : `\${each.${part}`;
  });
}

/** `pool.name` of `for pool in …`. */
function nameIn(key: string, names: Names): string | undefined {
  const [name = '', ...fields] = key.split(' . ');
  const part = names.get(name);
  return part === undefined ? undefined : `\${${['each', part, ...fields].join('.')}}`;
}
