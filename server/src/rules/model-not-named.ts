import { imageParts } from '../catalog/images.ts';
import { readFlags } from '../command/flags.ts';
import { isAlone, runsAsWritten, soleServer } from '../evidence/sole-server.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { isListedContainer } from '../model/pod.ts';
import { servedModel } from '../model/served-model.ts';
import type { Container } from '../model/workload.ts';
import { getIn, isTemplated, spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A model server starts without the name of a model.
 *
 * ## Why
 *
 * vLLM then loads its default, a demo model with 0.6 billion parameters: the pod becomes ready, and clients get an error for any other
 * model, or poor answers from a GPU that is almost empty. SGLang does not start.
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
 * If a variable, `envFrom`, a settings file or a template may name the model, for images with their own entrypoint, for patches and
 * definitions, and for operators that add the model.
 *
 * ## Sources
 *
 * - [vLLM: engine arguments](https://docs.vllm.ai/en/latest/configuration/engine_args.html)
 * - [SGLang: server arguments](https://docs.sglang.io/advanced_features/server_arguments.html)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  yields: true,
  container(container, { podSet, workload, report }) {
    const { at, image, command, args } = container;
    if (container.type !== 'app' || !requestsAccelerators(container) || !isListedContainer(at)) return;
    if (
      image === undefined ||
      isTemplated(image.at) ||
      !runsAsWritten(workload) ||
      !isAlone(container, podSet, workload)
    )
      return;
    if (mayName(container)) return;
    const server = soleServer(container);
    const effect = effects.get(server?.program ?? '');
    if (server === undefined || effect === undefined || (server.byImage && !isOfficial(image.value))) return;
    if (readFlags(server.command?.words ?? []).some(({ name, dynamic }) => dynamic || name === 'config')) return;
    if (server.command?.words.some(({ dynamic }) => dynamic) === true) return;
    const { unknown } = servedModel(container, workload);
    if (unknown?.kind !== 'unnamed' || unknown.detail !== null) return;
    report({ message: effect, span: spanOf((args[0] ?? command[0] ?? image).at) });
  },
});

const effects: ReadonlyMap<string, string> = new Map([
  ['vllm', 'vLLM has no --model: it serves its small default model instead of yours'],
  ['sglang', 'SGLang requires --model-path: without it, the server exits'],
]);

function mayName({ at, env, scripts }: Container): boolean {
  return (
    getIn(at, 'envFrom') !== undefined ||
    scripts.length > 0 ||
    env.some(({ name }) => /model|config|args|^$/i.test(name))
  );
}

/** Whether the entrypoint of an image is only the server. */
function isOfficial(image: string): boolean {
  const { repository } = imageParts(image);
  return /^(?:docker\.io\/)?vllm\/vllm-openai$|^registry\.redhat\.io\/rh(?:oai|aiis)\/vllm/.test(repository);
}
