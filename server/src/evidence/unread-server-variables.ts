import { imageParts, isPlainVllm } from '../catalog/images.ts';
import { titleOf } from '../catalog/program-records.ts';
import { readFlags } from '../command/flags.ts';
import type { Container } from '../model/workload.ts';
import { addItem } from '../rewrite/add-item.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asText, type Cursor, getIn, items, keySpanOf, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { mayHaveVariables } from './launch.ts';
import { outdatedVariables } from './outdated-variables.ts';
import { isBefore, isOllama, serverRelease } from './server-release.ts';
import { soleServer } from './sole-server.ts';
import { unreadByImage } from './unread-by-image.ts';
import { listedOllamaModels, type UnreadByOllama, unreadByOllama } from './unread-ollama.ts';
import { unreadVariables } from './unread-variables.ts';

/** A variable that the server of a container does not read, or reads as something else. */
export interface UnreadServerVariable {
  readonly severity: 'warning' | 'info';
  readonly message: string;
  readonly span: Span;
  readonly fixes?: () => readonly (Fix | undefined)[];
}

/** Without a GPU, only the folder of Ollama matters: models that are lost are lost on CPUs also. */
export function unreadServerVariables(
  container: Container,
  /** Whether others may add flags or variables, which only Ollama's own names exclude, and whether the pod has accelerators. */
  others: { readonly flags: boolean; readonly gpu: boolean },
  document: YamlDocument,
): readonly UnreadServerVariable[] {
  const folder = folderOfOllama(container);
  if (!others.gpu) return folder;
  const ofOllama = unreadByOllama(container).map(
    ({ name, meant, at }): UnreadServerVariable => ({
      severity: 'variable' in meant ? 'warning' : 'info',
      message: `Ollama does not read ${shorten(name, 40)}; ${insteadOf(meant)} As written, it has no effect`,
      span: nameSpan(at),
    }),
  );
  const cache = cacheOfOllama(container);
  if (others.flags) return [...ofOllama, ...folder, ...cache];
  const ofImage = unreadByImage(container).map(
    ({ server, name, meant, at }): UnreadServerVariable => ({
      severity: 'warning',
      message: `${server} does not read ${name}; did you mean ${meant}? As written, it has no effect`,
      span: nameSpan(at),
    }),
  );
  const ofVllm = unreadVariables(container).map(({ program, name, flag, at }): UnreadServerVariable => {
    const word = `--${flag}=$(${name})`;
    // Words after a command may belong to a shell.
    const isPlain = container.command.length === 0;
    return {
      severity: 'warning',
      message: `${titleOf(program)} does not read ${name}: without --${flag} it uses its default`,
      span: spanOf(getIn(at, 'name') ?? at),
      fixes: () => (isPlain ? [fix(`Add ${word}`, 'unsafe', addItem(document, container.at, 'args', word))] : []),
    };
  });
  const outdated = outdatedVariables(container).map(
    ({ problem, at }): UnreadServerVariable => ({ severity: 'warning', message: problem, span: nameSpan(at) }),
  );
  return [...ofOllama, ...folder, ...cache, ...ofImage, ...ofVllm, ...outdated, ...portOfVllm(container)];
}

/** Names of models, or several folders, in the place of the one folder. */
function folderOfOllama(container: Container): readonly UnreadServerVariable[] {
  const listed = listedOllamaModels(container);
  if (listed === undefined) return [];
  const what = /[,\s]|^\/.*:/.test(listed.value.trim()) ? 'a list' : 'the name of one';
  return [
    {
      severity: 'warning',
      message: `OLLAMA_MODELS is the folder of the models, not ${what}: Ollama looks for them in ${shorten(listed.value, 40)}`,
      span: spanOf(listed.at),
    },
  ];
}

/**
 * The variable for the connections between vLLM's own processes, with the port that its clients use.
 * https://docs.vllm.ai/en/latest/configuration/env_vars/
 */
function portOfVllm(container: Container): readonly UnreadServerVariable[] {
  const variable = container.env.find(({ name }) => name === 'VLLM_PORT');
  const value = variable?.value?.value ?? '';
  const server = soleServer(container);
  if (variable === undefined || !/^\d{2,5}$/.test(value) || server?.program !== 'vllm') return [];
  // A command may take its port from it, as in `--port $VLLM_PORT`.
  if ([...container.command, ...container.args].some((one) => /\$[({]?VLLM_PORT\b/.test(one.value))) return [];
  // The entrypoint of another image may read the variable.
  if (server.byImage && !isPlainVllm(container.image?.value ?? '')) return [];
  const flag = readFlags(server.command?.words ?? []).find(({ name }) => name === 'port')?.value;
  const ports = items(getIn(container.at, 'ports')).map((one) => asText(getIn(one, 'containerPort')));
  if (value !== (flag ?? '8000') && (flag !== undefined || !ports.includes(value))) return [];
  const isOther = flag === undefined && value !== '8000';
  return [
    {
      severity: isOther ? 'warning' : 'info',
      message: `VLLM_PORT is for connections between vLLM's own processes, not for its API: ${isOther ? 'without --port, that listens on 8000' : 'the port of clients is --port'}`,
      span: nameSpan(variable.at),
    },
  ];
}

/** A quantized KV cache needs flash attention, which old releases turn on only if asked. https://docs.ollama.com/faq */
function cacheOfOllama(container: Container): readonly UnreadServerVariable[] {
  const { env, image } = container;
  const type = env.find(({ name }) => name === 'OLLAMA_KV_CACHE_TYPE');
  if (type === undefined || !/^q[48]_0$/.test(type.value?.value ?? '') || env.some(({ name }) => name === ''))
    return [];
  if (!isOllama.test(imageParts(image?.value ?? '').repository) || mayHaveVariables(container)) return [];
  const attention = env.find(({ name }) => name === 'OLLAMA_FLASH_ATTENTION');
  const release = serverRelease(container);
  const isOff =
    attention === undefined
      ? release !== undefined && isBefore(release, [0, 11, 0])
      : /^(?:0|f|false)$/i.test(attention.value?.value ?? '');
  if (!isOff) return [];
  return [
    {
      severity: 'warning',
      message: `OLLAMA_KV_CACHE_TYPE ${type.value?.value} needs OLLAMA_FLASH_ATTENTION=1: without it, Ollama keeps the KV cache in f16`,
      span: spanOf(type.value?.at ?? type.at),
    },
  ];
}

function insteadOf(meant: UnreadByOllama['meant']): string {
  if ('variable' in meant) return `did you mean ${meant.variable}?`;
  if (meant.parameter === 'model') return 'requests name the model, and ollama pull downloads it.';
  return `${meant.parameter} is a parameter of models and requests.`;
}

/** Of the name in a list, or of the key in a mapping. */
function nameSpan(at: Cursor): Span {
  const name = getIn(at, 'name');
  return name === undefined ? keySpanOf(at) : spanOf(name);
}
