// Where the expansions of a shell end.

/** The end of `$NAME`, `${...}`, `$(...)` or a backquoted command; beyond the text if it never ends. */
export function expansionEnd(text: string, start: number): number {
  if (text[start] === '`') {
    const end = text.indexOf('`', start + 1);
    return end < 0 ? text.length + 1 : end + 1;
  }
  const open = text[start + 1];
  if (open !== '(' && open !== '{') {
    let at = start + 1;
    while (at < text.length && /\w/.test(text[at] ?? '')) at++;
    // `"^a$"` ends in a dollar sign.
    return at === start + 1 && /[?*@#!$-]/.test(open ?? '') ? at + 1 : at;
  }
  return open === '(' && text[start + 2] !== '(' ? substitutionEnd(text, start + 1) : bracketsEnd(text, start);
}

/** The end of `${...}` or `$((...))`. */
function bracketsEnd(text: string, start: number): number {
  const open = text[start + 1];
  const close = open === '(' ? ')' : '}';
  let depth = 0;
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === open) depth++;
    else if (text[at] === close && --depth === 0) return at + 1;
  }
  return text.length + 1;
}

/** The end of the commands in `$(...)`: parentheses in their quotes, comments and here-documents do not count. */
function substitutionEnd(text: string, start: number): number {
  const open: string[] = [];
  const delimiters: string[] = [];
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    const isText = open.at(-1) === '"';
    if (char === '\\') at++;
    else if (char === '$' && text[at + 1] === '(' && text[at + 2] === '(') at = bracketsEnd(text, at) - 1;
    else if (char === '"' && isText) open.pop();
    else if (char === '"') open.push(char);
    else if (char === '(' && (!isText || text[at - 1] === '$')) open.push(char);
    else if (isText) continue;
    else if (char === ')') {
      open.pop();
      if (open.length === 0) return at + 1;
    } else if (char === "'" || char === '`') {
      const end = text[at - 1] === '$' ? ansiQuoteEnd(text, at + 1) - 1 : text.indexOf(char, at + 1);
      if (end < 0) break;
      at = end;
    } else if (char === '#' && /\s/.test(text[at - 1] ?? '')) at = lineEnd(text, at) - 1;
    else if (char === '<' && text[at + 1] === '<') {
      const [match, delimiter] = /^<<-?\s?["'\\]?([A-Za-z_]\w*)["']?/.exec(text.slice(at, at + 60)) ?? [];
      if (delimiter !== undefined) delimiters.push(delimiter);
      at += match === undefined ? 2 : match.length - 1;
    } else if (char === '\n') {
      for (const delimiter of delimiters.splice(0)) at = skipHeredoc(text, at + 1, delimiter) - 1;
    }
  }
  return text.length + 1;
}

/** The end of `$'...'`, where a backslash escapes a quote; beyond the text if it never ends. */
export function ansiQuoteEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === "'") return at + 1;
  }
  return text.length + 1;
}

/** The end of a here-document that starts at an offset. */
export function skipHeredoc(text: string, start: number, delimiter: string): number {
  let at = start;
  while (at < text.length) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end).trim();
    at = Math.min(end + 1, text.length);
    if (line === delimiter) break;
  }
  return at;
}

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}
