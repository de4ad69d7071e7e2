import { aibrixKinds } from './aibrix.ts';
import { coreKinds } from './core.ts';
import { draKinds } from './dra.ts';
import { groupKinds } from './groups.ts';
import { kaitoKinds } from './kaito.ts';
import type { KindEntry } from './kind.ts';
import { kserveKinds } from './kserve.ts';
import { kserveLlmKinds } from './kserve-llm.ts';
import { kubeflowKinds } from './kubeflow.ts';
import { nvidiaKinds } from './nvidia.ts';
import { rayKinds } from './ray.ts';
import { servingKinds } from './serving.ts';
import { trainingKinds } from './training.ts';
import { workflowKinds } from './workflows.ts';

/** The kinds that gpulint understands. To add one, add an entry to its family's table. */
const kinds: readonly KindEntry[] = [
  ...coreKinds,
  ...kserveKinds,
  ...kserveLlmKinds,
  ...kubeflowKinds,
  ...trainingKinds,
  ...rayKinds,
  ...groupKinds,
  ...nvidiaKinds,
  ...servingKinds,
  ...aibrixKinds,
  ...kaitoKinds,
  ...workflowKinds,
  ...draKinds,
];

const byName = new Map(kinds.flatMap((entry) => entry.kinds.map((kind) => [`${entry.group}/${kind}`, entry] as const)));

/** Every kind of the table, as `group/kind`. */
export function knownKinds(): readonly string[] {
  return [...byName.keys()];
}

/** The table's entry for a kind of an API group, whatever the version. */
export function kindEntry(group: string, kind: string): KindEntry | undefined {
  return byName.get(`${group}/${kind}`);
}
