import { readFlags } from '../command/flags.ts';
import { commandsIn, processInput } from '../model/process-input.ts';
import type { ServedModel } from '../model/served-model.ts';
import type { Container } from '../model/workload.ts';
import { isBefore, serverRelease } from './server-release.ts';

/** A KV cache in the node's memory. */
export interface HostCache {
  /** What sets its size. */
  readonly setting: string;
  readonly gib: number;
  /** It takes all of its memory at the start. */
  readonly upFront: boolean;
}

/**
 * The KV cache that LMCache (in GB, on by default) or vLLM keeps in the node's memory.
 * https://docs.nvidia.com/dynamo/latest/components/backends/vllm/LMCache_Integration.html, https://docs.vllm.ai/en/latest/cli/serve/
 */
export function hostCacheGiB(container: Container, served: ServedModel | null): HostCache | undefined {
  const flags = commandsIn(container).flatMap(({ words }) => readFlags(words));
  const flag = flags.find(({ name }) => name === 'kv-offloading-size');
  if (flag !== undefined) return sizeOf('--kv-offloading-size', flag.dynamic ? '' : flag.value, 1);
  const { env } = processInput(container);
  const value = (name: string) => env.find((one) => one.name === name)?.value;
  const isOff = /^(?:false|0|no)$/i.test(value('LMCACHE_LOCAL_CPU') ?? '');
  const lmcache = isOff ? undefined : sizeOf('LMCache', value('LMCACHE_MAX_LOCAL_CPU_SIZE'), 1e9 / 2 ** 30);
  if (lmcache !== undefined) return lmcache;
  // The first engine pins the memory when it starts, for each GPU. The second one has no such cache.
  const swap = flags.find(({ name }) => name === 'swap-space');
  const release = swap === undefined ? undefined : serverRelease(container);
  if (swap === undefined || swap.dynamic || release === undefined || !isBefore(release, [0, 8, 0])) return undefined;
  if (served?.engine !== 'vllm' || value('VLLM_USE_V1') !== undefined) return undefined;
  const found = sizeOf('--swap-space', swap.value, (served.tensor ?? 1) * served.pipeline);
  return found && { ...found, upFront: true };
}

function sizeOf(setting: string, value: string | undefined, unit: number): HostCache | undefined {
  if (!/^\d{1,5}(?:\.\d{1,3})?$/.test(value ?? '')) return undefined;
  return { setting, gib: Number(value) * unit, upFront: false };
}
