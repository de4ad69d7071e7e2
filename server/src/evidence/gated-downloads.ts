import { imageParts, isPublishedAs } from '../catalog/images.ts';
import { unpublishedName } from '../catalog/published-names.ts';
import { partOf, wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { allCommands, baseName, readCommandLine, type Word } from '../command/shell.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { commandsIn, processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Cursor, getIn, isUnseen } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { mayHaveVariables, mayRunMore } from './launch.ts';
import { namedSettings } from './settings-files.ts';
import { volumeNamed } from './volume-lifetime.ts';

/** Whether every repository of that name has required a license since it exists, and one exists. Gemma 4 is open. */
export function isGated(name: string): boolean {
  const [owner = '', repository = '', ...more] = name.toLowerCase().split('/');
  if (more.length > 0 || unpublishedName(name)?.isOtherFormat === false) return false;
  return owner === 'meta-llama' || gatedNames[owner]?.test(repository) === true;
}

/** By organization. https://vladmandic.github.io/sdnext-docs/Gated/, https://github.com/black-forest-labs/flux */
const gatedNames = table<RegExp>({
  google: /^(?:gemma-(?:2b|7b|1\.1|2-|3)|codegemma|paligemma|embeddinggemma|recurrentgemma|shieldgemma|medgemma)/,
  cohereforai: /^(?:c4ai-command-r|aya-(?:23|expanse))/,
  coherelabs: /^(?:c4ai-command-[ar]|aya-(?:23|expanse))/,
  'black-forest-labs': /^flux\.1-(?:\w+-)?dev$/,
  stabilityai: /^stable-diffusion-3(?:\.5)?-/,
});

/** A gated model that a container next to accelerators only fetches, and the place that names it; undefined if anything may bring a token. */
export function gatedDownload(
  container: Container,
  podSet: PodSet,
  workload: Workload,
): { readonly name: string; readonly at: Cursor } | undefined {
  const { env, command, args, volumeMounts } = container;
  const words = [...command, ...args];
  if (workload.partial || workload.manifest.document.template) return undefined;
  const name = fetched(container);
  if (name === undefined || !isGated(name) || !workload.podSets.some(requestsAccelerators)) return undefined;
  const place = [...words, ...env.flatMap(({ value }) => value ?? [])].find(({ value }) => value.includes(name));
  const mayBring =
    mayHaveVariables(container) ||
    env.some((one) => tokens.test(one.name) || one.name === '') ||
    words.some(({ value }) => tokens.test(value)) ||
    volumeMounts.some(
      ({ name: volume, mountPath }) =>
        /^(?:secret|projected|csi)$/.test(volumeNamed(podSet, volume)?.source ?? '') ||
        // A login is kept in the home directory.
        /^\/(?:root|home)\b|\.cache/.test(mountPath ?? ''),
    );
  return mayBring || place === undefined ? undefined : { name, at: place.at };
}

/**
 * A gated model that a container trains from the hub, and the place that names it; undefined if anything may bring a token or the files.
 * @returns `known` if the image is a published one, which holds neither
 */
export function gatedTraining(
  container: Container,
  podSet: PodSet,
  workload: Workload,
): { readonly name: string; readonly at: Cursor; readonly known: boolean } | undefined {
  const { env, command, args, volumeMounts, at, scripts, image } = container;
  if (workload.partial || workload.manifest.document.template || scripts.length > 0) return undefined;
  if (podSet.containers.length > 1 || getIn(at, 'workingDir') !== undefined || isUnseen(at)) return undefined;
  if (mayRunMore(container) || mayHaveVariables(container)) return undefined;
  const files = namedSettings(container);
  const flags = [
    ...commandsIn(container).flatMap(({ words }) => readFlags(words)),
    ...files.flatMap((one) => one.flags),
  ];
  const model = flags.find(({ written, value, dynamic }) => !dynamic && isModel(written) && isGated(value ?? ''));
  const name = model?.value ?? '';
  const words = [...command, ...args];
  const place = words.find(({ value }) => value.includes(name)) ?? words.at(-1);
  if (model === undefined || place === undefined || flags.some(({ written }) => tokens.test(written))) return undefined;
  const mayBring =
    env.some((one) => one.name === '' || tokens.test(one.name) || /CACHE|HF_HUB/.test(one.name)) ||
    words.some(({ value }) => tokens.test(value) || /offline|cache/i.test(value)) ||
    volumeMounts.some(
      ({ name: volume, mountPath }) =>
        /^(?:secret|projected|csi)$/.test(volumeNamed(podSet, volume)?.source ?? '') ||
        /^\/(?:root|home)\b|cache|hugging|^\/$/.test(mountPath ?? ''),
    );
  if (mayBring) return undefined;
  return { name, at: place.at, known: isPublishedAs(trainers, imageParts(image?.value ?? '').repository) };
}

function isModel(written: string): boolean {
  const words = wordsOf(written);
  return words.includes('model') && words.every((word) => ofModel.has(word));
}

const ofModel = wordSet('model base name or path id pretrained hf');

/** Images of trainers and frameworks, without models. */
const trainers = wordSet(
  'axolotlai/axolotl winglian/axolotl hiyouga/llamafactory unsloth/unsloth pytorch/pytorch nvidia/pytorch nvidia/nemo',
  'huggingface/transformers-pytorch-gpu huggingface/trl huggingface/peft-gpu',
);

/** A token, a login, a file with either, or another hub. */
const tokens = partOf(
  'token login \\bauth\\b authorization bearer netrc secret \\bsource\\b',
  'huggingface_co hf_endpoint hf_hub_[^e] hf_api hf_home offline proxy modelscope',
);

/** A gated model in a variable that a container's script sets for the programs that it starts, and the word that sets it. */
export function gatedVariable(container: Container): { readonly name: string; readonly word: Word } | undefined {
  const set = commandsIn(container)
    .flatMap(({ words }) => readFlags(words))
    .find(({ name, value, isVariable, dynamic }) => {
      return isVariable && !dynamic && ofModelVariable.test(name) && isGated(value ?? '');
    });
  return set && { name: set.value ?? '', word: set.word };
}

const ofModelVariable = /^(?:hf-|base-|llm-|vllm-)?model(?:-id|-name|-path)?$/;

/** The repository that a container fetches: by the tool of Hugging Face, by curl or wget, or as the initializer of a training job. */
function fetched(container: Container): string | undefined {
  const { command, args, env } = processInput(container);
  const uri = env.find(({ name }) => name === 'STORAGE_URI')?.value;
  if (uri?.startsWith('hf://') === true) return uri.slice('hf://'.length);
  const [, file] = [...command, ...args].flatMap((text) => fileOfHub.exec(text) ?? []);
  if (file !== undefined) return file;
  if (![...command, ...args].some((text) => text.includes('download'))) return undefined;
  for (const { words } of allCommands(readCommandLine(command, args, env).statements)) {
    const at = words.findIndex(({ text }) => /^(?:huggingface-cli|hf)$/.test(baseName(text)));
    if (at < 0 || words[at + 1]?.text !== 'download') continue;
    return words.slice(at + 2).find(({ text, dynamic }) => !dynamic && /^[\w.-]+\/[\w.-]+$/.test(text))?.text;
  }
  return undefined;
}

/** The address of a file in a repository, which curl and wget get. */
const fileOfHub = /\b(?:curl|wget)\b[^\n]{0,400}https:\/\/huggingface\.co\/([\w.-]+\/[\w.-]+)\/resolve\//;
