import { imageParts } from './images.ts';
import { either, oneOf, partOf, wordSet } from './word-patterns.ts';

// In Debian and Ubuntu, sh is dash. Source: https://wiki.debian.org/Shell, read 2026-11-28.

/** Words in a tag or a name that say so. */
const systems = new RegExp(
  `(?:^|[-_.:/\\d])(?:${oneOf('ubuntu debian bookworm bullseye trixie buster focal jammy noble')})(?=$|[-_.:\\d])`,
);

/** Systems with another shell, and releases of Debian and Ubuntu whose dash may know more. */
const otherSystems = either(
  partOf('alpine ubi\\d rocky centos fedora rhel wolfi distroless busybox opensuse', 'forky :sid testing'),
  /(?:2[6-9]|3\d)\.\d\d/,
  /(?:^|\/)ubuntu(?:$|@|:(?:latest|rolling|devel))/,
);

/** Images that are built on one of them, whatever their tag. All read 2026-11-28. */
const built = wordSet(
  'ubuntu debian python pytorch/pytorch tensorflow/tensorflow continuumio/miniconda3 continuumio/anaconda3 vllm/vllm-openai',
  'huggingface/transformers-pytorch-gpu ollama/ollama rayproject/ray rayproject/ray-ml nvidia/pytorch nvidia/tensorflow',
  'nvidia/tritonserver nvidia/nemo',
);

/** Whether sh of a well-known image is certainly dash, which knows only POSIX's commands. */
export function hasDash(image: string): boolean {
  if (otherSystems.test(image)) return false;
  const name = imageParts(image)
    .repository.replace(/^(?:docker\.io|nvcr\.io)\//, '')
    .replace(/^library\//, '');
  return built.has(name) || systems.test(image);
}

/** Images whose Dockerfiles delete the lists of packages (/var/lib/apt/lists). All read 2026-11-29. */
const withoutLists = wordSet('ubuntu debian python pytorch/pytorch nvidia/cuda');

/** Whether a well-known image of Debian or Ubuntu has no lists of packages. */
export function lacksPackageLists(image: string): boolean {
  const { repository, tag = '' } = imageParts(image);
  const name = repository.replace(/^(?:docker\.io|nvcr\.io)\//, '').replace(/^library\//, '');
  return withoutLists.has(name) && (hasDash(image) || /ubuntu/.test(tag));
}
