import { lazy } from '../yaml/lazy.ts';
import { gpus } from './gpus.ts';
import { allInstanceTypes } from './instances.ts';
import type { GpuModel } from './types.ts';

/** Families of Google Cloud's machines that never have accelerators. https://cloud.google.com/compute/docs/machine-resource (2026-11-29) */
export const plainGoogleFamilies = 'e2 n2 n2d n4 n4a n4d c2 c2d c3 c3d c4 c4a c4d t2d t2a m1 m2 m3 m4 x4 h3 h4d z3';

/** The cards that can be attached to N1 machines. https://cloud.google.com/compute/docs/gpus#n1-gpus (2026-11-29) */
const attachable = ['k80', 'p4', 'p100-16gb', 't4', 'v100-16gb'];

const families = lazy(() => {
  const ids = new Map<string, Set<string>>([['n1', new Set(attachable)]]);
  for (const family of plainGoogleFamilies.split(' ')) ids.set(family, new Set());
  for (const { provider, name, gpu } of allInstanceTypes()) {
    const [family = ''] = name.split('-');
    if (provider !== 'gcp' || gpu === null || family === 'n1') continue;
    ids.set(family, (ids.get(family) ?? new Set()).add(gpu));
  }
  return new Map([...ids].map(([family, each]) => [family, [...each].flatMap((id) => gpus.get(id) ?? [])]));
});

/** The models that machines of a Google Cloud family, such as `n1`, can have. Empty if they have no accelerators, undefined for unknown families. */
export function modelsOfGoogleFamily(family: string): readonly GpuModel[] | undefined {
  return families().get(family);
}
