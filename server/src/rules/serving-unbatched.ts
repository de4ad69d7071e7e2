import type { Engine } from '../command/engines.ts';
import { readFlags } from '../command/flags.ts';
import { allCommands, readCommandLine } from '../command/shell.ts';
import { usesAccelerators } from '../evidence/launch.ts';
import { llmConfigs } from '../evidence/serve-deployments.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { useOf } from '../model/process-input.ts';
import { fieldModel } from '../model/served-fields.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, type Cursor, entries, getIn, isTemplated, keyOf, spanOf } from '../yaml/cursor.ts';
import { removeKey } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A model server handles one request at a time.
 *
 * ## Why
 *
 * A GPU answers many requests of a language model in nearly the time of one, because it reads the weights once for the whole batch. A limit of
 * one concurrent request (`containerConcurrency: 1`, `--max-num-seqs=1`, `max_ongoing_requests: 1`) leaves most of the GPU unused, and each further
 * request waits or starts another replica with its own GPU. An autoscaler with a target of one request per replica (`targetRequests: 1`) does the
 * latter.
 *
 * ```yaml invalid
 * apiVersion: serving.kserve.io/v1beta1
 * kind: InferenceService
 * metadata:
 *   name: chat
 * spec:
 *   predictor:
 *     containerConcurrency: 1
 *     model:
 *       modelFormat:
 *         name: huggingface
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: serving.kserve.io/v1beta1
 * kind: InferenceService
 * metadata:
 *   name: chat
 * spec:
 *   predictor:
 *     model:
 *       modelFormat:
 *         name: huggingface
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a server that cannot handle concurrent requests would receive them.
 *
 * ## When it is silent
 *
 * For servers of images and other tasks, whose requests may need the whole GPU, unless they are language model servers by their image, their
 * engine or their model format; for targets of autoscalers above 1; and for templates.
 *
 * ## Sources
 *
 * - [Knative: concurrency](https://knative.dev/docs/serving/autoscaling/concurrency/)
 * - [vLLM: optimization and tuning](https://docs.vllm.ai/en/latest/configuration/optimization/)
 */
export default defineRule({
  topic: 'cost',
  severity: 'info',
  workload(workload, { document, report }) {
    if (workload.kind !== 'RayService' || !workload.podSets.some(requestsAccelerators)) return;
    for (const config of llmConfigs(workload.manifest.root, document)) {
      const deployment = getIn(config, 'deployment_config');
      const limits = [getIn(config, 'engine_kwargs', 'max_num_seqs'), getIn(deployment, 'max_ongoing_requests')];
      const limit = limits.find(isOne);
      const target = getIn(deployment, 'autoscaling_config', 'target_ongoing_requests');
      if (limit !== undefined) report({ message: answersOne(keyOf(limit)), span: spanOf(limit) });
      else if (target !== undefined && isOne(target))
        report({ message: startsMore(keyOf(target)), span: spanOf(target) });
    }
  },
  podSet(podSet, { workload, document, report }) {
    if (!requestsAccelerators(podSet)) return;
    const limit = concurrencyOf(podSet, workload);
    if (limit !== undefined && isOne(limit) && servesLanguageModel(podSet, workload)) {
      report({
        message:
          'containerConcurrency 1 sends one request at a time to the GPU: the server cannot batch, and most of the GPU stays unused',
        span: spanOf(limit),
        fixes: () => [fix('Remove containerConcurrency', 'unsafe', removeKey(document, limit))],
      });
      return;
    }
    const target = targetOf(podSet, workload);
    if (target === undefined || !isOne(target) || !servesLanguageModel(podSet, workload)) return;
    report({ message: startsMore(keyOf(target)), span: spanOf(target) });
  },
  container(container, { podSet, workload, document, report }) {
    if (container.type !== 'app' || !usesAccelerators(container, podSet) || !isBatching(container, workload)) return;
    const lines = [...container.command, ...container.args];
    const { statements } = readCommandLine(
      container.command.map(({ value }) => value),
      container.args.map(({ value }) => value),
    );
    for (const { words } of allCommands(statements)) {
      for (const flag of readFlags(words)) {
        if (!oneAtATime.has(flag.name) || flag.value !== '1' || flag.dynamic) continue;
        const span = spanOfWords(document, lines, [flag.word, flag.valueWord ?? flag.word]);
        if (span !== undefined) report({ message: answersOne(`--${flag.written}`), span });
      }
    }
    if (useOf(container).program !== 'text-generation-launcher') return;
    for (const { name, value } of container.env) {
      if (value === undefined || value.value !== '1' || isTemplated(value.at)) continue;
      if (/^MAX_(?:CONCURRENT_REQUESTS|BATCH_SIZE)$/.test(name))
        report({ message: answersOne(name), span: spanOf(value.at) });
    }
  },
});

function answersOne(setting: string): string {
  return `${setting} 1 makes the server answer one request at a time: most of the GPU stays unused`;
}

function startsMore(setting: string): string {
  return `${setting} 1 starts another replica for each concurrent request: each GPU answers one at a time, and most of it stays unused`;
}

function isOne(cursor: Cursor | undefined): boolean {
  return cursor !== undefined && !isTemplated(cursor) && Number(asText(cursor)) === 1;
}

/** https://docs.vllm.ai/en/latest/cli/serve/ https://docs.sglang.io/advanced_features/server_arguments.html */
const oneAtATime = new Set(['max-num-seqs', 'max-running-requests', 'max-concurrent-requests', 'max-batch-size']);
const batching = new Set([
  'vllm',
  'sglang',
  'text-generation-launcher',
  'huggingfaceserver',
  'kserve',
  'trtllm-serve',
  'lmdeploy',
]);
const batchingEngines: ReadonlySet<Engine> = new Set(['vllm', 'sglang', 'tgi', 'tensorrt-llm']);

function concurrencyOf({ name, pod }: PodSet, { kind, apiVersion, manifest }: Workload): Cursor | undefined {
  if (kind === 'InferenceService') return getIn(manifest.root, 'spec', name, 'containerConcurrency');
  if (groupOf(apiVersion) !== 'serving.knative.dev') return undefined;
  return getIn(pod, 'containerConcurrency');
}

/** The number of concurrent requests per replica at which an autoscaler adds one. */
function targetOf({ name, annotations }: PodSet, workload: Workload): Cursor | undefined {
  const { kind, apiVersion, manifest } = workload;
  const { root } = manifest;
  if (groupOf(apiVersion) === 'kubeai.org') return getIn(root, 'spec', 'targetRequests');
  const isKServe = kind === 'InferenceService';
  if (!isKServe && groupOf(apiVersion) !== 'serving.knative.dev') return undefined;
  const predictor = isKServe ? getIn(root, 'spec', name) : undefined;
  if (asText(getIn(predictor, 'scaleMetric')) === 'concurrency') return getIn(predictor, 'scaleTarget');
  const own = isKServe ? entries(getIn(root, 'metadata', 'annotations')) : annotations.map(({ at }) => at);
  const named = (key: string) => own.find((one) => keyOf(one) === `autoscaling.knative.dev/${key}`);
  return (asText(named('metric')) ?? 'concurrency') === 'concurrency' ? named('target') : undefined;
}

function servesLanguageModel({ containers, pod }: PodSet, workload: Workload): boolean {
  if (containers.some((container) => isBatching(container, workload))) return true;
  const format = getIn(pod, 'model', 'modelFormat', 'name');
  const runtime = asText(getIn(pod, 'model', 'runtime')) ?? '';
  if (/(?:^|[^a-z])(?:vllm|sglang|tgi|huggingfaceserver)(?:[^a-z]|$)/i.test(runtime)) return true;
  return format?.node.kind === 'scalar' && /^(?:huggingface|vllm)$/i.test(String(format.node.value));
}

/** Whether a container's server batches requests, by its program or by a field that names its engine. */
function isBatching(container: Container, workload: Workload): boolean {
  if (batching.has(useOf(container).program ?? '')) return true;
  return batchingEngines.has(fieldModel(container, workload)?.engine ?? 'transformers');
}
