import type { YamlProblem } from './node.ts';

/** What Kubernetes' parser, a port of libyaml, rejects about the pieces of a text, though the library accepts it. */
export interface Scan {
  /**
   * Takes the next piece. The pieces come in order and make up the text.
   * @param scalar it is a plain scalar or the lines of a block scalar
   */
  see(lexeme: string, at: number, scalar: boolean): void;
  /** The first problem so far, and the offset from which other errors follow from it. */
  readonly problem: { readonly first: YamlProblem; readonly from: number } | undefined;
}

export function startScan(text: string): Scan {
  // Other tools read more than Kubernetes does, and JSON has escapes that YAML 1.1 has not.
  const isObject = /(?:^|[{,\s])["']?apiVersion["']?:/m.test(text);
  const isJson = /^\uFEFF?\s*\{\s*"/.test(text);
  let problem: Scan['problem'];
  let brackets = 0;
  let lineStart = 0;
  /** The column of the innermost block mapping or list. */
  let indent = -1;
  /** The column of the text that a colon on this line would make a key. */
  let column = 0;
  /** A key, an item or a comment may begin here; a tab may not. */
  let open = true;
  /** Since a plain scalar, only white space has passed; on later lines it may have tabs that are deeper than the indentation. */
  let plain: 'same line' | 'later line' | undefined;
  /** The next scalar is a block scalar. */
  let block = false;

  function report(message: string, start: number, end: number, from = start): void {
    problem ??= { first: { message, span: { start, end } }, from };
  }

  function reportTab(at: number, from = at): void {
    report('Tab at the start of a line; remove it or use spaces', at, at + 1, from);
  }

  function whiteSpace(lexeme: string, at: number): void {
    const tab = lexeme.indexOf('\t');
    if (tab === -1 || isJson) return;
    const deep = at + tab - lineStart > indent;
    if (plain === 'later line' ? !deep : plain === undefined && open && brackets === 0) reportTab(at + tab);
  }

  function content(lexeme: string, at: number, scalar: boolean): void {
    if (open) column = at - lineStart;
    open = false;
    plain = undefined;
    const isBlock = block;
    block = !scalar && /^[|>]/.test(lexeme);
    if (scalar) {
      if (isBlock) blockLines(lexeme, at);
      else {
        plain = 'same line';
        if (brackets > 0) inBrackets(lexeme, at);
      }
      return;
    }
    if (lexeme === '[' || lexeme === '{') brackets++;
    else if (lexeme === ']' || lexeme === '}') brackets--;
    else if ((lexeme === '-' || lexeme === '?') && brackets === 0) {
      indent = column;
      open = true;
    } else if (lexeme === ':' && brackets === 0) indent = column;
    else property(lexeme, at);
  }

  function property(lexeme: string, at: number): void {
    const first = lexeme.charAt(0);
    if (first === '&' && !/^&[\w-]+(?=$|[?:,\]}%@`])/.test(lexeme))
      report(
        '& starts an anchor name, which may contain only letters, digits, - and _; quote the text',
        at,
        at + lexeme.length,
      );
    else if (first === '!' && /^!(?:<[^>]*|[\w-]*!)$/.test(lexeme))
      report('Incomplete tag; complete it, or quote the text', at, at + lexeme.length);
    else if (first === '"' && isObject && !isJson && lexeme.includes('\\/')) {
      const start = at + (/^(?:[^\\]|\\[^/])*/.exec(lexeme)?.[0].length ?? 0);
      if (start < at + lexeme.length)
        report("Kubernetes' parser rejects \\/ in double quotes; write / without the backslash", start, start + 2);
    }
  }

  function inBrackets(lexeme: string, at: number): void {
    if (lexeme.startsWith(':'))
      report('A plain value in brackets cannot start with a colon; quote it', at, at + lexeme.length);
    if (isObject && lexeme.includes('?', 1))
      report("Kubernetes' parser rejects ? in a plain value in brackets; quote the value", at, at + lexeme.length);
  }

  /** A tab in the indentation of a blank line. */
  function blockLines(lexeme: string, at: number): void {
    if (!lexeme.includes('\t')) return;
    const depth = /^(?:[ \t]*\r?\n)* */.exec(lexeme)?.[0].split('\n').at(-1)?.length ?? 0;
    for (const { index, 0: spaces } of lexeme.matchAll(/(?<=^|\n) *(?=\t)/g)) {
      if (spaces.length < depth) reportTab(at + index + spaces.length, at);
    }
  }

  return {
    see(lexeme, at, scalar) {
      const isSpace = !scalar && /^[ \t\r\n]+$/.test(lexeme);
      const isBlock = scalar && block;
      if (isSpace) whiteSpace(lexeme, at);
      else if (!scalar && lexeme.startsWith('#')) plain = undefined;
      else if (lexeme !== '\uFEFF') content(lexeme, at, scalar);
      const newline = lexeme.lastIndexOf('\n');
      if (newline === -1) return;
      lineStart = at + newline + 1;
      if (isSpace || isBlock) open = true;
      if (isSpace && plain === 'same line') plain = 'later line';
    },
    get problem() {
      return problem;
    },
  };
}
