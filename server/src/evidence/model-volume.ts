import { processInput } from '../model/process-input.ts';
import type { Container, PodSet, Volume } from '../model/workload.ts';
import { asText, getIn } from '../yaml/cursor.ts';
import { volumeNamed } from './volume-lifetime.ts';

/** The directory into which a model server downloads its weights, and the volume that is mounted there. */
export interface ModelDirectory {
  readonly path: string;
  /** Undefined: the claim template of a StatefulSet has it. */
  readonly volume: Volume | undefined;
  readonly mount: Container['volumeMounts'][number];
}

/**
 * The volume into which a container downloads models: where the Hugging Face libraries, vLLM's --download-dir or TGI's image put them.
 * https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
 * https://huggingface.co/docs/text-generation-inference/reference/launcher
 * @param program the server, as `useOf` names it
 */
export function modelDirectory(container: Container, podSet: PodSet, program: string): ModelDirectory | undefined {
  const path = downloadPath(container, program);
  if (path === undefined) return undefined;
  const mount = container.volumeMounts
    .filter(({ mountPath }) => isBelow(path, mountPath))
    .sort((a, b) => b.mountPath.length - a.mountPath.length)[0];
  return mount && { path, mount, volume: volumeNamed(podSet, mount.name) };
}

/** Whether a model could be stored on any volume of a container. */
export function mayStoreModels({ volumeMounts, modelStorage }: Container, podSet: PodSet): boolean {
  if (modelStorage !== undefined) return true;
  return volumeMounts.some(({ name }) => {
    const volume = volumeNamed(podSet, name);
    const memory = asText(getIn(volume?.at, 'emptyDir', 'medium')) === 'Memory';
    return volume === undefined || !(memory || /^(?:configMap|secret|projected|downwardAPI)$/.test(volume.source));
  });
}

function downloadPath(container: Container, program: string): string | undefined {
  const { command, args, env } = processInput(container);
  const words = [...command, ...args].flatMap((line) => line.split(/\s+/));
  const flag = /^--?(?:download[-_]dir|huggingface[-_]hub[-_]cache)(?:=(.+))?$/;
  for (const [index, word] of words.entries()) {
    const match = flag.exec(word);
    if (match !== null) return absolute(match[1] ?? words[index + 1]);
  }
  const value = (name: string) => env.find((one) => one.name === name)?.value;
  for (const name of ['HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE', 'TRANSFORMERS_CACHE']) {
    if (value(name) !== undefined) return absolute(value(name));
  }
  const home = value('HF_HOME');
  if (home !== undefined) return absolute(home);
  if (program === 'text-generation-launcher') return '/data';
  const cache = value('XDG_CACHE_HOME');
  if (cache !== undefined) return absolute(`${cache}/huggingface`);
  // Images of model servers run as root, unless their pod says otherwise.
  const user = value('HOME');
  return user === undefined ? '/root/.cache/huggingface' : absolute(`${user}/.cache/huggingface`);
}

function absolute(path: string | undefined): string | undefined {
  return path?.startsWith('/') === true && !path.includes('$') ? path : undefined;
}

function isBelow(path: string, directory: string): boolean {
  const plain = directory.replace(/(?<!\/)\/+$/, '');
  return plain !== '' && (path === plain || path.startsWith(`${plain}/`));
}
