import { type GpuModel, migByResource, migTable } from '../catalog/index.ts';
import { selectedModels } from '../evidence/selected-models.ts';
import type { AcceleratorRequest } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { renameQuantities, writtenQuantities } from '../rewrite/quantities.ts';
import { keySpanOf } from '../yaml/cursor.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A MIG profile that the selected GPU cannot be cut into.
 *
 * ## Why
 *
 * Each GPU has its own profiles: an A100 with 40 GB has `1g.5gb`, an H100 has `1g.10gb`. With a selector for a GPU that lacks the
 * profile no node fits, and the pod stays Pending.
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
 * Unsafe: the nearest profile has another size, and the nodes must be cut that way.
 *
 * ## When it is silent
 *
 * Where no selector names the GPU, where one of several has the profile, and for profiles that no GPU has (mig-profile-unknown).
 *
 * ## Sources
 *
 * - [NVIDIA MIG User Guide: supported profiles](https://docs.nvidia.com/datacenter/tesla/mig-user-guide/#supported-mig-profiles)
 */
export default defineRule({
  topic: 'mig',
  severity: 'error',
  container(container, context) {
    const selected = selectedModels(context.podSet.selectors);
    if (selected.length === 0 || selected.some(isUnknown)) return;
    for (const accelerator of container.accelerators) {
      const owners = migByResource(accelerator.resource);
      const written = writtenQuantities(accelerator)[0];
      if (owners.length === 0 || written === undefined) continue;
      if (owners.some(({ gpu }) => selected.some(({ id }) => id === gpu.id))) continue;
      const [only, ...others] = selected;
      const shown = others.length === 0 ? (only?.name ?? '') : 'None of the selected GPUs';
      const verdict = selected.some(({ migCapable }) => migCapable)
        ? `has ${others.length === 0 ? 'no' : 'a'} MIG profile ${profileName(accelerator)}`
        : 'can be cut by MIG';
      const said = verdict.startsWith('can') && others.length === 0 ? 'cannot be cut by MIG' : verdict;
      context.report({
        message: `${shown} ${said}: the pod stays Pending`,
        span: keySpanOf(written.at),
        fixes: () => nearest(accelerator, selected, context),
      });
    }
  },
});

/** A GPU that can be cut, and of which no source says how. */
function isUnknown({ id, migCapable, vendor }: GpuModel): boolean {
  return vendor !== 'nvidia' || (migCapable && migTable(id) === undefined);
}

function profileName({ resource }: AcceleratorRequest): string {
  return resource.slice(resource.indexOf('mig-') + 4).replace(/\.shared$/, '');
}

/** The profiles with as many compute slices, the one with the nearest memory first. */
function nearest(
  accelerator: AcceleratorRequest,
  selected: readonly GpuModel[],
  context: PodSetContext,
): readonly (Fix | undefined)[] {
  const wanted = migByResource(accelerator.resource)[0]?.profile;
  if (wanted === undefined) return [];
  const names = new Map<string, number>();
  for (const { id } of selected) {
    for (const { name, resource, computeSlices, memoryGiB } of migTable(id)?.profiles ?? []) {
      if (/^\d+g\.\d+gb$/.test(name) && computeSlices === wanted.computeSlices)
        names.set(resource, Math.abs(memoryGiB - wanted.memoryGiB));
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
