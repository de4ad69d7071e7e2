import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { checkLimits, parseDocument, parsePart, splitDocuments, withOpenBlocks } from '../yaml/parse.ts';
import type { Helpers } from '../yaml/template-helpers.ts';
import { fillFromValues } from '../yaml/template-values.ts';
import type { SourceFile } from './kustomize/built-object.ts';
import { once } from './once.ts';

/** The values of the chart that a template belongs to. */
export interface ChartValues {
  /** The name of the file as shown to users: `values.yaml`. */
  readonly name: string;
  readonly document: YamlDocument;
  readonly root: YamlNode;
  readonly helpers?: Helpers;
  /** Its Chart.yaml. */
  readonly file?: SourceFile;
  /** It is a part of another chart, which may set any of its values. */
  readonly isPart?: true;
  /** The values of the other copies of a part that a chart has under several aliases. */
  readonly copies?: readonly YamlNode[];
  /** All its templates, if there are not too many. */
  readonly templates?: readonly SourceFile[];
}

/** The values of a chart; undefined if the text is not a mapping, is too large, or has an error: then only a part of it is known. */
export function chartValues(name: string, text: string): ChartValues | undefined {
  if (checkLimits(text) !== null) return undefined;
  const document = parseDocument(text, 0);
  const { root, problems } = document;
  if (problems.some(({ readable }) => readable !== true)) return undefined;
  return root?.kind === 'map' ? { name, document, root } : undefined;
}

/** A template with its chart's values filled in: one document for each object that they make of it. None if they determine nothing. */
export function filledTemplates(document: YamlDocument, chart: ChartValues): readonly YamlDocument[] {
  return fillFromValues(document, chart.root, chart.helpers).map(({ root }) => ({
    ...document,
    root,
    template: !isSettled(root),
  }));
}

/** The documents of the other templates of a chart, with its values filled in. */
export function filledDocuments(chart: ChartValues) {
  return (chart.templates ?? []).map((template) => ({
    uri: template.uri,
    documents: documentsIn(template).flatMap((document) => {
      const filled = filledTemplates(document, chart);
      return filled.length === 0 ? [document] : filled;
    }),
  }));
}

/** The documents that a chart's templates make with its values, without those that these turn off. @param concerns whether a template's text matters */
export function filledObjects(chart: ChartValues, concerns: (text: string) => boolean) {
  return (chart.templates ?? []).flatMap((template) => {
    const file = template.uri.slice(template.uri.lastIndexOf('/') + 1);
    const documents = concerns(template.text) ? documentsIn(template) : [];
    return documents.flatMap((document) => {
      const filled = document.template ? filledTemplates(document, chart) : [];
      // The values may determine nothing because only names are left to a release.
      const isWhole = filled.length === 0 && document.root !== null && isSettled(document.root);
      return (isWhole ? [document] : filled).map((made) => ({ document: made, file }));
    });
  });
}

/** Whether the values determine everything but names and labels, which helpers of charts make. */
export function isSettled(node: YamlNode): boolean {
  if (node.kind === 'scalar') return !node.templated;
  if (node.incomplete) return false;
  if (node.kind === 'seq') return node.items.every(({ value }) => isSettled(value));
  return node.entries.every(({ key, value }) => madeByHelpers.test(key) || isSettled(value));
}

const madeByHelpers = /^(?:metadata|labels|matchLabels|selector|annotations|imagePullSecrets|image|name|\w+Name)$/;

/** The documents of a template, parsed once. Blocks and variables of one apply to those after it. */
export const documentsIn = once(({ text }: SourceFile) =>
  checkLimits(text) === null ? withOpenBlocks(splitDocuments(text), '').map(parsePart) : [],
);
