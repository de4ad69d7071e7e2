import type { NamedModel } from '../catalog/index.ts';
import type { OwnPrices } from '../cost/custom-prices.ts';
import { estimateCost, gpusOf } from '../cost/estimate.ts';
import { clusterPlace } from '../evidence/cluster-places.ts';
import { poolsOf } from '../evidence/gpu-pools.ts';
import { isLatencyCritical } from '../evidence/latency.ts';
import { listenerOf } from '../evidence/listening-port.ts';
import { type Machines, poolsWithTemplates, templateMachines } from '../evidence/machine-templates.ts';
import { egressOf } from '../evidence/policy-egress.ts';
import { nodeClassDisk } from '../evidence/pool-disks.ts';
import type { TerraformBlock, TerraformRegion } from '../evidence/terraform-pools.ts';
import type { TerraformStatements } from '../evidence/terraform-values.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { claimedDevices } from '../model/claims.ts';
import { cloudOfAnnotations } from '../model/cloud-signs.ts';
import { smallFiles } from '../model/config-env.ts';
import type {
  BudgetFacts,
  DeviceSharing,
  FlavorFacts,
  QueueFacts,
  ScalerFacts,
  ServiceFacts,
  VolumeClaimFacts,
} from '../model/cross-references.ts';
import { type DataKeys, dataKeys } from '../model/data-keys.ts';
import { profilePods } from '../model/kinds/hardware-profile.ts';
import { poolOfFields } from '../model/kinds/object-kinds.ts';
import { platformSteps } from '../model/kinds/pipeline-platform.ts';
import { lowerManifest } from '../model/lower.ts';
import { groupOf } from '../model/manifest.ts';
import type { NodePool } from '../model/node-pool.ts';
import type { PoolDisk } from '../model/node-terms.ts';
import type { ModelOptions } from '../model/options.ts';
import type { LimitFacts, QuotaFacts, RuntimeClassFacts } from '../model/referenced.ts';
import type {
  LlmConfigFacts,
  PodsFacts,
  ReferencedDevice,
  StepFacts,
  TrainingFacts,
} from '../model/referenced-pods.ts';
import { oneReplica } from '../model/scaled.ts';
import { machineAutoscaler, type PoolSize, scalerOf } from '../model/scalers.ts';
import type { Manifest } from '../model/workload.ts';
import type { WorkloadFacts } from '../model/workload-facts.ts';
import {
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  keyOf,
} from '../yaml/cursor.ts';
import { type Table, tableOf } from '../yaml/table.ts';
import {
  containerFacts,
  demandOf,
  largestQuotas,
  limitFacts,
  nimClaimFacts,
  podLabels,
  portNames,
  quotaFacts,
  serviceFacts,
  volumeClaimFacts,
  writtenReplicas,
} from './namespace-facts.ts';
import type { OverlayFacts } from './overlay-facts.ts';
import { flavorTaints, isClosed, queueCapacity, quotasOfDevices } from './queue-facts.ts';
import { llmFacts, seenDevice, servingFacts, trainingFacts } from './runtime-facts.ts';
import { stepFacts } from './step-facts.ts';
import type { TerraformManifest } from './terraform-manifests.ts';

