import { isPlainVllm } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import type { Container } from '../model/workload.ts';
import { getIn, isTemplated, isUnseen } from '../yaml/cursor.ts';
import { soleServer } from './sole-server.ts';

/** Settings with a value that servers take only as flags. Others, such as the API key, also have a variable. The number of devices is tensor-parallel-missing's. */
const flagSettings: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    'vllm',
    wordSet(
      'max-model-len gpu-memory-utilization max-num-seqs max-num-batched-tokens dtype quantization kv-cache-dtype',
      'served-model-name cpu-offload-gb max-lora-rank tool-call-parser reasoning-parser',
    ),
  ],
  [
    'sglang',
    wordSet(
      'mem-fraction-static context-length max-running-requests chunked-prefill-size dtype quantization kv-cache-dtype',
      'served-model-name tool-call-parser reasoning-parser attention-backend schedule-policy',
    ),
  ],
]);

/** A variable with the name of a flag. */
export interface UnreadVariable {
  readonly program: string;
  readonly name: string;
  readonly flag: string;
  readonly at: Container['env'][number]['at'];
}

/** The variables of a container that are meant as flags of its server, which reads none of them, and which nothing else there mentions. */
export function unreadVariables(container: Container): readonly UnreadVariable[] {
  const { env, image, command, args, scripts, at } = container;
  const isCandidate = (name: string) => [...flagSettings.values()].some((settings) => settings.has(flagOf(name)));
  if (!env.some(({ name }) => isCandidate(name)) || isUnseen(getIn(at, 'args')) || isUnseen(getIn(at, 'command')))
    return [];
  const server = soleServer(container);
  const settings = flagSettings.get(server?.program ?? '');
  if (server === undefined || settings === undefined || scripts.length > 0) return [];
  if (server.byImage && !isPlainVllm(image?.value ?? '')) return [];
  const candidates = env.filter(({ name }) => settings.has(flagOf(name)));
  const written = [...command, ...args];
  if (written.some((one) => isTemplated(one.at)) || server.command?.words.some(({ dynamic }) => dynamic) === true)
    return [];
  const flags = new Set(readFlags(server.command?.words ?? []).map(({ name }) => name));
  if (flags.has('config')) return [];
  const texts = [...written.map(({ value }) => value), ...env.map(({ value }) => value?.value ?? '')];
  return candidates.flatMap(({ name, at: variable, value }) => {
    const isKnown = value !== undefined && value.value !== '' && !isTemplated(value.at);
    const isMentioned = flags.has(flagOf(name)) || texts.some((text) => text.includes(name));
    return isKnown && !isMentioned ? [{ program: server.program, name, flag: flagOf(name), at: variable }] : [];
  });
}

function flagOf(name: string): string {
  return /^[A-Z][A-Z_]{3,40}$/.test(name)
    ? name
        .replace(/^(?:VLLM|SGLANG)_/, '')
        .toLowerCase()
        .replaceAll('_', '-')
    : '';
}
