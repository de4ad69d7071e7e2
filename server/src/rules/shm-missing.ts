import { imageParts, isDistributedImage } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { defaultLaunch } from '../command/default-launch.ts';
import { hostSlots } from '../command/host-slots.ts';
import { findLocalProcesses, findMpiProcesses, type MpiProcesses } from '../command/processes.ts';
import { findWaiting } from '../command/waiting.ts';
import { mayBeCompleted, namesMount } from '../evidence/chart-pods.ts';
import { dataLoader } from '../evidence/data-loaders.ts';
import { processInput, scriptInput, wholeGpus } from '../evidence/launch.ts';
import { isExempt } from '../evidence/requested-accelerators.ts';
import { hasRun } from '../evidence/run-status.ts';
import { strayMemory } from '../evidence/stray-memory.ts';
import { mayMountMore, volumeNamed } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { imageUseOf, useOf } from '../model/process-input.ts';
import { lowerQuantity } from '../model/quantity.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { mountMemory } from '../rewrite/memory-volume.ts';
import {
  asBoolean,
  asNumber,
  asText,
  type Cursor,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * Several GPU processes in a container that has only the default 64 MiB of /dev/shm.
 *
 * ## Why
 *
 * The processes of a container exchange tensors through shared memory: NCCL's transport and PyTorch's data loaders both use /dev/shm.
 * With the container runtime's default of 64 MiB they can fail with a bus error or "unable to open shared memory", often only under load.
 * A memory-backed volume at /dev/shm gives them enough room, unless its `sizeLimit` is no more than the default.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       command: ["torchrun", "--nproc-per-node=8", "train.py"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       command: ["torchrun", "--nproc-per-node=8", "train.py"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 *       volumeMounts:
 *         - name: shm
 *           mountPath: /dev/shm
 *   volumes:
 *     - name: shm
 *       emptyDir:
 *         medium: Memory
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: data in the volume counts toward the container's memory limit.
 *
 * ## When it is silent
 *
 * A volume in memory whose name says that it is meant for /dev/shm, but that is not there, is reported in any case; with a single GPU, this is
 * information. If the launch is unknown and only the image's framework or the name of a training job suggests several processes, the finding is information only, as it is for a single training process with
 * workers that load its data (`--num_workers 8`). Silent for other single processes; for TPU, Neuron and Gaudi devices; with `hostIPC`; for patches and definitions; for kinds whose controller
 * mounts the volume (Ray, KServe's own runtimes, LLMInferenceService and NIM). The finding is also information only if the object's `status`
 * shows that it has run.
 *
 * ## Sources
 *
 * - [NVIDIA NCCL: shared memory](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory)
 * - [vllm-project/vllm#7466](https://github.com/vllm-project/vllm/issues/7466)
 * - [NVIDIA/nccl#525](https://github.com/NVIDIA/nccl/issues/525)
 */
export default defineRule({
  topic: 'shm',
  severity: 'warning',
  container(container, context) {
    const { workload, podSet } = context;
    const isOwn = isListed(container) || isInTemplate(container, workload);
    const isWhole = container.fromTemplate === true || (isOwn && !mayBeCompleted(workload));
    if (container.type === 'init' || kindOf(workload).mountsShm === true || isExempt(workload)) return;
    if (!isWhole || reportDisk(container, context)) return;
    // Gaudi uses HCCL, which may not need /dev/shm as NCCL does.
    if (container.accelerators.some(({ resource }) => resource.startsWith('habana.ai/'))) return;
    const gpus = wholeGpus(container, podSet);
    if (reportStray(container, gpus, context)) return;
    if (gpus === null || gpus < 1) return;
    if (isIncomplete(container.at) || isIncomplete(podSet.pod) || asBoolean(getIn(podSet.pod, 'hostIPC')) === true)
      return;
    if (mayMountMore(container) || (workload.partial && namesMount(workload, '/dev/shm'))) return;
    const mount = container.volumeMounts.find(({ mountPath }) => /^\/dev(\/shm)?\/?$/.test(mountPath));
    if (mount !== undefined) {
      const size = gpus < 2 ? undefined : tinySize(volumeNamed(podSet, mount.name));
      const launch = size && launchOfSeveral(container, gpus, podSet, workload);
      if (size === undefined || launch === undefined) return;
      context.report({
        message: `A sizeLimit of ${asText(size) ?? ''} for /dev/shm is no more than the default of 64 MiB: the processes of ${launch} share it and can fail`,
        span: spanOf(size),
      });
      return;
    }
    const launch = gpus < 2 ? undefined : launchOfSeveral(container, gpus, podSet, workload);
    const image =
      launch === undefined && gpus > 1 ? (distributedImage(container) ?? trainingName(container, workload)) : undefined;
    if (launch === undefined && image === undefined) {
      reportLoader(container, context);
      return;
    }
    context.report({
      // An object with a status has run at least once.
      severity: image === undefined && !hasRun(workload.manifest) ? 'warning' : 'info',
      message:
        image === undefined
          ? `${launch} without a volume at /dev/shm: the processes share the default 64 MiB and can fail`
          : `${image} with ${gpus} GPUs and no volume at /dev/shm: one process per GPU would share the default 64 MiB`,
      span: spanOfLaunch(container, launch),
      fixes: () => {
        if (container.fromTemplate === true || workload.partial) return [];
        const edits = mountMemory(context.document, container, podSet);
        return [fix('Mount a memory-backed volume at /dev/shm', 'unsafe', ...edits)];
      },
    });
  },
});

/** Reports a volume at /dev/shm that is on the disk of the node. */
function reportDisk(container: Container, { podSet, report }: PodSetContext): boolean {
  if (!requestsAccelerators(container)) return false;
  const mount = container.volumeMounts.find(({ mountPath }) => /^\/dev\/shm\/?$/.test(mountPath));
  const volume = mount && volumeNamed(podSet, mount.name)?.at;
  const emptyDir = volume && getIn(volume, 'emptyDir');
  if (mount === undefined || emptyDir === undefined || isUnseen(mount.at) || isUnseen(volume)) return false;
  if (isUnseen(emptyDir) || (asText(getIn(emptyDir, 'medium')) ?? '') !== '') return false;
  report({
    severity: 'info',
    message: `Volume ${shorten(mount.name, 40)} at /dev/shm is on the disk of the node: without medium: Memory, shared memory is slow there and wears the disk`,
    span: keySpanOf(emptyDir),
  });
  return true;
}

/** Reports a volume for /dev/shm that no container with accelerators has there. */
function reportStray(container: Container, gpus: number | null, { workload, podSet, report }: PodSetContext): boolean {
  if (workload.partial || !requestsAccelerators(container)) return false;
  const stray = strayMemory(container, podSet);
  if (stray === undefined) return false;
  const { name, at } = stray.volume;
  report({
    severity: gpus === 1 ? 'info' : 'warning',
    message: `Volume ${shorten(name, 30)} in memory is ${shorten(stray.where, 40)}: /dev/shm of the container with the accelerators keeps its 64 MiB`,
    span: spanOf(getIn(at, 'name') ?? at),
  });
  return true;
}

/** The size of a volume in memory that has no more room than the directory has without it. */
function tinySize(volume: PodSet['volumes'][number] | undefined): Cursor | undefined {
  const emptyDir = volume && getIn(volume.at, 'emptyDir');
  const size = asText(getIn(emptyDir, 'medium')) === 'Memory' ? getIn(emptyDir, 'sizeLimit') : undefined;
  const bytes = size === undefined || isTemplated(size) ? null : lowerQuantity(size).value;
  // resource-unit reports a number without a unit.
  return bytes !== null && bytes >= 1024 && bytes <= 64 * 1024 ** 2 ? size : undefined;
}

/** Reports the processes of a data loader, which use less than those that train. */
function reportLoader(container: Container, { workload, report }: PodSetContext): void {
  if (workload.role !== 'training' || workload.partial) return;
  const loader = dataLoader(container, true);
  if (loader === undefined || loader.workers < 2) return;
  const { word, valueWord } = loader.flag;
  const flag = word === valueWord ? word.text : `${word.text} ${loader.workers}`;
  report({
    severity: 'info',
    message: `${shorten(flag, 40)} without a volume at /dev/shm: the processes that load data share the default 64 MiB and can fail`,
    span: spanOfLaunch(container, undefined),
  });
}

/** The name of a job's container whose launch is unknown, if it or the job is named after training: several GPUs are for several processes. */
function trainingName(container: Container, { role, roleConfidence, manifest }: Workload): string | undefined {
  const { image, command, args } = container;
  const isJob = (role === 'training' || role === 'batch') && roleConfidence !== 'guess';
  if (!isJob || image === undefined || isTemplated(image.at) || isNcclBenchmark(container)) return undefined;
  const { use } = useOf(container);
  const isKnown = (use !== null && use !== 'training') || findWaiting(processInput(container)) !== undefined;
  const lines = [...command, ...args].map(({ value }) => value);
  const { repository } = imageParts(image.value);
  const names = [
    container.name ?? '',
    manifest.name ?? '',
    repository.slice(repository.lastIndexOf('/') + 1),
    ...lines,
  ];
  const words = names.flatMap((text) =>
    text
      .slice(0, 500)
      .toLowerCase()
      .split(/[^a-z]+/),
  );
  // A script in a file may start any launcher; a program that is named starts one process.
  const isUnknown = lines.length === 0 || lines.some((line) => /\.sh(?:\s|$)/.test(line));
  const isOther =
    !isUnknown ||
    lines.some((line) => processCount.test(line) || /\.py\b|python|mpi/.test(line)) ||
    words.some((word) => otherWork.has(word));
  return isKnown || isOther || !words.some((word) => trainingWords.has(word)) ? undefined : 'Training';
}

const processCount = /nproc|num_processes|num_gpus|\b(?:sshd|ray)\b/;
const trainingWords = wordSet('train trainer training pretrain pretraining finetune finetuning sft');
/** What jobs do before or after training, and what uses its GPUs in one process. */
const otherWork = wordSet('eval evaluate evaluation test check download convert merge export infer inference serve');

/** The image of a container whose launch is unknown, if its framework starts one process per GPU. */
function distributedImage(container: Container): string | undefined {
  const { image, command, args } = container;
  if (image === undefined || isTemplated(image.at) || isNcclBenchmark(container)) return undefined;
  const { use } = useOf(container);
  const { repository } = imageParts(image.value);
  // A program that nothing is known of, in the image of a server whose shards are processes.
  const shards = shardingServers.has(imageUseOf(container).program ?? '') && (use === null || startsItself(container));
  const isKnown = (use !== null && use !== 'training' && !shards) || findWaiting(processInput(container)) !== undefined;
  const one = [...command, ...args].some(({ value }) => processCount.test(value));
  return isKnown || one || !(isDistributedImage(repository) || shards)
    ? undefined
    : shorten(repository.slice(repository.lastIndexOf('/') + 1), 40);
}

/** Whether an image of someone's own starts the server, with flags that only its entrypoint knows. */
function startsItself({ image, command, args }: Container): boolean {
  const isPublished = /^(?:docker\.io\/)?(?:vllm|lmsysorg|openmmlab)\//.test(image?.value ?? '');
  return command.length === 0 && args.length === 0 && !isPublished;
}

const shardingServers: ReadonlySet<string> = new Set(['vllm', 'sglang', 'text-generation-launcher', 'lmdeploy']);

/** In values of a chart, the flag; elsewhere the resources, next to which the volume is mounted. */
function spanOfLaunch(container: Container, launch: string | undefined): Span {
  const flags = container.fromTemplate === true ? [...container.command, ...container.args] : [];
  const flag = flags.find(({ value }) => value.startsWith('-') && launch?.includes(value) === true);
  return flag === undefined ? keySpanOf(container.resources ?? container.at) : spanOf(flag.at);
}

/** Whether a container is that of a template of an Argo workflow, to which no patch adds volumes. */
function isInTemplate({ at }: Container, { apiVersion, manifest }: Workload): boolean {
  const isTemplate = groupOf(apiVersion) === 'argoproj.io' && keyOf(at) === 'container';
  return isTemplate && !manifest.document.text.includes('podSpecPatch');
}

function isListed({ at: { parent } }: Container): boolean {
  return parent !== undefined && keyOf(parent) === 'containers';
}

/** The words that start several processes on the container's GPUs. */
function launchOfSeveral(container: Container, gpus: number, podSet: PodSet, workload: Workload): string | undefined {
  const inputs = [processInput(container), ...container.scripts.map((script) => scriptInput(script, container))];
  for (const { kind, count, text } of inputs.flatMap(findLocalProcesses)) {
    // More processes than GPUs is a mistake of its own: its fix must not reveal this one.
    if (count === 'all' || (typeof count === 'number' && count >= 2)) return shorten(text);
    if (kind === 'launch' && count === null) return shorten(text);
  }
  const launch = inputs.length === 1 ? inputs.map(defaultLaunch)[0] : undefined;
  if (launch?.count === 'all') return launch.name;
  const { processesPerPod, launcher: role } = kindOf(workload);
  if (processesPerPod !== undefined) return nprocPerNodeOf(container, processesPerPod(workload.manifest.root), gpus);
  if (role?.driven === undefined) {
    const hasHosts = container.env.some(({ name }) => /host_?file/i.test(name));
    return hasHosts
      ? undefined
      : inputs
          .flatMap(findMpiProcesses)
          .map(launchInPod)
          .find((text) => text !== undefined);
  }
  if (role.driven !== podSet.name) return undefined;
  // The first versions of MPIJob had one template, whose command runs in the launcher.
  const { containers } = workload.podSets.find(({ name }) => name === role.waits) ?? podSet;
  if (containers.some((one) => isNcclBenchmark(one))) return undefined;
  const started = containers.flatMap((one) => findMpiProcesses(processInput(one)));
  const several = started.find(({ count }) => typeof count === 'number' && count >= 2 * (podSet.pods.min ?? 1));
  if (several !== undefined) return `mpirun ${shorten(several.text)}`;
  const slots = slotsOf(workload, gpus);
  return started.length === 0 && slots !== undefined && containers.some(fillsSlots)
    ? `mpirun with ${slots}`
    : undefined;
}

/** Several processes that mpirun or horovodrun starts in its own pod, of a program that uses NCCL: Python, not a simulation with MPI. */
function launchInPod(launch: MpiProcesses): string | undefined {
  const { count, line, text, program } = launch;
  const isOne = hostSlots(launch)?.local ?? !/\s-{1,2}(?:H|host(?:s|file)?|machinefile|f)[ =]/.test(line);
  const several = typeof count === 'number' && count >= 2;
  return several && isOne && /\bpython|\.py\b/.test(line) ? `${program} ${shorten(text)}` : undefined;
}

/** The processes per worker of an mpirun without a number, if there are several; the first versions counted a slot for each GPU. */
function slotsOf({ manifest: { root, apiVersion } }: Workload, gpus: number): string | undefined {
  const field = getIn(root, 'spec', 'slotsPerWorker');
  const slots = asNumber(field);
  if (slots !== undefined) return slots >= 2 && slots <= gpus ? `slotsPerWorker ${slots}` : undefined;
  return field === undefined && apiVersion.endsWith('/v1alpha1') ? `a slot for each of ${gpus} GPUs` : undefined;
}

/** Whether a container runs mpirun without options that place the processes. */
function fillsSlots({ command, args }: Container): boolean {
  const text = [...command, ...args].map(({ value }) => value).join(' ');
  return (
    /(?:^|[\s/;&])(?:mpirun|mpiexec|orterun)\s/.test(text) &&
    !/npernode|\bppr\b|-ppn|map-by|\s-{1,2}(?:N|npersocket|rankfile|rf)\b/.test(text)
  );
}

/** The training operator passes nprocPerNode to torchrun as PET_NPROC_PER_NODE. */
function nprocPerNodeOf(container: Container, field: Cursor | undefined, gpus: number): string | undefined {
  const launches = [...container.command, ...container.args].some(({ value }) => /\btorchrun\b/.test(value));
  if (!launches || isNcclBenchmark(container)) return undefined;
  const text = asText(field) ?? '';
  if (field === undefined || !/^\d{1,4}$/.test(text)) return undefined;
  return Number(text) >= 2 && Number(text) <= gpus ? `${keyOf(field)} ${text}` : undefined;
}

/** Network benchmarks select their transports themselves. */
function isNcclBenchmark({ command, args }: Container): boolean {
  return [...command, ...args].some(({ value }) => /(_perf\b|nccl-?tests|\bosu_|nvbandwidth)/.test(value));
}
