import { namesAccelerators } from '../model/accelerators.ts';
import type { CrossReferences } from '../model/cross-references.ts';
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
import type { Span } from '../yaml/span.ts';
import { amongPatched, scaleAccelerators } from './among-patched.ts';
import type { Settings } from './chart-findings.ts';
import { isInside, isLoud, placeOf, problemOf } from './finding-places.ts';
import { inPatch, withInlineMerges, withMergeFindings } from './merge-findings.ts';
import { scalerFindings } from './scaler-findings.ts';

/** A JSON patch whose spans are in the document. */
interface Operations {
  readonly root: YamlSeq;
  readonly target: PatchTarget | undefined;
}

/** An object without and with the patches. */
interface Change {
  readonly object: BuiltObject;
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
  const changed = new Map(changes.map(({ object, after }) => [object, after]));
  const made = objects.map((object) => ({ ...object, root: changed.get(object) ?? object.root }));
  const among = amongPatched(made, document, settings.options, settings.crossReferences, built === undefined);
  const known = new Set(written.map(placeOf));
  const judged = (node: YamlNode, crossReferences: CrossReferences) => {
    const whole = { ...document, root: placed(node, root) ?? null };
    const { manifests, workloads } = lowerDocument(whole, settings.options, crossReferences);
    const { findings } = runRules({ ...settings, document: whole, manifests, workloads, crossReferences });
    return { manifests, workloads: workloads.filter(namesAccelerators), findings: findings.filter(isLoud) };
  };
  const isOwn = (value: Span) => spans.some((span) => isInside(value, span));
  const found = changes.slice(0, maxObjects).flatMap(({ file, before, after }): readonly Finding[] => {
    const one = judged(after, among.patched);
    if (one.findings.length === 0 && one.workloads.length === 0) return [];
    const scales = scaleAccelerators(one.manifests, among.patched);
    const { workloads, findings } = judged(external(before), scales ? among.before : among.patched);
    const held = workloads.length > 0;
    const already = new Set(findings.map(problemOf));
    const own = inPatch(one, held, isOwn)
      .filter((finding) => !already.has(problemOf(finding)) && !known.has(placeOf(finding)))
      .map((finding) => ({ ...finding, message: `${finding.message} (with ${file})`, fixes: [] }));
    return held ? own : [...own, ...scalerFindings(one.workloads, { objects: made, among, document, judged }, isOwn)];
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
      return { object, file, before: finish(object.root), after: withLastPatch(object, root) };
    }),
  );
}

function changesIn(objects: readonly BuiltObject[], patches: readonly Operations[]): readonly Change[] {
  const after = new Map<BuiltObject, YamlNode>();
  for (const { root, target } of patches)
    for (const object of patched(objects, root, target))
      after.set(object, withSpansOf(after.get(object) ?? external(object.root), root));
  return [...after].map(([object, made]) => ({
    object,
    file: object.file,
    before: object.before ?? object.root,
    after: made,
  }));
}
