import { asText, type Cursor } from '../yaml/cursor.ts';
import { replaceScalar, unquoteScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Fix, fix } from './fix.ts';

/** Corrects a number in quotes, or a percentage with blanks, where the API takes a number or a percentage. */
export function wholeNumber(at: Cursor, document: YamlDocument): Fix | undefined {
  const text = asText(at) ?? '';
  if (/^\d{1,9}$/.test(text))
    return fix(`Remove the quotes: ${text}`, 'safe', unquoteScalar(document, at, Number(text)));
  const [, percent] = /^(\d{1,3}) +%$/.exec(text) ?? [];
  if (percent === undefined || Number(percent) > 100) return undefined;
  return fix(`Change to ${percent}%`, 'safe', replaceScalar(document, at, `${percent}%`));
}

/** The text as shown to users: a number in quotes keeps them, because they are the mistake. */
export function quoted({ node }: Cursor, text: string): string {
  return node.kind === 'scalar' && node.style !== 'plain' ? `"${text}"` : text;
}
