import { asText, getIn, isTemplated, rootCursor } from '../yaml/cursor.ts';
import type { YamlNode } from '../yaml/node.ts';
import { checkLimits, parseDocument, parseYaml } from '../yaml/parse.ts';
import type { BuiltIns } from '../yaml/template-expression.ts';
import type { Helpers } from '../yaml/template-helpers.ts';
import { fillFromValues } from '../yaml/template-values.ts';
import type { SourceFile } from './kustomize/built-object.ts';
import { once } from './once.ts';

// What Helm's own objects hold. https://helm.sh/docs/chart_template_guide/builtin_objects/

/** A chart as a release installs it. */
interface Installed {
  /** The name of the release; null: unknown. */
  readonly release: string | null;
  /** Its Chart.yaml. */
  readonly file: SourceFile;
  readonly helpers: Helpers | undefined;
}

/** The name that an object of a chart has in a release; nothing if it is as written, or if it stays unknown. */
export function installedName(
  object: YamlNode,
  values: YamlNode,
  { release, file, helpers }: Installed,
): { readonly name?: string } {
  const written = getIn(rootCursor(object), 'metadata', 'name');
  if (release === null || !isTemplated(written)) return {};
  const names = new Map([...namesInChart(file), ['Release.Name', release]]);
  const [document] = parseYaml(`name: ${asText(written)}`).documents;
  const known = { bodies: helpers?.bodies ?? new Map(), made: new WeakMap(), names };
  const [made] = document === undefined ? [] : fillFromValues(document, values, known);
  const name = made && getIn(rootCursor(made.root), 'name');
  return name === undefined || isTemplated(name) ? {} : { name: asText(name) ?? '' };
}

/** What a Chart.yaml says. */
export const namesInChart = once(({ text }: SourceFile): BuiltIns => {
  const { root } = checkLimits(text) === null ? parseDocument(text, 0) : { root: null };
  const known: [string, string][] = [['Release.Service', 'Helm']];
  for (const [path, key] of ofChart) {
    const at = root === null ? undefined : getIn(rootCursor(root), key);
    const value = isTemplated(at) ? undefined : asText(at);
    if (value !== undefined) known.push([path, value]);
  }
  return new Map(known);
});

const ofChart: readonly (readonly [path: string, key: string])[] = [
  ['Chart.Name', 'name'],
  ['Chart.Version', 'version'],
  ['Chart.AppVersion', 'appVersion'],
];
