import type { FileAnalysis } from '../../analysis.ts';
import { type Group, objectNamed } from '../../workspace/named.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { isAt } from '../../yaml/span.ts';
import { localNames } from '../completion/local-names.ts';
import { definitions, type FilePlace } from './definitions.ts';

/**
 * All references to the object named at an offset, or referenced there; within a file, to a volume or an anchor.
 * @param declaration whether to include the definition
 */
export function references(
  workspace: Workspace,
  file: FileAnalysis,
  offset: number,
  declaration: boolean,
): readonly FilePlace[] {
  const local = localNames(file).find(({ declared, uses }) => [declared, ...uses].some((span) => isAt(span, offset)));
  if (local !== undefined) {
    const spans = declaration ? [local.declared, ...local.uses] : local.uses;
    return spans.map((span) => ({ uri: file.uri, span }));
  }
  const targets = objectAt(workspace, file, offset);
  if (targets.length === 0) return [];
  const keys = new Set(targets.map(keyOf));
  const found: FilePlace[] = declaration ? [...targets] : [];
  const names = new Set(targets.map(({ name }) => name));
  // References to the same objects share one group, so only the first of each group is compared with the target.
  const known = new Map<Group, boolean>();
  for (const place of workspace.files()) {
    for (const { span, kinds, namespace, name } of place.summary.references()) {
      if (!names.has(name)) continue;
      const resolved = objectNamed(workspace, place, kinds, namespace, name);
      const isTarget =
        known.get(resolved) ?? resolved.some((one) => keys.has(keyOf({ uri: one.uri, span: workspace.placeOf(one) })));
      known.set(resolved, isTarget);
      if (isTarget) found.push({ uri: place.uri, span });
    }
  }
  return found.map(({ uri, span }) => ({ uri, span }));
}

interface NamedPlace extends FilePlace {
  readonly name: string;
}

/** The object that is defined at an offset, or referenced there. */
function objectAt(workspace: Workspace, file: FileAnalysis, offset: number): readonly NamedPlace[] {
  const current = workspace.file(file.uri);
  const object = current?.summary.objects().find(({ span }) => isAt(span, offset));
  if (current !== undefined && object !== undefined)
    return [{ uri: current.uri, span: object.span, name: object.name }];
  const reference = current?.summary.references().find(({ span }) => isAt(span, offset));
  if (reference === undefined) return [];
  return definitions(workspace, file, offset).map((place) => ({ ...place, name: reference.name }));
}

function keyOf({ uri, span }: FilePlace): string {
  return `${uri} ${span.start}`;
}
