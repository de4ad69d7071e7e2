import type { FileAnalysis } from '../../analysis.ts';
import { type Group, objectNamed } from '../../workspace/named.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { isAt } from '../../yaml/span.ts';
import { localNames } from '../completion/local-names.ts';
import { definitions, type FilePlace } from './definitions.ts';

/**
 * Every place that names what stands at an offset: the object whose name it is, or that is named there; inside a file a volume or an anchor.
 * @param declaration whether the place where it is defined belongs to them
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
  // Of many places that mean the same objects only the first is compared with what is looked for.
  const known = new Map<Group, boolean>();
  for (const place of workspace.files()) {
    for (const { span, kinds, namespace, name } of place.summary.references()) {
      if (!names.has(name)) continue;
      const meant = objectNamed(workspace, place, kinds, namespace, name);
      const isMeant =
        known.get(meant) ?? meant.some((one) => keys.has(keyOf({ uri: one.uri, span: workspace.placeOf(one) })));
      known.set(meant, isMeant);
      if (isMeant) found.push({ uri: place.uri, span });
    }
  }
  return found.map(({ uri, span }) => ({ uri, span }));
}

interface NamedPlace extends FilePlace {
  readonly name: string;
}

/** The object whose name stands at an offset, or the one that is named there. */
function objectAt(workspace: Workspace, file: FileAnalysis, offset: number): readonly NamedPlace[] {
  const seen = workspace.file(file.uri);
  const object = seen?.summary.objects().find(({ span }) => isAt(span, offset));
  if (seen !== undefined && object !== undefined) return [{ uri: seen.uri, span: object.span, name: object.name }];
  const reference = seen?.summary.references().find(({ span }) => isAt(span, offset));
  if (reference === undefined) return [];
  return definitions(workspace, file, offset).map((place) => ({ ...place, name: reference.name }));
}

function keyOf({ uri, span }: FilePlace): string {
  return `${uri} ${span.start}`;
}
