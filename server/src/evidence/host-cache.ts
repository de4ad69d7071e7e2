import { instanceType, isInstanceTypeLabel } from '../catalog/index.ts';
import { readFlags } from '../command/flags.ts';
import { commandsIn, processInput } from '../model/process-input.ts';
import type { ServedModel } from '../model/served-model.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { isTemplated } from '../yaml/cursor.ts';
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
 * https://docs.nvidia.com/dynamo/latest/components/backends/vllm/LMCache_Integration.html, https://docs.vllm.ai/en/latest/cli/serve/,
 * https://github.com/LMCache/LMCache/issues/949 (the size is that of each engine, one for each GPU; 2026-11-30)
 */
export function hostCacheGiB(container: Container, served: ServedModel | null): HostCache | undefined {
  const flags = commandsIn(container).flatMap(({ words }) => readFlags(words));
  const flag = flags.find(({ name }) => name === 'kv-offloading-size');
  if (flag !== undefined) return sizeOf('--kv-offloading-size', flag.dynamic ? '' : flag.value, 1);
  const { env } = processInput(container);
  const value = (name: string) => env.find((one) => one.name === name)?.value;
  const isOff = /^(?:false|0|no)$/i.test(value('LMCACHE_LOCAL_CPU') ?? '');
  // Models with latent attention cache the same for each GPU, and LMCache keeps it once.
  const engines = served === null || latent.test(served.name) ? 1 : (served.tensor ?? 1) * served.pipeline;
  const setting = engines > 1 ? 'LMCache, once per GPU,' : 'LMCache';
  const lmcache = isOff ? undefined : sizeOf(setting, value(lmcacheSize), (engines * 1e9) / 2 ** 30);
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

export const lmcacheSize = 'LMCACHE_MAX_LOCAL_CPU_SIZE';

const latent = /deepseek|kimi|minicpm3|glm-[5-9]/i;

/** The largest of the machines on which a pod may run, if all of them and their memory are known. */
export function largestMemory({ selectors }: PodSet): { readonly name: string; readonly gib: number } | undefined {
  const values = selectors.find(({ key }) => isInstanceTypeLabel(key))?.values ?? [];
  const machines = values.map(({ value, at }) => (isTemplated(at) ? undefined : instanceType(value)));
  const known = machines.flatMap((one) =>
    one === undefined || one.memoryGiB === null || one.unsourced.some((field) => /^(?:all|memoryGiB)$/.test(field))
      ? []
      : [{ name: one.name, gib: one.memoryGiB }],
  );
  return known.length < machines.length ? undefined : known.sort((a, b) => b.gib - a.gib)[0];
}
