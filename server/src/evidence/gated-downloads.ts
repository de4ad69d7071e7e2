import { partOf, wordSet } from '../catalog/word-patterns.ts';
import { allCommands, baseName, readCommandLine } from '../command/shell.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { mayHaveVariables } from './launch.ts';
import { volumeNamed } from './volume-lifetime.ts';

/** Whether every repository of that name has required a license since it exists. Gemma 4 is open. */
export function isGated(name: string): boolean {
  const [owner = '', repository = '', ...more] = name.toLowerCase().split('/');
  if (more.length > 0) return false;
  return owner === 'meta-llama' || (owner === 'google' && gatedGemma.some((one) => repository.startsWith(one)));
}

const gatedGemma = [...wordSet('gemma-2b gemma-7b gemma-1.1 gemma-2- gemma-3', 'codegemma paligemma embeddinggemma')];

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

/** A token, a login, a file with either, or another hub. */
const tokens = partOf(
  'token login \\bauth\\b secret \\bsource\\b',
  'huggingface_co hf_endpoint hf_hub_[^e] hf_api hf_home offline proxy modelscope',
);

/** The repository that a container fetches: by the tool of Hugging Face, or as the initializer of a training job. */
function fetched(container: Container): string | undefined {
  const { command, args, env } = processInput(container);
  const uri = env.find(({ name }) => name === 'STORAGE_URI')?.value;
  if (uri?.startsWith('hf://') === true) return uri.slice('hf://'.length);
  if (![...command, ...args].some((text) => text.includes('download'))) return undefined;
  for (const { words } of allCommands(readCommandLine(command, args, env).statements)) {
    const at = words.findIndex(({ text }) => /^(?:huggingface-cli|hf)$/.test(baseName(text)));
    if (at < 0 || words[at + 1]?.text !== 'download') continue;
    return words.slice(at + 2).find(({ text, dynamic }) => !dynamic && /^[\w.-]+\/[\w.-]+$/.test(text))?.text;
  }
  return undefined;
}
