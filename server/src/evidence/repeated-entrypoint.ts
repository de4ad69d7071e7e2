import { imageParts, isPublishedAs } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { baseName } from '../command/shell.ts';

/** Images whose entrypoint is a server, and the first word of its command line. */
const entrypoints: readonly { readonly image: RegExp; readonly program: string }[] = [
  // https://github.com/ollama/ollama/blob/main/Dockerfile
  { image: /^(?:docker\.io\/)?ollama\/ollama$/, program: 'ollama' },
  // https://github.com/huggingface/text-generation-inference/blob/main/tgi-entrypoint.sh
  { image: /(?:^|\/)huggingface\/text-generation-inference$/, program: 'text-generation-launcher' },
  // https://github.com/huggingface/text-embeddings-inference/blob/main/Dockerfile
  { image: /(?:^|\/)huggingface\/text-embeddings-inference$/, program: 'text-embeddings-router' },
];

/** The arguments that repeat what an image starts by itself: how many there are, and of which program. */
export function repeatedEntrypoint(
  image: string,
  args: readonly string[],
): { readonly program: string; readonly words: number } | undefined {
  const { repository } = imageParts(image);
  const [first = '', second] = args;
  if (/^(?:docker\.io\/)?vllm\/vllm-openai$/.test(repository)) {
    // Some versions ignore one further argument without a flag.
    const isServe = first === 'serve' && second !== undefined && !second.startsWith('-');
    if (first === 'vllm' && second === 'serve') return { program: 'vllm', words: 2 };
    return isServe ? { program: 'vllm', words: 1 } : undefined;
  }
  const known = entrypoints.find((one) => one.image.test(repository));
  return known !== undefined && baseName(first) === known.program ? { program: known.program, words: 1 } : undefined;
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
  return name === 'llama.cpp'
    ? tag.startsWith('server')
    : /^(?:vllm-openai[\w-]*|text-(?:generation|embeddings)-inference)$/.test(name);
}
