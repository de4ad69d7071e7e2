import type { DocumentAnalysis, FileAnalysis } from '../../server/src/analysis.ts';
import * as annotations from './annotations.ts';
import * as cluster from './cluster.ts';
import * as configs from './configs.ts';
import * as containers from './containers.ts';
import * as devices from './devices.ts';
import * as images from './images.ts';
import * as others from './others.ts';
import * as placement from './placement.ts';
import * as requests from './requests.ts';
import * as scalers from './scalers.ts';
import * as scaling from './scaling.ts';
import type { Mutation } from './steps.ts';
import * as training from './training.ts';

/** Every way to make one rule's mistake in a document that is clean of it. */
export type Mutator = (analysis: DocumentAnalysis, file: FileAnalysis) => readonly Mutation[];

/** By rule id. A rule without an entry here, and without a reason in `exempt`, fails a test. */
export const mutators: Readonly<Record<string, Mutator>> = {
  'autoscaling-annotation': scaling.autoscalingAnnotation,
  'checkpoint-ephemeral': training.checkpointEphemeral,
  'checkpoint-interval': training.checkpointInterval,
  'checkpoint-never': training.checkpointNever,
  'container-name': scaling.containerName,
  'cpu-metric-for-gpu': others.cpuMetric,
  'cpu-pod-on-gpu-node': training.cpuPodOnGpuNode,
  'floor-over-ceiling': scaling.floorOverCeiling,
  'gpu-limits-required': requests.limitsRequired,
  'gpu-misplaced': requests.misplaced,
  'gpu-quantity-empty': requests.quantityEmpty,
  'gpu-quantity-whole': requests.quantityWhole,
  'gpu-requests-equal-limits': requests.requestsEqualLimits,
  'gpu-resource-name': requests.resourceName,
  'gpus-exceed-node': requests.exceedsNode,
  'idle-gpu-container': requests.idleContainer,
  'image-not-pinned': requests.imageNotPinned,
  'instance-without-gpu': placement.instanceWithoutGpu,
  'keda-idle-replicas': scaling.kedaIdleReplicas,
  'kubernetes-version': cluster.kubernetesVersion,
  'lws-restart-policy': scaling.lwsRestartPolicy,
  'mig-geometry': configs.migGeometry,
  'mig-profile-not-on-gpu': placement.migNotOnGpu,
  'mig-profile-unknown': placement.migUnknown,
  'mig-resource-spelling': placement.migSpelling,
  'mig-strategy-mismatch': cluster.migStrategy,
  'min-available': scaling.minAvailable,
  'mixed-accelerators': requests.mixed,
  'node-pool-unlimited': placement.poolUnlimited,
  'node-pool-untainted': placement.poolUntainted,
  'nproc-per-node': training.nprocPerNode,
  'queue-coverage': others.queueCoverage,
  'ray-autoscaling-off': scaling.rayAutoscalingOff,
  'rayjob-left-running': scaling.rayJobLeftRunning,
  'reference-not-found': others.slipInName,
  'resume-disabled': training.resumeDisabled,
  'scale-to-zero-candidate': (analysis, file) => [
    ...scaling.scaleToZeroCandidate(analysis),
    ...others.scaledObjectAtOne(analysis, file),
  ],
  'scale-to-zero-ineffective': (analysis, file) => [
    ...scaling.scaleToZeroIneffective(analysis),
    ...others.scaledObjectBesideHpa(analysis, file),
  ],
  'selector-conflict': placement.selectorConflict,
  'selector-value': placement.selectorValue,
  'sharing-config': configs.sharingConfig,
  'shm-missing': training.shmMissing,
  'spot-candidate': training.spotCandidate,
  'spot-grace-period': training.spotGracePeriod,
  'spot-no-retry': training.spotNoRetry,
  'spot-selector-toleration': training.spotSelectorToleration,
  'spot-serving': placement.spotServing,
  'spot-without-checkpoint': (analysis) => [
    ...placement.spotWithoutCheckpoint(analysis),
    ...training.spotLosesClaim(analysis),
  ],
  'toleration-invalid': requests.invalidTolerations,
  'toleration-key': requests.tolerationKey,
  'toleration-missing': (analysis, file) => [
    ...requests.tolerationMissing(analysis),
    ...others.poolNotTolerated(analysis, file),
  ],
  'whole-gpu-underused': requests.underused,
  'world-size': training.worldSize,
  'yaml-syntax': scaling.yamlSyntax,
  'dra-shape': devices.draShape,
  'tensor-parallel-mismatch': devices.tensorParallel,
  'privileged-gpu': containers.privilegedGpu,
  'visible-devices-bypass': containers.visibleDevices,
  'nccl-disabled': containers.ncclDisabled,
  'cpu-starved-accelerators': containers.cpuStarved,
  'value-not-string': containers.valueNotString,
  'keda-field-name': scalers.kedaFieldName,
  'keda-trigger-zero': scalers.kedaTriggerZero,
  'hpa-min-zero': scalers.hpaMinZero,
  'rollout-surge': scalers.rolloutSurge,
  'ray-head-gpu': scalers.rayHeadGpu,
  'launcher-gpu': scalers.launcherGpu,
  'command-single-string': images.commandSingleString,
  'cpu-image-with-gpu': images.cpuImage,
  'cuda-too-old': images.cudaTooOld,
  'disruption-annotation': annotations.disruptionAnnotation,
  'efa-impossible': images.efaImpossible,
  'fraction-annotations': annotations.fractionAnnotations,
  'image-invalid': images.imageInvalid,
  'mig-many-slices': images.migManySlices,
  'shared-request-many': images.sharedMany,
  'surge-both-zero': annotations.surgeBothZero,
  'trainjob-reserved-env': annotations.trainJobReservedEnv,
};

/** Rules without a mutator, each with the reason. */
export const exempt: Readonly<Record<string, string>> = {};
