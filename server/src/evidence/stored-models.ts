import { modelByName, weightFormat } from '../catalog/index.ts';
import { either, oneOf } from '../catalog/word-patterns.ts';
import { pythonCode } from '../command/inline-python.ts';
import { baseName, type SimpleCommand } from '../command/shell.ts';
import { programWords } from '../command/wrappers.ts';
import { weightsSize } from '../memory/weights.ts';
import { downloadsOf } from '../model/downloaded-model.ts';
import { commandsIn, processInput, useOf } from '../model/process-input.ts';
import { servedModel } from '../model/served-model.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, getIn, items } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { type ModelDirectory, modelDirectory, mountAbove } from './model-volume.ts';
import { pulledByOllama } from './pulled-models.ts';
import { mayMountMore, volumeNamed } from './volume-lifetime.ts';

/** Models that are stored together, and their size. */
export interface StoredModels {
  /** The largest one, as written. */
  readonly model: string;
  /** How many others there are. */
  readonly more: number;
  readonly gib: number;
  /** Something else stores it there. */
  readonly isStored?: boolean;
}

/** The models that a pod pulls into the Ollama of a container: by its own commands and hook, those of a container before it, or those of one next to it. */
export function modelsOfOllama(container: Container, podSet: PodSet): StoredModels | undefined {
  if (container.type !== 'app' || useOf(container).program !== 'ollama') return undefined;
  const directory = modelDirectory(container, podSet, 'ollama');
  const pulling = podSet.containers.filter(
    (other) => other === container || fills(other, podSet, directory?.mount.name),
  );
  const names = pulling.flatMap(pulledByOllama).map(({ name }) => (name.includes(':') ? name : `${name}:latest`));
  // Tags of one model and one size are names of the same files.
  const models = new Map<string, Model>();
  for (const name of names) {
    const size = modelByName(name)?.basis === 'name' ? weightsSize(name) : undefined;
    const key = `${name.split(':', 1)[0]} ${size?.gib}`;
    if (size !== undefined && !models.has(key)) models.set(key, { name, gib: size.gib });
  }
  return together([...models.values()], pulling.some(mayChoose));
}

/** Whether a script may store only some of its models, or removes some. */
function mayChoose({ at, command, args }: Container): boolean {
  const hook = items(getIn(at, 'lifecycle', 'postStart', 'exec', 'command')).map((one) => asText(one) ?? '');
  return [...command, ...args].some(({ value }) => choice.test(value)) || hook.some((text) => choice.test(text));
}

const choice = either(
  /\b(?:else|elif)\b|;;|\bollama rm\b/,
  // A download, and another one if it fails.
  new RegExp(
    `(?:${oneOf('pull download curl wget')})\\b[^|;&\\n]{0,400}\\|\\|\\s*(?:${oneOf('ollama curl wget hf huggingface-cli')})\\b`,
  ),
);

