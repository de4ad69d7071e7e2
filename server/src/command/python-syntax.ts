/** What Python rejects in a text before it runs any of it; undefined if it may be valid. Only quotes and brackets are read. */
export function pythonProblem(text: string): string | undefined {
  const open: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '#') {
      const end = text.indexOf('\n', at);
      if (end < 0) break;
      at = end;
    } else if (char === '"' || char === "'") {
      const prefix = /[a-zA-Z]{0,2}$/.exec(text.slice(Math.max(0, at - 2), at))?.[0] ?? '';
      const end = endOfString(text, at, /[ft]/i.test(prefix));
      if (end === undefined) return undefined;
      if (end === null) return 'an unterminated string';
      at = end;
    } else if (closes.has(char)) open.push(closes.get(char) ?? '');
    else if (char === ')' || char === ']' || char === '}') {
      if (open.pop() !== char) return `a ${char} without its bracket`;
    }
  }
  return open.length > 0 ? `no closing ${open.at(-1)}` : undefined;
}

const closes: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);

/** The end of the string that starts at a quote; null if it has none, undefined if the quotes in its expressions make it unclear. */
function endOfString(text: string, start: number, isFormatted: boolean): number | null | undefined {
  const quote = text.charAt(start);
  const isLong = text.startsWith(quote.repeat(3), start);
  let depth = 0;
  for (let at = start + (isLong ? 3 : 1); at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\') at++;
    else if (isFormatted && char === '{') depth++;
    else if (isFormatted && char === '}') depth--;
    else if (char === '\n' && !isLong) return depth > 0 ? undefined : null;
    else if (char === quote && depth > 0) return undefined;
    else if (char === quote && (!isLong || text.startsWith(quote.repeat(3), at))) return isLong ? at + 2 : at;
  }
  return depth > 0 ? undefined : null;
}
