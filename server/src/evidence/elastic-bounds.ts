import { findNodeCounts } from '../command/processes.ts';
import { allCommands, baseName, readCommandLine } from '../command/shell.ts';
import { kindOf } from '../model/kinds/index.ts';
import { processInput } from '../model/process-input.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { asNumber, type Cursor, getIn, isIncomplete, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';

export interface MissedBound {
  readonly span: Span;
  readonly message: string;
}

/**
 * A bound of an elastic job that its pods do not meet, and what follows. The training operator passes both bounds to torchrun (`PET_NNODES=2:4`), which
 * waits for the minimum and excludes pods above the maximum. https://github.com/kubeflow/trainer/blob/v1.9.4/pkg/controller.v1/pytorch/elastic.go
 */
export function missedBound(workload: Workload): MissedBound | undefined {
  const [only, ...others] = workload.podSets;
  const policy = kindOf(workload).elasticPolicy?.(workload.manifest.root);
  if (only === undefined || policy === undefined || workload.kind !== 'PyTorchJob') return undefined;
  // With metrics, an autoscaler moves the number of pods into the bounds, even if no metric has a value.
  if (getIn(policy, 'metrics') !== undefined) return undefined;
  if (others.length > 0) return surplusMaster(workload, policy);
  const { min: pods, max } = only.pods;
  if (pods === null || pods === 0 || pods !== max || isIncomplete(policy) || only.name !== 'Worker') return undefined;
  const bounds = [getIn(policy, 'minReplicas'), getIn(policy, 'maxReplicas')] as const;
  const [floor, ceiling] = bounds.map((bound) => asNumber(bound) ?? pods);
  if (floor === undefined || ceiling === undefined || floor > ceiling || !isLaunched(workload)) return undefined;
  const [at, effect] =
    floor > pods
      ? [bounds[0], 'torchrun waits for pods that never join']
      : ceiling < pods
        ? [bounds[1], 'torchrun excludes the other pods, which keep their GPUs']
        : [undefined, ''];
  if (at === undefined) return undefined;
  const compared = floor > pods ? 'above' : 'below';
  const number = pods === 1 ? 'the 1 worker' : `the ${pods} workers`;
  return { span: spanOf(at), message: `${keyOf(at)} ${asNumber(at)} is ${compared} ${number}: ${effect}` };
}

/** A master next to the workers of an elastic job: the default bounds are the number of workers (https://github.com/kubeflow/trainer/issues/2277). */
function surplusMaster({ podSets }: Workload, policy: Cursor): MissedBound | undefined {
  const [master, workers] = ['Master', 'Worker'].map((role) => podSets.find(({ name }) => name === role));
  if (master === undefined || workers === undefined || podSets.length !== 2 || isIncomplete(policy)) return undefined;
  const counts = [master, workers].map(({ pods: { min, max } }) => (min === max ? min : null));
  const [masters = null, all = null] = counts;
  if (masters === null || all === null || masters < 1 || all < 1 || ![master, workers].every(isLauncher))
    return undefined;
  const written = getIn(policy, 'maxReplicas');
  const ceiling = written === undefined ? all : asNumber(written);
  if (ceiling === undefined || ceiling >= masters + all) return undefined;
  const total = masters + all;
  return {
    span: written === undefined ? keySpanOf(policy) : spanOf(written),
    message:
      written === undefined
        ? `elasticPolicy admits as many pods as there are workers (${all}), but the Master also starts torchrun: one of the ${total} pods never joins`
        : `maxReplicas ${ceiling} is below the ${total} pods, which include the Master: torchrun excludes the others, which keep their GPUs`,
  };
}

/** Whether the pods start torchrun without a number of nodes of its own. */
function isLaunched({ podSets }: Workload): boolean {
  return podSets.some(isLauncher);
}

function isLauncher({ containers }: PodSet): boolean {
  const apps = containers.filter(({ type }) => type === 'app');
  return apps.some((container) => {
    const { command, args, env } = processInput(container);
    if (findNodeCounts(processInput(container)).length > 0) return false;
    return allCommands(readCommandLine(command, args, env).statements).some(({ words }) =>
      words.some(({ text }) => baseName(text) === 'torchrun' || text === 'torch.distributed.run'),
    );
  });
}
