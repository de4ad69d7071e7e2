import type { Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';

/** How a rolling update of a Deployment replaces its pods. */
export interface Rollout {
  readonly replicas: number;
  /** How many pods it may start before it stops old ones; null: unknown. */
  readonly surge: number | null;
  /** How many old pods it may stop first; null: unknown. */
  readonly stopped: number | null;
  readonly strategy: Cursor | undefined;
  readonly written: Cursor | undefined;
  readonly unavailable: Cursor | undefined;
}

/** The rolling update of a Deployment. Undefined for other kinds and strategies, and if templates decide. */
export function rolloutOf({ kind, manifest, podSets, partial }: Workload): Rollout | undefined {
  const [podSet] = podSets;
  if (kind !== 'Deployment' || partial || podSet === undefined) return undefined;
  const spec = getIn(manifest.root, 'spec');
  const strategy = getIn(spec, 'strategy');
  const type = getIn(strategy, 'type');
  if ((asText(type) ?? 'RollingUpdate') !== 'RollingUpdate' || [strategy, spec].some(isIncomplete)) return undefined;
  const rolling = getIn(strategy, 'rollingUpdate');
  const [written, unavailable] = ['maxSurge', 'maxUnavailable'].map((key) => getIn(rolling, key));
  const replicas = podSet.pods.min;
  if (replicas === null || replicas === 0 || isIncomplete(rolling)) return undefined;
  if ([type, written, unavailable].some(isTemplated)) return undefined;
  const surge = podsOf(written, replicas, Math.ceil);
  return { replicas, surge, stopped: podsOf(unavailable, replicas, Math.floor), strategy, written, unavailable };
}

/** Whether a rollout must start a new pod before it may stop an old one. */
export function startsFirst(rollout: Rollout | undefined): boolean {
  return rollout?.stopped === 0 && rollout.surge !== null && rollout.surge > 0;
}

/** A number of pods, or a percentage of them; 25% by default. */
function podsOf(written: Cursor | undefined, replicas: number, round: (value: number) => number): number | null {
  const text = written === undefined ? '25%' : (asText(written) ?? '');
  const match = /^(\d{1,5})(%?)$/.exec(text);
  if (match === null) return null;
  return match[2] === '%' ? round((replicas * Number(match[1])) / 100) : Number(match[1]);
}
