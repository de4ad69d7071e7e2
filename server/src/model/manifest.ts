import type { Cursor, Located } from '../yaml/cursor.ts';
import { asString, asText, at, entries, items, keyOf, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Manifest } from './workload.ts';

/** The Kubernetes objects of a document: one, the items of a `kind: List`, or none where it is no object. */
export function lowerManifests(document: YamlDocument): readonly Manifest[] {
  return document.root === null ? [] : manifestsAt(document, rootCursor(document.root));
}

function manifestsAt(document: YamlDocument, root: Cursor): readonly Manifest[] {
  const apiVersion = asString(at(root, 'apiVersion'));
  const kind = asString(at(root, 'kind'));
  if (apiVersion === undefined || kind === undefined) return [];
  if (kind === 'List' && apiVersion === 'v1')
    return items(at(root, 'items')).flatMap((item) => manifestsAt(document, item));
  const metadata = at(root, 'metadata');
  return [
    {
      document,
      root,
      apiVersion,
      kind,
      name: asText(at(metadata, 'name')) ?? asText(at(metadata, 'generateName')) ?? null,
      namespace: asText(at(metadata, 'namespace')) ?? null,
      labels: lowerStrings(at(metadata, 'labels')),
      annotations: lowerStrings(at(metadata, 'annotations')),
    },
  ];
}

/** The entries of a map of strings (labels, annotations); the key is each cursor's step. */
export function lowerStrings(map: Cursor | undefined): readonly Located<string>[] {
  return entries(map).map((entry) => ({ value: asText(entry) ?? '', at: entry }));
}

/** The value under a key of labels or annotations. */
export function lookUp(strings: readonly Located<string>[], key: string): Located<string> | undefined {
  return strings.find((located) => keyOf(located.at) === key);
}

/** The group of an apiVersion: `apps` for apps/v1, the empty string for v1. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}
