import { normalizeUri } from '../config/places.ts';
import type { ProjectConfig } from '../config.ts';
import type { FitFacts, FitQuestion } from '../fleet/fit-question.ts';
import type { CrossReferences, Demand } from '../model/cross-references.ts';
import type { RelatedFiles } from '../model/related-files.ts';
import { replicaKinds, scalerKinds } from '../model/scalers.ts';
import { lazy } from '../yaml/lazy.ts';
import { claimKinds, claimUsers } from './claim-users.ts';
import {
  dangling,
  dependenciesOf,
  labeledElsewhere,
  likelyTargets,
  mayBePatch,
  otherNamespace,
  projectReferences,
  serviceElsewhere,
  servicesLike,
  setterKinds,
} from './dangling.ts';
import { deviceSharing } from './device-sharing.ts';
import { gangKind, headerKind, kustomizationKind, sharingKind } from './kinds.ts';
import { cloudOfPools, landingOf, poolKinds, poolsFor } from './landing.ts';
import { liveOffers, livePools, liveValues } from './live-pools.ts';
import { modelConfigKind, modelInFolder } from './model-configs.ts';
import { factsAs, factsNamed, keysInFile, keysOf, referenced, type Scope } from './named.ts';
import {
  budgetsOf,
  inNamespace,
  keptRunning,
  limitsIn,
  policyKinds,
  resolvesNames,
  servicesLabeled,
  servicesOf,
} from './namespace-lookups.ts';
import { overlayKinds, overlaysAddAccelerators } from './overlays.ts';
import { placeAt } from './place.ts';
import { clusterQueueOf, flavorsOf, gangPods } from './queue-lookups.ts';
import { type Reads, recordReads } from './reads.ts';
import { otherAutoscaler, scalersOf, targetNamed } from './scaler-lookups.ts';
import { terraformKinds } from './terraform-folders.ts';
import { anyObject, clusterKind, type FileContext, type Workspace } from './workspace.ts';

/** Everything outside its text that the analysis of a document can look up. Each lookup is recorded with its result. */
export interface Lookups {
  /** Facts from other documents. */
  readonly crossReferences: CrossReferences;
  readonly config: ProjectConfig;
  readonly isConnected: () => boolean;
  /** Whether pods would run in the connected cluster; undefined without one, and until it has answered. */
  readonly askFit: (question: FitQuestion) => FitFacts | undefined;
  /** The related files of this one, recorded on first use. */
  readonly relatedFiles: () => RelatedFiles;
  readonly reads: Reads;
}

