import { knownRequests, requestSpan } from '../evidence/requested-accelerators.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { amongBuilt } from '../model/kustomize/among-built.ts';
import type { BuiltObject } from '../model/kustomize/built-object.ts';
import { targetOf } from '../model/kustomize/kustomization.ts';
import { external } from '../model/kustomize/merge.ts';
import { same } from '../model/kustomize/operation-spans.ts';
import { patched, withLastPatch } from '../model/kustomize/patches.ts';
import { placed } from '../model/kustomize/placed.ts';
import { lowerDocument } from '../model/lower.ts';
import type { PatchBase } from '../model/related-files.ts';
import type { Workload } from '../model/workload.ts';
import type { Finding, Topic } from '../rules/rule.ts';
import { runRules } from '../rules/run.ts';
import { applySuppressions } from '../rules/suppressions.ts';
import { getIn, items, rootCursor, spanOf } from '../yaml/cursor.ts';
import { documentsInBlock } from '../yaml/embedded.ts';
import type { YamlDocument, YamlMap, YamlNode } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';
import type { Settings } from './chart-findings.ts';
import { isInside, isLoud, placeOf, problemOf } from './finding-places.ts';

/** An object without and with the patches that are merged into it. */
interface Merge {
  readonly file: string;
  readonly before: YamlNode;
  readonly after: YamlNode;
}

/** Merges that a document writes, and where it does. */
interface Merges {
  readonly all: readonly Merge[];
  readonly spans: readonly Span[];
  readonly crossReferences: CrossReferences;
}

/**
 * The findings of a patch that is merged into objects, with the errors and warnings about the merged objects, and advice about their images, that neither the
 * patch nor the objects alone have. They are reported in the patch: at its own text, or at its request or selector if the other half is in the object.
 * @param alone the findings of the document as it is written
 */
export function withMergeFindings(
  document: YamlDocument,
  root: YamlMap,
  alone: readonly Finding[],
  { objects, target }: PatchBase,
  settings: Settings,
): readonly Finding[] {
  const all = patched(objects, root, target).map((object) => {
    const { file, finish = (one: YamlNode) => one } = object;
    return { file, before: finish(object.root), after: withLastPatch(object, root) };
  });
  const crossReferences = amongBuilt(objects, settings.crossReferences, true);
  return withFindingsOf({ all, spans: changedSpans(root), crossReferences }, document, root, alone, settings);
}

/** The same for the patches that are written in a kustomization. */
export function withInlineMerges(
  document: YamlDocument,
  root: YamlMap,
  alone: readonly Finding[],
  built: readonly BuiltObject[],
  settings: Settings,
): readonly Finding[] {
  const patches = inlineMerges(document, root);
  if (patches.length === 0) return alone;
  const merged = new Map<BuiltObject, YamlNode>();
  for (const { patch, target } of patches) {
    for (const object of patched(built, patch, target)) {
      const known = merged.get(object) ?? object.root;
      const after = withLastPatch({ ...object, root: known }, patch);
      // What another patch changes again is no longer what this one says.
      if (same(object.root, after)) merged.set(object, after);
    }
  }
  const all = [...merged].map(([{ file, root: made, before = made }, after]) => ({ file, before, after }));
  const crossReferences = amongBuilt(built, settings.crossReferences, false);
  const spans = patches.flatMap(({ patch }) => changedSpans(patch));
  return withFindingsOf({ all, spans, crossReferences }, document, root, alone, settings);
}

function inlineMerges(document: YamlDocument, root: YamlMap) {
  const whole = rootCursor(root);
  const written = [
    ...items(getIn(whole, 'patches')).map((entry) => ({ at: getIn(entry, 'patch'), entry })),
    ...items(getIn(whole, 'patchesStrategicMerge')).map((entry) => ({ at: entry, entry: undefined })),
  ];
  return written.flatMap(({ at, entry }) => {
    if (at?.node.kind !== 'scalar' || !at.node.source.includes('\n')) return [];
    const target = entry && targetOf(getIn(entry, 'target'));
    return documentsInBlock(document, at.node).flatMap((patch) => (patch.kind === 'map' ? { patch, target } : []));
  });
}

