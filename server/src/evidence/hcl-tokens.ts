// The words of HCL. https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md

/** A word, a text in quotes, a here-document, a mark or the end of a line. `known`: it contains no variables. */
export type Token = {
  readonly kind: 'word' | 'text' | 'document' | 'mark' | 'line';
  readonly text: string;
  readonly known: boolean;
  /** It begins a block that is only at the top of a file, at the start of a line. */
  readonly opens?: true;
};

const token =
  /(?<space>[ \t\r]+|#[^\n]*|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$))|(?<line>\n)|(?<word>[A-Za-z_][\w-]*|-?\d[\w.]*)|"(?<text>(?:[^"\\\n]|\\.)*)(?<closed>")?|<<-?(?<end>\w+)\r?\n|(?<mark>[^\n])/gy;

/** The tokens of a file, without comments. */
export function tokensOf(text: string): readonly Token[] {
  const found: Token[] = [];
  token.lastIndex = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const { space, line, word, text: quoted, closed, end, mark } = match.groups ?? {};
    if (space !== undefined) continue;
    if (line !== undefined) found.push({ kind: 'line', text: '\n', known: true });
    else if (word !== undefined) found.push(wordAt(text, match.index, word));
    else if (quoted !== undefined)
      found.push({ kind: 'text', text: quoted, known: closed !== undefined && !/[$%]\{|\\/.test(quoted) });
    else if (mark !== undefined) found.push({ kind: 'mark', text: mark, known: true });
    else if (end !== undefined) {
      // A here-document ends at a line with its word.
      const last = new RegExp(`^[ \\t]*${end}[ \\t\\r]*$`, 'gm');
      last.lastIndex = token.lastIndex;
      const start = token.lastIndex;
      const close = last.exec(text);
      const document = text.slice(start, close?.index);
      found.push({ kind: 'document', text: document, known: !/[$%]\{/.test(document) });
      token.lastIndex = close === null ? text.length : close.index + close[0].length;
    }
  }
  return found;
}

function wordAt(text: string, at: number, word: string): Token {
  const isFirst = at === 0 || text.charAt(at - 1) === '\n';
  const opens = isFirst && topLevel.has(word) && opensTopLevel(text.slice(at, at + 200));
  return { kind: 'word', text: word, known: true, ...(opens && { opens }) };
}

/** Blocks that no other block can have, but for those of the same names that are written without labels. */
const topLevel: ReadonlySet<string> = new Set([
  'resource',
  'data',
  'module',
  'variable',
  'output',
  'provider',
  'locals',
]);

/** Whether a line begins a block that is only at the top of a file. */
export function opensTopLevel(line: string): boolean {
  return /^(?:(?:resource|data)[ \t]+"[^"\n]*"[ \t]+"[^"\n]*"|(?:module|variable|output|provider)[ \t]+"[^"\n]*"|locals)[ \t]*\{/.test(
    line,
  );
}

/** Whether a token is a value that needs no others. */
export function isLiteral(next: Token | undefined): next is Token {
  return next?.known === true && (next.kind === 'text' || /^(?:true|false|\d[\d.]*)$/.test(next.text));
}

/** Whether a token is this punctuation mark. */
export function isMark(next: Token | undefined, text: string): boolean {
  return next?.kind === 'mark' && next.text === text;
}
