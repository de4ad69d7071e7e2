import type { Cursor, Located } from '../yaml/cursor.ts';
import { asString, asText, entries, getIn, items, keyOf, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Manifest } from './workload.ts';

/** The Kubernetes objects in a document: one, the items of a `kind: List`, or none if it is not an object. */
export function lowerManifests(document: YamlDocument): readonly Manifest[] {
  if (document.root === null) return [];
  const root = rootCursor(document.root);
  return document.item ? items(root).flatMap((item) => manifestsAt(document, item)) : manifestsAt(document, root);
}

function manifestsAt(document: YamlDocument, root: Cursor): readonly Manifest[] {
  const apiVersion = asString(getIn(root, 'apiVersion'));
  const kind = asString(getIn(root, 'kind'));
  if (apiVersion === undefined || kind === undefined) return [];
  const inner = embedded(apiVersion, kind, root)?.flatMap((item) => manifestsAt(document, item));
  // A wrapper is also an object, with its own queue; a list is not.
  if (inner !== undefined && kind !== 'AppWrapper') return inner;
  const metadata = getIn(root, 'metadata');
  return [
    {
      document,
      root,
      apiVersion,
      kind,
      name: asText(getIn(metadata, 'name')) ?? asText(getIn(metadata, 'generateName')) ?? null,
      namespace: asText(getIn(metadata, 'namespace')) ?? null,
      labels: lowerStrings(getIn(metadata, 'labels')),
      annotations: lowerStrings(getIn(metadata, 'annotations')),
    },
    ...(inner ?? []),
  ];
}

/** The objects embedded in a list, a template or a wrapper; undefined for all other objects. */
function embedded(apiVersion: string, kind: string, root: Cursor): readonly Cursor[] | undefined {
  const group = groupOf(apiVersion);
  if (kind === 'List' && apiVersion === 'v1') return items(getIn(root, 'items'));
  // An OpenShift template: its objects contain parameters as ${NAME}, which are read as placeholders.
  if (kind === 'Template' && group === 'template.openshift.io') return items(getIn(root, 'objects'));
  if (kind !== 'AppWrapper' || !group.startsWith('workload.codeflare.dev')) return undefined;
  const generic = items(getIn(root, 'spec', 'resources', 'GenericItems')).flatMap(
    (item) => getIn(item, 'generictemplate') ?? [],
  );
  return [...items(getIn(root, 'spec', 'components')).flatMap((item) => getIn(item, 'template') ?? []), ...generic];
}

/** The entries of a map of strings (labels, annotations); each cursor's step is the key. */
export function lowerStrings(map: Cursor | undefined): readonly Located<string>[] {
  return entries(map).map((entry) => ({ value: asText(entry) ?? '', at: entry }));
}

/** The value of a label or annotation. */
export function lookUp(strings: readonly Located<string>[], key: string): Located<string> | undefined {
  return strings.find((located) => keyOf(located.at) === key);
}

/** The group of an apiVersion: `apps` for apps/v1, the empty string for v1. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}