/** Whether what another container pulls is stored by this one: it writes to the same volume, or its client runs next to the server. */
function fills(other: Container, podSet: PodSet, volume: string | undefined): boolean {
  const { command, args, env } = processInput(other);
  const host = env.find(({ name }) => name === 'OLLAMA_HOST')?.value ?? 'localhost';
  // A script may name another server.
  const hosts = [...command, ...args].flatMap((text) => text.match(/\bOLLAMA_HOST=["']?[^\s"';&|]*/g) ?? []);
  if (![host, ...hosts.map((one) => one.replace(/^\w+=["']?/, ''))].every((one) => isLocal.test(one))) return false;
  if (other.volumeMounts.some(({ name }) => name === volume)) return true;
  return other.type !== 'init' && modelDirectory(other, podSet, 'ollama') === undefined;
}

const isLocal = /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::|\/|$)/;

/** The GGUF model that llama.cpp loads from a volume, or downloads to one. */
export function modelOfLlama(
  container: Container,
  podSet: PodSet,
  workload: Workload,
): (StoredModels & { readonly directory: Omit<ModelDirectory, 'path'> | undefined }) | undefined {
  if (container.type !== 'app' || useOf(container).program !== 'llama-server') return undefined;
  const { command, args, env } = processInput(container);
  const isDownload =
    [...command, ...args].some((line) => /(?:^|\s)(?:-hfr?|--hf-repo)(?:[\s=]|$)/.test(line)) ||
    env.some(({ name }) => name === 'LLAMA_ARG_HF_REPO');
  const { model } = servedModel(container, workload);
  const gib = model === null ? undefined : ggufSize(model.name);
  if (model === null || gib === undefined) return undefined;
  const directory = directoryOfLlama(container, podSet);
  // What the pod downloads is judged there.
  const fetches = podSet.containers.some((one) => downloadsByVolume(one).has(directory?.mount.name ?? ''));
  const isStored = !isDownload && /^\/.*\.gguf$/i.test(model.name) && directory !== undefined && !fetches;
  return isDownload || isStored ? { model: fileName(model.name), more: 0, gib, isStored, directory } : undefined;
}

function fileName(name: string): string {
  return name.startsWith('/') ? name.slice(name.lastIndexOf('/') + 1) : name;
}

/** With `-m`, the file is stored there. Older builds have a folder of their own, and newer ones that of Hugging Face. */
function directoryOfLlama(container: Container, podSet: PodSet): Omit<ModelDirectory, 'path'> | undefined {
  const words = commandsIn(container).flatMap((one) => one.words.map(({ text }) => text));
  const path = words[words.findIndex((text) => text === '-m' || text === '--model') + 1];
  const stored = path?.startsWith('/') === true ? mountAbove(path, container) : undefined;
  if (stored !== undefined) return { mount: stored, volume: volumeNamed(podSet, stored.name) };
  const found = modelDirectory(container, podSet, 'llama-server');
  if (found !== undefined || mayMountMore(container)) return found;
  const { env } = processInput(container);
  const home = ['HF_HUB_CACHE', 'HF_HOME'].flatMap((name) => env.find((one) => one.name === name)?.value ?? [])[0];
  const hub = home === undefined ? undefined : mountAbove(home, container);
  if (hub !== undefined) return { mount: hub, volume: volumeNamed(podSet, hub.name) };
  const [mount, ...others] = container.volumeMounts.filter(({ mountPath }) =>
    /\/\.cache\/(?:llama\.cpp|huggingface(?:\/hub)?)\/?$/.test(mountPath),
  );
  return mount === undefined || others.length > 0 ? undefined : { mount, volume: volumeNamed(podSet, mount.name) };
}

/**
 * The size of a GGUF file. Without a tag, llama.cpp takes Q4_K_M if there is one.
 * https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
 */
function ggufSize(name: string): number | undefined {
  const size = weightsSize(name)?.gib;
  if (size !== undefined || name.includes(':')) return size;
  const shape = modelByName(name)?.shape;
  const isPlain = shape !== undefined && weightFormat(shape.format)?.layerBits === 16;
  return isPlain ? weightsSize(`${name}:Q4_K_M`)?.gib : undefined;
}

/** What the commands of a container download to its volumes, by the name of the volume. */
export function downloadsByVolume(container: Container): ReadonlyMap<string, StoredModels> {
  if (container.volumeMounts.length === 0) return new Map();
  const found = new Map<string, Model[]>();
  for (const { name, path, gib } of [...repositories(container), ...commandsIn(container).flatMap(filesOf)]) {
    const volume = mountAbove(path, container)?.name;
    if (volume === undefined) continue;
    const others = found.get(volume) ?? [];
    found.set(volume, others.some((one) => one.name === name) ? others : [...others, { name, gib }]);
  }
  return new Map(
    [...found].flatMap(([volume, models]) => {
      const all = together(models, mayChoose(container));
      return all === undefined ? [] : [[volume, all] as const];
    }),
  );
}

interface Stored {
  readonly name: string;
  readonly path: string;
  readonly gib: number;
}

function repositories(container: Container): readonly Stored[] {
  const { command, args, env } = processInput(container);
  const text = [...command, ...args, ...env.map(({ name }) => name)].join(' ');
  if (partly.test(text)) return [];
  return downloadsOf(container).flatMap(({ model, folder }) => {
    const size = weightsSize(model);
    return size === undefined ? [] : { name: model, path: folder, gib: size.gib };
  });
}

/** Downloads of some files of a repository, of a data set or of no files. */
const partly =
  /\b(?:in|ex)clude\b|_patterns|--(?:repo-type|dry-run|revision|filter|no-checkout)|smudge|download\s+[\w.-]+\/[\w.-]+\s+[^\s\\;&|"'-]/i;

/** The GGUF files that curl, wget or Hugging Face's client stores in a folder. */
function filesOf(command: SimpleCommand): readonly Stored[] {
  const code = pythonCode(command);
  if (code !== undefined) return fileOfCode(code);
  const [program = '', ...words] = programWords(command);
  const flags = folderFlags[baseName(program)];
  const at = flags === undefined ? -1 : words.findIndex((word) => flags.test(word));
  if (at < 0) return [];
  const flag = words[at] ?? '';
  const path = flag.includes('=') ? flag.slice(flag.indexOf('=') + 1) : (words[at + 1] ?? '');
  if (!path.startsWith('/') || path.includes('$')) return [];
  const variant = words.includes('download') ? variantOf(words) : undefined;
  const whole = variant === undefined ? undefined : weightsSize(variant)?.gib;
  if (variant !== undefined && whole !== undefined) return [{ name: variant, path, gib: whole }];
  return words.flatMap((word, index) => {
    const name = /(?:^|\/)([\w.-]+\.gguf)(?:\?[\w=&]*)?$/i.exec(word)?.[1];
    // The parts of a model have its name and one size, which is that of all parts.
    if (name === undefined || index === at + 1 || word === flag) return [];
    const size = weightsSize(name);
    return size === undefined ? [] : { name: name.replace(/-\d{5}-of-\d{5}/, ''), path, gib: size.gib };
  });
}

/** The variant of a repository whose files a pattern selects: `hf download organization/model-GGUF --include "*Q4_K_M*"`. */
function variantOf(words: readonly string[]): string | undefined {
  const repository = words.find((word) => /^[\w.-]+\/[\w.-]*gguf$/i.test(word));
  const pattern = words[words.indexOf('--include') + 1] ?? '';
  const [, variant] = /^\*-?((?:UD-)?I?Q\d\w+)(?:\*|\.gguf)/i.exec(words.includes('--include') ? pattern : '') ?? [];
  return repository === undefined || variant === undefined ? undefined : `${repository}:${variant}`;
}

/** `hf_hub_download("organization/model-GGUF", "model-Q4_K_M.gguf", local_dir="/models")`. */
function fileOfCode(code: string): readonly Stored[] {
  if (code.length > 20_000 || !code.includes('hf_hub_download')) return [];
  const [, name] = /hf_hub_download\([^)]{0,200}["']([\w./-]+\.gguf)["']/.exec(code) ?? [];
  const [, path] = /local_dir\s*=\s*["'](\/[^"']+)["']/.exec(code) ?? [];
  const gib = name === undefined ? undefined : weightsSize(name)?.gib;
  return name === undefined || path === undefined || gib === undefined ? [] : [{ name, path, gib }];
}

/** The flag by which a program names the file or the folder in which it stores a file. */
const folderFlags = table<RegExp>({
  curl: /^(?:-\w*o|--output|--output-dir)(?:=|$)/,
  wget: /^(?:-\w*[OP]|--output-document|--directory-prefix)(?:=|$)/,
  hf: /^--local[-_]dir(?:=|$)/,
  'huggingface-cli': /^--local[-_]dir(?:=|$)/,
});

interface Model {
  readonly name: string;
  readonly gib: number;
}

/** @param isChoice whether a script may store only some of them: one is certain, but not which */
function together(models: readonly Model[], isChoice: boolean): StoredModels | undefined {
  const sorted = [...models].sort((a, b) => b.gib - a.gib);
  const certain = isChoice ? sorted.slice(-1) : sorted;
  const [largest, ...others] = certain;
  if (largest === undefined) return undefined;
  return { model: largest.name, more: others.length, gib: certain.reduce((sum, { gib }) => sum + gib, 0) };
}
