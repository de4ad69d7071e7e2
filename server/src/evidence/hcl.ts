import { type Field, type Fields, isTemplateText, maxDepth, type Template } from './fields.ts';
import { choiceAt, choosesList } from './hcl-choices.ts';
import { type ObjectOfEach, objectOfEach } from './hcl-for.ts';
import { isLiteral, isMark, type Token, tokensOf } from './hcl-tokens.ts';

// A small reader of HCL, the language of Terraform, for plain values. https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md
// Nothing is evaluated: functions and conditions are unknown, and a text that consists of variables and local values is a template. It reads each
// character a bounded number of times and never fails.

/** `resource "aws_eks_node_group" "gpu" {…}`. */
export interface HclBlock {
  readonly type: string;
  readonly labels: readonly string[];
  readonly body: Fields;
}

/** Longer files are generated. */
const maxLength = 500_000;

/**
 * The blocks of a file; of a block within a block, the field named after it has a list of their bodies.
 * @param keepsCalls whether `file`, `yamlencode` and `toset` are calls, here-documents their text with its variables, and `${path.module}/` the folder `./`, instead of unknown
 */
export function readHcl(text: string, keepsCalls = false): readonly HclBlock[] {
  if (text.length > maxLength) return [];
  const blocks: HclBlock[] = [];
  const tokens = tokensOf(text);
  readBody({ tokens, at: 0, keepsCalls }, 0, (type, labels, body) => blocks.push({ type, labels, body }));
  return blocks;
}

interface Reader {
  readonly tokens: readonly Token[];
  at: number;
  readonly keepsCalls: boolean;
}

function readBody(
  reader: Reader,
  depth: number,
  onBlock: (type: string, labels: readonly string[], body: Fields) => void,
): Fields {
  const body = new Map<string, Field>();
  const { tokens } = reader;
  // Nothing useful is that deep; the rest of the file is not read.
  if (depth > maxDepth) reader.at = tokens.length;
  while (reader.at < tokens.length) {
    const first = tokens[reader.at++];
    if (isMark(first, '}') && depth > 0) break;
    // The block around lacks its end: an error stays in its block.
    if (first?.opens === true && depth > 0) {
      reader.at -= 1;
      break;
    }
    if (first === undefined || (first.kind !== 'word' && first.kind !== 'text')) continue;
    if (isMark(tokens[reader.at], '=') || isMark(tokens[reader.at], ':')) {
      reader.at += 1;
      const value = readValue(reader, depth);
      const isSwitched = first.text === 'count' && typeof value !== 'string' && isSwitch(reader);
      const known = choosesList(value) && first.text !== 'for_each' ? null : value;
      body.set(first.text, isSwitched ? (isTemplateText(value) ? { ...value, otherwise: '1' } : '1') : known);
      continue;
    }
    const labels: string[] = [];
    for (let next = tokens[reader.at]; next?.kind === 'word' || next?.kind === 'text'; next = tokens[reader.at]) {
      labels.push(next.text);
      reader.at += 1;
    }
    if (!isMark(tokens[reader.at], '{')) continue;
    reader.at += 1;
    const inner = readBody(reader, depth + 1, () => undefined);
    const before = body.get(first.text);
    body.set(first.text, [...(Array.isArray(before) ? before : []), inner]);
    onBlock(first.text, labels, inner);
  }
  return body;
}

/** Whether the value before the place is `… ? 1 : 0`: the block, if it is there, is one. */
function isSwitch({ tokens, at }: Reader): boolean {
  return /^\?(?:1:0|0:1)$/.test(
    tokens
      .slice(Math.max(0, at - 4), at)
      .map(({ text }) => text)
      .join(''),
  );
}

