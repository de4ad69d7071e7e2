import { gpus } from '../catalog/index.ts';
import { wordsOf } from '../command/name-words.ts';
import { isOn } from '../command/setting-values.ts';
import { lastSetting, type TrainerSettings } from '../command/training-flags.ts';
import { requestsAccelerators } from './accelerators.ts';
import type { Engine, Offload, Sharded } from './training-settings.ts';
import type { PodAccelerator, Workload } from './workload.ts';

// Where the states of training are: on how many devices, sharded by what, on the device or the host.

/** All devices of the pods that train; null if a number is unknown. */
export function devicesOf({ podSets }: Workload): number | null {
  let devices = 0;
  for (const podSet of podSets.filter(requestsAccelerators)) {
    const { min, max } = podSet.pods;
    const [first, ...others] = podSet.accelerators;
    if (first === undefined || others.length > 0 || first.devices === null || first.form !== 'whole') return null;
    // The constants of the estimate are those of CUDA and ROCm.
    if (!isKnownMaker(first)) return null;
    if (min === null || min !== max) return null;
    devices += first.devices * min;
  }
  return devices > 0 ? devices : null;
}

/** Whether the devices are NVIDIA's or AMD's, by their resource or, if a field or a claim requests them, by their models. */
function isKnownMaker({ requested, candidates }: PodAccelerator): boolean {
  if (requested.kind === 'resource') return /^(?:nvidia|amd)\.com\//.test(requested.name);
  const makers = candidates.map((id) => gpus.get(id)?.vendor);
  return makers.length > 0 && makers.every((maker) => maker === 'nvidia' || maker === 'amd');
}

/** DeepSpeed's ZeRO stage: a setting, else a name: `zero3`, `ds_z3_config.json`, `deepspeed_stage_2`. */
export function stageOf(written: TrainerSettings, named: readonly string[]): number | undefined {
  const set = lastSetting(written, 'zero-stage')?.value;
  if (set !== undefined && /^[0-3]$/.test(set)) return Number(set);
  const [stage] = named.flatMap((name) => stageInName.exec(name)?.[1] ?? []);
  return stage === undefined ? undefined : Number(stage);
}

/** What names of settings files say of the stage. */
export const stageInName = /(?:zero|stage|(?:^|[/_-])z)[_-]?([0-3])(?!\d)/i;

/** Who keeps the states: as set, else by the names of programs and settings files. */
export function engineOf(written: TrainerSettings, hints: ReadonlySet<string>, stage: number | undefined): Engine {
  const kind = lastSetting(written, 'sharding')?.value?.toLowerCase() ?? '';
  if (stage !== undefined || kind === 'deepspeed') return 'deepspeed';
  if (
    written.settings.some(({ name }) => /(?:^|[.-])tensor-model-parallel-size$|^use-distributed-optimizer$/.test(name))
  )
    return 'megatron';
  // NeMo AutoModel: `distributed.strategy: fsdp2`.
  if (kind.includes('fsdp')) return 'fsdp';
  if ([...hints].some((word) => /^(?:megatron|nemo)/.test(word)) || (hints.has('gpt') && hints.has('pretrain')))
    return 'megatron';
  const sharding = written.settings.some(
    ({ name, value }) => /(?:^|[.-])fsdp/.test(name) && isOn(value?.toLowerCase()),
  );
  const launched = ['torchtitan', 'tune', 'litgpt'].some((word) => hints.has(word));
  return sharding || hints.has('fsdp') || launched ? 'fsdp' : 'torch';
}

export function shardedOf(
  written: TrainerSettings,
  engine: Engine,
  stage: number | undefined,
  hints: ReadonlySet<string>,
): Sharded {
  const value = lastSetting(written, 'sharding')?.value?.toLowerCase() ?? '';
  if (engine === 'deepspeed')
    return (['nothing', 'optimizer', 'gradients', 'parameters'] as const)[stage ?? 2] ?? 'nothing';
  if (engine === 'megatron') return isOn(value) || hints.has('nemo') || hints.has('swift') ? 'optimizer' : 'nothing';
  if (engine === 'torch') return 'nothing';
  if (/grad_op|optim_grads$|^2$/.test(value)) return 'gradients';
  if (/^no_shard|^3$|^optim$/.test(value)) return value === 'optim' ? 'optimizer' : 'nothing';
  return 'parameters';
}

export function offloadOf({ settings }: TrainerSettings, hints: ReadonlySet<string>): Offload {
  const on = settings.filter((setting) => {
    const { value } = setting;
    return lastSetting({ settings: [setting] }, 'offload') !== undefined && isOn(value?.toLowerCase());
  });
  // Transformers: `--fsdp "full_shard auto_wrap offload"`.
  if (settings.some(({ name, value }) => /(?:^|\.)fsdp$/.test(name) && /\boffload\b/i.test(value ?? ''))) return 'all';
  const words = on.flatMap(({ written }) => wordsOf(written));
  if (words.some((word) => /^(?:params?|parameters|fsdp)$/.test(word))) return 'all';
  if (on.length === 0) return hints.has('offload') ? 'all' : 'nothing';
  return words.some((word) => /^(?:optimizer|adam)$/.test(word)) ? 'optimizer' : 'all';
}
