import { asText, getIn, items, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { checkLimits, parseDocument } from '../yaml/parse.ts';
import { namesAccelerators } from './accelerators.ts';
import { cardInTexts, modelsInComment } from './comment-models.ts';
import type { SourceFile } from './kustomize/built-object.ts';
import { lowerDocument } from './lower.ts';
import { once } from './once.ts';
import { defaultModelOptions } from './options.ts';

/** What a chart says of the card of its programs: its values, else its Chart.yaml. */
export function cardInChart(values: YamlDocument, file: SourceFile | undefined): readonly string[] {
  const inValues = cardOfValues(values);
  return inValues.length === 0 && file !== undefined ? cardOfChart(file) : inValues;
}

/**
 * What a chart's values say in passing about the card of its programs: a comment such as `# one L4 each`. None if their programs do not all have
 * the same one, because a template does not tell to which of them it belongs. Values without programs have those of the template, so that all
 * their comments count.
 */
const cardOfValues = once((values: YamlDocument): readonly string[] => {
  const requests = lowerDocument(values, defaultModelOptions)
    .workloads.flatMap(({ podSets }) => podSets.filter(namesAccelerators))
    .flatMap(({ accelerators }) => accelerators);
  if (requests.length === 0) return cardIn(values.comments.slice(0, maxComments).map(({ text }) => text));
  const cards = new Set(requests.map(({ candidates }) => candidates.join()));
  const [text] = requests.flatMap(({ modelHint }) => modelHint?.text ?? []);
  if (text === undefined) return [];
  // A text that stands for more cards than it names would be read as another answer.
  const named = modelsInComment(text).map(({ id }) => id);
  return cards.size === 1 && cards.has(named.join()) ? [text] : [];
});

/** Values with more comments are not about one card. */
const maxComments = 2_000;

/** What the Chart.yaml of a chart says of the card: in its description or in a keyword. */
const cardOfChart = once(({ text }: SourceFile): readonly string[] => {
  const { root } = checkLimits(text) === null ? parseDocument(text, 0) : { root: null };
  if (root === null) return [];
  const chart = rootCursor(root);
  return cardIn([getIn(chart, 'description'), ...items(getIn(chart, 'keywords'))].flatMap((at) => asText(at) ?? []));
});

function cardIn(texts: readonly string[]): readonly string[] {
  return cardInTexts(texts.filter((text) => modelsInComment(text).length > 0)).map(({ text }) => text);
}
