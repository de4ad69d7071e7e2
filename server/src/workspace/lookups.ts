import { normalizeUri } from '../config/places.ts';
import { scalableGroup } from '../model/scaled.ts';
import type { BudgetFacts, PoolFacts, QueueFacts, ScalerFacts, Seen, Surroundings } from '../model/surroundings.ts';
import type { Table } from '../yaml/table.ts';
import type { Facts } from './facts.ts';
import { claimUse } from './kinds.ts';
import { isApart, nearest, pathFrom } from './near.ts';
import { isClusterKind } from './references.ts';
import { scalerKinds } from './scalers.ts';
import type { ObjectSummary } from './summary.ts';
import { meant, restsOn, unfound, wholeNames } from './unfound.ts';
import type { Found, Workspace } from './workspace.ts';

/** What was read of the workspace for one document: good as long as the same questions have the same answers. */
export interface Reads {
  /** Whether every answer is still the same. */
  hold(): boolean;
}

/** The surroundings of one file's document, and a record of what was read of them. */
export function surroundingsOf(
  workspace: Workspace,
  uri: string,
): { readonly surroundings: Surroundings; readonly reads: Reads } {
  const asked = new Map<string, Answer>();
  let checked = workspace.generation;
  const stampOf = (kinds: readonly string[]) => kinds.reduce((sum, kind) => sum + workspace.versionOf(kind), 0);
  const read = <T>(kinds: readonly string[], question: readonly (string | null)[], ask: () => T): T => {
    const key = JSON.stringify(question);
    const known = asked.get(key);
    if (known !== undefined) return known.answer as T;
    const answer = ask();
    asked.set(key, { kinds, stamp: stampOf(kinds), ask, answer });
    return answer;
  };
  const from = normalizeUri(uri).split('/');
  const fileName = from.pop() ?? '';
  const asker: Asker = { workspace, folders: from, fileName };

  const surroundings: Surroundings = {
    servingRuntime: (namespace, name) =>
      read(['ServingRuntime', 'ClusterServingRuntime'], ['servingRuntime', namespace, name], () =>
        factsNamed(
          asker,
          ['serving.kserve.io/ServingRuntime', 'serving.kserve.io/ClusterServingRuntime'],
          namespace,
          name,
          'pods',
        ),
      ),
    llmConfig: (namespace, name) =>
      read(['LLMInferenceServiceConfig'], ['llmConfig', namespace, name], () => {
        const inNamespace = (where: string | null) => factsNamed(asker, [llmConfig], where, name, 'llm');
        return inNamespace(namespace) ?? (namespace === kserves ? undefined : inNamespace(kserves));
      }),
    trainingRuntime: (kind, namespace, name) =>
      read([kind], ['trainingRuntime', kind, namespace, name], () =>
        factsNamed(asker, [`trainer.kubeflow.org/${kind}`], namespace, name, 'training'),
      ),
    claim: (kind, namespace, name) =>
      read([kind], ['claim', kind, namespace, name], () =>
        factsNamed(asker, [`resource.k8s.io/${kind}`], namespace, name, 'devices'),
      ),
    claimUsers: (namespace, name) =>
      read(['ResourceClaim', claimUse], ['claimUsers', namespace, name], () => claimUsers(asker, namespace, name)),
    configMap: (namespace, name) =>
      read(['ConfigMap'], ['configMap', namespace, name], () =>
        factsNamed(asker, ['/ConfigMap'], namespace, name, 'files'),
      ),
    scalersOf: (kind, namespace, name) =>
      read(scalerKinds, ['scalersOf', kind, namespace, name], () => scalersOf(asker, kind, namespace, name)),
    budgetsOf: (namespace, labels) =>
      read(['PodDisruptionBudget'], ['budgetsOf', namespace, JSON.stringify(labels)], () =>
        budgetsOf(asker, namespace, labels),
      ),
    workload: (kind, namespace, name) =>
      read([kind, 'InferenceService'], ['workload', kind, namespace, name], () =>
        targetNamed(asker, kind, namespace, name),
      ),
    clusterQueueOf: (namespace, name) =>
      read(['LocalQueue', 'ClusterQueue'], ['clusterQueueOf', namespace, name], () =>
        clusterQueueOf(asker, namespace, name),
      ),
    unfound: (manifest) =>
      wholeNames(manifest).flatMap((found) =>
        unfound(
          found,
          read(restsOn(found), ['unfound', ...found.kinds, found.namespace, found.name], () =>
            meant(workspace, asker, found),
          ),
        ),
      ),
    gpuPools: () => read(poolKinds, ['gpuPools'], () => gpuPools(asker)),
  };
  return {
    surroundings,
    reads: {
      hold() {
        if (checked === workspace.generation) return true;
        for (const answer of asked.values()) {
          const stamp = stampOf(answer.kinds);
          if (stamp === answer.stamp) continue;
          if (JSON.stringify(answer.ask()) !== JSON.stringify(answer.answer)) return false;
          answer.stamp = stamp;
        }
        checked = workspace.generation;
        return true;
      },
    },
  };
}

