import { type GpuModel, migByResource, migTable } from '../catalog/index.ts';
import { selectedModels } from '../evidence/selected-models.ts';
import { partitionSize } from '../model/shares.ts';
import type { AcceleratorRequest } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { renameQuantities, writtenQuantities } from '../rewrite/quantities.ts';
import { isUnseen, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container requests a MIG profile that the selected GPU does not support.
 *
 * ## Why
 *
 * Each GPU has its own profiles: an A100 with 40 GB has `1g.5gb`, an H100 has `1g.10gb`. If the selected GPU lacks the profile, no node
 * matches and the pod stays Pending.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   nodeSelector:
 *     nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:2.1
 *       resources:
 *         limits:
 *           nvidia.com/mig-1g.5gb: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   nodeSelector:
 *     nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
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
 * Unsafe: the nearest profile has a different size, and the nodes must offer it.
 *
 * ## When it is silent
 *
 * If no selector names the GPU or one of several selected GPUs has the profile, and for profiles that no GPU has (mig-profile-unknown).
 *
 * ## Sources
 *
 * - [NVIDIA MIG User Guide: supported profiles](https://docs.nvidia.com/datacenter/tesla/mig-user-guide/#supported-mig-profiles)
 */
export default defineRule({
  topic: 'mig',
  severity: 'error',
  podSet({ selectors }, context) {
    const slice = selectors.find(({ key }) => key === partitionSize);
    const [size, ...sizes] = slice?.values ?? [];
    const selected = selectedModels(selectors);
    if (size === undefined || sizes.length > 0 || isUnseen(size.at)) return;
    if (selected.length === 0 || selected.some(isUnknown)) return;
    if (selected.some(({ id }) => migTable(id)?.profiles.some(({ name }) => name === size.value))) return;
    const [only] = selected;
    const lacking = only?.migCapable ? `has no MIG profile ${shorten(size.value, 20)}` : 'does not support MIG';
    context.report({ message: `${only?.name ?? ''} ${lacking}: the pod stays Pending`, span: spanOf(size.at) });
  },
  container(container, context) {
    const selected = selectedModels(context.podSet.selectors);
    if (selected.length === 0 || selected.some(isUnknown)) return;
    for (const accelerator of container.accelerators) {
      const owners = migByResource(accelerator.resource);
      const written = writtenQuantities(accelerator)[0];
      if (owners.length === 0 || written === undefined) continue;
      if (owners.some(({ gpu }) => selected.some(({ id }) => id === gpu.id))) continue;
      const [only, ...others] = selected;
      const one = others.length === 0;
      const subject = one ? (only?.name ?? '') : 'None of the selected GPUs';
      const lacking = selected.some(({ migCapable }) => migCapable)
        ? `${one ? 'has no' : 'has the'} MIG profile ${profileName(accelerator)}`
        : `${one ? 'does not support' : 'supports'} MIG`;
      context.report({
        message: `${subject} ${lacking}: the pod stays Pending`,
        span: keySpanOf(written.at),
        fixes: () => nearest(accelerator, selected, context),
      });
    }
  },
});

/** Whether the profiles of a GPU that may support MIG are unknown. */
function isUnknown({ id, migCapable, vendor }: GpuModel): boolean {
  return vendor !== 'nvidia' || (migCapable && migTable(id) === undefined);
}

function profileName({ resource }: AcceleratorRequest): string {
  return resource.slice(resource.indexOf('mig-') + 4).replace(/\.shared$/, '');
}

/** Profiles with the same number of compute slices, the one with the nearest memory first. */
function nearest(
  accelerator: AcceleratorRequest,
  selected: readonly GpuModel[],
  context: PodSetContext,
): readonly (Fix | undefined)[] {
  const requested = migByResource(accelerator.resource)[0]?.profile;
  if (requested === undefined) return [];
  const names = new Map<string, number>();
  for (const { id } of selected) {
    for (const { name, resource, computeSlices, memoryGiB } of migTable(id)?.profiles ?? []) {
      if (/^\d+g\.\d+gb$/.test(name) && computeSlices === requested.computeSlices)
        names.set(resource, Math.abs(memoryGiB - requested.memoryGiB));
    }
  }
  return [...names]
    .sort(([, a], [, b]) => a - b)
    .slice(0, 2)
    .map(([resource]) => rename(accelerator, accelerator.form === 'shared' ? `${resource}.shared` : resource, context));
}

function rename(accelerator: AcceleratorRequest, to: string, { document }: PodSetContext): Fix | undefined {
  return fix(`Use ${to}`, 'unsafe', renameQuantities(document, accelerator, to));
}
