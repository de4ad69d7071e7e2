import { gpus, migByResource, migTable } from '../catalog/index.ts';
import { meantMigResource } from '../catalog/resource-spelling.ts';
import { isWithoutTable } from '../evidence/mig-placement.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import type { AcceleratorRequest } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { renameQuantities, writtenQuantities } from '../rewrite/quantities.ts';
import { keySpanOf } from '../yaml/cursor.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A MIG resource names a profile that no GPU has.
 *
 * ## Why
 *
 * A GPU can be partitioned only into the profiles that NVIDIA defines for it. No node offers any other profile, so the pod stays Pending.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   nodeSelector:
 *     nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:2.1
 *       resources:
 *         limits:
 *           nvidia.com/mig-3g.10gb: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   nodeSelector:
 *     nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:2.1
 *       resources:
 *         limits:
 *           nvidia.com/mig-2g.10gb: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: only the author knows whether the memory or the compute of the profile is right. The fixes offer the nearest profiles, limited to
 * those of the selected GPU if one is selected.
 *
 * ## When it is silent
 *
 * For placeholders, for misspelled names (mig-resource-spelling), and for names without sizes (`nvidia.com/mig-small`), which the config of the
 * device plugin can give to slices. The `.shared` suffix of a time-sliced resource is not part of the
 * profile.
 *
 * ## Sources
 *
 * - [NVIDIA/k8s-device-plugin: time slicing, renameByDefault](https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing)
 * - [NVIDIA MIG User Guide: supported profiles](https://docs.nvidia.com/datacenter/tesla/mig-user-guide/#supported-mig-profiles)
 * - [NVIDIA/mig-parted: default configuration](https://github.com/NVIDIA/mig-parted/blob/main/deployments/systemd/config-default.yaml)
 */
export default defineRule({
  topic: 'mig',
  severity: 'error',
  container(container, context) {
    for (const accelerator of container.accelerators) {
      const { resource } = accelerator;
      const written = writtenQuantities(accelerator)[0];
      if (written === undefined || !resource.startsWith(prefix) || isPlaceholder(resource)) continue;
      // mig-resource-spelling reports misspelled names.
      if (migByResource(resource).length > 0 || meantMigResource(resource) !== undefined) continue;
      const profile = resource.slice(prefix.length).replace(shared, '');
      // A name without sizes is one that the config of the device plugin gave to its slices.
      if (!/^\d/.test(profile) || isWithoutTable(profile)) continue;
      context.report({
        message: `No GPU has the MIG profile ${profile}: the pod stays Pending`,
        span: keySpanOf(written.at),
        fixes: () => renames(accelerator, context),
      });
    }
  },
});

const prefix = 'nvidia.com/mig-';

/** The suffix that the device plugin adds to time-sliced resources with `renameByDefault`. */
const shared = /\.shared$/;

interface Profile {
  readonly resource: string;
  readonly computeSlices: number;
  readonly memoryGiB: number;
}

function isPlaceholder(resource: string): boolean {
  return /[^\w./+-]|placeholder|replace|example|\bx\b/i.test(resource);
}

/** Profiles with the requested memory, then those with the requested compute slices. */
function renames(accelerator: AcceleratorRequest, context: PodSetContext): readonly (Fix | undefined)[] {
  const requested = /^(\d+)g[.-](\d+)gb(.*)$/i.exec(accelerator.resource.slice(prefix.length));
  if (requested === null) return [];
  const compute = Number(requested[1]);
  const memory = Number(requested[2]);
  const profiles = possibleProfiles(accelerator, context);
  const sameMemory = profiles
    .filter((profile) => profile.memoryGiB === memory)
    .sort((a, b) => Math.abs(a.computeSlices - compute) - Math.abs(b.computeSlices - compute));
  const near = profiles
    .filter(({ computeSlices, memoryGiB }) => computeSlices === compute && Math.abs(memoryGiB - memory) <= memory / 4)
    .sort((a, b) => Math.abs(a.memoryGiB - memory) - Math.abs(b.memoryGiB - memory));
  const sameCompute = profiles
    .filter(({ computeSlices }) => computeSlices === compute)
    .sort((a, b) => Math.abs(a.memoryGiB - memory) - Math.abs(b.memoryGiB - memory));
  // A selected GPU has few profiles, so both readings are worth a fix; among the profiles of all GPUs only a similar size is.
  const others = profiles.length <= 7 ? sameCompute : near;
  const candidates = [...new Set([...sameMemory, ...others])];
  return candidates.slice(0, 3).map((profile) => rename(accelerator, profile, context));
}

/** Profiles without media-engine variants of the GPUs that the pod may land on: all GPUs if nothing selects one. */
function possibleProfiles({ resource }: AcceleratorRequest, { podSet }: PodSetContext): readonly Profile[] {
  const selected = acceleratorByName(podSet.accelerators, resource)?.candidates ?? [];
  const byName = new Map<string, Profile>();
  for (const gpu of selected.length > 0 ? selected : gpus.keys()) {
    for (const profile of migTable(gpu)?.profiles ?? []) {
      if (/^\d+g\.\d+gb$/.test(profile.name)) byName.set(profile.resource, profile);
    }
  }
  return [...byName.values()];
}

function rename(accelerator: AcceleratorRequest, profile: Profile, { document }: PodSetContext): Fix | undefined {
  const to = profile.resource + (shared.exec(accelerator.resource)?.[0] ?? '');
  return fix(`Use ${to}`, 'unsafe', renameQuantities(document, accelerator, to));
}
