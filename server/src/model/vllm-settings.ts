import { type Cursor, entries, getIn, items, keyOf, type Located } from '../yaml/cursor.ts';
import { text } from './pod.ts';

/**
 * The flags that vLLM's production stack, as a chart and as an operator, writes for a mapping of settings.
 * https://github.com/vllm-project/production-stack, 2026-11-22
 */
export function vllmFlagsOf(settings: Cursor | undefined): readonly Located<string>[] {
  const flags = entries(settings).flatMap((entry): readonly Located<string>[] => {
    const flag = vllmFlags.get(keyOf(entry));
    const value = text(entry);
    return flag === undefined || value === undefined ? [] : [{ value: flag, at: entry }, value];
  });
  return [...flags, ...items(getIn(settings, 'extraArgs')).flatMap((item) => text(item) ?? [])];
}

const vllmFlags: ReadonlyMap<string, string> = new Map([
  ['maxModelLen', '--max-model-len'],
  ['dtype', '--dtype'],
  ['tensorParallelSize', '--tensor-parallel-size'],
  ['maxNumSeqs', '--max-num-seqs'],
  ['gpuMemoryUtilization', '--gpu-memory-utilization'],
]);