const llmConfig = 'serving.kserve.io/LLMInferenceServiceConfig';
/** The namespace that KServe is installed in, where its shipped configs are. */
const kserves = 'kserve';

interface Answer {
  /** The kinds of which something was asked. */
  readonly kinds: readonly string[];
  /** The sum of their versions when the answer was last known to hold: versions only grow. */
  stamp: number;
  readonly ask: () => unknown;
  readonly answer: unknown;
}

const poolKinds = ['NodePool', 'Provisioner', 'ClusterConfig', 'ComputeClass'] as const;

interface Asker {
  readonly workspace: Workspace;
  readonly folders: readonly string[];
  readonly fileName: string;
}

/** The objects that are meant, of the first kind that has some: more than one where several are equally near. */
export function objectNamed(
  workspace: Workspace,
  uri: string,
  kinds: readonly string[],
  namespace: string | null,
  name: string,
): readonly Found[] {
  const folders = normalizeUri(uri).split('/');
  const fileName = folders.pop() ?? '';
  for (const kind of kinds) {
    const found = candidates({ workspace, folders, fileName }, kind, namespace, name);
    if (found.length > 0) return found;
  }
  return [];
}

function candidates(asker: Asker, kind: string, namespace: string | null, name: string): readonly Found[] {
  const slash = kind.indexOf('/');
  const group = kind.slice(0, slash);
  const all = asker.workspace.named(kind.slice(slash + 1), name);
  const there = all.filter(
    ({ object }) => object.group === group && (isClusterKind(kind) || object.namespace === namespace),
  );
  return nearest(there, asker.folders, asker.fileName);
}

type FactsOf<T extends Facts['type']> =
  Extract<Facts, { readonly type: T }> extends { readonly facts: infer F } ? F : never;

function factsNamed<T extends 'pods' | 'llm' | 'training' | 'devices' | 'files' | 'workload'>(
  asker: Asker,
  kinds: readonly string[],
  namespace: string | null,
  name: string,
  type: T,
): Seen<FactsOf<T>> | undefined {
  for (const kind of kinds) {
    const found = candidates(asker, kind, namespace, name);
    if (found.length === 0) continue;
    return agreed(found.map((one) => seen(asker, one, factsAs(one.object, type))));
  }
  return undefined;
}

function factsAs<T extends Facts['type']>(object: ObjectSummary, type: T): FactsOf<T> | null {
  const facts = object.facts();
  return facts !== null && facts.type === type && 'facts' in facts ? (facts.facts as FactsOf<T>) : null;
}

function seen<T>(asker: Asker, { object, folders, fileName }: Found, facts: T): Seen<T> {
  const file = pathFrom(asker, { folders, fileName });
  return { kind: object.kind, name: object.name, file, apart: isApart(asker, folders), facts };
}

/** One of several that say the same; nothing where they do not, or where one says nothing. */
function agreed<T>(all: readonly Seen<T | null>[]): Seen<T> | undefined {
  const [first, ...others] = all;
  if (first === undefined || first.facts === null) return undefined;
  const text = JSON.stringify(first.facts);
  if (others.some(({ facts }) => JSON.stringify(facts) !== text)) return undefined;
  return { ...first, facts: first.facts };
}

