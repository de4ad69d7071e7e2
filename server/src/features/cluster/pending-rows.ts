import { plural } from '../../cost/money.ts';
import type { PendingPod } from '../../fleet/cluster-view.ts';
import { ownedBy, row, warning } from './cluster-rows.ts';
import { ageWords, devicesWords, ownerName, sentence } from './cluster-words.ts';
import type { ClusterNode } from './drawn.ts';

/** One row for the pods of a workload that wait for the same reason. */
export function pendingRows(pending: readonly PendingPod[], now: number): readonly ClusterNode[] {
  return pendingGroups(pending).map(({ key, pod, count: pods }) => {
    const { namespace, name, owner, devices, created, reason, wayOut, words } = pod;
    const count = pods > 1 ? plural(pods, 'pod') : undefined;
    return row({
      kind: 'pending',
      path: ['waiting', key, reason],
      label: count === undefined || owner === null ? name : ownerName(owner),
      parts: [
        count,
        `${devicesWords(devices)}${count === undefined ? '' : ' each'}`,
        created === null ? undefined : ageWords(created, now),
        reason,
        namespace,
      ],
      lines: [
        reason,
        ...(wayOut === null ? [] : [`To run: ${wayOut}`]),
        ...(words === null ? [] : [`Scheduler: ${words}`]),
        `Namespace ${namespace}`,
        ...(owner === null ? [] : [ownerName(owner)]),
      ],
      icon: 'clock',
      color: warning,
      children: 'collapsed',
      owner: ownedBy(pod),
    });
  });
}

/** The pods of each workload that wait for the same reason, those that wait longest first, as in the view. */
export function pendingGroups(
  pending: readonly PendingPod[],
): readonly { readonly key: string; readonly pod: PendingPod; readonly count: number }[] {
  const groups = new Map<string, { readonly key: string; readonly pod: PendingPod; count: number }>();
  for (const pod of pending) {
    const key = waitingKey(pod);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { key, pod, count: 1 });
    else known.count += 1;
  }
  return [...groups.values()];
}

/** Why the pods of a row wait, and what would help. */
export function reasonRows(pending: readonly PendingPod[], key: string, reason: string): readonly ClusterNode[] {
  const pod = pending.find((one) => one.reason === reason && waitingKey(one) === key);
  if (pod === undefined) return [];
  const rows = [
    ['info', pod.reason],
    ['lightbulb', pod.wayOut],
    ['comment', pod.words],
  ] as const;
  return rows.flatMap(([icon, words]) =>
    words === null
      ? []
      : row({ kind: 'problem', path: ['reason', key, reason, icon], label: sentence(words), parts: [], icon }),
  );
}

function waitingKey({ namespace, name, owner, devices, reason, wayOut }: PendingPod): string {
  const who = owner === null ? name : [owner.kind, owner.name];
  return JSON.stringify([namespace, who, devices, reason, wayOut]);
}
