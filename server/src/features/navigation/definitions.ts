import type { FileAnalysis } from '../../analysis.ts';
import { objectNamed } from '../../workspace/named.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { isAt, type Span } from '../../yaml/span.ts';
import { localNames } from '../completion/local-names.ts';

/** A place in a file, which need not be open. */
export interface FilePlace {
  readonly uri: string;
  readonly span: Span;
}

/**
 * Where what stands at an offset is defined: the object that is named there, in this file or another; inside a file the volume that is mounted,
 * and the anchor of an alias.
 */
export function definitions(workspace: Workspace, file: FileAnalysis, offset: number): readonly FilePlace[] {
  const local = localNames(file).find(({ uses }) => uses.some((span) => isAt(span, offset)));
  if (local !== undefined) return [{ uri: file.uri, span: local.declared }];
  const seen = workspace.file(file.uri);
  const reference = seen?.summary.references().find(({ span }) => isAt(span, offset));
  if (seen === undefined || reference === undefined) return [];
  const { kinds, namespace, name } = reference;
  return objectNamed(workspace, seen, kinds, namespace, name).map((found) => ({
    uri: found.uri,
    span: workspace.placeOf(found),
  }));
}
