import { imageParts } from '../catalog/images.ts';
import { launcherSupport, ollamaSupport, vllmSupport } from '../catalog/server-support.ts';
import { foreignModel } from '../evidence/foreign-models.ts';
import { pulledByOllama } from '../evidence/pulled-models.ts';
import { isBefore, isOllama, launcherRelease, serverRelease } from '../evidence/server-release.ts';
import { lackingBackend, tritonModels } from '../evidence/triton-models.ts';
import { knownModel, servedModel } from '../model/served-model.ts';
import { spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A model server has no code for its model: it is older than the model, or serves models of another kind.
 *
 * ## Why
 *
 * A server has code for each architecture. If its version predates the model, it stops at startup ("Model architectures are not supported"),
 * and the pod keeps restarting while it holds its GPUs. Text Embeddings Inference does not serve chat models, and Text Generation Inference
 * does not serve embedding models. Triton's backends for TensorRT-LLM and vLLM come in separate images.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.9.1
 *       args: ["--model", "openai/gpt-oss-20b"]
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
 *       args: ["--model", "openai/gpt-oss-20b"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For Triton's backends: with a backend from a volume or installed at startup. For models whose first release or kind is not known from a
 * source, for other servers and images, for tags that are not a release, and if the container installs something before it starts the server or
 * its command is part of a template.
 *
 * ## Sources
 *
 * - [Triton: images with backends](https://github.com/triton-inference-server/tensorrtllm_backend)
 * - [vLLM: release notes](https://github.com/vllm-project/vllm/releases)
 * - [Text Embeddings Inference: supported models](https://huggingface.co/docs/text-embeddings-inference/supported_models)
 * - [vLLM: the first release with DeepSeek-V3](https://github.com/vllm-project/vllm/issues/11559)
 * - [Qwen: deployment with vLLM](https://qwen.readthedocs.io/en/v3.0/deployment/vllm.html)
 * - [MiniMax: deployment with vLLM](https://platform.minimax.io/docs/guides/text-vllm-deployment)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, { workload, podSet, crossReferences, report }) {
    const { image } = container;
    const models = tritonModels(container, podSet, workload, crossReferences);
    const lacking = image && lackingBackend(container, models, workload);
    if (lacking !== undefined && image !== undefined) {
      const { title, from, tag, isStated } = lacking;
      const problem = `${shorten(image.value.slice(image.value.lastIndexOf('/') + 1), 40)} has no ${title} backend, which ${shorten(from, 44)} ${isStated ? 'needs' : 'suggests'}: its models do not load`;
      const advice = `; ${tag} has it`;
      report({
        severity: isStated ? 'warning' : 'info',
        message: problem.length + advice.length > maxLength ? problem : `${problem}${advice}`,
        span: spanOf(image.at),
      });
      return;
    }
    const foreign = image && foreignModel(container, workload);
    if (foreign !== undefined && image !== undefined) {
      const lines = [...container.command, ...container.args, ...container.env.flatMap(({ value }) => value ?? [])];
      const name = servedModel(container, workload).model?.name ?? '';
      const place = lines.find(({ value }) => value.includes(name)) ?? image;
      report({ message: foreign, span: spanOf(place.at) });
      return;
    }
    const { model } = servedModel(container, workload);
    const isLauncher = model?.engine === 'tgi';
    const release = isLauncher ? launcherRelease(container) : serverRelease(container);
    if (image === undefined || release === undefined) return;
    if (isOllama.test(imageParts(image.value).repository)) {
      for (const { name, at } of pulledByOllama(container)) {
        const library = /^(?:library\/)?([\w.-]+)(?::|$)/.exec(name)?.[1] ?? '';
        const needed = ollamaSupport.get(library);
        if (needed === undefined || !isBefore(release, needed)) continue;
        report({
          message: `Ollama ${release.join('.')} is older than ${shorten(library, 40)}, which needs ${needed.join('.')} or later: it cannot download the model`,
          span: spanOf(at ?? image.at),
        });
      }
      return;
    }
    const shape = model?.engine === 'vllm' || isLauncher ? knownModel(model)?.shape : undefined;
    if (model === null || shape === undefined) return;
    const support = (isLauncher ? launcherSupport : vllmSupport).find(({ family }) => family.test(shape.name));
    const first = support?.possible ?? support?.since;
    if (support === undefined || first == null || !isBefore(release, first)) return;
    const { unless } = support;
    if (unless !== undefined && [...container.command, ...container.args].some(({ value }) => value.includes(unless)))
      return;
    const name = shorten(model.name.replace(/^.*\/(?=.)/, ''), 50);
    const needs =
      support.since === null ? ' and has no code for it' : `, which needs ${support.since.join('.')} or later`;
    report({
      message: `${isLauncher ? 'Text Generation Inference' : 'vLLM'} ${release.join('.')} is older than ${name}${needs}: the server stops at startup`,
      span: spanOf(image.at),
    });
  },
});

/** Of a message, with the advice after its problem. */
const maxLength = 160;
