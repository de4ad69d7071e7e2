import { knownRequests, requestSpan } from '../evidence/requested-accelerators.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { amongBuilt } from '../model/kustomize/among-built.ts';
import { external } from '../model/kustomize/merge.ts';
import { patched, withLastPatch } from '../model/kustomize/patches.ts';
import { placed } from '../model/kustomize/placed.ts';
import { lowerDocument } from '../model/lower.ts';
import type { PatchBase } from '../model/related-files.ts';
import type { Workload } from '../model/workload.ts';
import type { Finding, Topic } from '../rules/rule.ts';
import { runRules } from '../rules/run.ts';
import { spanOf } from '../yaml/cursor.ts';
import type { YamlDocument, YamlMap, YamlNode } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';
import type { Settings } from './chart-findings.ts';

/**
 * The findings of a patch that is merged into objects, with the errors and warnings about the merged objects that neither the patch nor the
 * objects alone have. They are reported in the patch: at its own text, or at its request or selector if the other half is in the object.
 * @param alone the findings of the document as it is written
 */
export function withMergeFindings(
  document: YamlDocument,
  root: YamlMap,
  alone: readonly Finding[],
  base: PatchBase,
  settings: Settings,
): readonly Finding[] {
  const spans = root.entries.flatMap(({ key, value }) => (identity.has(key) ? [] : value.span));
  const isOwn = ({ start, end }: Span) =>
    spans.some((outer) => outer.start <= start && end <= outer.end && start < end);
  const crossReferences = amongBuilt(base.objects, settings.crossReferences, true);
  const judged = (node: YamlNode) => {
    const made = placed(node, root);
    if (made === undefined) return nothing;
    const whole = { ...document, root: made };
    const lowered = lowerDocument(whole, settings.options, crossReferences);
    if (!lowered.workloads.some(namesAccelerators)) return nothing;
    const { findings } = runRules({ ...settings, document: whole, ...lowered, crossReferences });
    return { workloads: lowered.workloads, findings: findings.filter(isLoud) };
  };
  const known = new Set(alone.flatMap((one) => [placeOf(one), problemOf(one)]));
  const found = patched(base.objects, root, base.target)
    .slice(0, maxObjects)
    .flatMap((object): readonly Finding[] => {
      const { file, finish = (one: YamlNode) => one } = object;
      const after = judged(withLastPatch(object, root));
      if (after.findings.length === 0) return [];
      const before = judged(external(finish(object.root)));
      const shown = after.findings.flatMap((one) => {
        // What is wrong in the object without GPUs as well is not the patch's mistake.
        const isCaused = before.workloads.length > 0 || aboutDevices.has(one.topic);
        const span = isOwn(one.span) ? one.span : isCaused ? causeIn(after.workloads, one, isOwn) : undefined;
        return span === undefined ? [] : { ...one, span };
      });
      const already = new Set(before.findings.map(problemOf));
      return shown
        .filter((one) => !already.has(problemOf(one)) && !known.has(problemOf(one)) && !known.has(placeOf(one)))
        .map((one) => ({ ...one, message: `${one.message} (with ${file})`, fixes: [] }));
    });
  if (found.length === 0) return alone;
  const once = [...new Map(found.map((one) => [placeOf(one), one])).values()];
  return [...alone, ...once].sort((a, b) => a.span.start - b.span.start);
}

const nothing = { workloads: [], findings: [] } as const;

/** What names the object that a patch changes. */
const identity: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Topics on which a container with GPUs can be wrong that was right without them. */
const aboutDevices: ReadonlySet<Topic> = new Set(['gpu-request', 'sharing', 'mig', 'memory-fit', 'parallelism', 'shm']);

/** A patch with a target for all kinds changes more objects than anyone reads about. */
const maxObjects = 20;

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

function isLoud({ severity }: Finding): boolean {
  return severity === 'error' || severity === 'warning';
}

function placeOf({ rule, span }: Finding): string {
  return `${rule} ${span.start}`;
}

function problemOf({ rule, container }: Finding): string {
  return `${rule} ${container}`;
}
