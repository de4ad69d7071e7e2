import { dynamoVllm } from '../catalog/dynamo-releases.ts';
import { imageParts, isPlainVllm } from '../catalog/images.ts';
import type { Release } from '../catalog/server-support.ts';
import { oneOf } from '../catalog/word-patterns.ts';
import type { Container } from '../model/workload.ts';
import { asText, getIn, isTemplated } from '../yaml/cursor.ts';

/** The images of Ollama. */
export const isOllama = /^(?:docker\.io\/)?ollama\/ollama$/;

/** The release of vLLM or Ollama that a container runs by its image, if it does not install another one. */
export function serverRelease({ image, command, args }: Container): Release | undefined {
  if (image === undefined || isTemplated(image.at) || [...command, ...args].some(mayInstall)) return undefined;
  return releaseOf(image.value);
}

/** Whether a container pulls the newest image of vLLM when it starts. */
export function runsNewestVllm({ image, command, args, at }: Container): boolean {
  if (image === undefined || isTemplated(image.at) || !isPlainVllm(image.value) || image.value.includes('@'))
    return false;
  const policy = asText(getIn(at, 'imagePullPolicy')) ?? 'Always';
  const { tag = 'latest' } = imageParts(image.value);
  return tag === 'latest' && policy === 'Always' && ![...command, ...args].some(mayInstall);
}

/** Whether an image names a release or a build of its server. What another tag starts may change, and know new names. */
export function namesRelease({ image }: Container): boolean {
  if (image === undefined || isTemplated(image.at)) return false;
  return image.value.includes('@') || /\d\.\d|-b\d{3,6}$/.test(imageParts(image.value).tag ?? '');
}

/** Whether a container certainly runs vLLM from this release on. */
export function runsVllmFrom(container: Container, since: Release): boolean {
  const release = serverRelease(container);
  return release === undefined ? runsNewestVllm(container) : !isBefore(release, since);
}

/** The release of Text Generation Inference that a container runs by its image. */
export function launcherRelease({ image }: Container): Release | undefined {
  const { repository, tag = '' } = imageParts(image === undefined || isTemplated(image.at) ? '' : image.value);
  const parts = /^v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?(?:-(?:rocm|intel|trtllm)\w*)?$/.exec(tag);
  if (parts === null || !/(?:^|\/)huggingface\/text-generation-inference$/.test(repository)) return undefined;
  return [Number(parts[1]), Number(parts[2]), Number(parts[3] ?? 0)];
}

export function isBefore(release: Release, other: Release): boolean {
  const [major, minor, patch] = release;
  return (major - other[0] || minor - other[1] || patch - other[2]) < 0;
}

/** Whether the words may replace the image's own server by another release. */
function mayInstall({ at, value }: Container['command'][number]): boolean {
  return isTemplated(at) || /\b(?:install|uvx|uv run)\b/.test(value);
}

/** The release in an image with the name of vLLM's, Dynamo's or Ollama's own. Other images have their own versions, and other tags may be special builds. */
function releaseOf(image: string): Release | undefined {
  const { repository, tag = '' } = imageParts(image);
  const packed = dynamoVllm(repository, tag);
  if (packed !== null) return packed;
  if (/^(?:docker\.io\/)?rocm\/vllm$/.test(repository)) return releaseIn(rocmTag.exec(tag));
  // LMCache's image of this name has LMCache's version.
  if (!/^(?!lmcache\/|.*\/lmcache\/)(?:.*\/)?vllm-openai$/.test(repository) && !isOllama.test(repository))
    return undefined;
  return releaseIn(releaseTag.exec(tag));
}

function releaseIn(parts: RegExpExecArray | null): Release | undefined {
  return parts === null ? undefined : [Number(parts[1]), Number(parts[2]), Number(parts[3])];
}

/** AMD's builds: `rocm7.0.0_vllm_0.11.1_20251103`. https://hub.docker.com/r/rocm/vllm/tags */
const rocmTag = /_vllm_v?(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\.\d+)?(?:_\d{8})?$/;

/** `v0.10.2`, `0.5.4-rocm`: a release, also built for some hardware. */
const releaseTag = new RegExp(
  `^v?(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})(?:\\.post\\d+)?(?:-(?:${oneOf('cu\\d+ x86_64 amd64 aarch64 arm64 rocm')}))*$`,
);
