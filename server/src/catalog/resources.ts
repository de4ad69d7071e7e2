import { lazy } from '../yaml/lazy.ts';
import { gpus } from './gpus.ts';
import { resourceFamily } from './resource-families.ts';
import { type AcceleratorResource, listedResource } from './resource-records.ts';
import { looksLikeAccelerator } from './resource-shape.ts';
import { meantResource } from './resource-spelling.ts';
import type { GpuModel } from './types.ts';

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

/** NVIDIA's models by their names without separators, each also without its last parts: `a10080gb`, `a100`, `rtxa6000`. */
const byName = lazy(() => {
  const index = new Map<string, GpuModel[]>();
  for (const gpu of gpus.values()) {
    if (gpu.vendor !== 'nvidia') continue;
    let name = '';
    for (const part of gpu.id.split('-')) {
      name += part;
      if (/\d/.test(name)) index.set(name, [...(index.get(name) ?? []), gpu]);
    }
  }
  return index;
});

/** The models that a resource names, as it does in clusters with several kinds of GPUs: `nvidia.com/a100`, `nvidia.com/GA102GL_A10`. */
export function modelsInName(resource: string): readonly GpuModel[] {
  const path = /^nvidia\.com\/(?:gpu[-_.])?(?:[A-Z]{2}\d{3}[A-Z]{0,3}_)?([A-Za-z][\w-]*\d[\w-]*)$/.exec(resource)?.[1];
  if (path === undefined || /^mig-/.test(path)) return [];
  const model = path.toLowerCase().replace(/^(?:nvidia|tesla|geforce)[-_]/, '');
  return byName().get(model.replace(/[-_.]/g, '')) ?? [];
}

/** The same, without names that only look like accelerators: what a rule may rely on. */
export function knownAccelerator(name: string): AcceleratorResource | undefined {
  return listedResource(name) ?? (name.includes('/') ? resourceFamily(name) : undefined);
}
