import type { CrossReferences } from '../model/cross-references.ts';
import { replicaKinds, scalerKinds } from '../model/scalers.ts';
import type { Asks } from './asks.ts';
import { claimKinds, claimUsers } from './claim-users.ts';
import {
  dangling,
  dependenciesOf,
  hasStrays,
  labeledElsewhere,
  labeledKinds,
  likelyTargets,
  mayBePatch,
  otherNamespace,
  projectReferences,
  serviceElsewhere,
  servicesLike,
  setterKinds,
} from './dangling.ts';
import { deviceSharing } from './device-sharing.ts';
import { fileHeader, stepsOf } from './file-lookups.ts';
import { gangKind, headerKind, kustomizationKind, sharingKind } from './kinds.ts';
import { cloudOfPools, landingOf, poolKinds, poolsFor } from './landing.ts';
import { liveOffers, livePools, liveValues } from './live-pools.ts';
import { modelConfigKind, modelInFolder } from './model-configs.ts';
import { factsAs, factsNamed, keysInFile, keysOf, referenced } from './named.ts';
import {
  budgetsOf,
  demandsOf,
  inNamespace,
  keptRunning,
  limitsClients,
  limitsIn,
  policyKinds,
  resolvesNames,
  servicesLabeled,
  servicesOf,
  stayingKinds,
} from './namespace-lookups.ts';
import { overlayKinds, overlaysAddAccelerators, overlaysSetImage } from './overlays.ts';
import { clusterQueueOf, flavorsOf, gangPods } from './queue-lookups.ts';
import { otherAutoscaler, scalersOf, targetNamed } from './scaler-lookups.ts';
import { terraformKinds } from './terraform-folders.ts';

/** What the lookups of one document have in common: where they start from, and what records them. */
interface Asked {
  readonly asks: Asks;
}

/** Facts from other documents, as the document of these lookups sees them. */
export function crossReferencesOf(asks: Asks): CrossReferences {
  const made: CrossReferences & { asks?: Asks } = Object.create(answers);
  made.asks = asks;
  return made;
}

