import { migByResource } from '../catalog/index.ts';
import type { AcceleratorRequest, Selector } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { renameQuantities, writtenQuantities } from '../rewrite/quantities.ts';
import { keySpanOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A MIG slice that is asked for in a way in which the nodes do not offer it.
 *
 * ## Why
 *
 * NVIDIA's device plugin offers slices in one of two ways. With the strategy `mixed` each profile is a resource of its own,
 * `nvidia.com/mig-1g.10gb`. With `single` all GPUs of a node are cut alike, a slice is one `nvidia.com/gpu`, and the node's label
 * `nvidia.com/gpu.product` ends in `-MIG-1g.10gb`. A pod that mixes the two, or that goes by the other way than the cluster, stays Pending.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   nodeSelector:
 *     nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3-MIG-1g.10gb
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:2.1
 *       resources:
 *         limits:
 *           nvidia.com/mig-1g.10gb: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   nodeSelector:
 *     nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3-MIG-1g.10gb
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:2.1
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * `migStrategy` in `.gpulint.yaml` says how the cluster's nodes offer slices:
 *
 * ```yaml invalid
 * # .gpulint.yaml: {migStrategy: single}
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:2.1
 *       resources:
 *         limits:
 *           nvidia.com/mig-1g.10gb: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: of which size the slice is, the name then tells no more. Labels are left to people.
 *
 * ## When it is silent
 *
 * Where a template decides, in objects of which only a part is here, and for profiles that no GPU has (mig-profile-unknown).
 *
 * ## Sources
 *
 * - [NVIDIA/k8s-device-plugin: MIG strategies](https://github.com/NVIDIA/k8s-device-plugin#configuration-option-details)
 * - [NVIDIA/k8s-device-plugin: labels of GPU feature discovery](https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery)
 */
export default defineRule({
  topic: 'mig',
  severity: 'warning',
  podSet(podSet, context) {
    const { options, workload, report } = context;
    if (workload.role === 'definition' || workload.role === 'infrastructure') return;
    const cut = podSet.selectors.find(selectsSlices);
    if (cut !== undefined && options.migStrategy !== null && options.migStrategy !== 'single') {
      report({
        message: `migStrategy is ${options.migStrategy}: no node has the label ${shorten(cut.values[0]?.value ?? '')}, and the pod stays Pending`,
        span: spanOf(cut.values[0]?.at ?? cut.at),
      });
      return;
    }
    for (const container of podSet.containers) {
      for (const accelerator of container.accelerators) {
        const { resource, form } = accelerator;
        const written = writtenQuantities(accelerator)[0];
        if (form !== 'mig' || written === undefined || migByResource(resource).length === 0) continue;
        const why =
          options.migStrategy === 'single' || options.migStrategy === 'none'
            ? `migStrategy is ${options.migStrategy}`
            : cut === undefined
              ? undefined
              : 'Nodes with this product label offer slices as nvidia.com/gpu';
        if (why === undefined) continue;
        report({
          message: `${why}: no node offers ${resource}, and the pod stays Pending`,
          span: keySpanOf(written.at),
          fixes: () => [asWhole(accelerator, context)],
        });
      }
    }
  },
});

/** Under `single` a slice goes by the name of a GPU; under `none` there are none. */
function asWhole(request: AcceleratorRequest, { document, options }: PodSetContext): Fix | undefined {
  if (options.migStrategy === 'none') return undefined;
  const edits = renameQuantities(document, request, 'nvidia.com/gpu');
  return fix('Ask for nvidia.com/gpu, as these nodes call a slice', 'unsafe', edits);
}

/** A product label of the single strategy, with nothing templated in it. */
function selectsSlices({ key, values }: Selector): boolean {
  return (
    key === 'nvidia.com/gpu.product' &&
    values.length > 0 &&
    values.every(({ value, at }) => /-MIG-\d+g\.\d+gb/.test(value) && !(at.node.kind === 'scalar' && at.node.templated))
  );
}
