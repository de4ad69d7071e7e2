import { inlineValues } from '../model/inline-values.ts';
import { groupOf, lowerManifests } from '../model/manifest.ts';
import { mayBeValues } from '../model/values.ts';
import type { Manifest } from '../model/workload.ts';
import { spanInScalar } from '../rewrite/word-span.ts';
import { asText, type Cursor, entries, getIn, keySpanOf, type Located, rootCursor, spanOf } from '../yaml/cursor.ts';
import { documentsInBlock, literalBlocks } from '../yaml/embedded.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { parseYaml } from '../yaml/parse.ts';
import type { Span } from '../yaml/span.ts';

/** A settings file of NVIDIA's tools: a whole document, or the text of a ConfigMap entry. */
export interface EmbeddedConfig {
  readonly root: Cursor;
  /** The place of a cursor's text in the document. */
  spanOf(cursor: Cursor): Span;
  keySpanOf(cursor: Cursor): Span;
}

/** The entries of a ConfigMap that are YAML files with the given top-level key. */
export function configsInConfigMap(manifest: Manifest, key: string, document: YamlDocument): readonly EmbeddedConfig[] {
  if (manifest.kind !== 'ConfigMap' || groupOf(manifest.apiVersion) !== '') return [];
  return entries(getIn(manifest.root, 'data')).flatMap((entry): EmbeddedConfig[] => {
    const text = asText(entry);
    if (text === undefined || !text.includes(key) || text.length > 200_000) return [];
    const scalar: Located<string> = { value: text, at: entry };
    return parseYaml(text).documents.flatMap(({ root, base, template, problems }): EmbeddedConfig[] => {
      if (root === null || template || problems.length > 0) return [];
      const cursor = rootCursor(root);
      if (getIn(cursor, key) === undefined) return [];
      const place = (span: Span) =>
        spanInScalar(document, scalar, { start: span.start + base, end: Math.max(span.end, span.start + 1) + base });
      return [{ root: cursor, spanOf: (inner) => place(spanOf(inner)), keySpanOf: (inner) => place(keySpanOf(inner)) }];
    });
  });
}

/** The literal blocks of charts' values that are such files: in a values file, or in objects that carry values. */
export function configsInValues(document: YamlDocument, key: string): readonly EmbeddedConfig[] {
  if (document.root === null || !document.text.includes(key)) return [];
  const root = rootCursor(document.root);
  const values = mayBeValues(root)
    ? [root]
    : lowerManifests(document)
        .flatMap(inlineValues)
        .map((one) => one.values);
  return values
    .flatMap(literalBlocks)
    .filter(({ scalar }) => scalar.source.includes(key))
    .flatMap(({ scalar }) => documentsInBlock(document, scalar))
    .map(rootCursor)
    .flatMap((config) => (getIn(config, key) === undefined ? [] : [{ root: config, spanOf, keySpanOf }]));
}

/** The document itself, if it is such a settings file rather than a Kubernetes object. */
export function configInDocument(document: YamlDocument, key: string): EmbeddedConfig | undefined {
  if (document.root === null || document.template) return undefined;
  const root = rootCursor(document.root);
  if (getIn(root, 'kind') !== undefined || getIn(root, 'version') === undefined || getIn(root, key) === undefined)
    return undefined;
  return { root, spanOf, keySpanOf };
}
