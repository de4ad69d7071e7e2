import { gpus, modelByName } from '../catalog/index.ts';
import { wordsOf } from '../command/name-words.ts';
import type { ServedValue } from '../command/served-flags.ts';
import { servedFlags, usesAccelerators } from '../evidence/launch.ts';
import { llmConfigs } from '../evidence/serve-deployments.ts';
import { isBefore, serverRelease } from '../evidence/server-release.ts';
import { soleServer } from '../evidence/sole-server.ts';
import { plainWeights, unreadableForm } from '../evidence/unreadable-form.ts';
import { namesVllm } from '../model/served-fields.ts';
import { servedModel } from '../model/served-model.ts';
import { flagsIn } from '../model/vllm-settings.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, getIn, isTemplated, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { tableOf } from '../yaml/table.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The quantization does not fit the model or the GPU.
 *
 * ## Why
 *
 * AWQ and GPTQ are formats of the published weights, not settings: a server with `--quantization awq` and other weights stops at startup, and so
 * does one with `--quantization fp8` and weights that are already in another format, such as those of gpt-oss (MXFP4).
 * Some formats, also of the KV cache, need newer GPUs than the selected one, or numbers in float16. vLLM reads a single GGUF file, not a repository of them; Text
 * Generation Inference reads none, and llama.cpp reads nothing else. A pod that keeps restarting holds its GPU all the time.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: [--model=example/llama-8b-GPTQ-Int4, --quantization=awq]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: [--model=example/llama-8b-GPTQ-Int4, --quantization=gptq]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For formats that a server creates from 16-bit weights (fp8, bitsandbytes), for local paths and names without a format,
 * except models of organizations that publish 16-bit weights under their plain names.
 *
 * ## Sources
 *
 * - [vLLM: quantization](https://docs.vllm.ai/en/latest/features/quantization/)
 * - [vLLM: FP8 with llm-compressor](https://docs.vllm.ai/en/latest/features/quantization/fp8.html)
 * - [vLLM: GGUF](https://docs.vllm.ai/en/latest/features/quantization/gguf.html)
 * - [vllm-project/vllm#1157](https://github.com/vllm-project/vllm/issues/1157)
 * - [vllm-project/vllm#35720](https://github.com/vllm-project/vllm/pull/35720)
 * - [Text Generation Inference: quantization](https://huggingface.co/docs/text-generation-inference/conceptual/quantization)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, context) {
    if (context.workload.byShape) reportField(container, context);
    if (!usesAccelerators(container, context.podSet)) return;
    const lines = [...container.command, ...container.args];
    if (lines.some(({ at }) => isTemplated(at)) || container.type !== 'app') return;
    const form = unreadableForm(container);
    const place =
      form && ('at' in form.place ? spanOf(form.place.at) : spanOfWords(context.document, lines, form.place.words));
    if (form !== undefined && place !== undefined) {
      context.report({ message: `${shorten(form.name, 48)} ${form.problem}`, span: place });
      return;
    }
    const served = servedFlags(container);
    const flag = served?.quantization;
    if (flag === undefined) {
      reportVariable(container, served?.model?.value, context);
      reportOldGpu(container, context);
    }
    reportCache(container, served?.cacheType, context);
    const method = flag && methods[flag.value.toLowerCase()];
    if (flag === undefined || method === undefined) return;
    // Text Generation Inference makes other checks.
    if (method === 'bitsandbytes' && soleServer(container)?.program === 'text-generation-launcher') return;
    // Operators name the model in a field of their own.
    const isField = container.image === undefined && container.command.length === 0;
    const model = served?.model?.value ?? (isField ? servedModel(container, context.workload).model?.name : undefined);
    const problem =
      compressed(method, model) ??
      mismatch(method, model) ??
      tooOld(flag.value.toLowerCase(), method, container, context.podSet) ??
      otherFormat(flag.value.toLowerCase(), served?.dtype?.value, container);
    const span = spanOfWords(context.document, lines, flag.words);
    if (problem === undefined || span === undefined) return;
    const [first, last] = flag.words;
    const text = first === last ? first.text : `${first.text} ${last.text}`;
    context.report({ message: `${shorten(text, 40)} ${problem}: the server does not start`, span });
  },
  workload({ manifest }, { document, report }) {
    if (manifest.kind !== 'RayService' || document.template) return;
    for (const config of llmConfigs(manifest.root, document)) {
      const loading = getIn(config, 'model_loading_config');
      const model = asText(getIn(loading, 'model_source') ?? getIn(loading, 'model_id'));
      const at = getIn(config, 'engine_kwargs', 'quantization');
      const value = asText(at) ?? '';
      const method = methods[value.toLowerCase()];
      const problem = method && (compressed(method, model) ?? mismatch(method, model));
      if (at !== undefined && problem !== undefined && !isTemplated(at))
        report({ message: `quantization ${value} ${problem}: vLLM does not start`, span: spanOf(at) });
    }
  },
});

/** Text Generation Inference reads its flags also from variables. */
function reportVariable(container: Container, model: string | undefined, { report }: PodSetContext): void {
  if (soleServer(container)?.program !== 'text-generation-launcher') return;
  const [quantize, id] = ['QUANTIZE', 'MODEL_ID'].map(
    (name) => container.env.find((one) => one.name === name && one.value && !isTemplated(one.value.at))?.value,
  );
  const method = quantize && methods[quantize.value.toLowerCase()];
  const problem = method && mismatch(method, model ?? id?.value);
  if (quantize === undefined || problem === undefined) return;
  report({
    message: `QUANTIZE ${shorten(quantize.value, 20)} ${problem}: the server does not start`,
    span: spanOf(quantize.at),
  });
}

/** A field of a custom resource whose server is vLLM. */
function reportField(container: Container, { workload, report }: PodSetContext): void {
  const name = servedModel(container, workload).model?.name;
  const flags = name !== undefined && namesVllm(container.at) ? flagsIn(container.at) : [];
  const value = flags[flags.findIndex((flag) => flag.value === '--quantization') + 1];
  const method = value && methods[value.value.toLowerCase()];
  const problem = method && mismatch(method, name);
  if (value === undefined || problem === undefined) return;
  report({ message: `quantization ${value.value} ${problem}: the server does not start`, span: spanOf(value.at) });
}

/** The GPU of all its pods, if node labels or the like name it. */
function onlyGpu({ accelerators }: PodSet) {
  const [only, ...others] = accelerators;
  if (only === undefined || others.length > 0 || only.model === null || only.modelFrom === 'hint') return undefined;
  return gpus.get(only.model);
}

/** Flag values by the format that they read. */
const methods = tableOf<Method>([
  ['awq', 'awq'],
  ['awq_marlin', 'awq'],
  ['gptq', 'gptq'],
  ['gptq_marlin', 'gptq'],
  ['gguf', 'gguf'],
  ['fp8', 'fp8'],
  ['bitsandbytes', 'bitsandbytes'],
  ['compressed-tensors', 'compressed-tensors'],
]);

type Method = 'awq' | 'gptq' | 'gguf' | 'fp8' | 'bitsandbytes' | 'compressed-tensors';

/** Formats by the word in a name. Whether the last ones have a method of their own or that of a compressor is unknown, but they are none of the above. */
const named = tableOf<string>([
  ['awq', 'AWQ'],
  ['gptq', 'GPTQ'],
  ['gguf', 'GGUF'],
  ['bnb', 'bitsandbytes'],
  ['bitsandbytes', 'bitsandbytes'],
  ['nvfp4', 'NVFP4'],
  ['mxfp4', 'MXFP4'],
  ['fp8', 'FP8'],
]);

/** Formats in which models are published under plain names. */
const published = tableOf<string>([
  ['fp8', 'FP8'],
  ['fp8-mxfp4', 'FP8'],
  ['mxfp4-experts', 'MXFP4'],
  ['int4-experts', 'compressed-tensors'],
]);

function mismatch(method: Method, model: string | undefined): string | undefined {
  if (model === undefined || /[{$<]/.test(model)) return undefined;
  const [organization = '', name, ...more] = model.split('/');
  const words = wordsOf(model);
  const own = words.flatMap((word) => named[word] ?? []);
  // Its files hold weights of most formats, and their names state those. AutoRound also writes such files, and Mistral publishes some.
  if (method === 'compressed-tensors') {
    if (own.some((one) => !/^(?:GGUF|bitsandbytes)$/.test(one))) return undefined;
    if (/auto-?round|^mistralai\//i.test(model)) return undefined;
  }
  if (words.includes(method) || own.some((one) => one.toLowerCase() === method)) return undefined;
  const other = own[0] ?? publishedFormat(model);
  if (other !== undefined && other.toLowerCase() !== method)
    return `does not match ${shorten(model, 48)}, a model in ${other} format`;
  if (
    /^(?:fp8|bitsandbytes)$/.test(method) ||
    name === undefined ||
    more.length > 0 ||
    !plainWeights.has(organization.toLowerCase())
  )
    return undefined;
  const quantized = words.some((word) =>
    /^(?:\d?bit|int\d|w\da\d+|fp\d|nf4|bnb|quanti[sz]ed|exl2|marlin|nvfp4|mxfp4)$/.test(word),
  );
  return quantized ? undefined : `needs weights in that format, but ${shorten(model, 48)} has 16-bit weights`;
}

/**
 * The format in which its publisher stores the weights of a model whose name does not state it. Copies may be in 16 bits.
 * vLLM and SGLang compare it with the flag: https://github.com/vllm-project/vllm/issues/19050
 */
function publishedFormat(model: string): string | undefined {
  const found = firstPublishers.test(model) ? modelByName(model) : undefined;
  return found?.basis === 'name' && found.format === null ? published[found.shape.format] : undefined;
}

const firstPublishers = /^(?:openai|deepseek-ai|moonshotai|MiniMaxAI|mistralai|XiaomiMiMo)\/[\w.-]+$/i;

/** Names that llm-compressor's users give to its results, which have a format of their own. https://github.com/vllm-project/llm-compressor */
const byCompressor = /(?:[-_.]FP8[-_]dynamic|[-_.]quantized\.w\d+a\d+)$/i;

function compressed(method: Method, model: string | undefined): string | undefined {
  if (method === 'compressed-tensors' || model === undefined || !byCompressor.test(model) || /[{$<]/.test(model))
    return undefined;
  return `does not match ${shorten(model, 48)}, a model in compressed-tensors format`;
}

/**
 * Most of these methods need compute capability 7.5, which V100 and older GPUs do not have, and Marlin's kernels needed 8.0 at first.
 * https://github.com/vllm-project/vllm/blob/v0.10.2/vllm/model_executor/layers/quantization/awq_marlin.py
 */
function tooOld(name: string, method: Method, container: Container, podSet: PodSet): string | undefined {
  const isMarlin = name.endsWith('_marlin');
  const gpu = (method === 'gptq' && !isMarlin) || method === 'gguf' ? undefined : onlyGpu(podSet);
  const capability = Number(gpu?.computeCapability ?? Number.NaN);
  const release = serverRelease(container);
  const needed = isMarlin && release !== undefined && isBefore(release, [0, 11, 0]) ? 8 : 7.5;
  return gpu !== undefined && capability < needed ? `is not supported on ${gpu.name}` : undefined;
}

/** Reports weights in AWQ format, which name their method themselves, on a GPU that is too old for it. */
function reportOldGpu(container: Container, { podSet, document, report }: PodSetContext): void {
  const model = soleServer(container)?.program === 'vllm' ? servedFlags(container)?.model : undefined;
  const isAwq = model !== undefined && !/[{$<]/.test(model.value) && wordsOf(model.value).includes('awq');
  const problem = isAwq ? tooOld('awq', 'awq', container, podSet) : undefined;
  const span = model && spanOfWords(document, [...container.command, ...container.args], model.words);
  if (model !== undefined && problem !== undefined && span !== undefined)
    report({ message: `${shorten(model.value, 48)} in AWQ format ${problem}: the server does not start`, span });
}

/**
 * A KV cache in FP8 on a V100. The only attention kernels of vLLM's second engine that run on Volta are Triton's, which cannot convert to this
 * format before compute capability 8.9. Older releases have another engine; newer ones are not confirmed.
 * https://github.com/vllm-project/vllm/pull/35720 (v0.16.0, read 2026-11-30)
 */
function reportCache(container: Container, cache: ServedValue | undefined, context: PodSetContext): void {
  const { podSet, document, report } = context;
  if (cache === undefined || !/^fp8(?:_e4m3)?$/.test(cache.value)) return;
  const release = soleServer(container)?.program === 'vllm' ? serverRelease(container) : undefined;
  if (release === undefined || isBefore(release, [0, 11, 0]) || !isBefore(release, [0, 17, 0])) return;
  const gpu = onlyGpu(podSet);
  const span = spanOfWords(document, [...container.command, ...container.args], cache.words);
  if (gpu?.computeCapability !== '7.0' || span === undefined) return;
  const [first, last] = cache.words;
  const text = first === last ? first.text : `${first.text} ${last.text}`;
  report({ message: `${shorten(text, 40)} is not supported on ${gpu.name}: the server does not start`, span });
}

/**
 * The first kernels for AWQ and GPTQ compute in float16 only.
 * https://github.com/vllm-project/vllm/blob/v0.10.2/vllm/model_executor/layers/quantization/awq.py
 */
function otherFormat(name: string, dtype: string | undefined, container: Container): string | undefined {
  const release = serverRelease(container);
  const isOther = /^(?:bf16|bfloat16)$/.test(dtype ?? '') && (name === 'awq' || name === 'gptq');
  if (!isOther || release === undefined || !isBefore(release, [0, 14, 0])) return undefined;
  return `computes in float16, not in ${dtype ?? ''}`;
}
