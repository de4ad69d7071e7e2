/**
 * The value of a text, to be read by fleet/json.ts; undefined if the text is not JSON: one malformed event is not the end of a watch.
 * @param revive as for JSON.parse
 */
export function parsedJson(text: string, revive?: (key: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(text, revive);
  } catch {
    return undefined;
  }
}
