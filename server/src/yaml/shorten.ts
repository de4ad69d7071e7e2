/** A text from a file, truncated so that a message stays readable. */
export function shorten(text: string, max = 40): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
