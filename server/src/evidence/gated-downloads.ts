import { imageParts } from '../catalog/images.ts';
import { allCommands, baseName, readCommandLine } from '../command/shell.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Cursor, isIncomplete, isUnseen } from '../yaml/cursor.ts';
import { mayHaveVariables } from './launch.ts';
import { volumeNamed } from './volume-lifetime.ts';

/** Whether every repository of that name has required a license since it exists. Gemma 4 is open. */
export function isGated(name: string): boolean {
  const [owner = '', repository = '', ...more] = name.toLowerCase().split('/');
  if (more.length > 0) return false;
  return owner === 'meta-llama' || (owner === 'google' && gatedGemma.some((one) => repository.startsWith(one)));
}

const gatedGemma = [
  'gemma-2b',
  'gemma-7b',
  'gemma-1.1',
  'gemma-2-',
  'gemma-3',
  'codegemma',
  'paligemma',
  'embeddinggemma',
];

/** A gated model that a container next to accelerators only fetches, and the place that names it; undefined if anything may bring a token. */
export function gatedDownload(
  container: Container,
  podSet: PodSet,
  workload: Workload,
): { readonly name: string; readonly at: Cursor } | undefined {
  const { env, command, args, at, volumeMounts } = container;
  const words = [...command, ...args];
  const place = [...words, ...env.flatMap(({ value }) => value ?? [])].find(({ value }) => mentions.test(value));
  if (place === undefined || workload.partial || !workload.podSets.some(requestsAccelerators)) return undefined;
  const name = fetched(container);
  if (name === undefined || !isGated(name) || !place.value.includes(name)) return undefined;
  if ([at, podSet.pod, place.at].some(isUnseen) || words.some(({ at: word }) => isIncomplete(word.parent)))
    return undefined;
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
  return mayBring ? undefined : { name, at: place.at };
}

const mentions = /meta-llama\/|google\/\w*gemma/i;

/** A token, a login, a file with either, or another hub. */
const tokens =
  /token|login|\bauth\b|secret|huggingface_co|hf_(?:endpoint|hub_[^e]|api|home)|\bsource\b|offline|proxy|modelscope/i;

const snapshot = /\bsnapshot_download\(\s*(?:repo_id\s*=\s*)?["']([\w.-]+\/[\w.-]+)["']/;

/** The repository that a container fetches: by the tool of Hugging Face, or as the initializer of a training job. */
function fetched(container: Container): string | undefined {
  const { command, args, env } = processInput(container);
  const uri = env.find(({ name }) => name === 'STORAGE_URI')?.value;
  if (uri?.startsWith('hf://') === true && /-initializer$/.test(imageParts(container.image?.value ?? '').repository))
    return uri.slice('hf://'.length);
  const called = [...command, ...args].flatMap((text) => snapshot.exec(text)?.[1] ?? [])[0];
  if (called !== undefined) return called;
  for (const { words } of allCommands(readCommandLine(command, args, env).statements)) {
    const at = words.findIndex(({ text }) => /^(?:huggingface-cli|hf)$/.test(baseName(text)));
    if (at < 0 || words[at + 1]?.text !== 'download') continue;
    return words.slice(at + 2).find(({ text, dynamic }) => !dynamic && /^[\w.-]+\/[\w.-]+$/.test(text))?.text;
  }
  return undefined;
}
