import { normalizeUri } from '../config/places.ts';
import type { ProjectConfig } from '../config.ts';
import type { BudgetFacts, CrossReferences, QueueFacts, Referenced, ScalerFacts } from '../model/cross-references.ts';
import { scalableKinds } from '../model/kinds/index.ts';
import type { RelatedFiles } from '../model/related-files.ts';
import type { Table } from '../yaml/table.ts';
import { claimKinds, claimUsers } from './claim-users.ts';
import { dangling, meant, restsOn, wholeNames } from './dangling.ts';
import { landingOf, poolKinds } from './landing.ts';
import { type Asker, agreed, candidates, factsAs, factsNamed, type Group, ofGroup, seen } from './named.ts';
import { isInSiblingFolder, placeAt } from './place.ts';
import { type Reads, recordReads } from './reads.ts';
import { scalerKinds } from './scalers.ts';
import type { FileContext, Found, Workspace } from './workspace.ts';

/** Everything that a document may ask of what is not its text. Each question is recorded with its answer. */
export interface Lookups {
  /** What other documents say. */
  readonly crossReferences: CrossReferences;
  readonly config: ProjectConfig;
  /** What other files say of this one: read when somebody asks. */
  readonly relatedFiles: () => RelatedFiles;
  readonly reads: Reads;
}

/** @param context what holds for the file now, each time that it is called */
export function lookupsOf(workspace: Workspace, uri: string, context: () => FileContext): Lookups {
  const { reads, recorder } = recordReads(workspace);
  const read = recorder.ofKinds;
  const asker: Asker = { ...placeAt(normalizeUri(uri)), workspace };

  const crossReferences: CrossReferences = {
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
      read(claimKinds, ['claimUsers', namespace, name], () => claimUsers(asker, namespace, name)),
    configMap: (namespace, name) =>
      read(['ConfigMap'], ['configMap', namespace, name], () =>
        factsNamed(asker, ['/ConfigMap'], namespace, name, 'files'),
      ),
    scalersOf: (group, kind, namespace, name) =>
      read(scalerKinds, ['scalersOf', group, kind, namespace, name], () =>
        scalersOf(asker, group, kind, namespace, name),
      ),
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
    dangling: (manifest) =>
      wholeNames(manifest).flatMap((found) =>
        dangling(
          found,
          read(restsOn(found), ['dangling', ...found.kinds, found.namespace, found.name], () => meant(asker, found)),
        ),
      ),
    landingOf: (wanted, isFree) =>
      read(poolKinds, ['landingOf', JSON.stringify([wanted, isFree])], () => landingOf(asker, wanted, isFree)),
  };
  return {
    crossReferences,
    config: recorder.ofFile('config', () => context().config),
    relatedFiles: () => recorder.ofFile('relatedFiles', () => context().relatedFiles),
    reads,
  };
}

const llmConfig = 'serving.kserve.io/LLMInferenceServiceConfig';
/** The namespace that KServe is installed in, where its shipped configs are. */
const kserves = 'kserve';

function scalersOf(
  asker: Asker,
  group: string | null,
  kind: string,
  namespace: string | null,
  name: string,
): readonly Referenced<ScalerFacts>[] {
  const target = [kind, namespace, name];
  return scalerKinds.flatMap((scaler) => {
    const named = (wordOf: (found: Found) => string | undefined, word: readonly unknown[]) => {
      const found = asker.workspace.objects(scaler, wordOf, JSON.stringify(word), name).nearest(asker);
      return agreed(asker, found, 'scaler') ?? [];
    };
    if (group === null) return named(targetOf, target);
    return [named(targetInGroup, [group, ...target]), named(targetInGroup, [null, ...target])].flat();
  });
}

function targetOf({ object }: Found): string | undefined {
  const facts = object.facts();
  return facts?.type === 'scaler'
    ? JSON.stringify([facts.target.kind, object.namespace, facts.target.name])
    : undefined;
}

function targetInGroup({ object }: Found): string | undefined {
  const facts = object.facts();
  return facts?.type === 'scaler'
    ? JSON.stringify([facts.target.group, facts.target.kind, object.namespace, facts.target.name])
    : undefined;
}

function targetNamed(
  asker: Asker,
  kind: string,
  namespace: string | null,
  name: string,
): ReturnType<CrossReferences['workload']> {
  const kinds = kind === 'InferenceService' ? ['serving.kserve.io/InferenceService'] : scalableKinds(kind);
  if (kinds.length === 0) return undefined;
  const own = factsNamed(asker, kinds, namespace, name, 'workload');
  // In Standard mode KServe names the Deployment of an InferenceService after it.
  const [service] = /^(?=.+-predictor$).*(?=-predictor$)/.exec(name) ?? [];
  if (own !== undefined || kind !== 'Deployment' || service === undefined) return own;
  return factsNamed(asker, ['serving.kserve.io/InferenceService'], namespace, service, 'workload');
}

/** Those next to the pods, or above them: one in a sibling folder may know nothing of them. */
function budgetsOf(asker: Asker, namespace: string | null, labels: Table<string>): readonly Referenced<BudgetFacts>[] {
  const there = asker.workspace.objects('PodDisruptionBudget', namespaceOf, JSON.stringify(namespace)).above(asker);
  return there.flatMap((found) => {
    const facts = factsAs(found.object, 'budget');
    if (facts === null || facts.selects === null) return [];
    const fits = Object.entries(facts.selects).every(([key, value]) => labels[key] === value);
    return fits ? [seen(asker, found, facts)] : [];
  });
}

function namespaceOf({ object }: Found): string {
  return JSON.stringify(object.namespace);
}

function clusterQueueOf(asker: Asker, namespace: string | null, name: string): Referenced<QueueFacts> | undefined {
  const locals = candidates(asker, 'kueue.x-k8s.io/LocalQueue', namespace, name);
  const queue = ofGroup(locals, 'one cluster queue', () => clusterQueueIn(locals));
  if (queue === undefined) return undefined;
  const agreement = agreed(asker, candidates(asker, 'kueue.x-k8s.io/ClusterQueue', null, queue), 'queue');
  // Those that are equally near are apart, or none is.
  const siblingFolder = locals.slice(0, 1).some(({ folders }) => isInSiblingFolder(asker, folders));
  return agreement && { ...agreement, siblingFolder: agreement.siblingFolder || siblingFolder };
}

/** The queue that all of them name. */
function clusterQueueIn(locals: Group): string | undefined {
  const queues = new Set(
    locals.map(({ object }) => {
      const facts = object.facts();
      return facts?.type === 'localQueue' ? facts.clusterQueue : undefined;
    }),
  );
  const [queue, ...others] = queues;
  return others.length === 0 ? queue : undefined;
}
