import { imageParts, isPlainVllm } from '../catalog/images.ts';
import { meantPreset } from '../catalog/kaito-presets.ts';
import { readFlags } from '../command/flags.ts';
import { isAlone, runsAsWritten, soleServer } from '../evidence/sole-server.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { isListedContainer } from '../model/pod.ts';
import { servedModel } from '../model/served-model.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { addItem } from '../rewrite/add-item.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, isTemplated, keyOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A model server starts without the name of a model.
 *
 * ## Why
 *
 * vLLM and Text Generation Inference then load their default, a demo model with 0.6 billion parameters: the pod becomes ready, and clients
 * get an error for any other model, or poor answers from a GPU that is almost empty. The entrypoint of `vllm/vllm-openai` reads flags only, so
 * a variable such as `MODEL_NAME` changes nothing. SGLang does not start. KServe's Hugging Face server takes its model from
 * `--model_id` or `storageUri`; `--model_name` is only the name under which clients find it. Without them it exits. KAITO knows its presets by their
 * full names, and rejects `phi-4-mini` for `phi-4-mini-instruct`, which is an error.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--max-model-len=8192"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model=Qwen/Qwen3-8B", "--max-model-len=8192"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * If a variable or `envFrom` that the image may read, a settings file or a template may name the model, for images with their own entrypoint, for patches and
 * definitions, for operators that add the model, and for an InferenceService that names a custom runtime or mounts volumes. For presets that resemble
 * no known one.
 *
 * ## Sources
 *
 * - [vLLM: engine arguments](https://docs.vllm.ai/en/latest/configuration/engine_args.html)
 * - [Text Generation Inference: launcher arguments](https://huggingface.co/docs/text-generation-inference/reference/launcher)
 * - [SGLang: server arguments](https://docs.sglang.io/advanced_features/server_arguments.html)
 * - [KAITO: presets](https://kaito-project.github.io/kaito/docs/presets)
 * - [KServe: Hugging Face server](https://github.com/kserve/kserve/blob/master/python/huggingfaceserver/huggingfaceserver/__main__.py)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  yields: true,
  workload(workload, { report }) {
    const preset = presetOf(workload);
    const name = preset === undefined || isTemplated(preset) ? '' : (asText(preset) ?? '');
    const meant = meantPreset(name);
    if (preset === undefined || meant === undefined) return;
    report({
      severity: 'error',
      message: `KAITO has no preset ${shorten(name, 40)} and rejects the ${workload.kind}; did you mean ${meant}?`,
      span: spanOf(preset),
    });
  },
  container(container, context) {
    const { podSet, workload, report } = context;
    const { at, image, command, args } = container;
    if (isEmptyPredictor(container, podSet, workload)) {
      report({
        message: emptyPredictor(container),
        span: spanOf(args[0]?.at ?? getIn(at, 'modelFormat', 'name') ?? at),
      });
      return;
    }
    if (container.type !== 'app' || !requestsAccelerators(container) || !isListedContainer(at)) return;
    if (
      image === undefined ||
      isTemplated(image.at) ||
      !runsAsWritten(workload) ||
      !isAlone(container, podSet, workload)
    )
      return;
    const server = soleServer(container);
    const effect = effects.get(server?.program ?? '');
    if (server === undefined || effect === undefined || (server.byImage && !isOfficial(image.value))) return;
    const takesFlagsOnly = server.byImage && isPlainVllm(image.value);
    if (mayName(container, takesFlagsOnly)) return;
    const flags = readFlags(server.command?.words ?? []);
    if (flags.some(({ name, dynamic }) => dynamic || /^config$|^model-(?:repository|store)$/.test(name))) return;
    if (server.command?.words.some(({ dynamic, text }) => dynamic || ofKserve.test(text)) === true) return;
    const { unknown } = servedModel(container, workload);
    if (unknown?.kind !== 'unnamed' || unknown.detail !== null) return;
    const variable = takesFlagsOnly ? namingVariable(container) : undefined;
    if (variable === undefined) report({ message: effect, span: spanOf((args[0] ?? command[0] ?? image).at) });
    else reportVariable(variable, container, context);
  },
});

/** Where KServe mounts a model, as others do. */
const ofKserve = /^(?:--[\w-]+=)?\/mnt\/models\/?$/;

/** The name of the preset that a workload of KAITO serves or tunes. */
function presetOf({ kind, apiVersion, manifest: { root } }: Workload): Cursor | undefined {
  if (groupOf(apiVersion) !== 'kaito.sh') return undefined;
  const owner = kind === 'InferenceSet' ? getIn(root, 'spec', 'template') : root;
  return getIn(owner, 'inference', 'preset', 'name') ?? getIn(owner, 'tuning', 'preset', 'name');
}

type Variable = Container['env'][number];

/** A variable that is meant to name the model: `MODEL_NAME`, `VLLM_MODEL`. */
function namingVariable({ env }: Container): Variable | undefined {
  return env.find(({ name, at, value }) => {
    const words = name.toUpperCase().split('_');
    const last = words.at(-1) ?? '';
    const isName = last === 'MODEL' || (words.at(-2) === 'MODEL' && /^(?:NAME|ID|PATH|REPO)$/.test(last));
    const isKnown = value !== undefined && value.value !== '' && !isTemplated(value.at) && !isIncomplete(at);
    return isName && isKnown && !words.includes('SERVED');
  });
}

function reportVariable({ name, at }: Variable, container: Container, { document, report }: RuleContext): void {
  const flag = `--model=$(${name})`;
  report({
    message: `vLLM has no --model and does not read ${shorten(name, 40)}: it serves its small default model instead of yours`,
    span: spanOf(getIn(at, 'name') ?? at),
    fixes: () => [fix(`Add ${flag}`, 'unsafe', addItem(document, container.at, 'args', flag))],
  });
}

const effects: ReadonlyMap<string, string> = new Map([
  ['vllm', 'vLLM has no --model: it serves its small default model instead of yours'],
  [
    'text-generation-launcher',
    'Text Generation Inference has no --model-id: it serves its small default model instead of yours',
  ],
  ['sglang', 'SGLang requires --model-path: without it, the server exits'],
  ['tritonserver', 'Triton requires --model-repository: without it, the server exits'],
]);

/** Only the Hugging Face server can also get its model by name. */
function emptyPredictor({ at }: Container): string {
  const format = asText(getIn(at, 'modelFormat', 'name')) ?? keyOf(at);
  const missing = format.toLowerCase() === 'huggingface' ? 'no storageUri and no --model_id' : 'no storageUri';
  return `The predictor has ${missing}: KServe mounts no model at /mnt/models, and the server exits`;
}

/** The formats whose servers in KServe's own runtimes load /mnt/models. */
const ownFormats: ReadonlySet<string> = new Set(['huggingface', 'triton', 'tensorflow', 'pytorch', 'onnx']);

/** Whether a server of KServe's own runtimes has neither a stored model nor the name of one. `--model_name` is not one: clients use it. */
function isEmptyPredictor(container: Container, { pod }: PodSet, workload: Workload): boolean {
  const { at, type, args, command, env } = container;
  if (groupOf(workload.apiVersion) !== 'serving.kserve.io' || workload.kind !== 'InferenceService') return false;
  if (type !== 'app' || isListedContainer(at) || workload.partial || !requestsAccelerators(container)) return false;
  const format = getIn(at, 'modelFormat', 'name');
  const runtime = asText(getIn(at, 'runtime')) ?? 'kserve-';
  if (!ownFormats.has((asText(format) ?? keyOf(at)).toLowerCase()) || !runtime.startsWith('kserve-')) return false;
  const isOpen =
    [at, pod, getIn(at, 'args'), getIn(at, 'env')].some(isIncomplete) || args.some((one) => isTemplated(one.at));
  // A misspelled field, which api-field reports, also names a model.
  const isFilled = entries(at).some((entry) =>
    /^(?:storage|model_?(?:id|dir|uri)|image$|envFrom$|volumeMounts$)/i.test(keyOf(entry)),
  );
  if (isOpen || command.length > 0 || isFilled) return false;
  if (
    entries(pod).some((entry) => /^(?:storage|volumes$)/.test(keyOf(entry))) ||
    env.some(({ name }) => /model|storage|repo/i.test(name))
  )
    return false;
  return !args.some(({ value }) => namesSource(value));
}

function namesSource(word: string): boolean {
  const [name = ''] = word.replace(/^-+/, '').split('=');
  return /model|repo|store|config/i.test(name) && name.replace('-', '_') !== 'model_name';
}

function mayName({ at, env, scripts }: Container, takesFlagsOnly: boolean): boolean {
  return (
    (!takesFlagsOnly && getIn(at, 'envFrom') !== undefined) ||
    scripts.length > 0 ||
    [at, getIn(at, 'args')].some(isIncomplete) ||
    // A word in the place of a list stands for what a program inserts.
    ['command', 'args'].some((key) => (getIn(at, key)?.node.kind ?? 'seq') !== 'seq') ||
    (!takesFlagsOnly && env.some(({ name }) => /model|config|args|^$/i.test(name)))
  );
}

/** Whether the entrypoint of an image is only the server. */
function isOfficial(image: string): boolean {
  const { repository } = imageParts(image);
  const others = /^registry\.redhat\.io\/rh(?:oai|aiis)\/vllm|^ghcr\.io\/huggingface\/text-generation-inference$/;
  return isPlainVllm(image) || others.test(repository);
}
