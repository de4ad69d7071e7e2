import { asText, type Cursor, getIn, isUnseen, items, keyOf } from '../yaml/cursor.ts';
import { placesAt, writtenText } from './written.ts';

/** Labels that say which pods or Services are meant, and that nothing adds later. */
export const nameKeys: ReadonlySet<string> = new Set(['app', 'k8s-app', 'app.kubernetes.io/name']);

/** The labels with one value that a selector of pods requires. */
export function wantedLabels(term: Cursor): readonly { readonly key: string; readonly at: Cursor }[] {
  const listed = placesAt(term, 'labelSelector.matchExpressions.*').flatMap((one) => {
    const [at, ...others] = items(getIn(one, 'values'));
    const isOne = writtenText(getIn(one, 'operator')) === 'In' && others.length === 0 && !isUnseen(at?.parent);
    return at === undefined || !isOne ? [] : [{ key: asText(getIn(one, 'key')) ?? '', at }];
  });
  return [...placesAt(term, 'labelSelector.matchLabels.*').map((at) => ({ key: keyOf(at), at })), ...listed];
}
