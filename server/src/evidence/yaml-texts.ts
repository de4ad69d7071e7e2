import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { type Cursor, getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { blockProblem } from '../yaml/embedded.ts';
import type { YamlProblem } from '../yaml/node.ts';
import { parseDocument } from '../yaml/parse.ts';
import { isPlaceholderText } from './written.ts';

/** The fields of KubeRay's kinds whose text its operator reads as a mapping in YAML, and what follows if it cannot. */
const texts: readonly (readonly [kind: string, field: string, effect: string])[] = [
  ['RayService', 'serveConfigV2', 'the application never starts'],
  ['RayJob', 'runtimeEnvYAML', 'the job never starts'],
];

/** A text in an object that is not the YAML that its reader needs. */
export interface UnreadableText {
  readonly at: Cursor;
  readonly field: string;
  readonly effect: string;
  /** The error in a literal block, at its place in the document. */
  readonly problem: YamlProblem | undefined;
}

/** The texts of an object that must be mappings in YAML and are not, such as programs. The API server accepts any text. */
export function unreadableTexts({ apiVersion, kind, root, document }: Manifest): readonly UnreadableText[] {
  if (groupOf(apiVersion) !== 'ray.io' || document.template) return [];
  return texts.flatMap(([owner, field, effect]) => {
    const at = owner === kind ? getIn(root, 'spec', field) : undefined;
    const { node } = at ?? {};
    if (at === undefined || node?.kind !== 'scalar' || isTemplated(at) || isIncomplete(at)) return [];
    if (typeof node.value !== 'string' || node.value.trim() === '') return [];
    // A single word or a variable stands for the text.
    if (node.style === 'plain' && isPlaceholderText(node.source)) return [];
    const inner = parseDocument(node.value, 0);
    const isReadable = inner.root?.kind === 'map' && inner.problems.every(({ readable }) => readable === true);
    // Only comments, or a template of another tool.
    if (isReadable || inner.root === null || inner.template) return [];
    return [{ at, field, effect, problem: blockProblem(document, node) }];
  });
}
