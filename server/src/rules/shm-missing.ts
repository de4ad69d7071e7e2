import { mayBeCompleted, namesMount } from '../evidence/chart-pods.ts';
import { dataLoader, defaultLoader } from '../evidence/data-loaders.ts';
import { gpuNodeRequirement } from '../evidence/gpu-nodes.ts';
import { wholeGpus } from '../evidence/launch.ts';
import { distributedImage, trainingName } from '../evidence/likely-processes.ts';
import { mountedGpu } from '../evidence/other-devices.ts';
import { isExempt } from '../evidence/requested-accelerators.ts';
import { hasRun } from '../evidence/run-status.ts';
import { launchOfSeveral } from '../evidence/several-processes.ts';
import { strayMemory } from '../evidence/stray-memory.ts';
import { hasStockRuntime, launchPerGpu } from '../evidence/trainer-runtime.ts';
import { mayMountMore, volumeNamed } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { once } from '../model/once.ts';
import { lowerQuantity } from '../model/quantity.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { mountMemory } from '../rewrite/memory-volume.ts';
import {
  asBoolean,
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
 * A memory-backed volume whose name says that it is meant for /dev/shm, but that is not mounted there, is always reported; with a single GPU,
 * as information. If the launch is unknown and only the image's framework or the name of a training job suggests several processes, the finding
 * is information only, as it is for a single training process with workers that load its data (`--num_workers 8`, or those that YOLO and
 * nnU-Net have by default). Silent for other single processes; for TPU, Neuron and Gaudi devices; with `hostIPC`; for patches and definitions;
 * for kinds whose controller mounts the volume (Ray, KServe's own runtimes, LLMInferenceService and NIM). The finding is also information only
 * if the object's `status` shows that it has run, or for a TrainJob: the trainer's own runtime torch-distributed has no such volume, but a
 * cluster may have changed it.
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
    // The administrators of a cluster may have changed that runtime.
    const isStock = hasStockRuntime(workload, context.crossReferences);
    const isWhole = container.fromTemplate === true || isStock || (isOwn && !mayBeCompleted(workload));
    if (container.type === 'init' || kindOf(workload).mountsShm === true || isExempt(workload)) return;
    if (!isWhole || reportDisk(container, context)) return;
    // Gaudi uses HCCL, which may not need /dev/shm as NCCL does.
    if (container.accelerators.some(({ resource }) => resource.startsWith('habana.ai/'))) return;
    const gpus = wholeGpus(container, podSet) ?? sharedCards(container);
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
    const perGpu = isStock && gpus > 1 ? launchPerGpu(container, workload) : undefined;
    const launch = gpus < 2 ? undefined : (launchOfSeveral(container, gpus, podSet, workload) ?? perGpu);
    const image =
      launch === undefined && gpus > 1 ? (distributedImage(container) ?? trainingName(container, workload)) : undefined;
    if (launch === undefined && image === undefined) {
      reportLoader(container, isStock, context);
      return;
    }
    context.report({
      // An object with a status has run at least once.
      severity: image === undefined && !hasRun(workload.manifest) && !isStock ? 'warning' : 'info',
      message:
        image === undefined
          ? `No volume is mounted at /dev/shm: the processes of ${launch} share its default 64 MiB and can fail`
          : `No volume is mounted at /dev/shm: if ${image} starts a process for each of its ${gpus} GPUs, they share 64 MiB`,
      span: spanOfLaunch(container, launch),
      fixes: () => {
        if (container.fromTemplate === true || workload.partial) return [];
        const edits = mountMemory(context.document, container, podSet);
        return [fix('Mount a memory-backed volume at /dev/shm', 'unsafe', ...edits)];
      },
    });
  },
});

/** The GPUs of which a container has a share each: HAMi and Volcano take them from different ones. Time slices may be of the same. */
function sharedCards({ accelerators }: Container): number | null {
  const [only, ...others] = accelerators.filter(({ form }) => form === 'shared' || form === 'whole');
  return others.length === 0 && only !== undefined && /\/vgpu(?:-number)?$/.test(only.resource) ? only.count : null;
}

/** Reports a volume at /dev/shm that is on the disk of the node. */
function reportDisk(container: Container, { podSet, report }: PodSetContext): boolean {
  const mount = container.volumeMounts.find(({ mountPath }) => /^\/dev\/shm\/?$/.test(mountPath));
  const volume = mount && volumeNamed(podSet, mount.name)?.at;
  const emptyDir = volume && getIn(volume, 'emptyDir');
  if (mount === undefined || emptyDir === undefined || isUnseen(mount.at) || isUnseen(volume)) return false;
  if (isUnseen(emptyDir) || (asText(getIn(emptyDir, 'medium')) ?? '') !== '') return false;
  if (!mayUseGpus(container, podSet)) return false;
  report({
    severity: 'info',
    message: `Volume ${shorten(mount.name, 40)} at /dev/shm is on the node's disk: without medium: Memory, shared memory is slow and wears out the disk`,
    span: keySpanOf(emptyDir),
  });
  return true;
}

/** Whether a container has devices by a request or a claim, or those of the GPU nodes that its pod selects or mounts. */
function mayUseGpus(container: Container, podSet: PodSet): boolean {
  if (requestsAccelerators(container) || getIn(container.resources, 'claims') !== undefined) return true;
  return isOnGpuNode(podSet);
}

const isOnGpuNode = once(
  (podSet: PodSet) => gpuNodeRequirement(podSet) !== undefined || mountedGpu(podSet) !== undefined,
);

/** Reports a volume for /dev/shm that no container with accelerators has there. */
function reportStray(container: Container, gpus: number | null, { workload, podSet, report }: PodSetContext): boolean {
  if (workload.partial || !requestsAccelerators(container)) return false;
  const stray = strayMemory(container, podSet);
  if (stray === undefined) return false;
  const { name, at } = stray.volume;
  report({
    severity: gpus === 1 ? 'info' : 'warning',
    message: `Memory-backed volume ${shorten(name, 30)} is ${shorten(stray.where, 40)}: the container with the accelerators keeps the default 64 MiB at /dev/shm`,
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
function reportLoader(container: Container, isStock: boolean, { workload, report }: PodSetContext): void {
  if (workload.role !== 'training' || (workload.partial && !isStock)) return;
  const launch = loaderLaunch(container);
  if (launch === undefined) return;
  report({
    severity: 'info',
    message: `No volume is mounted at /dev/shm: the processes that load data (${shorten(launch, 40)}) share its default 64 MiB and can fail`,
    span: spanOfLaunch(container, undefined),
  });
}

/** The flag or the program that makes a container load data with several processes. */
function loaderLaunch(container: Container): string | undefined {
  const loader = dataLoader(container, true);
  if (loader === undefined) {
    const { program, workers } = defaultLoader(container) ?? { program: '', workers: 0 };
    return workers < 2 ? undefined : `${program} with ${workers} workers`;
  }
  const { word, valueWord } = loader.flag;
  if (loader.workers < 2) return undefined;
  return word === valueWord ? word.text : `${word.text} ${loader.workers}`;
}

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
