import { findLocalProcesses } from '../command/processes.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, Workload } from '../model/workload.ts';
import { getIn } from '../yaml/cursor.ts';

/** Kinds in which several pods serve one model: their parallel sizes span pods. */
export function spansPods({ kind, apiVersion, podSets, manifest }: Workload): boolean {
  if (/^(ray\.io|leaderworkerset|jobset|batch\.volcano|orchestration\.aibrix)/.test(apiVersion)) return true;
  if (/^(LLMInferenceService|Dynamo|Roleset|StormService|RayCluster|PodGroup|PodClique)/i.test(kind)) return true;
  if (podSets.some(({ name }) => /worker/i.test(name))) return true;
  return (
    getIn(manifest.root, 'spec', 'multiNode') !== undefined || getIn(manifest.root, 'spec', 'workerSpec') !== undefined
  );
}

/** Whether the GPUs are assigned by hand, or by a launcher to each of several processes. */
export function assignsGpus(container: Container): boolean {
  const { env, command, args, scripts } = container;
  const isMask = (text: string) => /(CUDA|HIP|ROCR|HABANA)_VISIBLE_(DEVICES|MODULES)/.test(text);
  if (env.some(({ name }) => isMask(name)) || scripts.some(({ text }) => isMask(text))) return true;
  if ([...command, ...args].some(({ value }) => isMask(value))) return true;
  return findLocalProcesses(processInput(container)).some(({ kind }) => kind === 'launch');
}
