import { nearest } from '../catalog/spelling.ts';
import { parseQuantity } from '../model/quantity.ts';

/** The quantity without blanks and with the unit's own spelling: `64 GiB` is 64Gi, `10GB` is 10G. */
export function meantQuantity(written: string): string | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(written.trim());
  if (match === null) return undefined;
  const [, digits = '', unit = ''] = match;
  const prefix = /^([kmgtpe])(i?)(?:b|bytes?)?$/i.exec(unit);
  // A lower-case m is a thousandth: only a unit of bytes is certain.
  if (prefix === null || unit === 'm') return unit === '' && digits !== '' ? digits : undefined;
  const [, letter = '', binary = ''] = prefix;
  const upper = letter.toUpperCase();
  const scale = binary === '' && upper === 'K' ? 'k' : upper;
  const made = `${digits}${scale}${binary.toLowerCase()}`;
  return parseQuantity(made) === null ? undefined : made;
}

/** The number or boolean that a string spells. */
export function unquoted(value: string | number | boolean | null, form: string): number | boolean | undefined {
  if (typeof value !== 'string') return undefined;
  if (form === 'boolean' && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  return form === 'integer' && /^-?\d{1,9}$/.test(value) ? Number(value) : undefined;
}

/** The value of an enum that is written in other letter case or with other marks, which is certain, or else misspelled. */
export function meantValue(
  written: string,
  values: readonly string[],
): { readonly value: string; readonly certain: boolean } | undefined {
  const same = values.find((value) => letters(value) === letters(written));
  const value = same ?? nearest(written, values)[0];
  return value === undefined ? undefined : { value, certain: same !== undefined };
}

function letters(text: string): string {
  return text.toLowerCase().replace(/[^a-z]/g, '');
}