function changedSpans({ entries }: YamlMap): readonly Span[] {
  return entries.flatMap(({ key, value }) => (identity.has(key) ? [] : value.span));
}

function withFindingsOf(
  { all, spans, crossReferences }: Merges,
  document: YamlDocument,
  root: YamlMap,
  alone: readonly Finding[],
  settings: Settings,
): readonly Finding[] {
  const isOwn = (span: Span) => spans.some((outer) => isInside(span, outer));
  const judged = (node: YamlNode) => {
    const made = placed(node, root);
    if (made === undefined) return nothing;
    const whole = { ...document, root: made };
    const lowered = lowerDocument(whole, settings.options, crossReferences);
    const { findings } = runRules({ ...settings, document: whole, ...lowered, crossReferences });
    return { ...lowered, findings: findings.filter((one) => isLoud(one) || one.topic === 'image-pin') };
  };
  const known = new Set(alone.flatMap((one) => [placeOf(one), problemOf(one)]));
  const found = all.slice(0, maxObjects).flatMap((merge): readonly Finding[] => {
    const after = judged(merge.after);
    if (after.findings.length === 0 || !after.workloads.some(namesAccelerators)) return [];
    const before = judged(external(merge.before));
    const moved = inPatch(after, before.workloads.some(namesAccelerators), isOwn);
    const already = new Set(before.findings.map(problemOf));
    // Comments in the patch and annotations of the object are about its new place.
    return applySuppressions(document, after.manifests, moved)
      .kept.filter((one) => !already.has(problemOf(one)) && !known.has(problemOf(one)) && !known.has(placeOf(one)))
      .map((one) => ({ ...one, message: `${one.message} (with ${merge.file})`, fixes: [] }));
  });
  if (found.length === 0) return alone;
  const once = [...new Map(found.map((one) => [placeOf(one), one])).values()];
  return [...alone, ...once].sort((a, b) => a.span.start - b.span.start);
}

const nothing = { workloads: [], manifests: [], findings: [] } as const;

/** What names the object that a patch changes. */
const identity: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Topics on which a container with GPUs can be wrong that was right without them. */
const aboutDevices: ReadonlySet<Topic> = new Set([
  'gpu-request',
  'sharing',
  'mig',
  'memory-fit',
  'parallelism',
  'shm',
  'image-pin',
]);

/** A patch with a target for all kinds changes more objects than anyone reads about. */
const maxObjects = 20;

/**
 * The findings about a patched object that are about the text of the patch, or that it causes: those then get a place in it.
 * @param hadDevices whether the object has accelerators without the patch
 */
export function inPatch(
  { workloads, findings }: { readonly workloads: readonly Workload[]; readonly findings: readonly Finding[] },
  hadDevices: boolean,
  isOwn: (span: Span) => boolean,
): readonly Finding[] {
  return findings.flatMap((one) => {
    // What is wrong in the object without GPUs as well is not the patch's mistake.
    const isCaused = hadDevices || aboutDevices.has(one.topic);
    const span = isOwn(one.span) ? one.span : isCaused ? causeIn(workloads, one, isOwn) : undefined;
    return span === undefined ? [] : { ...one, span };
  });
}

/** What the patch says about the container of a finding whose own text is in the object: its request, else the nodes that its pod selects. */
function causeIn(
  workloads: readonly Workload[],
  { span, container }: Finding,
  isOwn: (span: Span) => boolean,
): Span | undefined {
  if (span.start >= 0 || container === null) return undefined;
  const podSets = workloads
    .flatMap((workload) => workload.podSets)
    .filter(({ containers }) => containers.some(({ name }) => name === container));
  const requests = podSets
    .flatMap(({ containers }) => containers.filter(({ name }) => name === container))
    .flatMap((one) => (knownRequests(one).length > 0 ? requestSpan(knownRequests(one), one) : []));
  const selected = podSets.flatMap(({ selectors }) =>
    selectors.flatMap(({ values }) => values.map(({ at }) => spanOf(at))),
  );
  return [...requests, ...selected].find(isOwn);
}
