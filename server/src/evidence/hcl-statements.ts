import { shorten } from '../yaml/shorten.ts';

/** An error of syntax in a file of Terraform, and its offset. */
export interface HclProblem {
  readonly message: string;
  readonly at: number;
}

/** The statement that is read in a block or at the top of a file, and the names that the block has set. */
export interface Statement {
  /** `closed`: it was a block. `other`: it begins with neither a name nor a known mark, and is not judged. */
  part: 'start' | 'name' | 'labels' | 'value' | 'closed' | 'other';
  name: string;
  at: number;
  readonly names: Set<string>;
  /** How many lines of the block have ended; at least one at the top of a file. */
  lines: number;
}

/**
 * The statements of a block, of which none is read. https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md#structural-elements
 * @param lines how many lines of it have ended
 */
export function newBody(lines = 0): Statement {
  return { part: 'start', name: '', at: 0, names: new Set(), lines };
}

/**
 * Reads a name, a number or the start of a text.
 * @param before the last character that is neither a space nor in a comment
 */
export function wordIn(statement: Statement, word: string, at: number, before: string): HclProblem | undefined {
  switch (statement.part) {
    case 'start':
      statement.part = word === '"' ? 'other' : 'name';
      statement.name = word;
      statement.at = at;
      return undefined;
    case 'name':
    case 'labels':
      statement.part = 'labels';
      return undefined;
    case 'value':
      return /[\p{L}\p{N}_"\])}]/u.test(before)
        ? { message: `A line break is missing before ${word === '"' ? 'this text' : shorten(word)}`, at }
        : undefined;
    case 'closed':
      return { message: 'A line break is missing after the } of the block above', at };
    default:
      return undefined;
  }
}

/** Reads a mark at an offset. @param before as for words */
export function markIn(statement: Statement, text: string, at: number, before: string): HclProblem | undefined {
  const mark = text.charAt(at);
  if (mark === '"') return wordIn(statement, mark, at, before);
  const { part, name } = statement;
  if (mark === '}') return closing(statement, at, before);
  if ((part === 'name' && mark === '[') || (part === 'labels' && /[[.]/.test(mark) && /[\p{L}\p{N}_]/u.test(before)))
    return { message: `${shorten(name)} has no =; write it before the value`, at: statement.at };
  if (mark === '{' && part !== 'value') {
    statement.part = 'closed';
    return undefined;
  }
  if (part === 'start' && /^[-+]\s*[A-Za-z_}]/.test(text.slice(at, at + 100)) && isFirst(text, at))
    return { message: `This line begins with ${mark}, as in a diff; remove the mark, or the line`, at };
  if (part === 'value' && mark === ',') return { message: 'Unexpected comma after the value; remove it', at };
  if (part === 'start' && /^(?:[?:]|&&|\|\|)/.test(text.slice(at, at + 2)))
    return { message: `A line cannot begin with ${mark}; put the value that it continues in ( )`, at };
  if (part === 'name' && mark === '=' && !/[=>]/.test(text.charAt(at + 1))) return set(statement);
  if (part === 'name' && mark === ':') return { message: `Write = after ${shorten(name)}, not :`, at };
  if (part !== 'value') statement.part = 'other';
  return undefined;
}

/** Ends the statement at the end of its block. */
function closing({ part, name, at: start, lines }: Statement, at: number, before: string): HclProblem | undefined {
  // At the top of a file, nothing is open.
  if (before === '\n' || before === '') return undefined;
  if (part === 'name' || part === 'labels')
    return { message: `${shorten(name)} has no value; write = and a value, or a block`, at: start };
  return lines > 0 && (part === 'value' || part === 'closed')
    ? { message: 'A line break is missing before this }', at }
    : undefined;
}

function set(statement: Statement): HclProblem | undefined {
  const { name, names, at } = statement;
  if (names.has(name)) return { message: `${shorten(name)} is set twice in this block; remove one`, at };
  names.add(name);
  statement.part = 'value';
  return undefined;
}

/** Ends the statement at the end of a line. */
export function endLine(statement: Statement, text: string, end: number): HclProblem | undefined {
  const { part, name, at } = statement;
  const isBehindBrace = statement.lines === 0;
  statement.part = 'start';
  statement.lines += 1;
  if (isBehindBrace && part === 'value')
    return { message: `A line break is missing between { and ${shorten(name)}, or the } after its value`, at };
  if (part !== 'name' && part !== 'labels') return undefined;
  // Earlier versions had braces on their own line, and renderers replace whole lines.
  if (/^\s*\{/.test(text.slice(end, end + 200)) || /^_|^[A-Z\d_]+$/.test(name)) return undefined;
  return part === 'name'
    ? { message: `${shorten(name)} has no value; write = and a value, or a block`, at }
    : { message: `The block ${shorten(name)} has no {; add it at the end of this line`, at };
}

function isFirst(text: string, at: number): boolean {
  return at === 0 || text.charAt(at - 1) === '\n';
}
