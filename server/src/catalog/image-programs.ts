import { imageParts } from './images.ts';
import { wordSet } from './word-patterns.ts';

// Programs that well-known images certainly do not have. All read 2026-11-28.

/** None of these images has a client of a cloud, of a cluster or of Hugging Face, or what is installed for one's own work. */
const clients =
  'kubectl aws gsutil gcloud huggingface-cli hf jq docker uv gdown kaggle wandb accelerate deepspeed tensorboard vllm tmux screen rsync ffmpeg';
/** Package managers and tools of other systems. */
const others = 'yum dnf microdnf apk';
/** Nor compilers. */
const bareTools = 'unzip zip make cmake ninja node npm java';
/** Python's own images and those of systems have no environments of Conda. */
const conda = 'conda mamba micromamba torchrun jupyter jupyter-lab';
/** What PyTorch's environment of Conda brings. */
const ofConda = wordSet('cmake ninja ffmpeg');
const python = 'python python3 pip pip3';
/** Containers of these images run as root. */
const root = 'sudo';

const lacking: readonly { readonly image: string; readonly tag: RegExp; readonly programs: ReadonlySet<string> }[] = [
  // https://github.com/docker-library/busybox
  { image: 'busybox', tag: /^/, programs: wordSet(clients, python, 'bash curl git apt-get apk') },
  // https://github.com/alpinelinux/docker-alpine
  { image: 'alpine', tag: /^/, programs: wordSet(clients, python, 'bash curl git apt-get') },
  // https://github.com/curl/curl-container
  { image: 'curlimages/curl', tag: /^/, programs: wordSet(clients, python, 'bash git apt-get') },
  // https://github.com/docker-library/python
  { image: 'python', tag: /slim/, programs: wordSet(clients, root, conda, others, bareTools, 'curl wget git gcc g++') },
  { image: 'python', tag: /alpine/, programs: wordSet(clients, root, 'bash curl git apt-get') },
  { image: 'python', tag: /^/, programs: wordSet(clients, root, conda, others) },
  // https://git.launchpad.net/cloud-images/+oci/ubuntu-base and https://github.com/debuerreotype/docker-debian-artifacts
  ...['ubuntu', 'debian'].map((image) => ({
    image,
    tag: /^(?:latest|stable|1[0-3]|18|2\d|focal|jammy|noble|bullseye|bookworm|trixie)/,
    programs: wordSet(clients, python, root, conda, others, bareTools, 'curl wget git gcc g++'),
  })),
  // https://gitlab.com/nvidia/container-images/cuda/-/tree/master/dist
  {
    image: 'nvidia/cuda',
    tag: /-(?:base|runtime)-ubuntu/,
    programs: wordSet(clients, python, root, conda, others, bareTools, 'git wget'),
  },
  { image: 'nvidia/cuda', tag: /ubuntu/, programs: wordSet(clients, root, conda, others) },
  // https://github.com/ollama/ollama/blob/main/Dockerfile
  {
    image: 'ollama/ollama',
    tag: /^(?!.*rocm)/,
    programs: wordSet(clients, python, others, 'curl wget git'),
  },
  // https://github.com/pytorch/pytorch/blob/main/Dockerfile
  {
    image: 'pytorch/pytorch',
    tag: /^(?:1\.[5-9]|1\.1|2\.).*-runtime$/,
    programs: new Set([...wordSet(clients, root, others, bareTools, 'git wget')].filter((one) => !ofConda.has(one))),
  },
];

/** Images that certainly contain no user's scripts: systems, CUDA, Python and frameworks. */
const bare = wordSet(
  'ubuntu debian python nvidia/cuda pytorch/pytorch tensorflow/tensorflow continuumio/miniconda3 continuumio/anaconda3',
);

/**
 * Where the containers of a bare image start, unless `workingDir` says otherwise; undefined for variants with a directory of their own.
 * https://github.com/pytorch/pytorch/blob/main/Dockerfile; the other Dockerfiles set none.
 */
export function startFolder(image: string): string | undefined {
  const name = nameOf(image);
  if (!bare.has(name) || /jupyter|onbuild/.test(image) || /^tensorflow.*devel/.test(image)) return undefined;
  return name === 'pytorch/pytorch' ? '/workspace' : '/';
}

/**
 * Whether an image starts at the root of the file system: its Dockerfile sets no folder. Read 2026-11-30:
 * https://github.com/ollama/ollama/blob/main/Dockerfile, https://github.com/docker-library/busybox, https://github.com/alpinelinux/docker-alpine
 */
export function startsAtRoot(image: string): boolean {
  return startFolder(image) === '/' || atRoot.has(nameOf(image));
}

const atRoot = wordSet('alpine busybox ollama/ollama');

/** Names of registries and of the collection of official images, which may be written before the name. */
const prefixes = /^(?:(?:docker\.io|index\.docker\.io|mirror\.gcr\.io|public\.ecr\.aws\/docker)\/)?(?:library\/)?/;

/** The programs that an image certainly lacks; undefined for all others. */
export function lackingPrograms(image: string): ReadonlySet<string> | undefined {
  const { tag = image.includes('@') ? '' : 'latest' } = imageParts(image);
  const name = nameOf(image);
  return lacking.find((one) => one.image === name && one.tag.test(tag))?.programs;
}

/** NVIDIA's images have JupyterLab, but not JupyterHub: https://docs.nvidia.com/deeplearning/frameworks/ names only the first. */
const withoutHub = wordSet('nvcr.io/nvidia/pytorch nvcr.io/nvidia/tensorflow nvcr.io/nvidia/jax');

/** Whether an image certainly has no `jupyterhub-singleuser`, the program that a JupyterHub starts. */
export function lacksHub(image: string): boolean {
  return isBareImage(image) || withoutHub.has(nameOf(image));
}

/** Whether an image certainly contains no user's scripts. */
export function isBareImage(image: string): boolean {
  return bare.has(nameOf(image));
}

function nameOf(image: string): string {
  return imageParts(image)
    .repository.replace(prefixes, '')
    .replace(/^nvcr\.io\/(?=nvidia\/cuda$)/, '');
}

/** Whether an image certainly has no Python, and its package manager installs it as `python3` alone: from Ubuntu 20.04 and Debian 11. */
export function installsPython3(image: string): boolean {
  const { tag = image.includes('@') ? '' : 'latest' } = imageParts(image);
  return python3Only.get(nameOf(image))?.test(tag) === true;
}

const python3Only: ReadonlyMap<string, RegExp> = new Map([
  ['ubuntu', /^(?:latest|rolling|focal|jammy|noble|2\d\.)/],
  ['debian', /^(?:latest|stable|bullseye|bookworm|trixie|1[1-9])/],
  ['nvidia/cuda', /-ubuntu2\d\.04/],
]);
