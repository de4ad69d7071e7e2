import { acceleratorResourceNames, acceleratorResourcePrefixes, nodeLabels } from '../catalog/index.ts';
import { kindWords } from './kinds/index.ts';

/**
 * What people write where neither a resource, a label nor a kind of the tables stands: misspelt names, values of charts, environment variables,
 * images, claims.
 */
const topics: readonly string[] = [
  ...['gpu', 'nvidia', 'tpu', 'neuron', 'gaudi', 'habana', 'ascend', 'accelerator', 'mig-'],
  ...['spot', 'preemptible', 'instance-type', 'instanceType', 'resourceClaim'],
];

/** Words without one of which a document can say nothing about accelerators. None of them contains another. */
export const concernWords: readonly string[] = shortest([
  ...topics,
  ...acceleratorResourceNames(),
  ...acceleratorResourcePrefixes(),
  ...nodeLabels(),
  ...kindWords(),
]);

/** A plain alternative of fixed words: each character is looked at a bounded number of times. */
const pattern = new RegExp(concernWords.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'i');

/** Whether a text may say something about accelerators. A document that cannot is not even parsed in the editor. */
export function mayConcernAccelerators(text: string): boolean {
  return pattern.test(text);
}

function shortest(words: readonly string[]): readonly string[] {
  const lower = [...new Set(words.map((word) => word.toLowerCase()))].sort((a, b) => a.length - b.length);
  const kept: string[] = [];
  for (const word of lower) if (!kept.some((shorter) => word.includes(shorter))) kept.push(word);
  return kept.sort();
}
