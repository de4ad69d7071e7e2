import type { YamlDocument } from '../yaml/node.ts';
import { namesAccelerators } from './accelerators.ts';
import { lowerDocument } from './lower.ts';
import { once } from './once.ts';
import { defaultModelOptions } from './options.ts';

/**
 * What a chart's values say in passing about the card of its programs: a comment such as `# one L4 each`. None if their programs do not all have
 * the same one, because a template does not tell to which of them it belongs.
 */
export const cardOfValues = once((values: YamlDocument): readonly string[] => {
  const requests = lowerDocument(values, defaultModelOptions)
    .workloads.flatMap(({ podSets }) => podSets.filter(namesAccelerators))
    .flatMap(({ accelerators }) => accelerators);
  const cards = new Set(requests.map(({ candidates }) => candidates.join()));
  const [text] = requests.flatMap(({ modelHint }) => modelHint?.text ?? []);
  return cards.size === 1 && !cards.has('') && text !== undefined ? [text] : [];
});
