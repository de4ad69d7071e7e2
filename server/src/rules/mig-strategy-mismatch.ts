import { migByResource } from '../catalog/index.ts';
import type { LiveOffers } from '../model/cross-references.ts';
import { clusterWords } from '../model/nodes-of-others.ts';
import type { AcceleratorRequest, PodSet, Selector } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { renameQuantities, writtenQuantities } from '../rewrite/quantities.ts';
import { isTemplated, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A pod requests a MIG slice in a way that the nodes do not offer.
 *
 * ## Why
 *
 * NVIDIA's device plugin offers slices in one of two ways. With the strategy `mixed`, each profile is its own resource, such as
 * `nvidia.com/mig-1g.10gb`. With `single`, all GPUs of a node are partitioned alike, each slice is one `nvidia.com/gpu`, and the node label
 * `nvidia.com/gpu.product` ends in `-MIG-1g.10gb`. A pod that mixes the two, or uses the one that the cluster does not, stays Pending. So does a
 * pod that selects nodes by the label `nvidia.com/mig.config` and requests slices that this configuration does not make.
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
 * `migStrategy` in `.gpulint.yaml` sets the strategy of the cluster:
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
 * Unsafe: the new resource name does not contain the size of the slice. No fix changes a label.
 *
 * ## When it is silent
 *
 * If a template sets the label, for definitions and infrastructure, and for profiles that no GPU has (mig-profile-unknown).
 *
 * ## Sources
 *
 * - [NVIDIA/k8s-device-plugin: MIG strategies](https://github.com/NVIDIA/k8s-device-plugin#configuration-option-details)
 * - [NVIDIA/mig-parted: the configurations of the GPU operator](https://github.com/NVIDIA/mig-parted/blob/main/deployments/gpu-operator/nvidia-mig-manager-example.yaml)
 * - [NVIDIA/k8s-device-plugin: labels of GPU feature discovery](https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery)
 */
export default defineRule({
  topic: 'mig',
  severity: 'warning',
  podSet(podSet, context) {
    const { options, workload, report } = context;
    if (workload.role === 'definition' || workload.role === 'infrastructure') return;
    checkConfig(podSet, context);
    const selector = podSet.selectors.find(selectsSlices);
    if (selector !== undefined && options.migStrategy !== null && options.migStrategy !== 'single') {
      report({
        message: `No node has gpu.product ${shorten(selector.values[0]?.value ?? '')} with migStrategy ${options.migStrategy}: the pod stays Pending`,
        span: spanOf(selector.values[0]?.at ?? selector.at),
      });
      return;
    }
    for (const container of podSet.containers) {
      for (const accelerator of container.accelerators) {
        const { resource, form } = accelerator;
        const written = writtenQuantities(accelerator)[0];
        if (form !== 'mig' || written === undefined || migByResource(resource).length === 0) continue;
        const live = context.crossReferences.liveOffers();
        // The cluster knows better than the config.
        if (live?.resources.includes(resource) === true) continue;
        const mismatch =
          live !== undefined
            ? notOffered(resource, live)
            : options.migStrategy === 'single' || options.migStrategy === 'none'
              ? `No node offers ${resource} with migStrategy ${options.migStrategy}`
              : selector === undefined
                ? undefined
                : `Nodes with the selected product label offer slices as nvidia.com/gpu, not as ${resource}`;
        if (mismatch === undefined) continue;
        report({
          message: `${mismatch}: the pod stays Pending`,
          span: keySpanOf(written.at),
          ...(live === undefined ? {} : { severity: 'info' }),
          fixes: () => (live !== undefined ? [] : [requestGpu(accelerator, context)]),
        });
      }
    }
  },
});

/** Compares the requested slices with those of the configuration whose nodes the pod selects, by the names of the GPU operator's own ones. */
function checkConfig({ selectors, containers }: PodSet, { report }: PodSetContext): void {
  const selector = selectors.find(({ key }) => key === 'nvidia.com/mig.config');
  const [config, ...others] = selector?.values ?? [];
  if (config === undefined || others.length > 0 || isTemplated(config.at)) return;
  const made = /^all-(?:disabled|(\d+g\.\d+gb)([.+]me)?)$/.exec(config.value);
  if (made === null) return;
  const [, profile, media] = made;
  const offered = profile === undefined ? undefined : `nvidia.com/mig-${profile}${media === undefined ? '' : '.me'}`;
  for (const { resource, form } of containers.flatMap(({ accelerators }) => accelerators)) {
    if (form !== 'mig' || resource === offered || migByResource(resource).length === 0) continue;
    report({
      message: `Nodes with mig.config ${config.value} have ${offered === undefined ? 'no slices' : `only ${offered}`}, but the pod requests ${resource}: it stays Pending`,
      span: spanOf(config.at),
    });
    return;
  }
}

/** Nodes of a pool that is empty now may offer it. */
function notOffered(resource: string, { cluster, asOf, resources }: LiveOffers): string {
  const slices = resources
    .filter((name) => name.startsWith('nvidia.com/mig-'))
    .map((name) => name.slice('nvidia.com/'.length));
  const others = slices.length === 0 ? '' : `, only ${slices.slice(0, 3).join(', ')}`;
  return `No node offers ${resource} (${clusterWords(cluster, asOf)})${others}`;
}

/** With `single`, a slice is named like a GPU; with `none`, there are no slices. */
function requestGpu(request: AcceleratorRequest, { document, options }: PodSetContext): Fix | undefined {
  if (options.migStrategy === 'none') return undefined;
  const edits = renameQuantities(document, request, 'nvidia.com/gpu');
  return fix(`Rename ${request.resource} to nvidia.com/gpu`, 'unsafe', edits);
}

/** Whether a selector names a product label of the single strategy, without templates. */
function selectsSlices({ key, values }: Selector): boolean {
  return (
    key === 'nvidia.com/gpu.product' &&
    values.length > 0 &&
    values.every(({ value, at }) => /-MIG-\d+g\.\d+gb/.test(value) && !(at.node.kind === 'scalar' && at.node.templated))
  );
}
