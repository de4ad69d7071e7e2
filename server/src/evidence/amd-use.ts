import { imageParts } from '../catalog/images.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { type Cursor, getIn, isTemplated } from '../yaml/cursor.ts';

/** Variables that choose AMD's GPUs for a program. https://rocm.docs.amd.com/en/docs-7.1.1/reference/env-variables.html */
const choosing: ReadonlySet<string> = new Set([
  'HIP_VISIBLE_DEVICES',
  'ROCR_VISIBLE_DEVICES',
  'HSA_OVERRIDE_GFX_VERSION',
]);

/** The variable by which a container uses AMD's GPUs; undefined if its value hides them or is unknown. */
export function amdVariable({ env }: Container): { readonly name: string; readonly at: Cursor } | undefined {
  return env.find(
    ({ name, value }) => choosing.has(name) && value !== undefined && !isTemplated(value.at) && /^\w/.test(value.value),
  );
}

/** Whether an image is built for AMD's GPUs, by its publisher or by a word of its name. */
export function isRocmImage(image: string): boolean {
  const { repository, tag = '' } = imageParts(image);
  const words = tag.split(/[-_+]/);
  return (
    /^(?:docker\.io\/)?rocm\//.test(repository) ||
    repository.endsWith('-rocm') ||
    words.some((word) => /^rocm[\d.]*$/.test(word))
  );
}

/** Whether AMD's runtime, or one that is not known, may give GPUs to the containers of a pod. */
export function mayGetAmdGpus({ pod, containers }: PodSet): boolean {
  const isPassed = containers.some(({ env }) => env.some(({ name }) => name === 'AMD_VISIBLE_DEVICES'));
  return isPassed || getIn(pod, 'runtimeClassName') !== undefined;
}
