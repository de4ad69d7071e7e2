/** A text of somebody's, cut so that a message stays short enough to be read. */
export function shorten(text: string, most = 40): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
