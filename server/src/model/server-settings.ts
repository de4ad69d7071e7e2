import type { FlagMeaning } from '../catalog/flag-records.ts';
import { imageParts } from '../catalog/images.ts';
import { type Engine, engineOf, versionOf } from '../command/engines.ts';
import { tokens } from '../command/model-server.ts';
import { type ServerStart, type Setting, settingOf } from '../command/serving-settings.ts';
import { imageUseOf } from './process-input.ts';
import type { Container } from './workload.ts';

/** The settings of a model server that decide how much memory it uses. */
export interface ServerSettings {
  readonly engine: Engine;
  /** [major, minor] of the server, from the image's tag; null: unknown, taken as current. */
  readonly version: readonly [number, number] | null;
  /** `--dtype` as written; null: as published. */
  readonly dtype: string | null;
  /** `--quantization` and the like as written; null: as published. */
  readonly quantization: string | null;
  /** The longest request, in tokens; null: the model's own limit. With llama.cpp, the tokens of all its slots. */
  readonly context: number | null;
  /** The server takes the longest request that fits (`--max-model-len auto`). */
  readonly fitsLength?: true;
  /** It takes requests as long as the model's own. */
  readonly wholeLength?: true;
  /** Concurrent requests; null: the engine's default. */
  readonly sequences: number | null;
  /** Tokens of one step; null: the engine's default. */
  readonly batchedTokens: number | null;
  /** The part of a device that the engine may use; null: its default. */
  readonly fraction: number | null;
  /** The memory of the cache in GiB, if a flag sets it. */
  readonly cacheGiB: number | null;
  /** The cache's type as written; null: that of the model. */
  readonly cacheType: string | null;
  /** Flash attention; null: the engine's default. */
  readonly flash: boolean | null;
  /** No CUDA graphs. */
  readonly eager: boolean;
  /** Without the parts for pictures and sound. */
  readonly textOnly?: true;
  readonly tensor: number | null;
  readonly pipeline: number;
  readonly data: number;
  /** The replicas of attention within a tensor-parallel group, each with a cache of its own. */
  readonly attentionReplicas: number;
  /** The devices of a tensor-parallel group that share the tokens of each sequence. */
  readonly cacheShards?: number;
  /** GiB of weights that stay in the node's memory; null: an unknown part of them. */
  readonly offloadGiB: number | null;
  /** Layers on the GPU; null: all. */
  readonly gpuLayers: number | null;
  /** Settings that add memory by an amount that is not computed: `a draft model`. */
  readonly extras: readonly string[];
  /** The server is sized for many concurrent requests and uses all memory that it gets. */
  readonly tuned: boolean;
}

/** The settings of a server by its flags, variables and files; null: the length of its requests has an unknown form. */
export function serverSettings(start: ServerStart, container: Container): ServerSettings | null {
  const value = (means: FlagMeaning) => settingOf(start, means)?.value ?? null;
  const count = (means: FlagMeaning) => countOf(value(means));
  const formats = start.settings.filter(
    (one) => settingOf({ ...start, settings: [one] }, 'number-format') !== undefined,
  );
  const context = contextOf(start);
  // Stretched positions change the longest request only where no flag sets it.
  const isStretched = context === undefined && settingOf(start, 'context-stretch') !== undefined;
  if (context === null || isStretched) return null;
  const offload = settingOf(start, 'offload');
  const bytes = countOf(value('cache-memory'));
  const cacheShards = count('cache-shards');
  return {
    engine: start.engine,
    version: versionIn(container, start.engine),
    dtype: formats.filter(({ name }) => name.startsWith('dtype')).at(-1)?.value ?? null,
    quantization: formats.filter(({ name }) => name.startsWith('q')).at(-1)?.value ?? null,
    context: context ?? null,
    ...(isFittedLength(start) && { fitsLength: true }),
    ...(isWholeLength(start) && { wholeLength: true }),
    sequences: count(start.engine === 'llama-cpp' || start.engine === 'ollama' ? 'slots' : 'sequences'),
    batchedTokens: count('batched-tokens'),
    fraction: fractionOf(value('memory-fraction')),
    cacheGiB: bytes === null ? null : bytes / 2 ** 30,
    cacheType: value('cache-type'),
    flash: flashOf(settingOf(start, 'flash-attention')),
    eager: isOn(settingOf(start, 'eager')),
    ...(isOn(settingOf(start, 'text-only')) && { textOnly: true }),
    tensor: count('tensor-parallel'),
    pipeline: count('pipeline-parallel') ?? 1,
    data: count('local-data-parallel') ?? count('data-parallel') ?? 1,
    attentionReplicas: settingOf(start, 'data-parallel-attention') === undefined ? 1 : (count('data-parallel') ?? 1),
    ...(cacheShards !== null && { cacheShards }),
    offloadGiB: offload === undefined ? 0 : fractionOf(offload.value ?? null),
    gpuLayers: count('gpu-layers'),
    extras: [
      ...(settingOf(start, 'draft') === undefined ? [] : ['a draft model']),
      ...(isOn(settingOf(start, 'adapters')) ? ['adapters'] : []),
    ],
    tuned: requestFlags.some((means) => settingOf(start, means) !== undefined) && !servesFew(start),
  };
}

