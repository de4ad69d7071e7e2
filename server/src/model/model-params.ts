import { parameterCount } from '../catalog/index.ts';
import { keyOf, type Located } from '../yaml/cursor.ts';
import type { Manifest, PodSet } from './workload.ts';

/** The annotation with the number of parameters of a model that its name leaves open: `7B`, `8x7B`, `350M`. */
export const modelParamsAnnotation = 'gpulint.dev/model-params';

/** The parameters that an annotation of the pods, or else of the object, states; undefined without one, and for other values. */
export function annotatedParameters(manifest: Manifest, podSet: PodSet): number | undefined {
  const stated = [podSet.annotations, manifest.annotations].map(valueIn).find((value) => value !== undefined);
  return stated === undefined ? undefined : parameterCount(stated.trim().toLowerCase());
}

function valueIn(annotations: readonly Located<string>[]): string | undefined {
  return annotations.find(({ at }) => keyOf(at) === modelParamsAnnotation)?.value;
}
