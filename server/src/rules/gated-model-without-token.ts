import { imageParts, isPublishedAs } from '../catalog/images.ts';
import { either, partOf, wordSet } from '../catalog/word-patterns.ts';
import { mayBeCompleted } from '../evidence/chart-pods.ts';
import { withoutComments } from '../evidence/device-words.ts';
import { gatedDownload, gatedTraining, gatedVariable, isGated } from '../evidence/gated-downloads.ts';
import { gpuProgram } from '../evidence/gpu-programs.ts';
import { bringsToken, emptyToken, lackOf, logsIn, mayHaveToken } from '../evidence/hub-tokens.ts';
import { mayKeepDownloads } from '../evidence/model-volume.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { llmConfigs } from '../evidence/serve-deployments.ts';
import { downloadOf } from '../evidence/server-start.ts';
import { firstServer, soleServer } from '../evidence/sole-server.ts';
import { volumeNamed } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { once } from '../model/once.ts';
import { isListedContainer } from '../model/pod.ts';
import { servedModel } from '../model/served-model.ts';
import { isValues } from '../model/values.ts';
import type { Container, Manifest, PodSet, Workload } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, getIn, isIncomplete, isTemplated, isUnseen, items, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * A model server or an init container downloads a gated model without a token, or any model while it is set to stay offline.
 *
 * ## Why
 *
 * Llama and Gemma are gated on Hugging Face: their files are only for accounts that accepted the license. Without a token, the server exits with
 * a 401 error, and its pod keeps restarting while it holds its GPUs. The token is usually in a Secret, in the variable HF_TOKEN.
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
 *       args: ["--model=meta-llama/Llama-3.1-8B-Instruct"]
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
 *       args: ["--model=meta-llama/Llama-3.1-8B-Instruct"]
 *       env:
 *         - name: HF_TOKEN
 *           valueFrom:
 *             secretKeyRef:
 *               name: hugging-face
 *               key: token
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * For KAITO's own presets, this is an error: its webhook rejects the object. Downloads in an image that is not known are information.
 *
 * ## When it is silent
 *
 * For images that their publishers did not build, which may hold the model; with a variable, a Secret, `envFrom`, a `workingDir`, a flag or a script that may bring a token or name another hub; with init containers; with a volume that may
 * hold the model (one for downloads that outlives the pod may also be empty, which is **information**); for patches, definitions and operators; and for models that are not known to be gated. Values of charts whose templates may
 * have a token are **information**, if nothing in them could bring one.
 *
 * ## Sources
 *
 * - [Text Generation Inference: gated models](https://huggingface.co/docs/text-generation-inference/basic_tutorials/gated_model_access)
 * - [KAITO: presets](https://kaito-project.github.io/kaito/docs/presets)
 * - [Hugging Face: gated models](https://huggingface.co/docs/hub/models-gated)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, { podSet, workload, document, report }) {
    const { at, args, command, image } = container;
    const download =
      isListedContainer(at) || container.type === 'init' ? gatedDownload(container, podSet, workload) : undefined;
    if (download !== undefined) {
      report({
        // A custom image may have a login.
        ...(image?.value.includes('/') && !isPublishers(image.value) && !isTool(image.value) && { severity: 'info' }),
        message: `${shorten(download.name, 50)} is gated on Hugging Face, but the container has no token: the download fails`,
        span: spanOf(download.at),
      });
      return;
    }
    const trained =
      container.type === 'app' && hasRole(workload, 'training')
        ? gatedTraining(container, podSet, workload)
        : undefined;
    if (trained !== undefined) {
      report({
        // A custom image may have a login, or the model.
        severity: trained.known ? 'warning' : 'info',
        message: `${shorten(trained.name, 50)} is gated on Hugging Face, but the container has no HF_TOKEN: training fails when it loads the model`,
        span: spanOf(trained.at),
      });
      return;
    }
    const isOpen = isValues(workload) && !isListedContainer(at);
    if (container.type !== 'app' || !(isOpen || isListedContainer(at)) || mayHoldModel(container)) return;
    if (!requestsAccelerators(container) && gpuProgram(container) === undefined) return;
    if (isOpen ? bringsModel(document) : mayBeCompleted(workload) || !/^(?:serving|batch)$/.test(workload.role)) return;
    const program = soleServer(container)?.program ?? (isOpen ? undefined : firstServer(container));
    if (isIncomplete(podSet.pod) || hasInitContainer(podSet) || mountsSecret(container, podSet)) return;
    if (program === undefined) {
      const isSure = requestsAccelerators(container) && !mayHaveToken(container);
      const set = isSure && !mayKeepDownloads(container, podSet, 'vllm') ? gatedVariable(container) : undefined;
      const message = `${shorten(set?.name ?? '', 50)} is gated on Hugging Face, but the container has no HF_TOKEN: loading the model fails`;
      const span = set && spanOfWords(document, [...command, ...args], [set.word, set.word]);
      if (span !== undefined) report({ message, span });
      return;
    }
    const { model } = servedModel(container, workload);
    // A mirror of that name may hold the model.
    const isBare = ownImage.test(imageParts(image?.value ?? '').repository);
    const offline = isOpen || !isBare ? undefined : offlineSetting(container);
    if (
      offline !== undefined &&
      /^[\w.-]+\/[\w.-]+$/.test(model?.name ?? '') &&
      !mayKeepDownloads(container, podSet, program)
    ) {
      report({
        message: `${offline.name} forbids the download of ${shorten(model?.name ?? '', 50)}, and no volume can hold it: the server does not start`,
        span: spanOf(offline.value.at),
      });
    }
    const unread = isOpen ? undefined : unreadToken(container, program);
    if (mayHaveToken(container, unread?.name)) return;
    if (model === null || !isGated(model.name)) return;
    const keeps = !isOpen && mayKeepDownloads(container, podSet, program);
    // As probe-too-early assumes: the first pod fills the volume.
    if (keeps && downloadOf(container, podSet, model.name, program) !== 'first') return;
    const place = [...args, ...command].find(({ value }) => value.includes(model.name)) ?? image;
    if (place === undefined) return;
    const empty = emptyToken(container);
    const effect = keeps ? 'the first download, to an empty volume, fails' : 'the server does not start';
    if (unread !== undefined) {
      report({
        ...(keeps && { severity: 'info' }),
        message: `${shorten(model.name, keeps ? 24 : 40)} is gated, but the server reads its token from HF_TOKEN, not from ${shorten(unread.name, keeps ? 22 : 27)}: ${effect}`,
        span: spanOf(getIn(unread.at, 'name') ?? unread.at),
      });
      return;
    }
    report({
      // A template may have the token, and a volume the model.
      severity: isOpen || keeps ? 'info' : 'warning',
      message: `${shorten(model.name, 50)} is gated on Hugging Face, but ${isOpen ? 'these values name no token' : lackOf(empty)}: ${effect}`,
      span: spanOf(empty?.value?.at ?? place.at),
    });
  },
  workload(workload, { document, report }) {
    const { manifest, partial, podSets } = workload;
    reportPreset(workload, report);
    if (!partial && !document.template) reportPredictor(manifest, report);
    const config = getIn(manifest.root, 'spec', 'serveConfigV2');
    const written = asText(config) ?? '';
    if (partial || config === undefined || isTemplated(config) || logsIn.test(written) || /token|HF_/i.test(written))
      return;
    // Ray's own images hold no models, and every replica runs in one of these pods.
    const mayStart = podSets.every(({ pod, volumes, containers }) => {
      if (isIncomplete(pod) || volumes.some(({ source }) => !/^(?:emptyDir|configMap)$/.test(source))) return false;
      return containers.every(
        (one) => rayImage.test(imageParts(one.image?.value ?? '').repository) && !mayHaveToken(one),
      );
    });
    if (!mayStart) return;
    for (const model of llmConfigs(manifest.root, document)) {
      const loading = getIn(model, 'model_loading_config');
      const source = getIn(loading, 'model_source') ?? getIn(loading, 'model_id');
      const name = asText(source) ?? '';
      if (source === undefined || !isGated(name)) continue;
      report({
        message: `${shorten(name, 50)} is gated on Hugging Face, but no container has HF_TOKEN: the model does not start`,
        span: spanOf(source),
      });
    }
  },
});

