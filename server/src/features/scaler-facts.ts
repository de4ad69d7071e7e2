import type { DocumentAnalysis, FileAnalysis } from '../analysis.ts';
import { formatHourly, formatMonthly, plural } from '../cost/format.ts';
import type { Range } from '../cost/types.ts';
import { lowerManifests } from '../model/manifest.ts';
import type { Manifest, Workload } from '../model/workload.ts';
import { asNumber, asText, at, type Cursor, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { type Span, shiftSpan } from '../yaml/span.ts';
import { coldStartOf } from './cold-start.ts';
import type { HoverContent } from './hover.ts';
import type { Block } from './markdown.ts';

/**
 * What the bounds of a scaler cost that stands beside the workload that it scales: KEDA's ScaledObject, or a HorizontalPodAutoscaler. The
 * workload has to be in the same file.
 */
export function scalerHover(file: FileAnalysis, offset: number): HoverContent | undefined {
  for (const document of file.documents) {
    const { base } = document;
    for (const manifest of manifestsOf(document)) {
      const scaler = scalers.find(({ kind }) => kind === manifest.kind);
      const spec = at(manifest.root, 'spec');
      if (scaler === undefined || spec === undefined) continue;
      for (const key of scaler.keys) {
        const bound = at(spec, key);
        const span = bound && spanAt(bound, offset - base);
        if (bound === undefined || span === undefined) continue;
        const target = targetOf(manifest, file);
        const blocks = target === undefined ? [] : factsOf(key, asNumber(bound), spec, target);
        return blocks.length === 0 ? undefined : { span: shiftSpan(span, base), blocks };
      }
    }
  }
  return undefined;
}

/** A scaler of its own says nothing of accelerators, and was not read for them. */
function manifestsOf({ manifests, text, document }: DocumentAnalysis): readonly Manifest[] {
  return manifests.length === 0 && /HorizontalPodAutoscaler/.test(text) ? lowerManifests(document) : manifests;
}

const scalers = [
  { kind: 'ScaledObject', keys: ['idleReplicaCount', 'minReplicaCount', 'maxReplicaCount'] },
  { kind: 'HorizontalPodAutoscaler', keys: ['minReplicas', 'maxReplicas'] },
] as const;

interface Target {
  readonly workload: Workload;
  readonly document: DocumentAnalysis;
}

/** The one that it names: a Deployment where it says no kind. */
function targetOf({ root, namespace }: Manifest, { documents }: FileAnalysis): Target | undefined {
  const reference = at(root, 'spec', 'scaleTargetRef');
  const name = asText(at(reference, 'name'));
  const kind = asText(at(reference, 'kind')) ?? 'Deployment';
  const targets = documents.flatMap((document) => document.workloads.map((workload) => ({ workload, document })));
  return targets.find(
    ({ workload }) =>
      workload.name === name &&
      workload.kind === kind &&
      (namespace === null || workload.namespace === null || workload.namespace === namespace),
  );
}

function factsOf(key: string, count: number | undefined, spec: Cursor, target: Target): readonly Block[] {
  const each = replicaPrice(target);
  if (count === undefined || each === undefined) return [];
  const total = { min: each.min * count, max: each.max * count };
  const name = target.workload.name ?? target.workload.kind;
  const amount = `${formatMonthly(total)} (${formatHourly(total)})`;
  const lead = `${plural(count, 'replica')} of ${name} ${whens[key] ?? ''}: ${count === 0 ? 'nothing is paid' : amount}`;
  const said = reach(key, count, spec);
  return [
    { kind: 'lead', text: lead },
    ...(said === '' ? [] : [{ kind: 'text', text: said } as const]),
    ...(count === 0 && key !== 'minReplicas' ? [coldStartOf(spec)] : []),
    { kind: 'text', text: `One replica costs ${formatHourly(each)}; hover over its GPUs to see what that rests on.` },
  ];
}

const whens: Readonly<Record<string, string>> = {
  idleReplicaCount: 'while no trigger is active',
  minReplicaCount: 'at least, while a trigger is active',
  maxReplicaCount: 'at most',
  minReplicas: 'at least',
  maxReplicas: 'at most',
};

function reach(key: string, count: number, spec: Cursor): string {
  const coldStart = 'The first request then waits for a node, the image and the model.';
  if (key === 'idleReplicaCount') return count === 0 ? coldStart : '';
  if (key === 'minReplicas')
    return 'An autoscaler of pods does not go to zero by itself: this is paid without any traffic.';
  if (key !== 'minReplicaCount') return '';
  if (count === 0) return `While none is active there are none. ${coldStart}`;
  return at(spec, 'idleReplicaCount') === undefined
    ? 'It is paid without any traffic too: minReplicaCount: 0, or idleReplicaCount: 0 beside it, lets it reach zero.'
    : '';
}

/** What one pod of the workload costs an hour; undefined where that is not known. */
function replicaPrice({ workload, document }: Target): Range | undefined {
  const [podSet, ...others] = workload.podSets;
  if (podSet === undefined || others.length > 0) return undefined;
  const one = { ...workload, podSets: [{ ...podSet, pods: { min: 1, max: 1 } }] };
  return document.costOf(one).cost?.hourly;
}

/** The end counts as inside: that is where the caret stands after a word. */
function spanAt(bound: Cursor, offset: number): Span | undefined {
  return [keySpanOf(bound), spanOf(bound)].find(({ start, end }) => start <= offset && offset <= end);
}
