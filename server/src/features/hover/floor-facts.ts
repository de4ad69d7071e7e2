import type { ProjectConfig } from '../../config.ts';
import { formatHourly, formatMonthly, formatNumber, plural } from '../../cost/money.ts';
import { idleSaving } from '../../cost/savings.ts';
import type { CostResult } from '../../cost/types.ts';
import type { Scaling, Workload } from '../../model/workload.ts';
import { coldStartFacts } from './cold-start-facts.ts';
import type { Block } from './render.ts';

/** The cost of the replicas at the floor, and whether the workload can scale to zero. */
export function floorFacts(
  workload: Workload,
  scaling: Scaling,
  { cost }: CostResult,
  config: ProjectConfig,
): readonly Block[] {
  const origin = config.origins?.['kserve.deploymentMode'] ?? '.gpulint.yaml';
  const { floor } = scaling;
  const replicas = floor === null ? 'Minimum replicas' : plural(floor, 'replica');
  const paid =
    cost === null
      ? []
      : [`${replicas} without traffic: ${formatMonthly(cost.idleHourly)} (${formatHourly(cost.idleHourly)})`];
  return [
    ...paid.map((text) => ({ kind: 'lead', text }) as const),
    { kind: 'text', text: `${autoscaling(scaling, origin)} ${scaleToZero(workload, scaling)}`.trim() },
    ...idleFacts(scaling, cost?.idleHourly ?? 0, config),
    ...(scaling.canReachZero ? coldStartFacts(workload, scaling) : []),
  ];
}

/** The saving from scaling to zero, or the config key that it needs. */
function idleFacts({ floor, canReachZero }: Scaling, idleHourly: number, config: ProjectConfig): readonly Block[] {
  if (!canReachZero || floor === 0 || idleHourly === 0) return [];
  const hours = config.serving.idleHoursPerDay;
  if (hours === null) {
    const text = 'Set serving.idleHoursPerDay in .gpulint.yaml to see what scaling to zero saves.';
    return [{ kind: 'text', text }];
  }
  const saved = formatMonthly(idleSaving(idleHourly, hours));
  const from = config.origins?.['serving.idleHoursPerDay'] ?? 'the config';
  return [
    { kind: 'text', text: `Scaling to zero saves ${saved} at ${formatNumber(hours)} idle hours per day (${from}).` },
  ];
}

const mechanisms: Readonly<Record<Scaling['mechanism'], string>> = {
  knative: 'Scaled by Knative',
  keda: 'Scaled by KEDA',
  hpa: 'Scaled by a HorizontalPodAutoscaler',
  kubeai: 'Scaled by KubeAI',
  none: 'Not autoscaled',
  unknown: 'Autoscaler unknown',
};

function autoscaling({ mechanism, mechanismFrom }: Scaling, origin: string): string {
  const sources = {
    annotation: 'from its annotation',
    config: `from ${origin}`,
    default: 'default for its kind',
  } as const;
  return `${mechanisms[mechanism]}${mechanism === 'unknown' ? '' : ` (${sources[mechanismFrom]})`}.`;
}

function scaleToZero({ name }: Workload, { mechanism, canReachZero, floor, minKey }: Scaling): string {
  if (mechanism === 'unknown') return '';
  if (!canReachZero) return 'It cannot scale to zero: at least one replica always runs.';
  if (floor === 0) {
    return 'It scales to zero: without traffic it costs nothing, but the next request waits for a node, the image and the model.';
  }
  return `With ${minKey}: 0, ${name ?? 'it'} scales to zero: without traffic it costs nothing, but the next request waits for a node, the image and the model.`;
}
