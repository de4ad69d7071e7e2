import { providerName } from '../catalog/index.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { grantedSeconds, platformOf } from '../model/platform.ts';
import { fix } from '../rewrite/fix.ts';
import { asNumber, getIn, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A grace period longer than a spot node allows.
 *
 * ## Why
 *
 * When a spot node is reclaimed, its pods get only what remains of the notice: 15 seconds on GKE (the default for non-critical pods), 120
 * on AWS and 30 on Azure. A longer `terminationGracePeriodSeconds` cannot be honored: a checkpoint that takes longer is cut off half-written.
 * Save checkpoints throughout the run instead of at its end.
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
 * Unsafe: the period also applies when a pod is deleted for other reasons, and GKE nodes can be configured to grant up to 120 seconds.
 *
 * ## When it is silent
 *
 * Outside spot capacity, and if the platform is unknown.
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
    // The notice depends on the provider alone, so a likely platform is enough.
    const platform = platformOf(podSet, context.options);
    const granted = platform && grantedSeconds(platform);
    const written = getIn(pod, 'terminationGracePeriodSeconds');
    const seconds = asNumber(written);
    if (platform === undefined || granted === undefined || written === undefined || seconds === undefined) return;
    // GKE nodes can be configured to grant up to 120 seconds.
    if (seconds <= (platform.facts.provider === 'gcp' ? 120 : granted)) return;
    context.report({
      message: `terminationGracePeriodSeconds is ${seconds}, but ${providerName(platform.facts.provider ?? '')} spot nodes allow ${granted} s: shutdown is cut short`,
      span: spanOf(written),
      fixes: () => {
        const edits = replaceScalar(context.document, written, granted);
        return [fix(`Set terminationGracePeriodSeconds to ${granted}`, 'unsafe', edits)];
      },
    });
  },
});