/** Reads a value up to the end of its line, or to the mark after it in a list. */
function readValue(reader: Reader, depth: number): Field {
  const first = reader.tokens[reader.at];
  let value: Field = null;
  if (isMark(first, '[') || isMark(first, '{')) {
    reader.at += 1;
    const mapped = isMark(first, '{') ? mappedAt(reader) : undefined;
    const [next] = reader.tokens.slice(reader.at, reader.at + 2).filter(({ kind }) => kind !== 'line');
    const isFor = next?.kind === 'word' && next.text === 'for';
    const each = isFor && mapped === undefined ? objectOfEach(reader.tokens, reader.at) : undefined;
    if (each !== undefined) {
      reader.at = each.end;
      value = poolOfEach(each, reader, isMark(first, '['), depth);
    } else {
      const read = isMark(first, '[') ? readList(reader, depth + 1) : readBody(reader, depth + 1, () => undefined);
      // What any other `for` expression makes is computed.
      value = isFor ? (mapped ?? null) : read;
    }
  } else if (
    first !== undefined &&
    reader.keepsCalls &&
    depth < maxDepth &&
    isKept(first, reader.tokens[reader.at + 1])
  ) {
    reader.at += 1;
    if (first.kind !== 'word') value = keptText(first);
    else {
      reader.at += 1;
      value = { call: first.text, argument: readValue(reader, depth + 1) };
      while (reader.tokens[reader.at]?.kind === 'line') reader.at += 1;
      if (isMark(reader.tokens[reader.at], ')')) reader.at += 1;
    }
  } else if (
    first?.kind === 'word' &&
    first.text === 'toset' &&
    isMark(reader.tokens[reader.at + 1], '(') &&
    depth < maxDepth
  ) {
    // A set of the same values.
    reader.at += 2;
    value = readValue(reader, depth + 1);
    if (isMark(reader.tokens[reader.at], ')')) reader.at += 1;
  } else if (first?.kind === 'text' || first?.kind === 'word') {
    reader.at += 1;
    const isKeys = first.text === 'keys';
    const counted = first.kind === 'word' && (first.text === 'length' || isKeys) ? argumentAt(reader) : undefined;
    if (counted !== undefined) {
      reader.at += counted.length;
      // Copies by the keys of a mapping are those by its entries.
      value = { template: isKeys ? `\${${counted.name}}` : `\${length(${counted.name})}` };
      return isEnd(reader.tokens[reader.at]) ? value : skipRest(reader);
    }
    const named =
      first.kind === 'word' ? (referenceAt(reader, first.text) ?? fallbackAt(reader, first.text)) : undefined;
    if (named !== undefined) {
      reader.at += named.length;
      const { length = 0, ...made } = choiceAt(reader.tokens, reader.at) ?? {};
      reader.at += length;
      value = {
        template: `\${${named.name}}`,
        ...(named.unset !== undefined && { unset: named.unset }),
        ...made,
      };
      return isEnd(reader.tokens[reader.at]) ? value : skipRest(reader);
    }
    if (first.kind === 'text' && first.text.includes('${') && onlyReferences.test(first.text)) {
      return isEnd(reader.tokens[reader.at]) ? { template: first.text } : skipRest(reader);
    }
    const isPlain = first.kind === 'text' || /^(?:true|false|-?\d[\d.]*)$/.test(first.text);
    value = first.known && isPlain ? first.text : null;
  }
  return isEnd(reader.tokens[reader.at]) ? value : skipRest(reader);
}

/** What a `for` expression makes of each item, as one that has copies: its only entry, or its only item. */
function poolOfEach({ each, name, tokens }: ObjectOfEach, reader: Reader, isList: boolean, depth: number): Field {
  const body = depth < maxDepth ? readBody({ ...reader, tokens, at: 0 }, depth + 1, () => undefined) : new Map();
  const copied = new Map<string, Field>([
    ...(name === null ? [] : [['name', name] as const]),
    ...body,
    ['for_each', each],
  ]);
  return isList ? [copied] : new Map([['each', copied]]);
}

function isKept({ kind, text }: Token, next: Token | undefined): boolean {
  if (kind === 'word') return ['file', 'yamlencode', 'toset'].includes(text) && isMark(next, '(');
  return kind === 'document' || (kind === 'text' && text.startsWith(moduleFolder));
}

const moduleFolder = `\${path.module}/`;

