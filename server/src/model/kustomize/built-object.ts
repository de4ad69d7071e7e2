import { asText, getIn, rootCursor } from '../../yaml/cursor.ts';
import type { YamlNode } from '../../yaml/node.ts';

/** An object that a kustomization builds, at one step of the build. */
export interface BuiltObject {
  readonly root: YamlNode;
  readonly group: string;
  readonly kind: string;
  /** All names that it has had: patches can use any of them. */
  readonly names: readonly string[];
  /** The namespace that a kustomization sets. */
  readonly namespace?: string;
  /** The name of the file that it was first read from. */
  readonly file: string;
  /** The URIs of that file and of the patches applied to it. */
  readonly sources: readonly string[];
  /** A patch has been applied to it. */
  readonly patched?: true;
  /** As it is without the patches of the kustomization that is built, but with its transformers. */
  readonly before?: YamlNode;
  /** Applies the transformers of its kustomization; present if a patch must be applied first. */
  readonly finish?: (root: YamlNode) => YamlNode;
}

/** The text of a file. The same object means the same text, so results can be cached by identity. */
export interface SourceFile {
  readonly uri: string;
  readonly text: string;
}

/** Files by their URIs. */
export type SourceFiles = ReadonlyMap<string, SourceFile>;

/** Whether an object may be in a namespace: where neither is set, they may be the same. */
export function mayBeIn({ root }: BuiltObject, namespace: string | null): boolean {
  const own = asText(getIn(rootCursor(root), 'metadata', 'namespace'));
  return own === undefined || namespace === null || own === namespace;
}
