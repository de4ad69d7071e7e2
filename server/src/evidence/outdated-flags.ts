import { imageParts } from '../catalog/images.ts';
import {
  flashAttentionValue,
  jsonCompilation,
  jsonLimits,
  type RemovedFlag,
  removedFromVllm,
} from '../catalog/outdated-flags.ts';
import { titleOf } from '../catalog/program-records.ts';
import type { Release } from '../catalog/server-support.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { Flag } from '../command/flags.ts';
import type { Container } from '../model/workload.ts';
import { isBefore, runsNewestVllm, serverRelease } from './server-release.ts';

/** A flag that the server knew once, or in another form, and with which it does not start any more. */
export interface OutdatedFlag {
  readonly flag: Flag;
  readonly problem: string;
  /** The image is pinned: otherwise an old copy of it may still start. */
  readonly isCertain: boolean;
  /** Without the flag, the server does what it did. */
  readonly canGo: boolean;
}

/** Names that read as if vLLM had them: guides mention them, but no release does. What they ask for is the default, or has another name. */
const neverInVllm = wordSet(
  'continuous-batching enable-continuous-batching enable-paged-attention use-paged-attention enable-flash-attention',
  'use-flash-attention enable-speculative-decoding max-num-paddings enable-metrics',
  'enable-flash-attn flash-attention cuda-graph enable-cuda-graph enable-tensor-parallel enable-kv-cache use-gpu',
  // Those of other servers, of requests and of llama.cpp.
  'workers num-workers worker-count batch-size max-tokens max-new-tokens temperature top-p top-k',
  'n-gpu-layers num-gpu-layers gpu-layers threads enable-cors cors-allow-origins kv-cache-size prometheus-port',
);

/** vLLM always exports its metrics, at the port of the API. https://docs.vllm.ai/en/latest/usage/metrics/, 2026-11-29 */
const ofMetrics = /^(?:metrics?|prometheus)-/;

/** Whether vLLM never had a flag. Only its first server, without the API of OpenAI, has a level of its log. */
function neverOfVllm(name: string, { command, args }: Container): boolean {
  if (name !== 'log-level') return ofMetrics.test(name);
  return ![...command, ...args].some(({ value }) => value.includes('vllm.entrypoints.api_server'));
}

/** Switches of vLLM for what SGLang does by default. https://docs.sglang.io/advanced_features/server_arguments.html, 2026-11-29 */
const neverInSglang = wordSet(
  'enable-auto-tool-choice enable-prefix-caching enable-chunked-prefill disable-log-requests',
);

/** Flags of servers of language models. It uses one GPU as it is. https://huggingface.co/docs/text-embeddings-inference/cli_arguments, 2026-11-29 */
const neverInTei = wordSet(
  'tensor-parallel-size num-shard gpu-memory-utilization cuda-memory-fraction max-model-len max-total-tokens',
  'max-input-length quantize quantization trust-remote-code device',
);

/** Flags of vLLM and of SGLang for which llama.cpp has none. https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md, 2026-11-29 */
const neverInLlama = wordSet(
  'gpu-memory-utilization tensor-parallel-size mem-fraction-static trust-remote-code dtype enforce-eager',
  'enable-prefix-caching enable-chunked-prefill enable-auto-tool-choice tool-call-parser kv-cache-dtype quantization',
);

const never: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['vllm', neverInVllm],
  ['sglang', neverInSglang],
  ['text-embeddings-router', neverInTei],
  ['llama-server', neverInLlama],
]);

/** The flags that the release of a container's server does not have, or reads in another form. */
export function outdatedFlags(program: string, flags: readonly Flag[], container: Container): readonly OutdatedFlag[] {
  const written = flags.filter(({ isVariable, word }) => !isVariable && word.text.startsWith('-'));
  const unknown = written.flatMap((flag) =>
    never.get(program)?.has(flag.name) === true || (program === 'vllm' && neverOfVllm(flag.name, container))
      ? [
          {
            flag,
            problem: `${program === 'llama-server' ? 'The server of llama.cpp' : titleOf(program)} has no flag --${flag.written}`,
            isCertain: true,
            canGo: true,
          },
        ]
      : [],
  );
  if (program === 'llama-server')
    return [...unknown, ...written.flatMap((flag) => bareFlashAttention(flag, container) ?? [])];
  return startsVllm(program, container) ? [...unknown, ...changedFlags(written, container)] : unknown;
}

/** Whether a program is vLLM, or a worker of Dynamo that passes its flags on to it. */
function startsVllm(program: string, { command, args }: Container): boolean {
  if (program !== 'dynamo') return program === 'vllm';
  return [...command, ...args].some(({ value }) => /\bdynamo\.vllm\b/.test(value));
}

/** The flags of vLLM that the release of a container does not have any more, or reads in another form. */
function changedFlags(written: readonly Flag[], container: Container): readonly OutdatedFlag[] {
  const release = serverRelease(container);
  if (release === undefined && !runsNewestVllm(container)) return [];
  const isCertain = release !== undefined;
  const isFrom = (since: Release) => release === undefined || !isBefore(release, since);
  const removed = removedFromVllm.flatMap((one) => {
    const flag = isFrom(one.since) ? written.find(({ name }) => one.names.split(' ').includes(name)) : undefined;
    return flag === undefined ? [] : [{ flag, problem: problemOf(one, flag), isCertain, canGo: one.now === undefined }];
  });
  const form = { isCertain, canGo: false };
  return [
    ...removed,
    ...written.flatMap((flag) => {
      const { name, value = '', dynamic } = flag;
      if (
        name === 'limit-mm-per-prompt' &&
        !dynamic &&
        isFrom(jsonLimits) &&
        /^[a-z]+=\d+(?:,[a-z]+=\d+)*$/.test(value)
      ) {
        const json = value.replaceAll(/([a-z]+)=/g, '"$1":');
        return [{ flag, problem: `--${flag.written} must be JSON, such as {${json}}`, ...form }];
      }
      if (name === 'compilation-config' && !dynamic && isFrom(jsonCompilation) && /^\d$/.test(value)) {
        const problem = `vLLM ${jsonCompilation.join('.')} and later read --${flag.written} as JSON, not as level ${value}`;
        return [{ flag, problem, ...form }];
      }
      return [];
    }),
  ];
}

function problemOf({ since, now }: RemovedFlag, { written }: Flag): string {
  const instead = now === undefined ? '' : ` (now ${now})`;
  return `vLLM ${since.join('.')} and later have no flag --${written}${instead}`;
}

/** `-fa` alone: newer builds of llama.cpp take the next word as its value. */
function bareFlashAttention(flag: Flag, { image }: Container): OutdatedFlag | undefined {
  const { repository, tag = '' } = imageParts(image?.value ?? '');
  const isBare = /^(?:fa|flash-attn)$/.test(flag.name) && flag.value === undefined;
  if (!isBare || !/^ghcr\.io\/ggml-org\/llama\.cpp$/.test(repository)) return undefined;
  const build = /-b(\d{3,6})$/.exec(tag)?.[1];
  // Tags that move: those of this registry are newer than the change.
  if (build === undefined ? !/^(?:server|full)(?:-[a-z]+\d*)?$/.test(tag) : Number(build) < flashAttentionValue)
    return undefined;
  return {
    flag,
    problem: `llama.cpp needs a value after ${flag.word.text} (on, off or auto)`,
    isCertain: build !== undefined,
    canGo: false,
  };
}