/** @param context returns the current context of the file */
export function lookupsOf(workspace: Workspace, uri: string, context: () => FileContext): Lookups {
  const { reads, recorder } = recordReads(workspace);
  const { lookUpKinds: read, hasHad } = recorder;
  const scope: Scope = { ...placeAt(normalizeUri(uri)), workspace };
  const isConnected = () =>
    hasHad(clusterKinds) && read(clusterKinds, ['connected'], () => workspace.cluster !== undefined);
  /** Asks the connected cluster. Without one, no question is written down: pods have many. */
  const readLive = <T>(question: () => string, lookUp: () => T | undefined) =>
    isConnected() ? asOfNow(workspace, read(clusterKinds, [question()], lookUp)) : undefined;
  /** A lookup whose result is undefined without an object of its kinds. */
  const readOne = <T>(kinds: readonly string[], question: readonly (string | null)[], lookUp: () => T | undefined) =>
    hasHad(kinds) ? read(kinds, question, lookUp) : undefined;
  /** A lookup that finds nothing without an object of its kinds. */
  const readList = <T>(kinds: readonly string[], question: readonly (string | null)[], lookUp: () => readonly T[]) =>
    hasHad(kinds) ? read(kinds, question, lookUp) : [];

  const crossReferences: CrossReferences = {
    servingRuntime: (namespace, name) =>
      read(['ServingRuntime', 'ClusterServingRuntime'], ['servingRuntime', namespace, name], () =>
        factsNamed(
          scope,
          ['serving.kserve.io/ServingRuntime', 'serving.kserve.io/ClusterServingRuntime'],
          namespace,
          name,
          'pods',
        ),
      ),
    hardwareProfile: (namespace, name) =>
      read(['HardwareProfile'], ['hardwareProfile', namespace, name], () =>
        factsNamed(scope, ['infrastructure.opendatahub.io/HardwareProfile'], namespace, name, 'pods'),
      ),
    llmConfig: (namespace, name) =>
      read(['LLMInferenceServiceConfig'], ['llmConfig', namespace, name], () => {
        const inNamespace = (where: string | null) => factsNamed(scope, [llmConfig], where, name, 'llm');
        return inNamespace(namespace) ?? (namespace === kserveNamespace ? undefined : inNamespace(kserveNamespace));
      }),
    trainingRuntime: (kind, namespace, name) =>
      read([kind], ['trainingRuntime', kind, namespace, name], () =>
        factsNamed(scope, [`trainer.kubeflow.org/${kind}`], namespace, name, 'training'),
      ),
    steps: (kind, namespace, name) =>
      read([kind.slice(kind.indexOf('/') + 1)], ['steps', kind, namespace, name], () =>
        factsNamed(scope, [kind], namespace, name, 'steps'),
      ),
    claim: (kind, namespace, name) =>
      read([kind], ['claim', kind, namespace, name], () =>
        factsNamed(scope, [`resource.k8s.io/${kind}`], namespace, name, 'devices'),
      ),
    claimUsers: (namespace, name) =>
      read(claimKinds, ['claimUsers', namespace, name], () => claimUsers(scope, namespace, name)),
    configMap: (namespace, name) =>
      read(['ConfigMap'], ['configMap', namespace, name], () =>
        factsNamed(scope, ['/ConfigMap'], namespace, name, 'files'),
      ),
    keysOf: (kind, namespace, name) =>
      read([kind], ['keysOf', kind, namespace, name], () => keysOf(scope, kind, namespace, name)),
    scalersOf: (group, kind, namespace, name) =>
      hasHad(replicaKinds)
        ? read([...scalingKinds, kind], ['scalersOf', group, kind, namespace, name], () =>
            scalersOf(scope, group, kind, namespace, name),
          )
        : [],
    otherAutoscaler: (kind, namespace, target, own) =>
      read(['HorizontalPodAutoscaler'], ['otherAutoscaler', kind, namespace, target, own], () =>
        otherAutoscaler(scope, kind, namespace, target, own),
      ),
    resolvesNames: (namespace, labels) =>
      read(policyKinds, ['resolvesNames', namespace, JSON.stringify(labels)], () =>
        resolvesNames(scope, namespace, labels),
      ),
    budgetsOf: (namespace, labels) =>
      read(['PodDisruptionBudget'], ['budgetsOf', namespace, JSON.stringify(labels)], () =>
        budgetsOf(scope, namespace, labels),
      ),
    keptRunning: (namespace, labels) =>
      read(['Deployment', 'StatefulSet'], ['keptRunning', namespace, JSON.stringify(labels)], () =>
        keptRunning(scope, namespace, labels),
      ),
    workload: (kind, namespace, name) =>
      read([kind, 'InferenceService'], ['workload', kind, namespace, name], () =>
        targetNamed(scope, kind, namespace, name),
      ),
    clusterQueueOf: (namespace, name) =>
      read(['LocalQueue', 'ClusterQueue'], ['clusterQueueOf', namespace, name], () =>
        clusterQueueOf(scope, namespace, name),
      ),
    gangPods: (namespace, group) =>
      read([gangKind, ...scalerKinds], ['gangPods', namespace, group], () => gangPods(scope, namespace, group)),
    keysInFile: (name) => read(['ConfigMap'], ['keysInFile', name], () => keysInFile(scope, name)),
    queueCapacity: (group, name) =>
      read(['Queue'], ['queueCapacity', group, name], () =>
        factsNamed(scope, [`${group}/Queue`], null, name, 'capacity'),
      ),
    defaultsIn: (namespace) =>
      readList(limitKinds, ['defaultsIn', namespace], () =>
        inNamespace(scope, 'LimitRange', namespace).flatMap(({ object }) => factsAs(object, 'limits')?.names ?? []),
      ),
    limitsIn: (namespace) => readList(limitKinds, ['limitsIn', namespace], () => limitsIn(scope, namespace)),
    quotasIn: (namespace) =>
      readList(quotaKinds, ['quotasIn', namespace], () =>
        inNamespace(scope, 'ResourceQuota', namespace).flatMap((found) => {
          const facts = factsAs(found.object, 'quota');
          return facts === null ? [] : [referenced(scope, found, facts)];
        }),
      ),
    demandsOf: (namespace, resource) =>
      read(stayingKinds, ['demandsOf', namespace, resource], () => demandsOf(scope, namespace, resource)),
    fileHeader: () => readList(headerKinds, ['fileHeader'], () => fileHeader(scope)),
    volumeClaim: (namespace, name) =>
      read(['PersistentVolumeClaim'], ['volumeClaim', namespace, name], () =>
        factsNamed(scope, ['/PersistentVolumeClaim'], namespace, name, 'volume'),
      ),
    volume: (name) =>
      read(['PersistentVolume'], ['volume', name], () =>
        factsNamed(scope, ['/PersistentVolume'], null, name, 'volume'),
      ),
    podOverhead: (name) =>
      read(['RuntimeClass'], ['podOverhead', name], () =>
        factsNamed(scope, ['node.k8s.io/RuntimeClass'], null, name, 'overhead'),
      ),
    servicesOf: (namespace, labels) =>
      read(['Service'], ['servicesOf', namespace, JSON.stringify(labels)], () => servicesOf(scope, namespace, labels)),
    servicesLabeled: (namespace, labels) =>
      read(['Service'], ['servicesLabeled', namespace, JSON.stringify(labels)], () =>
        servicesLabeled(scope, namespace, labels),
      ),
    service: (namespace, name) =>
      read(['Service'], ['service', namespace, name], () =>
        factsNamed(scope, ['/Service'], namespace, name, 'service'),
      ),
    servicesLike: (namespace, name) =>
      read(['Service'], ['servicesLike', namespace, name], () => servicesLike(scope, namespace, name)),
    serviceElsewhere: (namespace, name) =>
      read([...dependenciesOf({ kinds: ['/Service'] }), kustomizationKind], ['serviceElsewhere', namespace, name], () =>
        serviceElsewhere(scope, namespace, name),
      ),
    labeledElsewhere: (what, namespace, labels) =>
      read(
        [...(what === 'service' ? ['Service'] : ['Deployment', 'StatefulSet']), kustomizationKind],
        ['labeledElsewhere', what, namespace, JSON.stringify(labels)],
        () => labeledElsewhere(scope, what, namespace, labels),
      ),
    accountCloud: (namespace, name) =>
      read(['ServiceAccount'], ['accountCloud', namespace, name], () =>
        factsNamed(scope, ['/ServiceAccount'], namespace, name, 'account'),
      )?.facts ?? null,
    mayBePatch: () => read(setterKinds, ['mayBePatch'], () => mayBePatch(scope)),
    dangling: (manifest) =>
      projectReferences(manifest).flatMap((found) =>
        dangling(
          found,
          read(dependenciesOf(found), ['dangling', ...found.kinds, found.namespace, found.name], () =>
            likelyTargets(scope, found),
          ),
          read(
            [...dependenciesOf(found), kustomizationKind],
            ['elsewhere', ...found.kinds, found.namespace, found.name],
            () => otherNamespace(scope, found),
          ),
        ),
      ),
    flavorsOf: (namespace, name) =>
      read(['LocalQueue', 'ClusterQueue', 'ResourceFlavor'], ['flavorsOf', namespace, name], () =>
        flavorsOf(scope, namespace, name),
      ),
    deviceSharing: (config, isShared) =>
      readOne(sharingKinds, ['deviceSharing', config, isShared ? 'shared' : ''], () =>
        deviceSharing(scope, config, isShared),
      ),
    modelConfig: (name) => readOne(modelConfigKinds, ['modelConfig', name], () => modelInFolder(scope, name)),
    livePools: (wanted) =>
      readLive(
        () => JSON.stringify(['livePools', wanted]),
        () => livePools(workspace.cluster, wanted),
      ),
    liveOffers: () =>
      readLive(
        () => 'liveOffers',
        () => liveOffers(workspace.cluster),
      ),
    liveValues: (key) =>
      readLive(
        () => `liveValues ${key}`,
        () => liveValues(workspace.cluster, key),
      ),
    overlaysAddAccelerators: (group, kind, name) =>
      read(overlayKinds(kind), ['overlaysAddAccelerators', group, kind, name], () =>
        overlaysAddAccelerators(scope, group, kind, name),
      ),
    knowsPools: () => hasHad(poolKinds),
    cloudOfPools: () => readOne(poolKinds, ['cloudOfPools'], () => cloudOfPools(workspace)),
    poolsFor: (...asked) =>
      hasHad(poolKinds)
        ? read(poolKinds, ['poolsFor', JSON.stringify(asked)], () => poolsFor(scope, ...asked))
        : undefined,
    landingOf: (...asked) =>
      hasHad(poolKinds)
        ? read(poolKinds, ['landingOf', JSON.stringify(asked)], () => landingOf(scope, ...asked))
        : undefined,
  };
  const askFit = (question: FitQuestion) =>
    read(clusterKinds, ['fit', JSON.stringify(question)], () => {
      const answer = workspace.cluster?.answer(question);
      if (answer === undefined) return undefined;
      // The time alone changes nothing.
      const { asOf: _asOf, ...facts } = answer;
      return facts;
    });
  return {
    crossReferences,
    isConnected,
    askFit,
    config: recorder.lookUpFile('config', () => context().config),
    relatedFiles: lazy(() => recorder.lookUpFile('relatedFiles', () => context().relatedFiles)),
    reads,
  };
}

