import type { YamlNode, YamlSeq } from '../../yaml/node.ts';
import { parseDocument } from '../../yaml/parse.ts';
import type { BuiltObject } from './built-object.ts';
import { applyJsonPatch } from './json-patch.ts';
import type { Replacement } from './kustomization.ts';

/**
 * Copies values between the objects of a kustomization, after its other transformers. Fields that do not exist are skipped.
 * https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/replacements/
 */
export function withReplacements(
  objects: readonly BuiltObject[],
  replacements: readonly Replacement[],
): readonly BuiltObject[] {
  return replacements.reduce((made, { source, targets }) => {
    const [from, ...others] = made.filter((object) => isSelected(object, source));
    const value = from && others.length === 0 ? nodeAt(from.root, stepsOf(source.fieldPath)) : undefined;
    if (value?.kind !== 'scalar' || value.templated) return made;
    return made.map((object) => {
      const fields = targets.flatMap((target) => (isSelected(object, target) ? target.fieldPaths : []));
      return fields.length === 0
        ? object
        : { ...object, root: fields.reduce((root, field) => withField(root, field, value.source), object.root) };
    });
  }, objects);
}

function isSelected({ kind, names }: BuiltObject, wanted: { readonly kind?: string; readonly name?: string }): boolean {
  return (wanted.kind ?? kind) === kind && (wanted.name === undefined || names.includes(wanted.name));
}

/** The object with a text in an existing field, which keeps its type. */
function withField(root: YamlNode, field: string, text: string): YamlNode {
  const steps = stepsOf(field);
  const before = nodeAt(root, steps);
  if (before === undefined) return root;
  const path = placesOf(root, steps).map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1'));
  // A number from a ConfigMap is a text there, and stays one in a variable.
  const isText = before.kind === 'scalar' && typeof before.value === 'string';
  const value = !isText && /^(?:-?\d{1,15}|true|false)$/.test(text) ? text : JSON.stringify(text);
  const operation = `{op: replace, path: ${JSON.stringify(`/${path.join('/')}`)}, value: ${value}}`;
  const patch = parseDocument(`[${operation}]`, 0).root;
  return patch?.kind === 'seq' ? applyJsonPatch(root, patch as YamlSeq) : root;
}

/** `spec.template.spec.containers.[name=server].image`, `metadata.labels.example\.com/team`: a dot in a key has a backslash. */
function stepsOf(field: string): readonly string[] {
  return (field.match(/\[[^\]]*\]|(?:\\.|[^.\\])+/g) ?? []).map((step) =>
    /^\[[^=]*\]$/.test(step) ? step.slice(1, -1) : step.replaceAll('\\', ''),
  );
}

function nodeAt(root: YamlNode, steps: readonly string[]): YamlNode | undefined {
  return steps.reduce<YamlNode | undefined>((node, step) => node && childOf(node, step)?.child, root);
}

/** The steps with the place of a list's item instead of what is known of it. */
function placesOf(root: YamlNode, steps: readonly string[]): readonly string[] {
  let node: YamlNode | undefined = root;
  return steps.map((step) => {
    const found: ReturnType<typeof childOf> = node && childOf(node, step);
    node = found?.child;
    return found?.place ?? step;
  });
}

function childOf(node: YamlNode, step: string): { readonly child: YamlNode; readonly place: string } | undefined {
  if (node.kind === 'scalar') return undefined;
  if (node.kind === 'map') {
    const child = node.entries.find(({ key }) => key === step)?.value;
    return child && { child, place: step };
  }
  const [, key, wanted] = /^\[([^=]+)=(.*)\]$/.exec(step) ?? [];
  const index = key === undefined ? Number(step) : node.items.findIndex(({ value }) => textAt(value, key) === wanted);
  const child = node.items[index]?.value;
  return child && { child, place: String(index) };
}

function textAt(node: YamlNode, key: string): string | undefined {
  const value = node.kind === 'map' ? node.entries.find((entry) => entry.key === key)?.value : undefined;
  return value?.kind === 'scalar' ? value.source : undefined;
}
