import { readFlags } from '../command/flags.ts';
import { allCommands, readCommandLine } from '../command/shell.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, isIncomplete, isUnseen } from '../yaml/cursor.ts';
import { processInput } from './launch.ts';
import { isNodeCount } from './torchrun-nodes.ts';

/**
 * The policy or the readiness probe by which a StatefulSet waits before it starts the pods that the server behind the probe waits for; undefined if
 * the pods start together.
 */
export function waitingProbe({ containers, pods }: PodSet, { kind, manifest, partial }: Workload): Cursor | undefined {
  const spec = getIn(manifest.root, 'spec');
  const policy = getIn(spec, 'podManagementPolicy');
  if (kind !== 'StatefulSet' || partial || (pods.min ?? 0) < 2 || isUnseen(policy) || isIncomplete(spec))
    return undefined;
  if ((asText(policy) ?? 'OrderedReady') !== 'OrderedReady') return undefined;
  for (const container of containers) {
    const probe = getIn(container.at, 'readinessProbe');
    const asks = ['httpGet', 'tcpSocket', 'grpc'].some((way) => getIn(probe, way) !== undefined);
    if (probe === undefined || !asks || container.type !== 'app') continue;
    const { command, args, env } = processInput(container);
    const { statements } = readCommandLine(command, args, env);
    const flags = allCommands(statements).flatMap(({ words }) => readFlags(words));
    if (flags.some((flag) => isNodeCount(flag) && Number(flag.value) > 1)) return policy ?? probe;
  }
  return undefined;
}
