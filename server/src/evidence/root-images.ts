import { imageParts } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { asBoolean, type Cursor, getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { writtenNumber } from './written.ts';

/**
 * Images whose Dockerfiles name no user, so they run as root unless the pod names another user (2026-11-28).
 * https://github.com/kserve/kserve/issues/5666 (vLLM), https://github.com/ollama/ollama/issues/5986
 */
const rootImages = wordSet(
  'vllm/vllm-openai lmsysorg/sglang ollama/ollama pytorch/pytorch ghcr.io/ggml-org/llama.cpp',
  'ghcr.io/huggingface/text-generation-inference ghcr.io/huggingface/text-embeddings-inference',
);

/** Whether an image is one that its maker publishes, and that runs as root. */
export function runsAsRoot({ image }: Container): boolean {
  if (image === undefined || isTemplated(image.at)) return false;
  const { repository, tag = '' } = imageParts(image.value);
  return rootImages.has(repository.replace(/^docker\.io\//, '')) && !/nonroot|non-root|rootless|ubi/.test(tag);
}

/** The user of a published image, and that user's home. */
export interface ImageUser {
  readonly user: string;
  readonly home: string;
}

/**
 * Images with a user other than root (2026-11-30): https://github.com/ray-project/ray/blob/master/docker/base-deps/Dockerfile,
 * https://jupyter-docker-stacks.readthedocs.io/en/latest/using/common.html
 */
const imageUsers: readonly (readonly [repository: RegExp, ImageUser])[] = [
  [/^(?:docker\.io\/)?rayproject\/ray(?:-ml|-llm)?$/, { user: 'ray', home: '/home/ray' }],
  [/^(?:docker\.io\/|quay\.io\/)?jupyter\/[\w-]+$/, { user: 'jovyan', home: '/home/jovyan' }],
];

/** The user as which a container runs because its image says so, if that is known not to be root. */
export function imageUser(container: Container, podSet: PodSet): ImageUser | undefined {
  const { image, env } = container;
  if (image === undefined || isTemplated(image.at) || !knowsUser(container, podSet)) return undefined;
  // The start script of Jupyter's images takes another user from these.
  if (env.some(({ name }) => /^(?:NB_|HOME$|CHOWN_)/.test(name))) return undefined;
  if (userSetting('runAsUser', container, podSet) !== undefined) return undefined;
  const { repository } = imageParts(image.value);
  return imageUsers.find(([name]) => name.test(repository))?.[1];
}

/** A setting of a container's security context, else of its pod's. */
export function userSetting(key: string, { at }: Container, { pod }: PodSet): Cursor | undefined {
  return getIn(at, 'securityContext', key) ?? getIn(pod, 'securityContext', key);
}

/** Whether all security settings of a container are written. */
export function knowsUser({ at }: Container, { pod }: PodSet): boolean {
  const contexts = [at, pod].flatMap((one) => getIn(one, 'securityContext') ?? []);
  return ![at, pod, ...contexts].some((one) => isIncomplete(one) || isTemplated(one));
}

/** The user other than root as which a container must run. */
export function otherUser(container: Container, podSet: PodSet): number | undefined {
  const user = writtenNumber(userSetting('runAsUser', container, podSet));
  return user === undefined || user === 0 || !knowsUser(container, podSet) ? undefined : user;
}

/** The setting that forbids root for an image that runs as root, without another user: the container never starts. */
export function forbidsOwnUser(container: Container, podSet: PodSet): Cursor | undefined {
  const setting = userSetting('runAsNonRoot', container, podSet);
  const isForbidden = setting !== undefined && !isTemplated(setting) && asBoolean(setting) === true;
  if (!isForbidden || !runsAsRoot(container) || !knowsUser(container, podSet)) return undefined;
  return userSetting('runAsUser', container, podSet) === undefined ? setting : undefined;
}
