import type { ProjectConfig } from '../../config.ts';
import { formatHourly, formatMonthly, formatNumber, plural } from '../../cost/format.ts';
import { idleSaving } from '../../cost/savings.ts';
import type { CostResult } from '../../cost/types.ts';
import type { Scaling, Workload } from '../../model/workload.ts';
import { coldStartFacts } from './cold-start-facts.ts';
import type { Block } from './markdown.ts';

/** What the replicas at the floor cost with and without traffic, and what of them can go. */
export function floorFacts(
  workload: Workload,
  scaling: Scaling,
  { cost }: CostResult,
  config: ProjectConfig,
): readonly Block[] {
  const origin = config.origins?.['kserve.deploymentMode'] ?? '.gpulint.yaml';
  const { floor } = scaling;
  const replicas = floor === null ? 'The floor' : plural(floor, 'replica');
  const paid =
    cost === null
      ? []
      : [
          `${replicas} at the floor: ${formatMonthly(cost.idleHourly)} (${formatHourly(cost.idleHourly)}) without any traffic`,
        ];
  return [
    ...paid.map((text) => ({ kind: 'lead', text }) as const),
    { kind: 'text', text: `${howItScales(scaling, origin)} ${whatThen(workload, scaling)}`.trim() },
    ...idleFacts(scaling, cost?.idleHourly ?? 0, config),
    ...(scaling.canReachZero ? coldStartFacts(workload, scaling) : []),
  ];
}

/** What the hours without traffic cost, or which key would tell. */
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
    { kind: 'text', text: `Scaled to zero it saves ${saved}: ${formatNumber(hours)} idle hours a day (${from}).` },
  ];
}

const mechanisms: Readonly<Record<Scaling['mechanism'], string>> = {
  knative: 'Knative scales it',
  keda: 'KEDA scales it',
  hpa: 'A HorizontalPodAutoscaler scales it',
  none: 'Nothing scales it',
  unknown: 'What scales it is not known',
};

function howItScales({ mechanism, mechanismFrom }: Scaling, origin: string): string {
  const reasons = {
    annotation: 'as its annotation says',
    config: `as ${origin} says of the cluster`,
    default: "by the kind's default",
  } as const;
  return `${mechanisms[mechanism]}${mechanism === 'unknown' ? '' : `, ${reasons[mechanismFrom]}`}.`;
}

function whatThen({ name }: Workload, { mechanism, canReachZero, floor, minKey }: Scaling): string {
  if (mechanism === 'unknown') return '';
  if (!canReachZero) return 'It cannot reach zero: one replica is always paid for.';
  if (floor === 0) {
    return 'It reaches zero: nothing is paid while nobody asks; the first request then waits for a node, the image and the model.';
  }
  const service = name === null ? 'it' : name;
  return `It can reach zero: with ${minKey}: 0, ${service} costs nothing while nobody asks, and the first request then waits for a node, the image and the model.`;
}
