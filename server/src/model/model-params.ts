import { parameterCount } from '../catalog/index.ts';
import { keyOf, type Located } from '../yaml/cursor.ts';
import type { ModelOptions } from './options.ts';
import type { Manifest, PodSet } from './workload.ts';

/** The part of the config that states the sizes of models. */
export type StatedSizes = Pick<ModelOptions, 'modelParams'>;

/** The annotation with the number of parameters of a model that its name leaves open: `7B`, `8x7B`, `350M`. */
export const modelParamsAnnotation = 'gpulint.dev/model-params';

/**
 * The parameters of a model that the user states: an annotation of the pods, or else of the object, or else the config. Undefined without one, and for
 * other values.
 * @param name the name or path that the server loads
 */
export function parametersStated(
  manifest: Manifest,
  podSet: PodSet,
  { modelParams }: StatedSizes,
  name: string | undefined,
): number | undefined {
  const annotated = valueIn(podSet.annotations) ?? valueIn(manifest.annotations);
  const stated = annotated ?? (name === undefined ? undefined : modelParams?.[name]);
  return stated === undefined ? undefined : parameterCount(stated.trim().toLowerCase());
}

function valueIn(annotations: readonly Located<string>[]): string | undefined {
  return annotations.find(({ at }) => keyOf(at) === modelParamsAnnotation)?.value;
}