/**
 * Reports a model that the container of KServe's own runtime downloads. The cluster's runtime could have a token, and a cache of the nodes the
 * model at an address. https://kserve.github.io/website/docs/model-serving/generative-inference/overview
 */
function reportPredictor({ kind, apiVersion, root }: Manifest, report: WorkloadContext['report']): void {
  if (groupOf(apiVersion) !== 'serving.kserve.io' || kind !== 'InferenceService') return;
  const predictor = getIn(root, 'spec', 'predictor');
  const model = getIn(predictor, 'model');
  const format = asText(getIn(model, 'modelFormat', 'name'));
  const others = [
    ...['serviceAccountName', 'initContainers', 'volumes'].map((key) => getIn(predictor, key)),
    ...['runtime', 'envFrom', 'storage', 'storageUri', 'image', 'volumeMounts'].map((key) => getIn(model, key)),
  ];
  if (format !== 'huggingface' || others.some((one) => one !== undefined) || [predictor, model].some(isUnseen)) return;
  if (items(getIn(model, 'env')).some((one) => isTemplated(one) || bringsToken.test(asText(getIn(one, 'name')) ?? '')))
    return;
  const words = items(getIn(model, 'args'));
  const index = words.findIndex((one) => /^--model[-_]id(?:=|$)/.test(asText(one) ?? ''));
  const flag = asText(words[index]) ?? '';
  const at = words[flag.includes('=') ? index : index + 1];
  const name = (asText(at) ?? '').replace(/^--model[-_]id=/, '');
  if (index < 0 || at === undefined || !isGated(name) || words.some((one) => logsIn.test(asText(one) ?? ''))) return;
  report({
    severity: 'info',
    message: `${shorten(name, 50)} is gated on Hugging Face, but the predictor has no HF_TOKEN: the download fails unless the cluster's runtime has one`,
    span: spanOf(at),
  });
}

