import { gpusNamed } from './gpu-names.ts';
import { resourceFamily } from './resource-families.ts';
import { type AcceleratorResource, listedResource } from './resource-records.ts';
import { looksLikeAccelerator } from './resource-shape.ts';
import { meantResource } from './resource-spelling.ts';
import type { Vendor } from './types.ts';

/**
 * What an extended resource stands for: a listed name, a member of a family, or a name that looks like an accelerator and is not a misspelling
 * of a listed one. Undefined for all others.
 */
export function acceleratorResource(name: string): AcceleratorResource | undefined {
  // Most queried names are cpu and memory.
  if (!name.includes('/')) return undefined;
  const before = answers.get(name);
  if (before !== undefined) return before === null ? undefined : before;
  const shaped = knownAccelerator(name) ?? looksLikeAccelerator(name);
  const found = shaped?.source === 'shape' && meantResource(name) !== undefined ? undefined : shaped;
  if (answers.size >= 1000) answers.clear();
  answers.set(name, found ?? null);
  return found;
}

/** A project names the same few resources many times. null: not an accelerator. */
const answers = new Map<string, AcceleratorResource | null>();

/**
 * A resource that a device plugin names after the card: `nvidia.com/a100`, `nvidia.com/GA102GL_A10`. `resources.gpus` renames devices by a pattern of card names:
 * https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus, NVIDIA/k8s-device-plugin@1b826acc:internal/config/resources
 */
function cardResource(name: string): AcceleratorResource | undefined {
  const [, owner, card = ''] = /^(nvidia|amd|gpu\.intel|intel)\.com\/([^/]{2,60})$/.exec(name) ?? [];
  if (owner === undefined || !/\d/.test(card)) return undefined;
  const vendor = owner.replace('gpu.', '') as Vendor;
  if (!gpusNamed(card).some((gpu) => gpu.vendor === vendor)) return undefined;
  return { vendor, form: 'whole' };
}

/** The same, without names that only look like accelerators: what a rule may rely on. */
export function knownAccelerator(name: string): AcceleratorResource | undefined {
  return listedResource(name) ?? (name.includes('/') ? (resourceFamily(name) ?? cardResource(name)) : undefined);
}
