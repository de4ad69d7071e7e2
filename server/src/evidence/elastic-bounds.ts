import { findNodeCounts } from '../command/processes.ts';
import { allCommands, baseName, readCommandLine } from '../command/shell.ts';
import { kindOf } from '../model/kinds/index.ts';
import { processInput } from '../model/process-input.ts';
import type { Workload } from '../model/workload.ts';
import { asNumber, type Cursor, getIn, isIncomplete, keyOf } from '../yaml/cursor.ts';

/**
 * A bound of an elastic job that its pods do not meet, and what follows. The training operator passes both bounds to torchrun (`PET_NNODES=2:4`), which
 * waits for the minimum and excludes pods above the maximum. https://github.com/kubeflow/trainer/blob/v1.9.4/pkg/controller.v1/pytorch/elastic.go
 */
export function missedBound(workload: Workload): { readonly at: Cursor; readonly message: string } | undefined {
  const [only, ...others] = workload.podSets;
  const policy = kindOf(workload).elasticPolicy?.(workload.manifest.root);
  if (only === undefined || others.length > 0 || policy === undefined || workload.kind !== 'PyTorchJob')
    return undefined;
  // With metrics, an autoscaler moves the number of pods into the bounds, even if no metric has a value.
  if (getIn(policy, 'metrics') !== undefined) return undefined;
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
  return { at, message: `${keyOf(at)} ${asNumber(at)} is ${compared} ${number}: ${effect}` };
}

/** Whether the pods start torchrun without a number of nodes of its own. */
function isLaunched({ podSets }: Workload): boolean {
  const apps = podSets.flatMap(({ containers }) => containers.filter(({ type }) => type === 'app'));
  return apps.some((container) => {
    const { command, args, env } = processInput(container);
    if (findNodeCounts(processInput(container)).length > 0) return false;
    return allCommands(readCommandLine(command, args, env).statements).some(({ words }) =>
      words.some(({ text }) => baseName(text) === 'torchrun' || text === 'torch.distributed.run'),
    );
  });
}