/** The facts about an object for the objects that reference it, by purpose. */
export type Facts =
  | { readonly type: 'pods'; readonly facts: PodsFacts }
  | { readonly type: 'llm'; readonly facts: LlmConfigFacts }
  | { readonly type: 'training'; readonly facts: TrainingFacts }
  | { readonly type: 'steps'; readonly facts: StepFacts }
  | { readonly type: 'devices'; readonly facts: readonly ReferencedDevice[] }
  | { readonly type: 'files'; readonly facts: Table<string>; readonly keys: DataKeys | null }
  | { readonly type: 'keys'; readonly keys: DataKeys | null }
  | {
      readonly type: 'scaler';
      readonly target: { readonly group: string | null; readonly kind: string; readonly name: string };
      readonly facts: ScalerFacts;
    }
  | { readonly type: 'localQueue'; readonly clusterQueue: string }
  | { readonly type: 'budget'; readonly facts: BudgetFacts }
  /** A NetworkPolicy that admits DNS for the pods with these labels; null: unknown. */
  | { readonly type: 'names'; readonly facts: { readonly selects: Table<string> | null } }
  | { readonly type: 'queue'; readonly facts: QueueFacts }
  | { readonly type: 'flavor'; readonly facts: Pick<FlavorFacts, 'taints'> & { readonly labels: Table<string> } }
  | { readonly type: 'gang'; readonly facts: number }
  | { readonly type: 'capacity'; readonly facts: Table<number> }
  | { readonly type: 'pools'; readonly facts: readonly NodePool[] }
  | { readonly type: 'disk'; readonly facts: PoolDisk }
  | { readonly type: 'poolSize'; readonly facts: PoolSize }
  | { readonly type: 'machines'; readonly facts: Machines }
  | { readonly type: 'terraform'; readonly facts: TerraformBlock }
  /** Objects in a file of Terraform, among which are pools that the values of its folder complete. */
  | { readonly type: 'poolTemplate'; readonly facts: TerraformManifest }
  | { readonly type: 'regions'; readonly facts: readonly TerraformRegion[] }
  | { readonly type: 'values'; readonly facts: TerraformStatements }
  | { readonly type: 'model'; readonly facts: NamedModel }
  | { readonly type: 'sharing'; readonly facts: readonly DeviceSharing[] }
  | { readonly type: 'overlay'; readonly facts: OverlayFacts }
  /** A part of an object, with accelerators. */
  | { readonly type: 'patch' }
  | { readonly type: 'header'; readonly facts: readonly string[] }
  | { readonly type: 'limits'; readonly facts: LimitFacts }
  | { readonly type: 'quota'; readonly facts: QuotaFacts }
  | { readonly type: 'volume'; readonly facts: VolumeClaimFacts }
  | { readonly type: 'service'; readonly facts: ServiceFacts }
  | { readonly type: 'account'; readonly facts: string | null }
  | { readonly type: 'runtimeClass'; readonly facts: RuntimeClassFacts }
  | { readonly type: 'workload'; readonly facts: WorkloadFacts };

/** The config of a project's nodes and prices. */
export type FactsOptions = ModelOptions & { readonly prices?: OwnPrices };

