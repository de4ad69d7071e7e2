import type { FileAnalysis } from '../../analysis.ts';
import { formatHourly, formatMonthly, plural } from '../../cost/money.ts';
import { timesCount } from '../../cost/range.ts';
import { targetOf } from '../../evidence/scaler-target.ts';
import type { Referenced } from '../../model/cross-references.ts';
import type { Manifest } from '../../model/workload.ts';
import type { WorkloadFacts } from '../../model/workload-facts.ts';
import { asNumber, type Cursor, getIn, keySpanOf, spanOf } from '../../yaml/cursor.ts';
import { type Span, shiftSpan } from '../../yaml/span.ts';
import { table } from '../../yaml/table.ts';
import { coldStartOf } from './cold-start-facts.ts';
import type { Block, HoverContent } from './render.ts';

/** The cost of an autoscaler's bounds, if its target is in the same project. */
export function scalerHover(file: FileAnalysis, offset: number): HoverContent | undefined {
  for (const document of file.documents) {
    const { base, text, manifests, crossReferences } = document;
    if (offset < base || offset > base + text.length || !/Scale[dr]/i.test(text)) continue;
    for (const manifest of manifests) {
      const bound = boundAt(manifest, offset - base);
      if (bound === undefined) continue;
      const target = targetOf(manifest, crossReferences);
      const blocks = target === undefined ? [] : factsOf(bound, target);
      return blocks.length === 0 ? undefined : { span: shiftSpan(bound.span, base), blocks };
    }
  }
  return undefined;
}

const scalers = [
  { kind: 'ScaledObject', holder: [], keys: ['idleReplicaCount', 'minReplicaCount', 'maxReplicaCount'] },
  { kind: 'HTTPScaledObject', holder: ['replicas'], keys: ['min', 'max'] },
  { kind: 'HorizontalPodAutoscaler', holder: [], keys: ['minReplicas', 'maxReplicas'] },
  { kind: 'PodAutoscaler', holder: [], keys: ['minReplicas', 'maxReplicas'] },
] as const;

interface Bound {
  readonly key: string;
  readonly count: number | undefined;
  readonly span: Span;
  readonly spec: Cursor;
}

function boundAt({ root, kind }: Manifest, offset: number): Bound | undefined {
  const scaler = scalers.find((one) => one.kind === kind);
  const spec = getIn(root, 'spec');
  if (scaler === undefined || spec === undefined) return undefined;
  for (const key of scaler.keys) {
    const bound = getIn(spec, ...scaler.holder, key);
    const span = bound && spanAt(bound, offset);
    if (bound !== undefined && span !== undefined) return { key, count: asNumber(bound), span, spec };
  }
  return undefined;
}

function factsOf({ key, count, spec }: Bound, { name, facts, file }: Referenced<WorkloadFacts>): readonly Block[] {
  const each = facts.price;
  if (count === undefined || each === null) return [];
  const total = timesCount(each, count);
  const amount = `${formatMonthly(total)} (${formatHourly(total)})`;
  const [bound = '', condition = ''] = bounds[key] ?? [];
  const replicas = `${plural(count, 'replica')} of ${name}${condition}`;
  const lead = `${bound}${replicas}: ${count === 0 ? 'no cost' : amount}`;
  const idle = idleWords(key, count, spec);
  const target = file === null ? 'its GPUs' : `its GPUs in ${file}`;
  return [
    { kind: 'lead', text: lead },
    ...(idle === '' ? [] : [{ kind: 'text', text: idle } as const]),
    ...(count === 0 && key.endsWith('Count') ? [coldStartOf(spec)] : []),
    { kind: 'text', text: `One replica costs ${formatHourly(each)}; hover over ${target} to see the basis.` },
  ];
}

/** The words before and after the replicas. */
const bounds = table<readonly [bound: string, condition: string]>({
  idleReplicaCount: ['', ' while no trigger is active'],
  minReplicaCount: ['At least ', ' while a trigger is active'],
  maxReplicaCount: ['At most ', ''],
  minReplicas: ['At least ', ''],
  maxReplicas: ['At most ', ''],
  min: ['At least ', ''],
  max: ['At most ', ''],
});

function idleWords(key: string, count: number, spec: Cursor): string {
  const coldStart = 'The next request then waits for a node, the image and the model.';
  if (key === 'idleReplicaCount') return count === 0 ? coldStart : '';
  if (key === 'minReplicas')
    return 'Pod autoscalers do not scale to zero by default: this cost remains without traffic.';
  if (key === 'min')
    return count === 0 ? coldStart : 'This cost remains without traffic. With min: 0, the workload scales to zero.';
  if (key !== 'minReplicaCount') return '';
  if (count === 0) return `While no trigger is active, no replica runs. ${coldStart}`;
  return getIn(spec, 'idleReplicaCount') === undefined
    ? 'This cost remains without traffic. With minReplicaCount: 0, or idleReplicaCount: 0 next to it, the workload scales to zero.'
    : '';
}

/** The end is inside: the caret is there after a word. */
function spanAt(bound: Cursor, offset: number): Span | undefined {
  return [keySpanOf(bound), spanOf(bound)].find(({ start, end }) => start <= offset && offset <= end);
}
