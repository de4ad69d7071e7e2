import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { parseQuantity } from '../model/quantity.ts';
import { asString, type Cursor, entries, getIn, isTemplated, keyOf } from '../yaml/cursor.ts';
import type { ApiProblem } from './api-problems.ts';
import { meantQuantity } from './meant-values.ts';

/**
 * Amounts in the values of a chart that are not quantities, but certainly mean one (`16GB`): in resources, which charts pass on unchanged, and the
 * sizes of volumes.
 */
export function valuesQuantities(block: Cursor, containers: readonly Cursor[]): readonly ApiProblem[] {
  // Compose has other amounts than Kubernetes.
  if (keyOf(block) === 'deploy') return [];
  const holder = { at: block, type: 'PodSpec', above: undefined };
  // The containers of app-template are mappings of their own.
  const others = containers.filter(({ node }) => node !== block.node);
  const own = new Set(amountsIn(block).map(({ node }) => node));
  const amounts = [...amountsIn(block), ...others.flatMap(amountsIn).filter(({ node }) => !own.has(node))];
  return amounts.flatMap((at): readonly ApiProblem[] => {
    const written = asString(at);
    const isMeant =
      written !== undefined &&
      parseQuantity(written) === null &&
      (meantQuantity(written) !== undefined || (resources.has(keyOf(at)) && hasUnit.test(written)));
    return isMeant && !isTemplated(at)
      ? [{ what: 'not-a-quantity', at, holder, field: keyOf(at), type: undefined }]
      : [];
  });
}

function amountsIn(block: Cursor): readonly Cursor[] {
  return entries(block).flatMap((entry) => {
    const key = keyOf(entry);
    if (key === 'resources')
      return ['limits', 'requests'].flatMap((list) =>
        entries(getIn(entry, list)).filter((amount) => resources.has(keyOf(amount))),
      );
    const words = wordsOf(key);
    if (entry.node.kind === 'scalar') return isSize(words) ? [entry] : [];
    return words.some((word) => volumes.has(word)) ? entries(entry).filter((one) => sizes.has(keyOf(one))) : [];
  });
}

/** `pvcStorage`, `shmSize`, `requestMemory`. */
function isSize(words: readonly string[]): boolean {
  const [first, second, ...others] = words;
  if (first === undefined || second === undefined || others.length > 0) return false;
  return /^(?:requests?|limits?)$/.test(first)
    ? second === 'memory'
    : volumes.has(first) && (second === 'size' || second === 'storage');
}

/** A number with letters that are no unit: `16i`. */
const hasUnit = /^\d{1,9}(?:\.\d{1,3})?[A-Za-z]{1,5}$/;
const resources = wordSet('cpu memory ephemeral-storage');
const sizes = wordSet('size sizeLimit storage storageSize');
const volumes = wordSet('persistence persistent pvc volume storage shm dshm');
