/** A text from a file, on one line and truncated so that a message stays readable. */
export function shorten(text: string, max = 40): string {
  const start = text.slice(0, 2 * max);
  const line = start.includes('\n') ? start.replaceAll(/\n[ \t\n]*/g, ' ') : text;
  return line.length > max || start.length < text.length ? `${line.slice(0, max - 1)}…` : line;
}
