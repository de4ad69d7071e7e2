import { asText, entries, getIn, keyOf, rootCursor } from '../../yaml/cursor.ts';
import type { YamlNode } from '../../yaml/node.ts';

// Selectors of patches, as texts: `tier=gpu,env in (prod, canary),!legacy`.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors

/** One condition of a selector. */
export interface Condition {
  readonly key: string;
  /** The values that it allows, or excludes; undefined: any value. */
  readonly values?: readonly string[];
  readonly isExcluded: boolean;
}

/** The conditions of a selector; undefined for what has another form. */
export function conditionsIn(text: string): readonly Condition[] | undefined {
  if (text.length > maxLength) return undefined;
  // Commas within parentheses separate values.
  const parts = text.split(/,(?![^()]*\))/).map((part) => part.trim());
  const found = parts.flatMap((part) => conditionIn(part) ?? []);
  return found.length === parts.length ? found : undefined;
}

const maxLength = 1000;

function conditionIn(part: string): Condition | undefined {
  const [, negation, only] = /^(!?)\s*([\w./-]+)$/.exec(part) ?? [];
  if (only !== undefined) return { key: only, isExcluded: negation === '!' };
  const [, equal, sign, value = ''] = /^([\w./-]+)\s*(!=|==?)\s*([\w.-]*)$/.exec(part) ?? [];
  if (equal !== undefined) return { key: equal, values: [value], isExcluded: sign === '!=' };
  const [, key, word, list = ''] = /^([\w./-]+)\s+(in|notin)\s*\(([\w.,\s-]*)\)$/.exec(part) ?? [];
  if (key === undefined) return undefined;
  return { key, values: list.split(',').map((one) => one.trim()), isExcluded: word === 'notin' };
}

/** Whether the labels or annotations of an object meet all conditions. */
export function meets(root: YamlNode, field: 'labels' | 'annotations', conditions: readonly Condition[]): boolean {
  const written = entries(getIn(rootCursor(root), 'metadata', field));
  const own = new Map(written.map((entry) => [keyOf(entry), asText(entry) ?? '']));
  return conditions.every(({ key, values, isExcluded }) => {
    const value = own.get(key);
    const isMet = value !== undefined && (values === undefined || values.includes(value));
    return isMet !== isExcluded;
  });
}
