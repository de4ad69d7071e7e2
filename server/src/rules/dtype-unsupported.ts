import { imageParts } from '../catalog/images.ts';
import { type GpuModel, gpus } from '../catalog/index.ts';
import type { Release } from '../catalog/server-support.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { ServedFlags } from '../command/served-flags.ts';
import { isOn } from '../command/setting-values.ts';
import { readTrainerSettings } from '../command/training-flags.ts';
import { isPlainCudaBuild } from '../evidence/gpu-programs.ts';
import { servedFlags, usesAccelerators } from '../evidence/launch.ts';
import { isExempt, requestSpan } from '../evidence/requested-accelerators.ts';
import { isBefore, runsNewestVllm, serverRelease } from '../evidence/server-release.ts';
import { processInput } from '../model/process-input.ts';
import { knownModel, type ServedModel, servedModel } from '../model/served-model.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { setServerFlag } from '../rewrite/server-flag.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { rewriteWord } from '../rewrite/words.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The GPU does not support the model's number format, or the server does not support the GPU.
 *
 * ## Why
 *
 * bfloat16 needs compute capability 8.0 (A100 or newer). vLLM and SGLang stop on older GPUs if a flag sets it, and vLLM before 0.9 also without a flag,
 * because it takes the format of the model. FP8 weights need 8.9 (L4, H100), or 8.0 since vLLM 0.6; T4 and V100 cannot read them.
 * vLLM's images do not run at all on GPUs before Volta (P100, P40, GTX 1080 Ti), whose compute capability is below 7.0. The pod keeps restarting
 * while it holds its GPU. vLLM also rejects Gemma 3 in float16, in which it overflows. Training in bfloat16 stops on older GPUs, or is slower than
 * in float16 because newer versions of PyTorch emulate it.
 * Transformer Engine trains in FP8 only from 8.9.
 * Each image of text-embeddings-inference is built for one compute capability, which its tag names.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   nodeSelector:
 *     cloud.google.com/gke-accelerator: nvidia-tesla-t4
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: [--model=example/atlas-1b, --dtype=bfloat16]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   nodeSelector:
 *     cloud.google.com/gke-accelerator: nvidia-tesla-t4
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: [--model=example/atlas-1b, "--dtype=half"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: some models overflow in half precision.
 *
 * ## When it is silent
 *
 * For unknown GPUs, for models whose published format is unknown, and for versions of vLLM that an image's tag does not state.
 *
 * ## Sources
 *
 * - [vllm-project/vllm#1157](https://github.com/vllm-project/vllm/issues/1157)
 * - [vllm-project/vllm#9990](https://github.com/vllm-project/vllm/issues/9990)
 * - [text-embeddings-inference: supported hardware](https://huggingface.co/docs/text-embeddings-inference/supported_models)
 * - [vLLM: requirements](https://docs.vllm.ai/en/v0.14.0/getting_started/installation/gpu/)
 * - [Transformer Engine: FP8](https://docs.nvidia.com/deeplearning/transformer-engine/user-guide/examples/fp8_primer.html)
 * - [Gemma 3 in float16 with vLLM](https://github.com/intel/llm-scaler/issues/270)
 * - [vLLM: supported hardware](https://docs.vllm.ai/en/v0.11.0/features/quantization/supported_hardware.html)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  container(container, context) {
    if (!usesAccelerators(container, context.podSet) || container.type !== 'app' || isExempt(context.workload)) return;
    const lines = [...container.command, ...container.args];
    if (lines.some(({ at }) => isTemplated(at)) || reportOverflow(container, lines, context)) return;
    const gpu = onlyGpu(context.podSet);
    if (gpu === undefined) return;
    if (reportOldGpu(container, gpu, context) || reportOtherBuild(container, gpu, context)) return;
    if (context.workload.role === 'training' && gpu.capability < 8.9) reportTraining(container, gpu, context);
    if (context.workload.role === 'training' && gpu.capability < 8) return;
    const flags = servedFlags(container);
    if (flags?.dtype !== undefined && bfloat16.test(flags.dtype.value)) {
      if (gpu.capability < 8) reportFlag(flags.dtype, gpu, lines, context);
      return;
    }
    const served = servedModel(container, context.workload).model;
    if (served?.engine !== 'vllm' || served.open.length > 0) return;
    const problem = publishedIn(served, flags, gpu);
    if (problem === undefined) return;
    const { document } = context;
    context.report({
      message: `${shorten(served.name, 40)} ${problem}: the server does not start`,
      span: requestSpan(container.accelerators, container),
      fixes: () => {
        // Gemma overflows in half precision.
        if (!problem.includes('bfloat16') || /gemma/i.test(served.name)) return [];
        const half = { means: 'number-format', flag: '--dtype', value: 'half' } as const;
        const edits = setServerFlag(document, container, half, ({ name }) => name.startsWith('dtype'));
        return [fix('Set the dtype to half', 'unsafe', edits)];
      },
    });
  },
});

const bfloat16 = /^(?:bfloat16|bf16)$/i;

/** The release of vLLM that rejects Gemma 3 in float16, or an earlier one. https://github.com/HabanaAI/vllm-fork/pull/1650 */
const rejectsOverflow: Release = [0, 10, 0];

/** Reports Gemma 3 in float16, in which it overflows: older releases of vLLM start, and answer with nothing. */
function reportOverflow(
  container: Container,
  lines: Container['args'],
  { workload, document, report }: PodSetContext,
): boolean {
  const flag = servedFlags(container)?.dtype;
  if (flag === undefined || !/^(?:half|float16)$/.test(flag.value)) return false;
  const served = servedModel(container, workload).model;
  const release = serverRelease(container);
  const isNew = release === undefined ? runsNewestVllm(container) : !isBefore(release, rejectsOverflow);
  const name = served?.name.replace(/^.*\/(?=.)/, '') ?? '';
  const span = spanOfWords(document, lines, flag.words);
  if (served?.engine !== 'vllm' || !isNew || !/^gemma-3-(?:4|12|27)b/i.test(name) || span === undefined) return false;
  const isCertain = release !== undefined;
  report({
    severity: isCertain ? 'error' : 'warning',
    message: `${shorten(name, 40)} overflows in ${flag.value}, which vLLM rejects: ${isCertain ? 'the server' : 'with the newest image, the server'} does not start`,
    span,
  });
  return true;
}

/** Older versions of PyTorch and Transformers stop; newer ones compute bfloat16 with other instructions. */
function reportTraining(container: Container, { gpu, capability }: Capable, { document, report }: PodSetContext): void {
  const files = [...container.scripts, ...(container.settingsFiles ?? [])];
  const { settings } = readTrainerSettings(processInput(container), files);
  // If there are several values, the last one applies.
  const last = new Map(settings.map((one) => [one.name.slice(one.name.lastIndexOf('.') + 1), one]));
  const found = trainingFormats.flatMap((format) => {
    const of = (key: string, value = '') =>
      format.switches.has(key)
        ? isOn(value.toLowerCase())
        : formatNames.has(key) && format.values.test(value.toLowerCase());
    const setting = format.least <= capability ? undefined : [...last].find(([key, { value }]) => of(key, value))?.[1];
    return setting === undefined ? [] : [{ setting, format }];
  })[0];
  const setting = found?.setting;
  if (
    found === undefined ||
    setting === undefined ||
    settings.some(({ name }) => name === 'use-cpu' || name === 'device' || /emulat|fp8-backend/.test(name))
  )
    return;
  const { flag, written, value } = setting;
  const lines = [...container.command, ...container.args];
  const span = flag && spanOfWords(document, lines, [flag.word, flag.valueWord ?? flag.word]);
  report({
    severity: 'warning',
    message: `${shorten(written, 30)} ${shorten(value ?? '', 20)} needs compute capability ${found.format.least.toFixed(1)}, but the ${gpu.name} has ${gpu.computeCapability}: training stops${found.format.otherwise}`,
    span: span ?? requestSpan(container.accelerators, container),
  });
}

/** Formats of numbers with the compute capability from which training has them, the highest first. */
const trainingFormats = [
  { least: 8.9, switches: wordSet('fp8 fp8-format fp8-hybrid fp8-e4m3'), values: /^fp8|^float8/, otherwise: '' },
  {
    least: 8,
    switches: wordSet('bf16'),
    values: /^(?:bf16|bfloat16)/,
    otherwise: ', or is much slower than with fp16',
  },
  // https://github.com/Dao-AILab/flash-attention#nvidia-cuda-support
  {
    least: 8,
    switches: wordSet('flash-attention use-flash-attn use-flash-attention use-flash-attn-2 use-flash-attention-2'),
    values: /^(?:flash_attention_[23]|fa2)$/,
    otherwise: '',
  },
];

const formatNames = wordSet(
  'mixed-precision precision dtype torch-dtype training-dtype attn-implementation attention-implementation flash-attn',
);

/** The images of text-embeddings-inference are built for one compute capability, and some for later ones of its generation. */
function reportOtherBuild({ image }: Container, { gpu, capability }: Capable, { report }: PodSetContext): boolean {
  const { repository, tag = '' } = imageParts(image?.value ?? '');
  if (image === undefined || isTemplated(image.at) || !repository.endsWith('/text-embeddings-inference')) return false;
  const [prefix = ''] = tag.split('-');
  const built = builds[prefix] ?? (/^\d+\.\d/.test(prefix) ? 8 : capability);
  if (built === capability || (built < 8.9 && built >= 8 && capability > built && capability < 9)) return false;
  report({
    message: `${shorten(tag, 30)} is built for compute capability ${built.toFixed(1)}, but the ${gpu.name} has ${gpu.computeCapability}: the server does not start`,
    span: spanOf(image.at),
  });
  return true;
}

const builds = table<number>({ turing: 7.5, 86: 8.6, 89: 8.9, hopper: 9, 100: 10, 120: 12 });

/** vLLM's own images have no code for GPUs before Volta; builds of others may. */
function reportOldGpu({ image }: Container, { gpu, capability }: Capable, { report }: PodSetContext): boolean {
  if (image === undefined || capability >= 7 || isTemplated(image.at)) return false;
  if (!/(?:^|\/)vllm\/vllm-openai(?=[:@]|$)/.test(image.value) || !isPlainCudaBuild(image.value)) return false;
  report({
    message: `vLLM needs compute capability 7.0, but the ${gpu.name} has ${gpu.computeCapability}: the server does not start`,
    span: spanOf(image.at),
  });
  return true;
}

interface Capable {
  readonly gpu: GpuModel;
  readonly capability: number;
}

/** The GPU of all its pods, if node labels or the like name it and its compute capability is known. */
function onlyGpu({ accelerators }: PodSet): Capable | undefined {
  const [only, ...others] = accelerators;
  if (only === undefined || others.length > 0 || only.modelFrom === 'hint' || only.modelHint !== undefined)
    return undefined;
  const gpu = gpus.get(only.model ?? '');
  const capability = Number(gpu?.computeCapability ?? Number.NaN);
  return gpu === undefined || gpu.vendor !== 'nvidia' || Number.isNaN(capability) ? undefined : { gpu, capability };
}

/** vLLM and SGLang reject bfloat16 on GPUs before Ampere. */
function reportFlag(
  { value, words }: NonNullable<ServedFlags['dtype']>,
  { gpu }: Capable,
  lines: Container['args'],
  { document, report }: PodSetContext,
): void {
  const span = spanOfWords(document, lines, words);
  if (span === undefined) return;
  const [, last] = words;
  report({
    message: `${value} needs compute capability 8.0, but the ${gpu.name} has ${gpu.computeCapability}: the server does not start`,
    span,
    fixes: () => [
      fix('Set the dtype to half', 'unsafe', rewriteWord(document, lines, last, last.text.replace(value, 'half'))),
    ],
  });
}

/** What is wrong with the format in which a model is published or loaded, in a version of vLLM that is known; undefined if it can be right. */
function publishedIn(
  served: ServedModel,
  flags: ServedFlags | undefined,
  { gpu, capability }: Capable,
): string | undefined {
  const { name, version, dtype, quantization } = served;
  const named = knownModel(served);
  if (version === null || version[0] !== 0 || named === undefined || named.basis !== 'name') return undefined;
  const [, minor] = version;
  const format = named.format === null ? (quantization ?? null) : named.format === 'unknown' ? null : named.format.id;
  const has = `${gpu.name} has compute capability ${gpu.computeCapability}`;
  if (format === 'fp8' || format === 'fp8-feed-forward') {
    const least = minor < 5 ? 8.9 : 8;
    // Later versions may read them on Turing.
    return capability < least && minor <= 11
      ? `in FP8 needs compute capability ${least.toFixed(1)}, but the ${has}`
      : undefined;
  }
  // https://github.com/vllm-project/vllm/blob/v0.11.0/vllm/model_executor/layers/quantization/mxfp4.py
  const isMxfp4 = format === 'mxfp4' || (format === null && named.shape.format === 'mxfp4-experts');
  if (isMxfp4 && capability < 8 && minor <= 11) return `in MXFP4 needs compute capability 8.0, but the ${has}`;
  const isAuto = dtype === null || dtype === 'auto';
  const isOpen = format !== null || flags === undefined || !isAuto || minor > 8 || capability >= 8;
  return isOpen || !inBfloat16.test(name)
    ? undefined
    : `is in bfloat16, which needs compute capability 8.0 in vLLM 0.${minor}, but the ${has}`;
}

/** Published in bfloat16, by their config.json. Older ones are in float16, which every GPU computes. */
const inBfloat16 =
  /^(?:meta-llama\/(?:Meta-)?Llama-3|Qwen\/Qwen(?:2|2\.5|3)-\d|mistralai\/(?:Mistral|Mixtral)-|google\/gemma-(?:3-|\d?-?\d+b-it)|microsoft\/(?:Phi-3|phi-4))/;
