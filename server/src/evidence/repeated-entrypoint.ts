import { imageParts, isPublishedAs } from '../catalog/images.ts';
import { titleOf } from '../catalog/program-records.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { baseName } from '../command/shell.ts';
import { isShell } from '../command/wrappers.ts';
import { shorten } from '../yaml/shorten.ts';

/** Images whose entrypoint is a server, and the first word of its command line. */
const entrypoints: readonly { readonly image: RegExp; readonly program: string }[] = [
  // https://github.com/ollama/ollama/blob/main/Dockerfile
  { image: /^(?:docker\.io\/)?ollama\/ollama$/, program: 'ollama' },
  // https://github.com/huggingface/text-generation-inference/blob/main/tgi-entrypoint.sh
  { image: /(?:^|\/)huggingface\/text-generation-inference$/, program: 'text-generation-launcher' },
  // https://github.com/huggingface/text-embeddings-inference/blob/main/Dockerfile
  { image: /(?:^|\/)huggingface\/text-embeddings-inference$/, program: 'text-embeddings-router' },
];

/** The other commands of vLLM. https://docs.vllm.ai/en/latest/cli/ */
const otherCommands = wordSet('run-batch bench chat complete collect-env server run start');

/** https://github.com/ggml-org/llama.cpp/blob/master/docs/docker.md */
const ofLlama = /^ghcr\.io\/gg(?:ml-org|erganov)\/llama\.cpp$/;

/** The arguments that repeat what an image starts by itself: how many there are, and of which program. */
export function repeatedEntrypoint(
  image: string,
  args: readonly string[],
): { readonly program: string; readonly words: number } | undefined {
  const { repository, tag = '' } = imageParts(image);
  const [first = '', second, third] = args;
  if (/^(?:docker\.io\/)?vllm\/vllm-openai$/.test(repository)) {
    // Some versions ignore one further argument without a flag.
    const isServe = first === 'serve' && second !== undefined && !second.startsWith('-');
    if (first === 'vllm' && second === 'serve') return { program: 'vllm', words: 2 };
    const isModule = second === '-m' && third === 'vllm.entrypoints.openai.api_server';
    if (isModule && /^python3?$/.test(baseName(first))) return { program: 'vllm', words: 3 };
    return isServe ? { program: 'vllm', words: 1 } : undefined;
  }
  if (ofLlama.test(repository))
    return tag.startsWith('server') && baseName(first) === 'llama-server'
      ? { program: 'llama-server', words: 1 }
      : undefined;
  const known = entrypoints.find((one) => one.image.test(repository));
  return known !== undefined && baseName(first) === known.program ? { program: known.program, words: 1 } : undefined;
}

/** Flags of llama.cpp's server, none of which starts a tool. https://github.com/ggml-org/llama.cpp/blob/master/.devops/tools.sh */
const ofServer = wordSet(
  '-m --model -hf --hf-repo -mu --model-url --host --port -ngl --n-gpu-layers --gpu-layers --ctx-size --alias --metrics',
);

/** The first argument of an image that starts another program than the arguments are for. */
export interface ForeignStart {
  readonly problem: string;
  /** The arguments are a command of their own. */
  readonly isCommand: boolean;
}

/** What is wrong with the first argument of an image, if its entrypoint certainly rejects it. */
export function foreignStart(image: string, args: readonly string[]): ForeignStart | undefined {
  const { repository, tag = '' } = imageParts(image);
  const [first = '', second] = args;
  const isVllm = /^(?:docker\.io\/)?vllm\/vllm-openai$/.test(repository);
  const isServer = ofLlama.test(repository) && /^server\b/.test(tag);
  const program = isVllm
    ? 'vllm'
    : isServer
      ? 'llama-server'
      : entrypoints.find((one) => one.image.test(repository))?.program;
  // Other words may be those of a newer script.
  if (ofLlama.test(repository) && /^full\b/.test(tag) && ofServer.has(first.split('=', 1)[0] ?? ''))
    return {
      problem: `The image runs the tool that its first argument names, but ${first} is not one: the container exits; put --server first`,
      isCommand: false,
    };
  if (program === undefined || second === undefined) {
    const isTypo = program === 'ollama' && first === 'server';
    return isTypo
      ? { problem: 'Ollama has no command server, only serve: the container exits', isCommand: false }
      : undefined;
  }
  const isCommand = isShell(baseName(first)) || /^python[\d.]*$/.test(baseName(first));
  // The server of llama.cpp takes only flags, which a variable may hold.
  const isOther = isVllm ? otherCommands.has(first) : isServer && (/^[^-$]/.test(first) || first === '--server');
  if (!isCommand && !isOther) return undefined;
  const gets = `The image already runs ${titleOf(program)} and gets "${shorten(first, 30)}" as an argument`;
  return { problem: `${gets}: the server does not start`, isCommand };
}

/** Images whose entrypoint runs its arguments as a command, and the command of their server. */
const runsArguments: readonly { readonly images: ReadonlySet<string>; readonly start: readonly string[] }[] = [
  // https://github.com/triton-inference-server/server/issues/6952
  { images: wordSet('nvidia/tritonserver'), start: ['tritonserver'] },
  // https://github.com/sgl-project/sglang/pull/1006
  { images: wordSet('lmsysorg/sglang'), start: ['python3', '-m', 'sglang.launch_server'] },
  // https://docs.nvidia.com/deeplearning/frameworks/user-guide/index.html
  { images: wordSet('nvidia/pytorch nvidia/tensorflow'), start: [] },
];

/** What must be in front of the arguments if they are flags, which an image then takes for a program; empty if that is not known. */
export function lackingStart(image: string, args: readonly string[]): readonly string[] | undefined {
  if (!/^--?[a-z]/i.test(args[0] ?? '')) return undefined;
  const { repository } = imageParts(image);
  return runsArguments.find(({ images }) => isPublishedAs(images, repository))?.start;
}

/** The images that servers publish, and mirrors of them. llama.cpp has one for each of its programs. */
export function isOwnEntrypoint(image: string): boolean {
  const { repository, tag = '' } = imageParts(image);
  const name = repository.slice(repository.lastIndexOf('/') + 1);
  if (/^(?:docker\.io\/)?ollama\/ollama$/.test(repository)) return true;
  return name === 'llama.cpp'
    ? tag.startsWith('server')
    : /^(?:vllm-openai[\w-]*|text-(?:generation|embeddings)-inference|huggingfaceserver(?:-gpu)?)$/.test(name);
}
