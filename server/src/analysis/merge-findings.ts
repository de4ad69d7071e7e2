import { namesAccelerators } from '../model/accelerators.ts';
import type { CrossReferences } from '../model/cross-references.ts';
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
import { type Among, amongPatched, scaleAccelerators } from './among-patched.ts';
import type { Settings } from './chart-findings.ts';
import { isInside, isLoud, placeOf, problemOf, requestIn, requestSpans } from './finding-places.ts';
import { scalerFindings } from './scaler-findings.ts';

/** An object without and with the patches that are merged into it. */
interface Merge {
  readonly file: string;
  readonly before: YamlNode;
  readonly after: YamlNode;
}

/** Merges that a document writes, and where it does. */
interface Merges {
  readonly all: readonly Merge[];
  /** What the kustomization builds, with these and all other patches. */
  readonly objects: readonly BuiltObject[];
  readonly spans: readonly Span[];
  readonly among: Among;
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
  const own = new Map(patched(objects, root, target).map((object) => [object, withLastPatch(object, root)]));
  const all = [...own].map(([{ file, root: known, finish = (one: YamlNode) => one }, after]) => ({
    file,
    before: finish(known),
    after,
  }));
  const made = objects.map((object) => ({ ...object, root: own.get(object) ?? object.root }));
  const among = amongPatched(made, document, settings.options, settings.crossReferences, true);
  return withFindingsOf({ all, objects: made, spans: changedSpans(root), among }, document, root, alone, settings);
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
  const among = amongPatched(built, document, settings.options, settings.crossReferences, false);
  const spans = patches.flatMap(({ patch }) => changedSpans(patch));
  return withFindingsOf({ all, objects: built, spans, among }, document, root, alone, settings);
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
  { all, objects, spans, among }: Merges,
  document: YamlDocument,
  root: YamlMap,
  alone: readonly Finding[],
  settings: Settings,
): readonly Finding[] {
  const isOwn = (span: Span) => spans.some((outer) => isInside(span, outer));
  const judged = (node: YamlNode, crossReferences: CrossReferences) => {
    const made = placed(node, root);
    if (made === undefined) return nothing;
    const whole = { ...document, root: made };
    const lowered = lowerDocument(whole, settings.options, crossReferences);
    const { findings } = runRules({ ...settings, document: whole, ...lowered, crossReferences });
    return { ...lowered, findings: findings.filter((one) => isLoud(one) || isAdvice(one)) };
  };
  const known = new Set(alone.flatMap((one) => [placeOf(one), problemOf(one)]));
  const found = all.slice(0, maxObjects).flatMap((merge): readonly Finding[] => {
    const after = judged(merge.after, among.patched);
    const scales = scaleAccelerators(after.manifests, among.patched);
    const holds = after.workloads.some(namesAccelerators);
    if (!holds && (!scales || after.findings.length === 0)) return [];
    const before = judged(external(merge.before), scales ? among.before : among.patched);
    const held = before.workloads.some(namesAccelerators);
    const already = new Set(before.findings.map(problemOf));
    // Comments in the patch and annotations of the object are about its new place.
    const own = applySuppressions(document, after.manifests, inPatch(after, held, isOwn))
      .kept.filter((one) => !already.has(problemOf(one)) && !known.has(problemOf(one)) && !known.has(placeOf(one)))
      .map((one) => ({ ...one, message: `${one.message} (with ${merge.file})`, fixes: [] }));
    return held ? own : [...own, ...scalerFindings(after.workloads, { objects, among, document, judged }, isOwn)];
  });
  if (found.length === 0) return alone;
  const once = [...new Map(found.map((one) => [placeOf(one), one])).values()];
  return [...alone, ...once].sort((a, b) => a.span.start - b.span.start);
}

const nothing = { workloads: [], manifests: [], findings: [] } as const;

/** Advice about what others have not seen who wrote the base: it had no accelerators. */
function isAdvice({ topic, rule }: Finding): boolean {
  return topic === 'image-pin' || rule === 'cpu-metric-for-gpu';
}

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

/** Without accelerators, the pods that share a volume may all be on its node. */
function separatesPods({ rule }: Finding): boolean {
  return rule === 'rwo-many-replicas';
}

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
    const isCaused = hadDevices || aboutDevices.has(one.topic) || separatesPods(one);
    const span = isOwn(one.span) ? one.span : isCaused ? causeIn(workloads, one, isOwn) : undefined;
    return span === undefined ? [] : { ...one, span };
  });
}

/** What the patch says about the container of a finding whose own text is in the object: its request, else the nodes that its pod selects. */
function causeIn(workloads: readonly Workload[], finding: Finding, isOwn: (span: Span) => boolean): Span | undefined {
  const { span, container } = finding;
  if (span.start >= 0) return undefined;
  if (container === null) return separatesPods(finding) ? requestIn(workloads, isOwn) : undefined;
  const podSets = workloads
    .flatMap((workload) => workload.podSets)
    .filter(({ containers }) => containers.some(({ name }) => name === container));
  const requests = podSets.flatMap(({ containers }) =>
    requestSpans(containers.filter(({ name }) => name === container)),
  );
  const selected = podSets.flatMap(({ selectors }) =>
    selectors.flatMap(({ values }) => values.map(({ at }) => spanOf(at))),
  );
  return [...requests, ...selected].find(isOwn);
}