/** Reports a preset of KAITO whose webhook wants to know the Secret with the token. */
function reportPreset({ kind, apiVersion, manifest: { root } }: Workload, report: WorkloadContext['report']): void {
  if (groupOf(apiVersion) !== 'kaito.sh') return;
  const inference = getIn(kind === 'InferenceSet' ? getIn(root, 'spec', 'template') : root, 'inference');
  const preset = getIn(inference, 'preset');
  const [name, options] = [getIn(preset, 'name'), getIn(preset, 'presetOptions')];
  const text = asText(name) ?? '';
  if (name === undefined || isTemplated(name) || !(privatePreset.test(text) || isGated(text))) return;
  if ([inference, preset, options].some(isUnseen) || getIn(options, 'modelAccessSecret') !== undefined) return;
  // Versions before 0.5 run such a preset from the user's own image.
  if (getIn(options, 'image') !== undefined || getIn(preset, 'accessMode') !== undefined) return;
  const isOwn = privatePreset.test(text);
  report({
    ...(isOwn && { severity: 'error' }),
    message: `The preset ${shorten(text, 40)} is gated: without presetOptions.modelAccessSecret, ${isOwn ? `KAITO rejects the ${kind}` : 'the download fails'}`,
    span: spanOf(name),
  });
}

/** Presets that KAITO downloads with a token. https://kaito-project.github.io/kaito/docs/presets */
const privatePreset = /^(?:llama-3\.[13]-[\w.-]+|gemma-3-[\w.-]+)$/;

