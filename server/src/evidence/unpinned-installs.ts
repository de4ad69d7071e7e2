import { imageParts } from '../catalog/images.ts';
import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { baseName, type SimpleCommand, type Word } from '../command/shell.ts';
import { commandsIn, imageUseOf } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';

/** What a command installs at each start in whatever version is the newest one. */
export interface UnpinnedInstall {
  /** As written: `ray[default]`. */
  readonly names: readonly string[];
  readonly words: readonly [Word, Word];
}

/**
 * The frameworks that a container installs by `pip` without a version, and that its image is known not to have: pip leaves those as they are. Only
 * those on which the results, the checkpoints or the other pods depend.
 */
export function unpinnedInstall(container: Container): UnpinnedInstall | undefined {
  if (container.type !== 'app' || imageUseOf(container).use === 'serving') return undefined;
  const { repository } = imageParts(container.image?.value.toLowerCase() ?? '');
  const has = bases.find(([image]) => image.test(repository))?.[1];
  if (has === undefined || container.env.some(({ name }) => pinning.test(name))) return undefined;
  const found = commandsIn(container)
    .map((command) => operandsOf(command).filter((word, _, all) => isOpen(word, has) && !followsTorch(word, all)))
    .filter((words) => words.length > 0);
  const [first, last] = [found[0]?.[0], found[0]?.at(-1)];
  if (first === undefined || last === undefined || first.derived === true || last.derived === true) return undefined;
  return { names: [...new Set(found.flat().map(({ text }) => text))], words: [first, last] };
}

/** The packages that a command of pip names; none if a file or constraints may pin them. */
function operandsOf({ words, assignments }: SimpleCommand): readonly Word[] {
  const at = words.findIndex(({ text }) => text === 'install');
  const before = words.slice(0, at < 0 ? 0 : at).map(({ text }) => baseName(text));
  if (!before.some((text) => /^pip3?(?:\.\d+)?$/.test(text))) return [];
  const rest = words.slice(at + 1);
  if (assignments.some(({ text }) => pinning.test(text.split('=', 1)[0] ?? ''))) return [];
  if (rest.some(({ text }) => pins.test(text))) return [];
  return rest.filter(({ text }, index) => !text.startsWith('-') && !takesValue.has(rest[index - 1]?.text ?? ''));
}

const pinning = /^(?:PIP|UV)_(?:CONSTRAINT|CONFIG_FILE|NO_INDEX|EXCLUDE_NEWER)$/;

/** Requirements, constraints and other sources of packages. */
const pins = new RegExp(
  `^(?:-[rcef]|--(?:${oneOf('requirement constraint editable find-links no-index dry-run target prefix')}))(?:$|=)`,
);

const takesValue = wordSet('-i --index-url --extra-index-url --index --trusted-host --timeout --retries --proxy');

function isOpen({ text, dynamic }: Word, has: ReadonlySet<string>): boolean {
  const [, name = ''] = /^([A-Za-z][\w.-]*)(?:\[[\w,-]*\])?$/.exec(text) ?? [];
  const plain = name.toLowerCase().replaceAll('_', '-');
  return !dynamic && frameworks.has(plain) && !has.has(plain);
}

function followsTorch({ text }: Word, all: readonly Word[]): boolean {
  return followTorch.has(text.toLowerCase()) && all.some((other) => other.text.startsWith('torch=='));
}

const torch = 'torch torchvision torchaudio triton';

/** The frameworks that images have, by the end of their repository. Of all others it is unknown, so pip may install nothing. */
const bases: readonly (readonly [repository: RegExp, has: ReadonlySet<string>])[] = [
  [/^(?:docker\.io\/)?(?:library\/)?(?:python|ubuntu|debian)$|(?:^|\/)nvidia\/cuda$/, wordSet('')],
  [/(?:^|\/)pytorch\/pytorch$/, wordSet(torch)],
  [/^nvcr\.io\/nvidia\/pytorch$/, wordSet(`${torch} flash-attn xformers`)],
  [/(?:^|\/)rayproject\/ray$/, wordSet('ray')],
  [/(?:^|\/)tensorflow\/tensorflow$/, wordSet('tensorflow keras')],
];

/** Packages whose every release needs one release of torch, so the version of torch is also theirs. */
const followTorch = wordSet('torchvision torchaudio triton xformers');

/** https://pypi.org: frameworks whose releases change interfaces, formats or the version of CUDA that they need. */
const frameworks = wordSet(
  'torch torchvision torchaudio tensorflow jax flax keras',
  'transformers accelerate peft trl datasets diffusers bitsandbytes unsloth sentence-transformers',
  'deepspeed flash-attn xformers lightning pytorch-lightning colossalai megatron-core',
  'ray vllm sglang lmdeploy onnxruntime-gpu cupy-cuda12x',
);
