import { namesAccelerators } from '../model/accelerators.ts';
import { amongBuilt } from '../model/kustomize/among-built.ts';
import type { BuiltObject } from '../model/kustomize/built-object.ts';
import { isJsonPatch, valueAt } from '../model/kustomize/json-patch.ts';
import { type PatchTarget, targetOf } from '../model/kustomize/kustomization.ts';
import { external } from '../model/kustomize/merge.ts';
import { withSpansOf } from '../model/kustomize/operation-spans.ts';
import { patched, withLastPatch } from '../model/kustomize/patches.ts';
import { placed } from '../model/kustomize/placed.ts';
import { lowerDocument } from '../model/lower.ts';
import type { RelatedFiles } from '../model/related-files.ts';
import type { Finding } from '../rules/rule.ts';
import { runRules } from '../rules/run.ts';
import { getIn, items, rootCursor } from '../yaml/cursor.ts';
import { documentsInBlock } from '../yaml/embedded.ts';
import type { YamlDocument, YamlNode, YamlSeq } from '../yaml/node.ts';
import type { Settings } from './chart-findings.ts';
import { isInside, isLoud, placeOf, problemOf } from './finding-places.ts';
import { inPatch, withInlineMerges, withMergeFindings } from './merge-findings.ts';

/** A JSON patch whose spans are in the document. */
interface Operations {
  readonly root: YamlSeq;
  readonly target: PatchTarget | undefined;
}

/** An object without and with the patches. */
interface Change {
  readonly file: string;
  readonly before: YamlNode;
  readonly after: YamlNode;
}

/**
 * The findings of a kustomization or of a file of JSON patches, with the errors and warnings about the patched objects that the objects alone
 * do not have and whose text is a value of a patch.
 * @param alone the findings of the document as it is written
 */
export function withPatchFindings(
  document: YamlDocument,
  alone: readonly Finding[],
  related: RelatedFiles,
  settings: Settings,
): readonly Finding[] {
  const { root } = document;
  const { built, base } = related;
  const found = withOperations(document, alone, related, settings);
  if (root?.kind !== 'map') return found;
  if (built !== undefined) return withInlineMerges(document, root, found, built, settings);
  return base === undefined ? found : withMergeFindings(document, root, found, base, settings);
}

function withOperations(
  document: YamlDocument,
  alone: readonly Finding[],
  { built, base }: RelatedFiles,
  settings: Settings,
): readonly Finding[] {
  const { root } = document;
  const objects = built ?? base?.objects;
  if (root === null || objects === undefined || !document.text.includes('op')) return alone;
  const patches = built === undefined ? fileOf(root, base?.target) : inlineOperations(document, root);
  const spans = patches.flatMap(({ root: { items: all } }) =>
    all.flatMap(({ value }) => valueAt(value, 'value')?.span ?? []),
  );
  if (spans.length === 0) return alone;
  const isWritten = ({ span: value }: Finding) => spans.some((span) => isInside(value, span));
  // The objects themselves say more about the values than the patch alone, which later patches may change again.
  const written = alone.filter((one) => !isLoud(one) || !isWritten(one));
  const changes = built === undefined ? changesOfFile(objects, patches) : changesIn(objects, patches);
  const crossReferences = amongBuilt(objects, settings.crossReferences, built === undefined);
  const known = new Set(written.map(placeOf));
  const found = changes.slice(0, maxObjects).flatMap(({ file, before, after }): readonly Finding[] => {
    const run = (node: YamlNode) => {
      const made = placed(node, root);
      if (made === undefined) return { workloads: [], findings: [] };
      const whole = { ...document, root: made };
      const lowered = lowerDocument(whole, settings.options, crossReferences);
      const { findings } = runRules({ ...settings, document: whole, ...lowered, crossReferences });
      return { workloads: lowered.workloads.filter(namesAccelerators), findings: findings.filter(isLoud) };
    };
    const made = run(after);
    if (made.findings.length === 0) return [];
    const { workloads, findings } = run(external(before));
    const shown = inPatch(made, workloads.length > 0, (value) => spans.some((span) => isInside(value, span)));
    const already = new Set(findings.map(problemOf));
    return shown
      .filter((one) => !already.has(problemOf(one)) && !known.has(placeOf(one)))
      .map((one) => ({ ...one, message: `${one.message} (with ${file})`, fixes: [] }));
  });
  if (found.length === 0) return written;
  const once = [...new Map(found.map((one) => [placeOf(one), one])).values()];
  return [...written, ...once].sort((a, b) => a.span.start - b.span.start);
}

/** A patch with a target for all kinds changes more objects than anyone reads about. */
const maxObjects = 100;

function fileOf(root: YamlNode, target: PatchTarget | undefined): readonly Operations[] {
  return isJsonPatch(root) ? [{ root, target }] : [];
}

function inlineOperations(document: YamlDocument, root: YamlNode): readonly Operations[] {
  const whole = rootCursor(root);
  return [...items(getIn(whole, 'patches')), ...items(getIn(whole, 'patchesJson6902'))].flatMap((entry) => {
    const text = getIn(entry, 'patch')?.node;
    if (text?.kind !== 'scalar') return [];
    const target = targetOf(getIn(entry, 'target'));
    return documentsInBlock(document, text)
      .filter(isJsonPatch)
      .map((one) => ({ root: one, target }));
  });
}

function changesOfFile(objects: readonly BuiltObject[], patches: readonly Operations[]): readonly Change[] {
  return patches.flatMap(({ root, target }) =>
    patched(objects, root, target).map((object) => {
      const { file, finish = (one: YamlNode) => one } = object;
      return { file, before: finish(object.root), after: withLastPatch(object, root) };
    }),
  );
}

function changesIn(objects: readonly BuiltObject[], patches: readonly Operations[]): readonly Change[] {
  const after = new Map<BuiltObject, YamlNode>();
  for (const { root, target } of patches)
    for (const object of patched(objects, root, target))
      after.set(object, withSpansOf(after.get(object) ?? external(object.root), root));
  return [...after].map(([{ file, root, before = root }, made]) => ({ file, before, after: made }));
}
