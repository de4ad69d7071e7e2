import { coreKinds } from './core.ts';
import { groupKinds } from './groups.ts';
import type { KindEntry } from './kind.ts';
import { kserveKinds } from './kserve.ts';
import { kubeflowKinds } from './kubeflow.ts';
import { rayKinds } from './ray.ts';

/** The kinds that gpulint understands. To add one, add an entry to its family's table. */
const kinds: readonly KindEntry[] = [...coreKinds, ...kserveKinds, ...kubeflowKinds, ...rayKinds, ...groupKinds];

const byName = new Map(kinds.flatMap((entry) => entry.kinds.map((kind) => [`${entry.group}/${kind}`, entry] as const)));

/** The table's entry for a kind of an API group, whatever the version. */
export function kindEntry(group: string, kind: string): KindEntry | undefined {
  return byName.get(`${group}/${kind}`);
}