function scalersOf(asker: Asker, kind: string, namespace: string | null, name: string): readonly Seen<ScalerFacts>[] {
  return scalerKinds.flatMap((scaler) => {
    const all = asker.workspace.named(scaler, name, targetName);
    const there = all.filter(({ object }) => object.namespace === namespace && targetKind(object) === kind);
    const found = nearest(there, asker.folders, asker.fileName);
    return agreed(found.map((one) => seen(asker, one, factsAs(one.object, 'scaler')))) ?? [];
  });
}

/** Of the places that name a claim of this name those that mean the same one. */
function claimUsers(asker: Asker, namespace: string | null, name: string): number {
  const claim = 'resource.k8s.io/ResourceClaim';
  const { workspace } = asker;
  const meant = new Set(candidates(asker, claim, namespace, name).map(({ object }) => object));
  return workspace.naming(claimUse, name).filter(({ folders, fileName, reference }) => {
    if (!reference.kinds.includes(claim) || reference.namespace !== namespace) return false;
    return candidates({ workspace, folders, fileName }, claim, namespace, name).some(({ object }) => meant.has(object));
  }).length;
}

function targetName(object: ObjectSummary): string | undefined {
  const facts = object.facts();
  return facts?.type === 'scaler' ? facts.target.name : undefined;
}

function targetKind(object: ObjectSummary): string | undefined {
  const facts = object.facts();
  return facts?.type === 'scaler' ? facts.target.kind : undefined;
}

function targetNamed(
  asker: Asker,
  kind: string,
  namespace: string | null,
  name: string,
): ReturnType<Surroundings['workload']> {
  const group = kind === 'InferenceService' ? 'serving.kserve.io' : scalableGroup(kind);
  if (group === undefined) return undefined;
  const own = factsNamed(asker, [`${group}/${kind}`], namespace, name, 'workload');
  // In Standard mode KServe names the Deployment of an InferenceService after it.
  const [service] = /^(?=.+-predictor$).*(?=-predictor$)/.exec(name) ?? [];
  if (own !== undefined || kind !== 'Deployment' || service === undefined) return own;
  return factsNamed(asker, ['serving.kserve.io/InferenceService'], namespace, service, 'workload');
}

/** Those beside the pods, or above them: one in a folder apart may know nothing of them. */
function budgetsOf(asker: Asker, namespace: string | null, labels: Table<string>): readonly Seen<BudgetFacts>[] {
  return asker.workspace.above('PodDisruptionBudget', asker.folders).flatMap((found) => {
    const facts = factsAs(found.object, 'budget');
    if (found.object.namespace !== namespace || facts === null || facts.selects === null) return [];
    const fits = Object.entries(facts.selects).every(([key, value]) => labels[key] === value);
    return fits ? [seen(asker, found, facts)] : [];
  });
}

function clusterQueueOf(asker: Asker, namespace: string | null, name: string): Seen<QueueFacts> | undefined {
  const locals = candidates(asker, 'kueue.x-k8s.io/LocalQueue', namespace, name);
  const queues = new Set(locals.map(({ object }) => clusterQueueIn(object)));
  const [queue, ...others] = queues;
  if (queue === undefined || others.length > 0) return undefined;
  const found = candidates(asker, 'kueue.x-k8s.io/ClusterQueue', null, queue);
  const agreement = agreed(found.map((one) => seen(asker, one, factsAs(one.object, 'queue'))));
  const apart = locals.some(({ folders }) => isApart(asker, folders));
  return agreement && { ...agreement, apart: agreement.apart || apart };
}

function clusterQueueIn(object: ObjectSummary): string | undefined {
  const facts = object.facts();
  return facts?.type === 'localQueue' ? facts.clusterQueue : undefined;
}

function gpuPools(asker: Asker): readonly Seen<PoolFacts>[] {
  return poolKinds.flatMap((kind) =>
    asker.workspace
      .all(kind)
      .flatMap((one) => (factsAs(one.object, 'pools') ?? []).map((facts) => seen(asker, one, facts))),
  );
}
