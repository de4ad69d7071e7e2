/**
 * Text from files as HTML, valid in elements and in quoted attributes: markup is escaped, all characters are visible, and logs of CI find no
 * command.
 */
export function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"'`#]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The same as an element whose writing direction does not affect the text around it. Lines break after slashes. */
export function isolated(text: string): string {
  return `<bdi>${escapeHtml(text).replaceAll('/', '/<wbr>')}</bdi>`;
}

/** A text in which characters that nobody sees or that change the writing direction are written as their code. */
export function visible(text: string): string {
  return text.replace(invisible, codeOf);
}

const invisible = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]|\p{Cs}/gu;

function codeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
