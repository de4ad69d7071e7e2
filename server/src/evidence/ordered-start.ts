import { findNodeCounts } from '../command/processes.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, isIncomplete, isUnseen } from '../yaml/cursor.ts';
import { processInput } from './launch.ts';

/**
 * The readiness probe for which a StatefulSet waits before it starts the pods that the server behind the probe waits for; undefined if the pods
 * start together.
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
    const nodes = findNodeCounts(processInput(container)).map(({ count }) => count);
    if (nodes.some((count) => typeof count === 'number' && count > 1)) return probe;
  }
  return undefined;
}
