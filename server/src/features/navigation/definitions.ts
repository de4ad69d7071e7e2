import type { FileAnalysis } from '../../analysis.ts';
import { objectNamed } from '../../workspace/named.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { isAt, type Span } from '../../yaml/span.ts';
import { localNames } from '../completion/local-names.ts';

/** A place in a file, which may be closed. */
export interface FilePlace {
  readonly uri: string;
  readonly span: Span;
}

/**
 * The definition of the name at an offset: the object that it refers to, in this file or another; within a file, the mounted volume or the
 * anchor of an alias.
 */
export function definitions(workspace: Workspace, file: FileAnalysis, offset: number): readonly FilePlace[] {
  const local = localNames(file).find(({ uses }) => uses.some((span) => isAt(span, offset)));
  if (local !== undefined) return [{ uri: file.uri, span: local.declared }];
  const current = workspace.file(file.uri);
  const reference = current?.summary.references().find(({ span }) => isAt(span, offset));
  if (current === undefined || reference === undefined) return [];
  const { kinds, namespace, name } = reference;
  return objectNamed(workspace, current, kinds, namespace, name).map((found) => ({
    uri: found.uri,
    span: workspace.placeOf(found),
  }));
}