/** Shared by all documents: a long file has thousands, and each of them would have fifty functions of its own. */
const answers: CrossReferences & ThisType<CrossReferences & Asked> = {
  servingRuntime(namespace, name) {
    return this.asks.readOne(runtimeKinds, ['servingRuntime', namespace, name], () =>
      factsNamed(
        this.asks.scope,
        ['serving.kserve.io/ServingRuntime', 'serving.kserve.io/ClusterServingRuntime'],
        namespace,
        name,
        'pods',
      ),
    );
  },
  hardwareProfile(namespace, name) {
    return this.asks.readOne(profileKinds, ['hardwareProfile', namespace, name], () =>
      factsNamed(this.asks.scope, ['infrastructure.opendatahub.io/HardwareProfile'], namespace, name, 'pods'),
    );
  },
  llmConfig(namespace, name) {
    return this.asks.readOne(llmConfigKinds, ['llmConfig', namespace, name], () => {
      const inNamespace = (where: string | null) => factsNamed(this.asks.scope, [llmConfig], where, name, 'llm');
      return inNamespace(namespace) ?? (namespace === kserveNamespace ? undefined : inNamespace(kserveNamespace));
    });
  },
  trainingRuntime(kind, namespace, name) {
    return this.asks.read([kind], ['trainingRuntime', kind, namespace, name], () =>
      factsNamed(this.asks.scope, [`trainer.kubeflow.org/${kind}`], namespace, name, 'training'),
    );
  },
  steps(kind, namespace, name) {
    return this.asks.read([kind.slice(kind.indexOf('/') + 1)], ['steps', kind, namespace, name], () =>
      stepsOf(this.asks.scope, kind, namespace, name),
    );
  },
  claim(kind, namespace, name) {
    return this.asks.read([kind], ['claim', kind, namespace, name], () =>
      factsNamed(this.asks.scope, [`resource.k8s.io/${kind}`], namespace, name, 'devices'),
    );
  },
  claimUsers(namespace, name) {
    return this.asks.read(claimKinds, ['claimUsers', namespace, name], () =>
      claimUsers(this.asks.scope, namespace, name),
    );
  },
  configMap(namespace, name) {
    return this.asks.readOne(configMapKinds, ['configMap', namespace, name], () =>
      factsNamed(this.asks.scope, ['/ConfigMap'], namespace, name, 'files'),
    );
  },
  keysOf(kind, namespace, name) {
    return this.asks.read([kind], ['keysOf', kind, namespace, name], () =>
      keysOf(this.asks.scope, kind, namespace, name),
    );
  },
  scalersOf(group, kind, namespace, name) {
    return this.asks.hasHad(replicaKinds)
      ? this.asks.read([...scalingKinds, kind], ['scalersOf', group, kind, namespace, name], () =>
          scalersOf(this.asks.scope, group, kind, namespace, name),
        )
      : [];
  },
  otherAutoscaler(kind, namespace, target, own) {
    return this.asks.read(['HorizontalPodAutoscaler'], ['otherAutoscaler', kind, namespace, target, own], () =>
      otherAutoscaler(this.asks.scope, kind, namespace, target, own),
    );
  },
  resolvesNames(namespace, labels) {
    return this.asks.read(policyKinds, ['resolvesNames', namespace, JSON.stringify(labels)], () =>
      resolvesNames(this.asks.scope, namespace, labels),
    );
  },
  limitsClients(namespace) {
    return this.asks.read(policyKinds, ['limitsClients', namespace], () => limitsClients(this.asks.scope, namespace));
  },
  budgetsOf(namespace, labels) {
    return this.asks.read(['PodDisruptionBudget'], ['budgetsOf', namespace, JSON.stringify(labels)], () =>
      budgetsOf(this.asks.scope, namespace, labels),
    );
  },
  keptRunning(namespace, labels) {
    return this.asks.read(['Deployment', 'StatefulSet'], ['keptRunning', namespace, JSON.stringify(labels)], () =>
      keptRunning(this.asks.scope, namespace, labels),
    );
  },
  workload(kind, namespace, name) {
    return this.asks.read([kind, 'InferenceService'], ['workload', kind, namespace, name], () =>
      targetNamed(this.asks.scope, kind, namespace, name),
    );
  },
  clusterQueueOf(namespace, name) {
    return this.asks.read(['LocalQueue', 'ClusterQueue'], ['clusterQueueOf', namespace, name], () =>
      clusterQueueOf(this.asks.scope, namespace, name),
    );
  },
  gangPods(namespace, group) {
    return this.asks.read([gangKind, ...scalerKinds], ['gangPods', namespace, group], () =>
      gangPods(this.asks.scope, namespace, group),
    );
  },
  keysInFile(name) {
    return this.asks.readOne(configMapKinds, ['keysInFile', name], () => keysInFile(this.asks.scope, name));
  },
  queueCapacity(group, name) {
    return this.asks.readOne(queueKinds, ['queueCapacity', group, name], () =>
      factsNamed(this.asks.scope, [`${group}/Queue`], null, name, 'capacity'),
    );
  },
  defaultsIn(namespace) {
    return this.asks.readList(limitKinds, ['defaultsIn', namespace], () =>
      inNamespace(this.asks.scope, 'LimitRange', namespace).flatMap(
        ({ object }) => factsAs(object, 'limits')?.names ?? [],
      ),
    );
  },
  limitsIn(namespace) {
    return this.asks.readList(limitKinds, ['limitsIn', namespace], () => limitsIn(this.asks.scope, namespace));
  },
  quotasIn(namespace) {
    return this.asks.readList(quotaKinds, ['quotasIn', namespace], () =>
      inNamespace(this.asks.scope, 'ResourceQuota', namespace).flatMap((found) => {
        const facts = factsAs(found.object, 'quota');
        return facts === null ? [] : [referenced(this.asks.scope, found, facts)];
      }),
    );
  },
  demandsOf(namespace, resource) {
    return this.asks.read(stayingKinds, ['demandsOf', namespace, resource], () =>
      demandsOf(this.asks.scope, namespace, resource),
    );
  },
  fileHeader() {
    return this.asks.readList(headerKinds, ['fileHeader'], () => fileHeader(this.asks.scope));
  },
  volumeClaim(namespace, name, of) {
    return this.asks.readOne(claimedKinds, ['volumeClaim', namespace, name, of ?? ''], () =>
      factsNamed(this.asks.scope, [of ?? '/PersistentVolumeClaim'], namespace, name, 'volume'),
    );
  },
  volume(name) {
    return this.asks.readOne(volumeKinds, ['volume', name], () =>
      factsNamed(this.asks.scope, ['/PersistentVolume'], null, name, 'volume'),
    );
  },
  runtimeClass(name) {
    return this.asks.readOne(runtimeClassKinds, ['runtimeClass', name], () =>
      factsNamed(this.asks.scope, ['node.k8s.io/RuntimeClass'], null, name, 'runtimeClass'),
    );
  },
  servicesOf(namespace, labels) {
    return this.asks.readList(serviceKinds, ['servicesOf', namespace, JSON.stringify(labels)], () =>
      servicesOf(this.asks.scope, namespace, labels),
    );
  },
  servicesLabeled(namespace, labels) {
    return this.asks.readList(serviceKinds, ['servicesLabeled', namespace, JSON.stringify(labels)], () =>
      servicesLabeled(this.asks.scope, namespace, labels),
    );
  },
  service(namespace, name) {
    return this.asks.readOne(serviceKinds, ['service', namespace, name], () =>
      factsNamed(this.asks.scope, ['/Service'], namespace, name, 'service'),
    );
  },
  servicesLike(namespace, name) {
    return this.asks.readList(serviceKinds, ['servicesLike', namespace, name], () =>
      servicesLike(this.asks.scope, namespace, name),
    );
  },
  serviceElsewhere(namespace, name) {
    const { scope } = this.asks;
    if (!this.asks.readOne(serviceKinds, ['strays', namespace], () => hasStrays(scope, namespace))) return undefined;
    return this.asks.read([...movedKinds, ...labeledKinds.workload], ['serviceElsewhere', namespace, name], () =>
      serviceElsewhere(scope, namespace, name),
    );
  },
  labeledElsewhere(what, namespace, labels) {
    return this.asks.read(
      [...labeledKinds[what], kustomizationKind],
      ['labeledElsewhere', what, namespace, JSON.stringify(labels)],
      () => labeledElsewhere(this.asks.scope, what, namespace, labels),
    );
  },
  accountCloud(namespace, name) {
    return (
      this.asks.readOne(accountKinds, ['accountCloud', namespace, name], () =>
        factsNamed(this.asks.scope, ['/ServiceAccount'], namespace, name, 'account'),
      )?.facts ?? null
    );
  },
  mayBePatch() {
    return this.asks.read(setterKinds, ['mayBePatch'], () => mayBePatch(this.asks.scope));
  },
  dangling(manifest) {
    return projectReferences(manifest).flatMap((found) => {
      const [kinds, named] = [dependenciesOf(found), [...found.kinds, found.namespace, found.name]];
      const near = this.asks.read(kinds, ['dangling', ...named], () => likelyTargets(this.asks.scope, found));
      const elsewhere = this.asks.read([...kinds, kustomizationKind], ['elsewhere', ...named], () =>
        otherNamespace(this.asks.scope, found),
      );
      return dangling(found, near, elsewhere);
    });
  },
  flavorsOf(namespace, name) {
    return this.asks.read(['LocalQueue', 'ClusterQueue', 'ResourceFlavor'], ['flavorsOf', namespace, name], () =>
      flavorsOf(this.asks.scope, namespace, name),
    );
  },
  deviceSharing(config, isShared) {
    return this.asks.readOne(sharingKinds, ['deviceSharing', config, isShared ? 'shared' : ''], () =>
      deviceSharing(this.asks.scope, config, isShared),
    );
  },
  modelConfig(name) {
    return this.asks.readOne(modelConfigKinds, ['modelConfig', name], () => modelInFolder(this.asks.scope, name));
  },
  livePools(wanted) {
    if (!this.asks.isConnected()) return undefined;
    return this.asks.readLive(
      () => JSON.stringify(['livePools', wanted]),
      () => livePools(this.asks.scope.workspace.cluster, wanted),
    );
  },
  liveOffers() {
    return this.asks.readLive(
      () => 'liveOffers',
      () => liveOffers(this.asks.scope.workspace.cluster),
    );
  },
  liveValues(key) {
    return this.asks.readLive(
      () => `liveValues ${key}`,
      () => liveValues(this.asks.scope.workspace.cluster, key),
    );
  },
  overlaysSetImage(name) {
    return this.asks.read([kustomizationKind], ['overlaysSetImage', name], () =>
      overlaysSetImage(this.asks.scope, name),
    );
  },
  overlaysAddAccelerators(group, kind, name) {
    return this.asks.read(overlayKinds(kind), ['overlaysAddAccelerators', group, kind, name], () =>
      overlaysAddAccelerators(this.asks.scope, group, kind, name),
    );
  },
  knowsPools() {
    return this.asks.hasHad(poolKinds);
  },
  cloudOfPools() {
    return this.asks.readOne(poolKinds, ['cloudOfPools'], () => cloudOfPools(this.asks.scope.workspace));
  },
  poolsFor(...asked) {
    return this.asks.hasHad(poolKinds)
      ? this.asks.read(poolKinds, ['poolsFor', JSON.stringify(asked)], () => poolsFor(this.asks.scope, ...asked))
      : undefined;
  },
  landingOf(...asked) {
    return this.asks.hasHad(poolKinds)
      ? this.asks.read(poolKinds, ['landingOf', JSON.stringify(asked)], () => landingOf(this.asks.scope, ...asked))
      : undefined;
  },
};

// Without an object of these kinds, lookups of them have a known result. Each list is one object: see `hasHad`.
const runtimeKinds: readonly string[] = ['ServingRuntime', 'ClusterServingRuntime'];
const profileKinds: readonly string[] = ['HardwareProfile'];
const llmConfigKinds: readonly string[] = ['LLMInferenceServiceConfig'];
const configMapKinds: readonly string[] = ['ConfigMap'];
const claimedKinds: readonly string[] = ['PersistentVolumeClaim', 'NIMCache'];
const volumeKinds: readonly string[] = ['PersistentVolume'];
const runtimeClassKinds: readonly string[] = ['RuntimeClass'];
const serviceKinds: readonly string[] = ['Service'];
/** What decides about a Service in another namespace. */
const movedKinds: readonly string[] = [...dependenciesOf({ kinds: ['/Service'] }), kustomizationKind];
const accountKinds: readonly string[] = ['ServiceAccount'];
const queueKinds: readonly string[] = ['Queue'];
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
