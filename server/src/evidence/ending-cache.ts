import { oneOf, partOf } from '../catalog/word-patterns.ts';
import { weightsSize } from '../memory/weights.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { type Cursor, getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { volumeNamed } from './volume-lifetime.ts';

/** A volume for models that ends with its pod. */
export interface EndingCache {
  readonly name: string;
  /** Its emptyDir. */
  readonly at: Cursor;
}

/**
 * The emptyDir in which a program of one's own keeps its models: it has the name or the path of one for models, or a variable of Hugging Face's
 * libraries names it. Undefined if all models that the container names have less than `least` GiB.
 */
export function endingCache(container: Container, podSet: PodSet, least: number): EndingCache | undefined {
  const { env, args, command, volumeMounts, image, name: own } = container;
  const named = [
    ...env.flatMap(({ name, value }) => (/model/i.test(name) ? (value?.value ?? []) : [])),
    ...[...command, ...args].flatMap(({ value }) => value.split('=').at(-1) ?? []),
  ].filter((one) => /^[\w.-]+\/[\w.-]+$/.test(one));
  const sizes = named.flatMap((one) => weightsSize(one)?.gib ?? []);
  if (sizes.length > 0 && sizes.every((gib) => gib < least)) return undefined;
  if ([...named, image?.value ?? '', own ?? ''].some((one) => smallModels.test(one))) return undefined;
  const paths = env.flatMap(({ name, value }) =>
    /model/i.test(name) && value?.value.startsWith('/') ? value.value : [],
  );
  const homes = env.flatMap(({ name, value }) => (homeNames.test(name) ? (value?.value ?? []) : []));
  for (const { name, mountPath } of volumeMounts) {
    const volume = volumeNamed(podSet, name);
    const at = getIn(volume?.at, 'emptyDir');
    if (volume?.source !== 'emptyDir' || at === undefined || isIncomplete(volume.at) || isTemplated(at)) continue;
    if (getIn(at, 'medium') !== undefined) continue;
    // A model at another path is in the image or in another volume.
    if (paths.length > 0 && !paths.some((path) => isIn(path, mountPath))) continue;
    const parts = [name, ...(mountPath.startsWith('/etc/') ? [] : mountPath.split('/'))];
    const isNamed = parts.some((part) => ofModels.test(part)) && !otherWords.test(`${name} ${mountPath}`);
    const isMeant = isNamed || homes.some((home) => isIn(home, mountPath));
    if (isMeant) return { name, at };
  }
  return undefined;
}

/** https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables */
const homeNames = /^(?:HF_HOME|HF_HUB_CACHE|HUGGINGFACE_HUB_CACHE|TRANSFORMERS_CACHE)$/;

/** A name of what holds models: `models`, `llm-model-cache`; not `model-metrics`. */
const ofModels = new RegExp(
  `(?:^|[-_.a-z])(?:models?|weights?|hugging[-_]?face)(?:[-_]?(?:${oneOf('cache store storage volume vol data dir folder files? hub home weights models? downloads? artifacts? pvc')}))*$`,
  'i',
);

/** Names of models that a pod downloads in seconds. */
const smallModels = partOf('embed rerank minilm bge- -e5- detect yolo resnet clip ocr');

/** What is made from models, or is not one. */
const otherWords = partOf('adapter lora dataset log backup output result export upload compile engine repo', 'tmp');

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
