import { isGpuLabel } from '../catalog/index.ts';
import { isExempt, knownRequests, requestSpan } from '../evidence/requested-accelerators.ts';
import { isIncomplete } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A pod on GKE Autopilot requests a GPU without naming a model.
 *
 * ## Why
 *
 * Autopilot creates nodes for pods, so it must know the GPU: its admission webhook rejects pods that request `nvidia.com/gpu` without the
 * selector `cloud.google.com/gke-accelerator` or a compute class that names one.
 *
 * ```yaml invalid
 * # .gpulint.yaml: {platform: gke-autopilot}
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:2.1
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * # .gpulint.yaml: {platform: gke-autopilot}
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   nodeSelector:
 *     cloud.google.com/gke-accelerator: nvidia-l4
 *   containers:
 *     - name: main
 *       image: registry.example/server:2.1
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * Unless `platform` in the config is `gke-autopilot`. For patches and definitions.
 *
 * ## Sources
 *
 * - [Google Kubernetes Engine: GPUs in Autopilot](https://cloud.google.com/kubernetes-engine/docs/how-to/autopilot-gpus)
 * - [GoogleCloudPlatform/ai-on-gke#983](https://github.com/GoogleCloudPlatform/ai-on-gke/pull/983)
 */
export default defineRule({
  topic: 'placement',
  severity: 'error',
  podSet(podSet, { workload, options, report }) {
    if (options.platform !== 'gke-autopilot' || workload.partial || isExempt(workload)) return;
    if (isIncomplete(podSet.pod)) return;
    const names = ({ key }: { readonly key: string }) => isGpuLabel(key) || key === 'cloud.google.com/compute-class';
    if (podSet.selectors.some(names)) return;
    for (const container of podSet.containers) {
      const requests = knownRequests(container).filter(({ resource }) => resource === 'nvidia.com/gpu');
      if (requests.length === 0) continue;
      report({
        message:
          'GKE Autopilot rejects the pod: a GPU request needs the selector cloud.google.com/gke-accelerator or a compute class',
        span: requestSpan(requests, container),
      });
      return;
    }
  },
});
