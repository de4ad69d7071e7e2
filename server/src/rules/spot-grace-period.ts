import { providerName } from '../catalog/index.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { type FoundPlatform, platformOf } from '../model/platform.ts';
import { fix } from '../rewrite/fix.ts';
import { asNumber, getIn, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A grace period that a spot node does not grant.
 *
 * ## Why
 *
 * When a spot node is taken back, its pods have only what is left of the notice: 15 seconds on GKE (its default for pods that are not
 * critical), 120 on AWS, 30 on Azure. A longer `terminationGracePeriodSeconds` promises time that is not there: a checkpoint that takes longer
 * is cut off half written. What takes longer must be saved all along.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: OnFailure
 *       terminationGracePeriodSeconds: 600
 *       nodeSelector:
 *         cloud.google.com/gke-spot: "true"
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: OnFailure
 *       terminationGracePeriodSeconds: 15
 *       nodeSelector:
 *         cloud.google.com/gke-spot: "true"
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the period also holds when a pod is deleted for other reasons, and GKE can be set up to grant up to 120 seconds.
 *
 * ## When it is silent
 *
 * Off spot, and where the platform is not known.
 *
 * ## Sources
 *
 * - [Google Kubernetes Engine: Spot VMs](https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms)
 * - [AWS: spot interruption notices](https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html)
 * - [Azure: Spot Virtual Machines](https://learn.microsoft.com/azure/virtual-machines/spot-vms)
 */
export default defineRule({
  topic: 'spot',
  severity: 'info',
  podSet(podSet, context) {
    const { pod, placement } = podSet;
    if (placement.capacity !== 'spot' || !requestsAccelerators(podSet)) return;
    // The notice is the provider's, which a likely platform tells as well.
    const platform = platformOf(podSet, context.options);
    const granted = platform && grantedSeconds(platform);
    const written = getIn(pod, 'terminationGracePeriodSeconds');
    const seconds = asNumber(written);
    if (platform === undefined || granted === undefined || written === undefined || seconds === undefined) return;
    // On GKE up to 120 seconds can be granted, by the node's configuration.
    if (seconds <= (platform.facts.provider === 'gcp' ? 120 : granted)) return;
    context.report({
      message: `A grace period of ${seconds} s, but spot nodes of ${providerName(platform.facts.provider ?? '')} give pods ${granted} s: the rest is cut off`,
      span: spanOf(written),
      fixes: () => {
        const edits = replaceScalar(context.document, written, granted);
        return [fix(`Set the grace period to ${granted} s`, 'unsafe', edits)];
      },
    });
  },
});

/** What pods have of the notice that a spot node is taken back; GKE keeps half of it for the system's. */
function grantedSeconds({ facts }: FoundPlatform): number | undefined {
  const notice = facts.spotNoticeSeconds ?? undefined;
  return facts.provider === 'gcp' && notice !== undefined ? notice / 2 : notice;
}