/** The version in the tag of an engine's own image; null for images that pack an engine and have versions of their own. */
function versionIn(container: Container, engine: Engine): ServerSettings['version'] {
  if (container.image === undefined || engineOf(imageUseOf(container).program ?? '') !== engine) return null;
  const { repository, tag } = imageParts(container.image.value);
  return /runtime|dynamo|llm-d|huggingfaceserver/.test(repository) ? null : versionOf(tag);
}

/** Flags that people set to serve many requests or to use more devices. */
const requestFlags: readonly FlagMeaning[] = ['request-capacity', 'data-parallel', 'pipeline-parallel', 'adapters'];

/**
 * Limits by the same flags that say the opposite, each from one number to another. The defaults of vLLM are 256 requests and 2,048 tokens or
 * more. A single request is the matter of serving-unbatched.
 */
const few: readonly (readonly [FlagMeaning, number, number])[] = [
  ['sequences', 2, 32],
  ['batched-tokens', 1, 2048],
  ['cache-memory', 1, 2 * 2 ** 30],
];

/** Whether all settings for requests limit them to a few. */
function servesFew(start: ServerStart): boolean {
  const settings = start.settings.filter((one) =>
    few.every(([means, least, most]) => {
      const count = countOf(settingOf({ ...start, settings: [one] }, means)?.value ?? null);
      return count === null || count < least || count > most;
    }),
  );
  return requestFlags.every((means) => settingOf({ ...start, settings }, means) === undefined);
}

/** Undefined: no flag sets it; null: a length in an unknown form. */
function contextOf(start: ServerStart): number | null | undefined {
  const setting = settingOf(start, 'context-length');
  if (setting === undefined || (setting.dynamic === true && setting.value === undefined)) return undefined;
  if (setting.value === undefined || /^(?:0|-1|auto)$/.test(setting.value)) return undefined;
  return tokens(setting.value);
}

/** https://github.com/vllm-project/vllm/blob/main/vllm/config/model.py, 2026-11-22 */
function isFittedLength(start: ServerStart): boolean {
  return /^(?:-1|auto)$/.test(settingOf(start, 'context-length')?.value ?? '');
}

/** https://github.com/ggml-org/llama.cpp/blob/25d5b0c53f9a/tools/server/README.md: `0 = loaded from model` */
function isWholeLength(start: ServerStart): boolean {
  return start.engine === 'llama-cpp' && settingOf(start, 'context-length')?.value === '0';
}

function isOn(setting: Setting | undefined): boolean {
  return setting !== undefined && !/^(?:0|false|no|off|1?)$/i.test(setting.value ?? 'on')
    ? true
    : setting?.value === '1';
}

function flashOf(setting: Setting | undefined): boolean | null {
  return setting === undefined || setting.value === 'auto' ? null : isOn(setting);
}

function countOf(value: string | null): number | null {
  return value !== null && /^[1-9]\d{0,12}$/.test(value) ? Number(value) : null;
}

function fractionOf(value: string | null): number | null {
  const number = Number(value ?? Number.NaN);
  return Number.isFinite(number) && number >= 0 ? number : null;
}
