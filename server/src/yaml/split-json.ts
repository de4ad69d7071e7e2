/**
 * The offsets of the second and further JSON objects that follow each other without a separator, as `jq` and loops over `kubectl get -o json`
 * write them: kubectl reads each. None in any other text. Linear in the text.
 */
export function jsonObjects(text: string): readonly number[] {
  if (!/^\uFEFF?\s*\{\s*"/.test(text) || !/\}[ \t]*\r?\n\s*\{/.test(text)) return [];
  const starts: number[] = [];
  let depth = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [token] = match;
    if (token === '{') {
      if (depth++ === 0) starts.push(match.index);
    } else if (token === '}') depth--;
    // Between objects there is only white space.
    if (depth < 0 || (depth === 0 && token !== '}')) return [];
  }
  return depth === 0 ? starts.slice(1) : [];
}

/** A brace, a string, or a character that is not white space where no object is open; inside of one, the others do not matter. */
const TOKEN = /[{}]|"(?:[^"\\\r\n]|\\[^\r\n])*"?|[^\s{}"\uFEFF]+/g;