const rayImage = /(?:^|\/)(?:rayproject|anyscale)\/ray(?:-llm|-ml)?$/;

const hasInitContainer = once(({ containers }: PodSet) => containers.some(({ type }) => type === 'init'));

/** Whether an image that is not the publisher's may hold the model or a token, or a relative path may mean a directory. */
function mayHoldModel({ at, image }: Container): boolean {
  return getIn(at, 'workingDir') !== undefined || (image !== undefined && !isPublishers(image.value));
}

function isPublishers(image: string): boolean {
  const { repository } = imageParts(image);
  return isPublishedAs(published, repository) || /(?:^|\/)vllm-openai[\w-]*$/.test(repository);
}

/** Images that only have a program for downloads. */
function isTool(image: string): boolean {
  return /^(?:docker\.io\/)?(?:curlimages\/curl|alpine\/[\w-]+)$/.test(imageParts(image).repository);
}

const published = wordSet(
  'sglang lmdeploy text-generation-inference text-embeddings-inference',
  'rocm/vllm nvidia/vllm',
);

const ownImage = /^(?:docker\.io\/)?(?:vllm\/vllm-openai|lmsysorg\/sglang)$|^ghcr\.io\/huggingface\//;

/** The variable by which the libraries of Hugging Face never ask the hub. */
function offlineSetting({ env, command, args, scripts }: Container) {
  const isPlain =
    scripts.length === 0 &&
    ![...command, ...args].some(({ at, value }) => isTemplated(at) || value.includes('OFFLINE'));
  return env.flatMap(({ name, value }) =>
    isPlain &&
    value !== undefined &&
    /^(?:HF_HUB|TRANSFORMERS)_OFFLINE$/.test(name) &&
    /^(?:1|true|yes|on)$/i.test(value.value)
      ? [{ name, value }]
      : [],
  )[0];
}

/** A file of a Secret may be the token. */
function mountsSecret({ volumeMounts }: Container, podSet: PodSet): boolean {
  return volumeMounts.some(({ name }) => /^(?:secret|projected|csi)$/.test(volumeNamed(podSet, name)?.source ?? ''));
}

/**
 * A variable that is named as a token of Hugging Face, but that its libraries do not read.
 * https://github.com/huggingface/huggingface_hub/blob/main/src/huggingface_hub/utils/_auth.py
 */
function unreadToken({ env, command, args }: Container, program: string): Container['env'][number] | undefined {
  if (!/^(?:vllm|sglang|text-generation-launcher)$/.test(program)) return undefined;
  const texts = [...command, ...args, ...env.flatMap(({ value }) => value ?? [])];
  return env.find(({ name }) => {
    const words = name.split('_');
    const isToken =
      /^(?:HF|HUGGING|HUGGINGFACE(?:HUB)?)$/.test(words[0] ?? '') && /^(?:TOKEN|KEY)$/.test(words.at(-1) ?? '');
    return (
      isToken &&
      words.every((word) => tokenWords.has(word)) &&
      !readTokens.has(name) &&
      !texts.some(({ value }) => value.includes(name))
    );
  });
}

const tokenWords = wordSet('HF HUGGING FACE HUGGINGFACE HUGGINGFACEHUB HUB API ACCESS AUTH READ TOKEN KEY');
const readTokens = wordSet('HF_TOKEN HUGGING_FACE_HUB_TOKEN');

const bringsModel = once(({ text }: YamlDocument) => mayBring.test(withoutComments(text)));

/** What may bring a token or the model to the pods of a chart. */
const mayBring = either(
  partOf(
    'token secret hugging',
    'offline modelscope envfrom',
    'host-?path existing-?claim',
    'values-?from values-?files?',
  ),
  /\bhf[-_A-Z]|\bs3\b|\/models?\b|oci:\/\//,
);