/** What other documents may ask about an object; null for kinds without facts. */
export function factsOf(manifest: Manifest, options: FactsOptions): Facts | null {
  const { root, kind } = manifest;
  const spec = getIn(root, 'spec');
  switch (`${groupOf(manifest.apiVersion)}/${kind}`) {
    case 'serving.kserve.io/ServingRuntime':
    case 'serving.kserve.io/ClusterServingRuntime':
      return servingFacts(manifest);
    case 'serving.kserve.io/LLMInferenceServiceConfig':
      return { type: 'llm', facts: llmFacts(manifest) };
    case 'infrastructure.opendatahub.io/HardwareProfile':
      return { type: 'pods', facts: profilePods(spec) };
    case 'trainer.kubeflow.org/TrainingRuntime':
    case 'trainer.kubeflow.org/ClusterTrainingRuntime':
      return trainingFacts(manifest);
    case 'argoproj.io/WorkflowTemplate':
    case 'argoproj.io/ClusterWorkflowTemplate':
    case 'tekton.dev/Task':
    case 'tekton.dev/ClusterTask':
    case 'tekton.dev/Pipeline':
      return { type: 'steps', facts: stepFacts(manifest) };
    case 'kubeflow-pipelines/PlatformSpec':
      return { type: 'steps', facts: platformSteps(root) };
    case 'resource.k8s.io/ResourceClaim':
      return { type: 'devices', facts: claimedDevices(spec).map(seenDevice) };
    case 'resource.k8s.io/ResourceClaimTemplate':
      return { type: 'devices', facts: claimedDevices(getIn(spec, 'spec')).map(seenDevice) };
    case '/ConfigMap':
      return { type: 'files', facts: smallFiles(root), keys: dataKeys(root) };
    case '/Secret':
      return { type: 'keys', keys: dataKeys(root) };
    case 'keda.sh/ScaledObject':
    case 'http.keda.sh/HTTPScaledObject':
    case 'autoscaling/HorizontalPodAutoscaler':
    case 'autoscaling.aibrix.ai/PodAutoscaler': {
      const scaler = scalerOf(manifest);
      return scaler && { type: 'scaler', ...scaler };
    }
    case 'argoproj.io/Rollout': {
      const scaler = scalerOf(manifest);
      return scaler ? { type: 'scaler', ...scaler } : workloadFacts(manifest, options);
    }
    case 'kueue.x-k8s.io/LocalQueue': {
      const clusterQueue = getIn(spec, 'clusterQueue');
      if (clusterQueue === undefined || isTemplated(clusterQueue)) return null;
      return { type: 'localQueue', clusterQueue: asText(clusterQueue) ?? '' };
    }
    case 'kueue.x-k8s.io/ClusterQueue':
      return { type: 'queue', facts: queueFacts(spec) };
    case 'kueue.x-k8s.io/ResourceFlavor':
      return {
        type: 'flavor',
        facts: { labels: writtenStrings(getIn(spec, 'nodeLabels')), taints: flavorTaints(spec) },
      };
    case 'scheduling.volcano.sh/Queue':
    case 'scheduling.run.ai/Queue':
      return { type: 'capacity', facts: queueCapacity(spec) };
    case '/LimitRange':
      return { type: 'limits', facts: limitFacts(root) };
    case '/ResourceQuota':
      return { type: 'quota', facts: quotaFacts(spec) };
    case '/PersistentVolumeClaim':
      return { type: 'volume', facts: volumeClaimFacts(spec, getIn(spec, 'resources', 'requests', 'storage')) };
    case 'apps.nvidia.com/NIMCache':
      return { type: 'volume', facts: nimClaimFacts(getIn(spec, 'storage', 'pvc')) };
    case '/PersistentVolume':
      return { type: 'volume', facts: volumeClaimFacts(spec, getIn(spec, 'capacity', 'storage')) };
    case '/Service':
      return { type: 'service', facts: serviceFacts(root) };
    case '/ServiceAccount':
      return { type: 'account', facts: cloudOfAnnotations(root) };
    case 'node.k8s.io/RuntimeClass':
      return {
        type: 'runtimeClass',
        facts: {
          overhead: writtenStrings(getIn(root, 'overhead', 'podFixed')),
          nodeSelector: writtenStrings(getIn(root, 'scheduling', 'nodeSelector')),
          tolerates: getIn(root, 'scheduling', 'tolerations') !== undefined,
        },
      };
    case 'networking.k8s.io/NetworkPolicy': {
      const egress = egressOf(spec);
      return egress?.admitsNames === true ? { type: 'names', facts: { selects: egress.selects } } : null;
    }
    case 'policy/PodDisruptionBudget':
      return { type: 'budget', facts: budgetFacts(spec) };
    case 'karpenter.sh/NodePool':
    case 'karpenter.sh/Provisioner':
    case 'eksctl.io/ClusterConfig':
    case 'cloud.google.com/ComputeClass':
    case 'pulumi.com/Project':
    case 'cloudformation/CloudFormationTemplate':
    case 'k0rdent.mirantis.com/ClusterDeployment':
      return { type: 'pools', facts: poolsOf(manifest) };
    case 'cluster.x-k8s.io/MachineDeployment':
    case 'provisioning.cattle.io/Cluster':
      return { type: 'pools', facts: (poolsWithTemplates(manifest) ?? []).map(({ pool }) => pool) };
    case 'infrastructure.cluster.x-k8s.io/AWSMachineTemplate':
    case 'infrastructure.cluster.x-k8s.io/AzureMachineTemplate':
    case 'infrastructure.cluster.x-k8s.io/GCPMachineTemplate':
    case 'infrastructure.cluster.x-k8s.io/OCIMachineTemplate':
    case 'rke-machine-config.cattle.io/Amazonec2Config':
    case 'rke-machine-config.cattle.io/AzureConfig':
    case 'rke-machine-config.cattle.io/GoogleConfig': {
      const machines = templateMachines(manifest);
      return machines && { type: 'machines', facts: machines };
    }
    case 'autoscaling.openshift.io/MachineAutoscaler': {
      const size = machineAutoscaler(spec);
      return size && { type: 'poolSize', facts: size };
    }
    case 'karpenter.k8s.aws/EC2NodeClass':
    case 'karpenter.azure.com/AKSNodeClass':
    case 'eks.amazonaws.com/NodeClass': {
      const disk = nodeClassDisk(manifest);
      return disk && { type: 'disk', facts: disk };
    }
    default:
      if (poolOfFields(groupOf(manifest.apiVersion), kind)) return { type: 'pools', facts: poolsOf(manifest) };
      return placeFacts(manifest) ?? workloadFacts(manifest, options);
  }
}

