import { asString, type Cursor, entries, getIn, items, keyOf } from '../yaml/cursor.ts';

/**
 * The whole containers in a chart's values, which charts copy into their pods: their image is one text, and their variables are a list. Charts that
 * build containers from values have the parts of the image in a mapping, and variables by their names.
 */
export function passedOnContainers(block: Cursor): readonly Cursor[] {
  return entries(block)
    .filter((entry) => /(?:containers?|sidecars?)$/i.test(keyOf(entry)))
    .flatMap((list) => [...items(list), ...entries(list)])
    .filter((one) => asString(getIn(one, 'image')) !== undefined && getIn(one, 'env')?.node.kind === 'seq');
}