function keptText({ kind, text, known }: Token): Field {
  if (kind === 'document') return known ? text : plainDocument.test(text) ? { template: text } : null;
  const below = text.slice(moduleFolder.length);
  return /[$%]\{|\\/.test(below) ? null : `./${below}`;
}

interface Reference {
  readonly name: string;
  /** The tokens that it takes. */
  readonly length: number;
  readonly unset?: string;
}

/** `(each.value, "max", 3)` after `lookup`, `(each.value.max, 3)` after `try`. */
function fallbackAt(reader: Reader, word: string): Reference | undefined {
  const { tokens, at } = reader;
  const first = tokens[at + 1];
  if ((word !== 'lookup' && word !== 'try') || !isMark(tokens[at], '(') || first?.kind !== 'word') return undefined;
  const named = referenceAt({ ...reader, at: at + 2 }, first.text);
  if (named === undefined) return undefined;
  const rest = at + 2 + named.length;
  const key = word === 'lookup' ? tokens[rest + 1] : undefined;
  const end = key === undefined ? rest : rest + 2;
  const [comma, unset, close] = tokens.slice(end, end + 3);
  if (!isMark(comma, ',') || !isMark(close, ')') || !isLiteral(unset)) return undefined;
  if (word === 'lookup' && !(key?.kind === 'text' && key.known)) return undefined;
  const name = key === undefined ? named.name : `${named.name}.${key.text}`;
  return { name, length: end + 3 - at, unset: unset.text };
}

/** The mapping of the same items that a `for` expression makes, whose `{` is before the place. */
function mappedAt({ tokens, at }: Reader): Template | undefined {
  const words: string[] = [];
  for (const { kind, text } of tokens.slice(at, at + maxTokens)) {
    if (kind === 'mark' && text === '}') break;
    if (kind !== 'line') words.push(kind === 'word' || kind === 'mark' ? text : '"');
  }
  const [, first, second, of = '', by, key = null, item, owner, when] = mapping.exec(words.join(' ')) ?? [];
  const each = second ?? first;
  // The key is the one that the item has, or a field of it.
  const isKey = key === null ? second !== undefined && by === first : by === each;
  if (first === undefined || item !== each || !isKey || (owner !== undefined && owner !== each)) return undefined;
  const mapped = { key, ...(when !== undefined && { when }) };
  return { template: `\${${of.replaceAll(' ', '')}}`, mapped };
}

/** More than such an expression has. */
const maxTokens = 40;

const mapping =
  /^for (\w+)(?: , (\w+))? in ((?:var|local)(?: \. [\w-]+){1,3}) : (\w+)(?: \. ([\w-]+))? = > (\w+)(?: if (\w+) \. ([\w-]+))?$/;

/** `(local.zones)` after `length` or `keys`. */
function argumentAt(reader: Reader): Reference | undefined {
  const { tokens, at } = reader;
  const first = tokens[at + 1];
  if (!isMark(tokens[at], '(') || first?.kind !== 'word') return undefined;
  const named = referenceAt({ ...reader, at: at + 2 }, first.text);
  if (named === undefined || !isMark(tokens[at + 2 + named.length], ')')) return undefined;
  return { name: named.name, length: named.length + 3 };
}

/**
 * What a place refers to whose first word is before it, and how many tokens follow that word: `var.region`, `each.value.size`. An index is a part:
 * `local.zones[0]` is `local.zones.0`, `local.zones[count.index]` is `local.zones.#`, `var.pools[each.key]` is `var.pools.@`.
 */
function referenceAt({ tokens, at }: Reader, first: string): Reference | undefined {
  if (!isNamespace.test(first) && !statesPlace.test(first)) return undefined;
  const parts = [first];
  let next = at;
  while (parts.length < maxParts) {
    const [mark, one, two, three, four] = tokens.slice(next, next + 5);
    if (isMark(mark, '.') && one?.kind === 'word') {
      parts.push(one.text);
      next += 2;
    } else if (isMark(mark, '[') && isMark(two, ']') && one?.known && /^[\w-]+$/.test(one.text)) {
      parts.push(one.text);
      next += 3;
    } else if (isMark(mark, '[') && one?.text === 'count' && three?.text === 'index' && isMark(four, ']')) {
      parts.push('#');
      next += 5;
    } else if (isMark(mark, '[') && one?.text === 'each' && three?.text === 'key' && isMark(four, ']')) {
      parts.push('@');
      next += 5;
    } else break;
  }
  return parts.length === 1 ? undefined : { name: parts.join('.'), length: next - at };
}

const isNamespace = /^(?:var|local|each|count|include|aws_launch_template)$/;

/** Resources to whose place others refer: `azurerm_resource_group.main.location`. */
export const statesPlace = /^(?:azurerm_resource_group|(?:azurerm_kubernetes|google_container)_cluster)$/;

/** `local.pools.gpu.size`, `var.pools["gpu"].zones[count.index]`. */
const maxParts = 5;

/** A here-document without directives and nested expressions. */
const plainDocument = /^(?:[^$%\\]|[$%](?!\{)|\$\{[^{}"$%\\]*\})*$/;

/** A text of a few known words around variables and local values, without escapes. */
const onlyReferences = /^(?:[^$%\\"]|\$\{(?:var|local|each|count|include)(?:\.[\w-]+){1,3}\})*$/;

function readList(reader: Reader, depth: number): Field {
  const list: Field[] = [];
  if (depth > maxDepth) reader.at = reader.tokens.length;
  while (reader.at < reader.tokens.length) {
    const next = reader.tokens[reader.at];
    if (isMark(next, ']')) {
      reader.at += 1;
      break;
    }
    if (next?.kind === 'line' || isMark(next, ',')) reader.at += 1;
    else if (isMark(next, '}') || isMark(next, ')') || next?.opens === true) break;
    else list.push(readValue(reader, depth));
  }
  return list;
}

/** Skips the rest of an expression, which is unknown. */
function skipRest(reader: Reader): null {
  let open = 0;
  for (let next = reader.tokens[reader.at]; next !== undefined; next = reader.tokens[reader.at]) {
    if ((open === 0 && isEnd(next)) || next.opens === true) break;
    if (next.kind === 'mark' && '([{'.includes(next.text)) open += 1;
    if (next.kind === 'mark' && ')]}'.includes(next.text)) open -= 1;
    reader.at += 1;
  }
  return null;
}

function isEnd(next: Token | undefined): boolean {
  return next === undefined || next.kind === 'line' || (next.kind === 'mark' && ',]})'.includes(next.text));
}