/** Adds the time, which is no part of the recorded answer: it changes with each pod of the cluster, and the facts do not. */
function asOfNow<T>({ cluster }: Workspace, facts: T | undefined): (T & { readonly asOf: number }) | undefined {
  return facts === undefined ? undefined : { ...facts, asOf: cluster?.view.asOf ?? 0 };
}

// Kinds that few projects have, each list as one object: see `hasHad`.
const clusterKinds: readonly string[] = [clusterKind];
const headerKinds: readonly string[] = [headerKind];
const limitKinds: readonly string[] = ['LimitRange'];
const modelConfigKinds: readonly string[] = [modelConfigKind];
const quotaKinds: readonly string[] = ['ResourceQuota'];
const sharingKinds: readonly string[] = [sharingKind];

/** What decides about the pods of a scaled object: also the variables with the bounds of scalers in Terraform. */
const scalingKinds: readonly string[] = [...replicaKinds, ...terraformKinds];

const llmConfig = 'serving.kserve.io/LLMInferenceServiceConfig';
/** The namespace that KServe is installed in, where its shipped configs are. */
const kserveNamespace = 'kserve';

/** Kinds that keep pods running and have facts as workloads. */
const stayingKinds: readonly string[] = ['Deployment', 'StatefulSet', 'InferenceService'];

function demandsOf(scope: Scope, namespace: string | null, resource: string): readonly Demand[] {
  return stayingKinds
    .flatMap((kind) => inNamespace(scope, kind, namespace))
    .filter(({ key }) => key === scope.key)
    .sort((a, b) => a.object.span.start - b.object.span.start)
    .flatMap(({ object }) => {
      const count = factsAs(object, 'workload')?.demand[resource] ?? 0;
      return count > 0 ? [{ kind: object.kind, name: object.name, count }] : [];
    });
}

function fileHeader(scope: Scope): readonly string[] {
  const found = scope.workspace.objects(headerKind, anyObject, '').above(scope);
  return found.filter(({ key }) => key === scope.key).flatMap(({ object }) => factsAs(object, 'header') ?? []);
}
