import { knownAccelerator } from '../catalog/index.ts';
import { readFlags } from '../command/flags.ts';
import { findSharding, type Sharding } from '../command/parallelism.ts';
import { baseName } from '../command/shell.ts';
import { plural } from '../cost/money.ts';
import { assignsGpus, mayUseOtherGpus, spansPods } from '../evidence/gpu-assignment.ts';
import { eachLaunch, processInput, wholeGpus } from '../evidence/launch.ts';
import { requestSpan } from '../evidence/requested-accelerators.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { hasRun } from '../evidence/run-status.ts';
import { isNodeCount } from '../evidence/torchrun-nodes.ts';
import { misfitDeepSpeed, misfitSplit } from '../evidence/training-splits.ts';
import { tritonModels, tritonRanks } from '../evidence/triton-models.ts';
import { isRequested } from '../model/accelerators.ts';
import { isGroupKind, kindOf } from '../model/kinds/index.ts';
import { lowerCount } from '../model/pod.ts';
import { commandsIn } from '../model/process-input.ts';
import { resourceName } from '../model/requested-resource.ts';
import { servedModel } from '../model/served-model.ts';
import { isValues } from '../model/values.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, isTemplated, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A model server uses more, or fewer, GPUs than its container has, or training divides its model by sizes that the job cannot have.
 *
 * ## Why
 *
 * With tensor parallelism each GPU holds a part of every layer, with one process per GPU. A server that is configured for more GPUs than
 * its container has does not start. With fewer, the other GPUs stay idle at full price. Pipeline and data parallelism multiply the number.
 * Some kinds have fields for these sizes: each pod of an LLMInferenceService needs `tensor` GPUs, with workers `tensor` × `dataLocal`.
 * Training divides its processes into copies of the model, each of tensor × pipeline × context processes: it stops if they do not divide evenly.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/vllm:0.11.0
 *       command: [vllm, serve, /models/llm]
 *       args:
 *         - --tensor-parallel-size
 *         - "4"
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/vllm:0.11.0
 *       command: [vllm, serve, /models/llm]
 *       args:
 *         - --tensor-parallel-size
 *         - "8"
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the number of attention heads must be divisible by the new size, and changing the GPU request is an equally valid fix.
 *
 * ## When it is silent
 *
 * For servers that span several pods (multi-node KServe, `--nnodes`; in a LeaderWorkerSet or a Ray cluster, unless they need more than the
 * whole group has), for several servers in one container, if CUDA_VISIBLE_DEVICES assigns the GPUs, if the container may see other GPUs than
 * its own (privileged, NVIDIA_VISIBLE_DEVICES), for shares of GPUs, and if a factor of the product is unknown. llm-d's chart adds factors.
 *
 * ## Sources
 *
 * - [vLLM: parallelism and scaling](https://docs.vllm.ai/en/latest/serving/parallelism_scaling/)
 * - [vllm-project/vllm#8908](https://github.com/vllm-project/vllm/issues/8908)
 * - [kserve/kserve#6044](https://github.com/kserve/kserve/issues/6044)
 * - [Megatron-LM: arguments](https://github.com/NVIDIA/Megatron-LM/blob/000c4ac24f61/megatron/training/arguments.py)
 */
export default defineRule({
  topic: 'parallelism',
  severity: 'error',
  workload(workload, context) {
    const reported = new Set<string>();
    for (const { sharding, accelerators } of workload.podSets) {
      const [only, ...others] = accelerators.filter(isRequested);
      if (sharding === undefined || only === undefined || others.length > 0 || only.form !== 'whole') continue;
      const gpus = only.perPod;
      if (gpus === null || gpus === 0 || only.devices !== gpus || sharding.devices === gpus) continue;
      const certain = mismatch(sharding.text, sharding.devices, gpus, 'each pod');
      const message = sharding.uncertain === true ? certain.replace('does not start', 'may not start') : certain;
      // Head and workers share the fields.
      if (reported.has(message)) continue;
      reported.add(message);
      context.report({
        severity: sharding.devices > gpus && sharding.uncertain !== true ? 'error' : 'warning',
        message,
        span: spanOf(sharding.at),
      });
    }
  },
  container: eachLaunch((container, context: PodSetContext) => {
    if (container.type !== 'init' && isGroupKind(context.workload)) checkGroup(container, context);
    if (container.type === 'app' && hasRole(context.workload, 'training') && checkTraining(container, context)) return;
    const gpus = wholeGpus(container, context.podSet);
    if (gpus === null || gpus === 0 || container.type === 'init' || spansPods(context.workload)) return;
    const sharding = findSharding(processInput(container));
    if (sharding === undefined && !checkTriton(container, gpus, context)) checkFile(container, gpus, context);
    if (sharding === undefined || sharding.spansPods || assignsGpus(container)) return;
    const { tensor, devices, text } = sharding;
    const used = Math.max(tensor, devices ?? tensor);
    if (used === gpus || (used < gpus && (devices === null || getsSizes(container, context.workload)))) return;
    // A server that has run gets its devices elsewhere.
    if (used > gpus && (hasRun(context.workload.manifest) || mayUseOtherGpus(container))) return;
    const place = placeOf(sharding, container, context);
    if (place === undefined) return;
    context.report({
      severity: used > gpus ? 'error' : 'warning',
      message: mismatch(`${shorten(text)}${productOf(text, used)}`, used, gpus, 'the container'),
      span: place.span,
      fixes: () => [devices === tensor ? setTensor(place.value, tensor, gpus, context) : undefined],
    });
  }),
});

/** Whether llm-d's chart adds the sizes of its `parallelism` to the arguments. */
function getsSizes({ at }: Container, workload: Workload): boolean {
  return isValues(workload) && /^(?:vllmServe|imageDefault)$/.test(asText(getIn(at, 'modelCommand')) ?? '');
}

/** A trainer whose processes cannot be divided into copies of its model. */
function checkTraining(container: Container, { workload, podSet, document, report }: PodSetContext): boolean {
  if (workload.partial || hasRun(workload.manifest)) return false;
  const split = misfitSplit(container, podSet, workload);
  const found =
    split === undefined
      ? misfitDeepSpeed(container, podSet, workload)
      : { words: [split.flag.word, split.flag.valueWord ?? split.flag.word] as const, problem: split.problem };
  const span = found && spanOfWords(document, container, found.words);
  if (found === undefined || span === undefined) return false;
  report({ message: `${found.problem}: training does not start`, span });
  return true;
}

/** More ranks or other GPUs than the container has, by Triton's launcher for TensorRT-LLM or by the files of its models. */
function checkTriton(container: Container, gpus: number, context: PodSetContext): boolean {
  const { workload, podSet, document, crossReferences, report } = context;
  if (assignsGpus(container) || hasRun(workload.manifest) || mayUseOtherGpus(container)) return false;
  const ranks = tritonRanks(container);
  const place = ranks && spanOfWords(document, container, ranks.words);
  if (ranks !== undefined && ranks.count > gpus && place !== undefined) {
    report({ message: mismatch(ranks.text, ranks.count, gpus, 'the container'), span: place });
    return true;
  }
  const model = tritonModels(container, podSet, workload, crossReferences).find(
    ({ lastGpu }) => Number(lastGpu) >= gpus,
  );
  if (model === undefined) return false;
  const own = gpus === 1 ? 'the only GPU of the container is 0' : `the container's ${gpus} GPUs are 0 to ${gpus - 1}`;
  report({
    message: `${shorten(model.file, 56)} places an instance on GPU ${model.lastGpu}, but ${own}: Triton cannot load the model`,
    span: requestSpan(container.accelerators, container),
  });
  return true;
}

/** The sizes in the only mounted settings file, which the command line names. */
function checkFile(container: Container, gpus: number, { workload, report }: PodSetContext): void {
  const [file, ...others] = container.settingsFiles ?? [];
  if (file === undefined || others.length > 0 || isTemplated(file.at) || !/tensor.parallel|\btp\b/.test(file.text))
    return;
  const { model } = servedModel(container, workload);
  if (model === null || model.open.length > 0 || /executor.backend|nnodes|data.parallel/.test(file.text)) return;
  const used = (model.tensor ?? 1) * model.pipeline;
  if (used <= gpus || assignsGpus(container) || hasRun(workload.manifest) || mayUseOtherGpus(container)) return;
  const sizes = model.pipeline === 1 ? 'The tensor parallel size' : 'The tensor × pipeline parallel size';
  report({
    message: mismatch(`${sizes} ${used} in ${shorten(baseName(file.path), 24)}`, used, gpus, 'the container'),
    span: spanOf(file.at),
  });
}

/** A server whose parallel sizes span the pods of its group. */
function checkGroup(container: Container, context: PodSetContext): void {
  const gpus = gpusOfGroup(context.workload) ?? gpusOfNodes(context.podSet);
  const sharding = gpus === null ? undefined : findSharding(processInput(container));
  if (gpus === null || gpus === 0 || sharding === undefined || assignsGpus(container)) return;
  const used = Math.max(sharding.tensor, sharding.devices ?? sharding.tensor);
  const { podSet, workload } = context;
  // All nodes of a launch have the same flags: the first one stands for them.
  const isWhole = onlyLendsGpus(workload) || (podSet === workload.podSets[0] && startsAllNodes(workload));
  const isWrong = used > gpus || (used < gpus && sharding.devices !== null && isWhole);
  const place = isWrong ? placeOf(sharding, container, context) : undefined;
  if (place === undefined || hasRun(context.workload.manifest) || mayUseOtherGpus(container)) return;
  context.report({
    severity: used > gpus ? 'error' : 'warning',
    message: mismatch(`${shorten(sharding.text)}${productOf(sharding.text, used)}`, used, gpus, 'the group'),
    span: place.span,
  });
}

/** A worker that joins the Ray cluster of its leader, and then at most waits. */
const joinsRay =
  /(?:\bray start\b[^;&|\n]*--address|multi-node-serving\.sh worker)[^;&|\n]*(?:[;&|\n]+\s*(?:sleep|tail|wait)\b[^;&|\n]*)*\s*$/;

/** Whether the workers of a LeaderWorkerSet only join the Ray cluster of their leader, so its server alone decides what the GPUs do. */
function onlyLendsGpus({ kind, podSets }: Workload): boolean {
  const workers = kind === 'LeaderWorkerSet' && podSets.length > 1 ? podSets.slice(1) : [];
  const containers = workers.flatMap((workerSet) => workerSet.containers.filter(({ type }) => type === 'app'));
  return (
    containers.length > 0 &&
    containers.every(({ command, args }) =>
      joinsRay.test(
        [...command, ...args]
          .map(({ value }) => value)
          .join(' ')
          .slice(0, 500),
      ),
    )
  );
}

/** Whether the pods of a LeaderWorkerSet start one server together, which has as many nodes as a group has pods. */
function startsAllNodes({ kind, podSets, manifest }: Workload): boolean {
  const size = getIn(manifest.root, 'spec', 'leaderWorkerTemplate', 'size');
  const nodes = kind === 'LeaderWorkerSet' && size !== undefined ? lowerCount(size, 1) : null;
  const servers = podSets.flatMap(({ containers }) => containers.filter(({ accelerators }) => accelerators.length > 0));
  return (
    nodes !== null &&
    servers.length > 0 &&
    servers.every((server) => {
      const flags = commandsIn(server).flatMap(({ words }) => readFlags(words));
      return flags.some((flag) => isNodeCount(flag) && flag.value === String(nodes));
    })
  );
}

/** The whole GPUs of one group of pods of a LeaderWorkerSet, or of the one Ray cluster; null if unknown. */
function gpusOfGroup({ kind, apiVersion, podSets, manifest, partial }: Workload): number | null {
  const isGroup = kind === 'LeaderWorkerSet';
  if (partial || (!isGroup && kindOf({ kind, apiVersion }).rayCluster === undefined)) return null;
  // An autoscaler may multiply the groups, but a group keeps its size.
  const template = getIn(manifest.root, 'spec', 'leaderWorkerTemplate');
  const size = isIncomplete(template) ? null : lowerCount(getIn(template, 'size'), 1);
  const inGroup = podSets.length > 1 ? [1, size === null ? null : size - 1] : [size];
  let all = 0;
  for (const [index, { name, pods, accelerators, containers }] of podSets.entries()) {
    const [only, ...others] = accelerators.filter(isRequested);
    if (only === undefined) {
      // Ray needs none in the head. Elsewhere, a request is missing, empty or misspelled.
      if (name === 'head' && !containers.some(requestsDevices)) continue;
      return null;
    }
    const vendor = knownAccelerator(resourceName(only.requested) ?? '')?.vendor;
    // Some devices of others have several processors.
    if (others.length > 0 || only.form !== 'whole' || (vendor !== 'nvidia' && vendor !== 'amd')) return null;
    const count = isGroup ? (inGroup[index] ?? null) : pods.max;
    if (only.perPod === null || only.devices !== only.perPod || count === null) return null;
    all += only.perPod * count;
  }
  return all;
}

/** The GPUs of one replica of a service of Dynamo that spans nodes; null for others. */
function gpusOfNodes({ pod, accelerators: [only, ...others] }: PodSet): number | null {
  const multinode = getIn(pod.parent, 'multinode');
  const nodes =
    multinode === undefined || isIncomplete(multinode) ? null : lowerCount(getIn(multinode, 'nodeCount'), 2);
  const perPod = only?.form === 'whole' && others.length === 0 ? only.perPod : null;
  return nodes === null || perPod === null ? null : nodes * perPod;
}

/** Whether a container requests anything but the resources of every node. */
function requestsDevices({ resources }: Container): boolean {
  const written = [...entries(getIn(resources, 'limits')), ...entries(getIn(resources, 'requests'))];
  return written.some((entry) => !/^(?:cpu|memory|ephemeral-storage|hugepages-\S+)$/.test(keyOf(entry)));
}

/** The product of several sizes, of which a text has one. */
function productOf(text: string, used: number): string {
  return text.endsWith(String(used)) && !/\d$/.test(text.slice(0, -String(used).length))
    ? ''
    : ` (${used} processes in total)`;
}

function mismatch(text: string, used: number, gpus: number, holder: string): string {
  if (used > gpus) return `${text} needs ${plural(used, 'GPU')}, but ${holder} has ${gpus}: the server does not start`;
  const idle = gpus - used;
  return `${text} uses ${used} of ${holder}'s ${plural(gpus, 'GPU')}: ${plural(idle, 'GPU')} ${idle === 1 ? 'stays' : 'stay'} idle`;
}

interface Place {
  readonly span: ReturnType<typeof spanOf>;
  /** The scalar that holds the number. */
  readonly value: Cursor | undefined;
}

function placeOf({ words, variable }: Sharding, container: Container, { document }: PodSetContext): Place | undefined {
  if (words === undefined) {
    const value = container.env.find(({ name }) => name === variable)?.value;
    return value && { span: spanOf(value.at), value: value.at };
  }
  const lines = [...container.command, ...container.args];
  const span = spanOfWords(document, lines, words);
  return span && { span, value: lines[words[1].item]?.at };
}

/** Edits only a scalar that is the number, or the flag with its number: never a script. */
function setTensor(value: Cursor | undefined, from: number, to: number, { document }: PodSetContext): Fix | undefined {
  if (value?.node.kind !== 'scalar') return undefined;
  const match = /^(--?[\w-]+=)?(\d+)$/.exec(value.node.source);
  if (match === null || Number(match[2]) !== from) return undefined;
  const text = `${match[1] ?? ''}${to}`;
  const edits = replaceScalar(document, value, typeof value.node.value === 'number' ? to : text);
  return fix(`Set the tensor parallel size to ${to}`, 'unsafe', edits);
}
