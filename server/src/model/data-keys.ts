import { partOf } from '../catalog/word-patterns.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, isTemplated, keyOf } from '../yaml/cursor.ts';

/** What a ConfigMap or a Secret has, for the pods that read it. */
export interface DataKeys {
  readonly keys: readonly string[];
  /** The keys of a Secret with plain text where base64 is required. */
  readonly plain: readonly string[];
}

/** The keys of a ConfigMap or a Secret; null if it has none yet, or if others may be added. */
export function dataKeys(root: Cursor): DataKeys | null {
  const parts = ['data', 'binaryData', 'stringData'].map((key) => getIn(root, key));
  if (isIncomplete(root) || parts.some((part) => isTemplated(part) || isIncomplete(part))) return null;
  const keys = parts.flatMap((part) => entries(part)).map(keyOf);
  const isFilled = asText(getIn(root, 'type'))?.endsWith('/service-account-token') === true;
  const marks = ['annotations', 'labels'].flatMap((key) => entries(getIn(root, 'metadata', key)));
  if (keys.length === 0 || isFilled || marks.some((mark) => adders.test(keyOf(mark)))) return null;
  const plain = asText(getIn(root, 'kind')) === 'Secret' ? entries(parts[0]).filter(isPlain).map(keyOf) : [];
  return { keys, plain };
}

/** Marks by which controllers add keys: certificates, or those of another object. */
const adders = partOf('inject cert-manager reflects replicate-from');

/** The API server ignores line breaks. */
function isPlain(entry: Cursor): boolean {
  const text = isTemplated(entry) ? '' : (asText(entry)?.replace(/[\r\n]/g, '') ?? '');
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  return !isBase64 && /[a-z]/.test(text) && !placeholder.test(text);
}

/** What stands for a value that is filled in later. */
const placeholder = partOf(
  String.raw`[^-\w.+/=:@] your base encod replace change example insert todo dummy secret here redact xx value paste token`,
);