function placeFacts(manifest: Manifest): Facts | null {
  const facts = clusterPlace(manifest);
  return facts && { type: 'regions', facts };
}

/** https://kubernetes.io/docs/tasks/run-application/configure-pdb/ */
function budgetFacts(spec: Cursor | undefined): BudgetFacts {
  const selector = getIn(spec, 'selector');
  const labels = entries(getIn(selector, 'matchLabels'));
  const plain =
    !isIncomplete(selector) && getIn(selector, 'matchExpressions') === undefined && !labels.some(isTemplated);
  const amount = (key: string) => {
    const value = getIn(spec, key);
    return value === undefined ? null : (asText(value) ?? null);
  };
  return {
    minAvailable: amount('minAvailable'),
    maxUnavailable: amount('maxUnavailable'),
    selects:
      plain && labels.length > 0
        ? tableOf(labels.map((label): [string, string] => [keyOf(label), asText(label) ?? '']))
        : null,
  };
}

function queueFacts(spec: Cursor | undefined): QueueFacts {
  const groups = getIn(spec, 'resourceGroups');
  const covered = items(groups).map((group) => getIn(group, 'coveredResources'));
  const unknown = isUnseen(spec) || isUnseen(groups) || covered.some(isUnseen);
  const names = covered.flatMap(items);
  const open = items(groups).flatMap((group) =>
    items(getIn(group, 'flavors')).filter((flavor) => !isClosed(flavor, spec)),
  );
  const namesOf = (flavors: readonly Cursor[]) => flavors.flatMap((flavor) => asText(getIn(flavor, 'name')) ?? []);
  const offered = {
    flavors: namesOf(open),
    deviceFlavors: namesOf(open.filter((flavor) => quotasOfDevices(flavor).length > 0)),
  };
  if (unknown || names.some(isTemplated)) return { resources: null, ...offered, largest: tableOf<number>([]) };
  return { resources: names.flatMap((name) => asText(name) ?? []), ...offered, largest: largestQuotas(spec) };
}

function writtenStrings(map: Cursor | undefined): Table<string> {
  return tableOf(entries(map).flatMap((entry) => (isTemplated(entry) ? [] : [[keyOf(entry), asText(entry) ?? '']])));
}

function workloadFacts(manifest: Manifest, options: FactsOptions): Facts | null {
  const workload = lowerManifest(manifest, options);
  if (workload?.partial === true && namesAccelerators(workload)) return { type: 'patch' };
  if (workload === undefined || workload.partial || workload.role === 'definition') return null;
  const facts = {
    role: workload.role,
    latencyCritical: isLatencyCritical(workload),
    containers: containerFacts(workload.podSets),
    demand: demandOf(workload),
    labels: podLabels(workload.podSets),
    server: listenerOf(workload),
    replicas: writtenReplicas(manifest),
    portNames: portNames(workload.podSets),
  };
  const replica = oneReplica(workload);
  // The number of pods per replica is unknown.
  if (replica === null) return { type: 'workload', facts: { ...facts, devices: null, hourly: null, price: null } };
  const { cost } = estimateCost(replica, options.prices);
  const idle = namesAccelerators(replica) ? (cost?.idleHourly ?? null) : 0;
  return {
    type: 'workload',
    facts: { ...facts, devices: gpusOf(replica).min, hourly: idle, price: cost?.hourly ?? null },
  };
}
