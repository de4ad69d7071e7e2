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
  const name = nameOf(imageParts(image).repository);
  return built.has(name) || systems.test(image);
}

/** Images whose Dockerfiles delete the lists of packages (/var/lib/apt/lists). All read 2026-11-29. */
const withoutLists = wordSet('ubuntu debian python pytorch/pytorch nvidia/cuda');

/** Whether a well-known image of Debian or Ubuntu has no lists of packages. */
export function lacksPackageLists(image: string): boolean {
  const { repository, tag = '' } = imageParts(image);
  return withoutLists.has(nameOf(repository)) && (hasDash(image) || /ubuntu/.test(tag));
}

/** Releases whose package manager owns Python: Ubuntu from 23.04, Debian from 12. A name without a tag stands for the newest one. */
const managed: ReadonlyMap<string, RegExp> = new Map([
  ['ubuntu', /^(?:latest|rolling|devel|noble|23\.|2[4-9]\.)/],
  ['debian', /^(?:latest|stable|testing|sid|bookworm|trixie|1[2-9])/],
  ['nvidia/cuda', /-ubuntu2[4-9]\.04/],
]);

/**
 * Whether a well-known image forbids pip to change the Python of its system.
 * https://www.debian.org/releases/bookworm/amd64/release-notes/ch-information.en.html, read 2026-11-29
 */
export function ownsPython(image: string): boolean {
  const { repository, tag = image.includes('@') ? '' : 'latest' } = imageParts(image);
  return managed.get(nameOf(repository))?.test(tag) === true;
}

/** Releases whose Python is new enough for the newest packages: 3.10 or later. */
const newPython: ReadonlyMap<string, RegExp> = new Map([
  ['python', /^(?:3(?:\.1\d(?:\.\d+)?)?|latest|slim|alpine|bookworm)(?:-[\w.-]+)?$/],
  ['ubuntu', /^(?:latest|rolling|devel|jammy|noble|2[2-9]\.)/],
  ['debian', /^(?:latest|stable|testing|sid|bookworm|trixie|1[2-9])/],
  ['nvidia/cuda', /-ubuntu2[2-9]\.04/],
  ['pytorch/pytorch', /^(?:latest|2\.(?:[4-9]|\d\d))/],
]);

/** Whether a well-known image has, or installs, a Python for which the newest packages exist, and has none of them yet. */
export function takesNewestPackages(image: string): boolean {
  const { repository, tag = image.includes('@') ? '' : 'latest' } = imageParts(image);
  return newPython.get(nameOf(repository))?.test(tag) === true;
}

function nameOf(repository: string): string {
  return repository.replace(/^(?:docker\.io|nvcr\.io)\//, '').replace(/^library\//, '');
}
