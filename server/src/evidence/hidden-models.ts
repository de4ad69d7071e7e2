import { imageParts } from '../catalog/images.ts';
import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { useOf } from '../model/process-input.ts';
import { servedModel } from '../model/served-model.ts';
import type { Container, PodSet, Volume, Workload } from '../model/workload.ts';
import { getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { emptyModelVolume } from './empty-model-volume.ts';
import { modelDirectory } from './model-volume.ts';

/** An emptyDir in the place of a server's model, and what is wrong with it. */
export interface UnfilledVolume {
  readonly volume: Volume;
  readonly message: string;
  /** Only the name of the image says that it has a model, and the image may keep it elsewhere. */
  readonly isLikely?: true;
}

/** The emptyDir in which a server finds no model: nothing fills it, or it hides what the image has there. */
export function unfilledVolume(container: Container, podSet: PodSet, workload: Workload): UnfilledVolume | undefined {
  const empty = emptyModelVolume(container, podSet);
  if (empty === undefined) return hiddenModels(container, podSet, workload);
  const { path, volume } = empty;
  return {
    volume,
    message: `${shorten(path, 48)} is in an emptyDir that nothing fills (${shorten(volume.name, 40)}): the server finds no model there`,
  };
}

/**
 * The emptyDir that hides the models of an image: its name says that it has some, or the server must not download any. Undefined if anything may
 * fill the volume. Images of the servers' publishers have no models.
 */
function hiddenModels(container: Container, podSet: PodSet, workload: Workload): UnfilledVolume | undefined {
  const { at, image, command, args, env, scripts } = container;
  if (container.type !== 'app' || image === undefined || isIncomplete(at) || getIn(at, 'lifecycle') !== undefined)
    return undefined;
  const lines = [...command, ...args];
  if (scripts.length > 0 || lines.some((one) => isTemplated(one.at) || /^-\w*c$/.test(one.value))) return undefined;
  const { repository } = imageParts(image.value);
  const offline = env.find(
    ({ name, value }) => offlineNames.has(name) && /^(?:1|true|yes|on)$/i.test(value?.value ?? ''),
  )?.name;
  const isSaid = withModels.test(image.value.slice(image.value.lastIndexOf('/') + 1).toLowerCase());
  if (isTemplated(image.at) || published.has(repository) || !(isSaid || offline !== undefined)) return undefined;
  const { program } = useOf(container);
  const { model } = servedModel(container, workload);
  // A path is another folder than that of downloads.
  if (program === null || !/^[\w.-]+\/[\w.-]+$/.test(model?.name ?? '')) return undefined;
  const directory = modelDirectory(container, podSet, program);
  const volume = directory?.volume;
  if (directory === undefined || volume?.source !== 'emptyDir' || isIncomplete(volume.at)) return undefined;
  const mounts = podSet.containers.flatMap((one) => one.volumeMounts.filter(({ name }) => name === volume.name));
  if (mounts.length !== 1) return undefined;
  const where = `The emptyDir at ${shorten(directory.path, 40)}`;
  return offline === undefined
    ? {
        volume,
        message: `${where} hides what the image has there: each new pod downloads the model again`,
        isLikely: true,
      }
    : { volume, message: `${where} hides the model that the image has there, and ${offline} forbids a download` };
}

const offlineNames = wordSet('HF_HUB_OFFLINE TRANSFORMERS_OFFLINE');

/** Words in names of images, in lower case, that hold the model of their server. */
const withModels = new RegExp(
  `(?:^|[-_.:])(?:${oneOf('offline air-?gapped? pre-?loaded pre-?baked baked bundled with-(?:model|models|weights)')})(?:$|[-_.:\\d])`,
);

const published = wordSet('vllm/vllm-openai docker.io/vllm/vllm-openai lmsysorg/sglang docker.io/lmsysorg/sglang');
