import { lazy, oncePerName } from '../yaml/lazy.ts';
import { imagesJson } from './data.ts';
import type { Use } from './program-records.ts';
import { wordSet } from './word-patterns.ts';

/** An image whose entrypoint is a known program. It is identified by the end of its repository, since registries and builds vary. */
export interface ImageRecord {
  /**
   * `name`: the last part of the repository; `owner/name`: its last two parts; `name/`: any part before the last. `-*` at the end: more words
   * may follow, after a hyphen or as a number. `*-` at the start: one more word may come before.
   */
  readonly image: string;
  readonly program: string;
  readonly use: Use;
}

/** A word in the last part of a repository that names a program, in whatever image it is packed. The first one in the list decides. */
export interface ImageWord {
  readonly word: string;
  readonly program: string;
  readonly use: Use;
}

const stored = imagesJson as unknown as {
  readonly images: readonly ImageRecord[];
  readonly words: readonly ImageWord[];
  readonly plain: readonly { readonly image: string }[];
  readonly distributed: readonly { readonly word: string }[];
  /** Images whose own command is a shell or an interpreter. */
  readonly shells: readonly { readonly image: string }[];
};
const records = stored.images;

const plainNames: () => ReadonlySet<string> = lazy(() => new Set(stored.plain.map(({ image }) => image)));

/** Whether an image is vLLM's own: its entrypoint is the server, which takes flags only. */
export function isPlainVllm(image: string): boolean {
  return /^(?:docker\.io\/)?vllm\/vllm-openai$/.test(imageParts(image).repository);
}

/** The repository and the tag of an image. */
export const imageParts = oncePerName((image): { readonly repository: string; readonly tag: string | undefined } => {
  const name = image.split('@', 1)[0] ?? '';
  const tag = /:([^/:]*)$/.exec(name)?.[1];
  return { repository: tag === undefined ? name : name.slice(0, -tag.length - 1), tag };
});

/** Programs around a server, which do not serve: `vllm-router`, `ollama-ui`. */
const notServers = wordSet(
  'bench benchmark benchmarks bencher client router gateway ui exporter operator controller proxy sdk builder',
  'loader downloader init test tests sidecar metrics monitor manager webui openaiproxy training trainer train',
  'finetune chart webhook scheduler',
);

const distributedWords: () => ReadonlySet<string> = lazy(() => new Set(stored.distributed.map(({ word }) => word)));

/** Whether an image is named after a framework whose programs start one process per GPU. */
export function isDistributedImage(repository: string): boolean {
  const words = repository
    .slice(repository.lastIndexOf('/') + 1)
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return (
    words.some((word) => distributedWords().has(word)) &&
    !words.some((word) => notServers.has(word) && !/^train/.test(word))
  );
}

/** Whether the last part of a repository, or its last two, are one of these names, as in mirrors, which keep the name. */
export function isPublishedAs(names: ReadonlySet<string>, repository: string): boolean {
  const [last = '', owner = ''] = repository.split('/').reverse();
  return names.has(last) || names.has(`${owner}/${last}`);
}

/** Whether an image has only an operating system or a test program, nothing that uses a GPU. */
export function isPlainImage(repository: string): boolean {
  return repository.length <= maxRepository && plainNames().has(repository.slice(repository.lastIndexOf('/') + 1));
}

const shellNames: () => ReadonlySet<string> = lazy(() => new Set(stored.shells.map(({ image }) => image)));

/** Whether an image without a command starts a shell or an interpreter, which ends at once without a terminal. Other variants start a notebook. */
export function startsShell(image: string): boolean {
  const { repository, tag = '' } = imageParts(image);
  if (repository.length > maxRepository || /jupyter|notebook/.test(tag)) return false;
  const parts = repository.replace(/^(?:docker\.io\/)?(?:library\/)?/, '').split('/');
  return shellNames().has(parts.slice(-2).join('/'));
}

const byPattern: () => ReadonlyMap<string, ImageRecord> = lazy(
  () => new Map(records.map((record) => [record.image, record])),
);

/** The length that registries accept: https://github.com/distribution/reference */
const maxRepository = 255;

/** The program of an image, by its repository (without tag and digest). The most specific pattern wins. */
export const imageOf = oncePerName((repository): ImageRecord | ImageWord | undefined => {
  if (repository.length > maxRepository) return undefined;
  const parts = repository.split('/');
  // Docker Hub has names in both spellings: `gpu_burn`, `gpu-burn`.
  const last = (parts.pop() ?? '').replaceAll('_', '-');
  const owner = parts.at(-1);
  const patterns = patternsOf(last);
  const withoutFirst = last.slice(last.indexOf('-') + 1);
  return (
    (owner === undefined ? undefined : firstOf(patterns.map((pattern) => `${owner}/${pattern}`))) ??
    firstOf(patterns) ??
    firstOf([...patterns, ...patternsOf(withoutFirst)].map((pattern) => `*-${pattern}`)) ??
    firstOf(parts.flatMap(patternsOf).map((pattern) => `${pattern}/`)) ??
    wordIn(last)
  );
});

function wordIn(name: string): ImageWord | undefined {
  const words = name.toLowerCase().split(/[^a-z0-9]+/);
  if (words.some((word) => notServers.has(word))) return undefined;
  // Engines come before what they serve: `whisper-vllm`.
  return stored.words.find(({ word }) => words.includes(word));
}

function firstOf(patterns: readonly string[]): ImageRecord | undefined {
  return patterns.map((pattern) => byPattern().get(pattern)).find((record) => record !== undefined);
}

/** The patterns that a part of a repository matches, most specific first: `a-b`, `a-b-*`, `a-*`. */
function patternsOf(part: string): readonly string[] {
  const cuts = [...part.matchAll(/-|(?<=[a-z])(?=\d)/g)].map(({ index }) => `${part.slice(0, index)}-*`);
  return [part, `${part}-*`, ...cuts.reverse()];
}
