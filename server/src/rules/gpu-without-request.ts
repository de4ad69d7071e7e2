import { amdVariable, isRocmImage, mayGetAmdGpus } from '../evidence/amd-use.ts';
import { hasAllContainers } from '../evidence/chart-pods.ts';
import { isSwitchedOff, mayRequest, namesDevices, withoutSwitchedOff } from '../evidence/device-words.ts';
import { mayUseOtherGpus } from '../evidence/gpu-assignment.ts';
import { gpuLaunch } from '../evidence/gpu-launch.ts';
import { gpuNodeRequirement } from '../evidence/gpu-nodes.ts';
import { gpuOfNode } from '../evidence/gpu-of-node.ts';
import {
  cudaBuildOnCpu,
  dockerGpus,
  gpuImage,
  gpuProgram,
  isCudaItself,
  isParked,
  isPlainCudaBuild,
  isTool,
  nounOf,
  nvidiaRuntime,
  requestOne,
  staysUp,
  toleratesGpuNodes,
} from '../evidence/gpu-programs.ts';
import { gpuVariable, neededGpu } from '../evidence/needed-gpu.ts';
import {
  getsDevicesOtherwise,
  isPrivileged,
  managesNode,
  mayRequestUnseen,
  mountedGpu,
  seesDevicesOfNode,
  servesNode,
} from '../evidence/other-devices.ts';
import { rankTwin } from '../evidence/rank-twin.ts';
import { isExempt } from '../evidence/requested-accelerators.ts';
import { zeroRequest } from '../evidence/zero-request.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { isValues } from '../model/values.ts';
import { isComponent } from '../model/values-component.ts';
import { containerOf, replicasOf } from '../model/values-parts.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { asText, entries, getIn, isUnseen, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A program that needs a GPU runs in a pod that requests none.
 *
 * ## Why
 *
 * Containers receive devices only through `limits`. Without a request the scheduler may choose a node without GPUs, where the program fails.
 * This also applies to flags such as `--device cuda`, `--backend nccl` and `--gpus 1`, to `CUDA_VISIBLE_DEVICES=0`, `DEVICE=cuda`, `USE_CUDA=true`, and to training in an image for GPUs. On a GPU node with NVIDIA's runtime, the image may see every GPU of the node (images with CUDA set NVIDIA_VISIBLE_DEVICES=all): it then
 * uses GPUs that belong to other pods, without being counted.
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
 *       args: ["--model", "Qwen/Qwen3-4B"]
 *       resources:
 *         limits:
 *           memory: 32Gi
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model", "Qwen/Qwen3-4B"]
 *       resources:
 *         limits:
 *           memory: 32Gi
 *           nvidia.com/gpu: 1
 * ```
 *
 * Also reported, as a **warning**:
 * - vLLM with CPU settings (`--device cpu`, `VLLM_CPU_KVCACHE_SPACE`) on its CUDA image, because the CPU build is another image;
 * - an option of `docker run` among the arguments (`--gpus all`), which Kubernetes passes to the program;
 * - a role of a PyTorchJob or JAXJob without GPUs, if another role runs the same program with GPUs: the roles are ranks of one process group;
 * - a launcher of several processes on GPUs (`torchrun --nproc_per_node=8` with NCCL) in a privileged container, which can use all GPUs of its node (information in others).
 *
 * As information:
 * - mounts of a GPU's device files (`/dev/dri`, `/dev/kfd`, `/dev/nvidia0`) or driver from the node, which only privileged containers can use;
 * - privileged containers whose image is for GPUs, whose pod selects GPU nodes, or that choose AMD GPUs of their node;
 * - variables that choose AMD GPUs (`HIP_VISIBLE_DEVICES`), llama.cpp with layers for a GPU (`--n-gpu-layers 40`), and a request of 0 for a program that needs a GPU;
 * - Deployments and the like with NVIDIA's CUDA base image or one for AMD's ROCm.
 *
 * In a chart's values, `resources` without a GPU is reported if labels or tolerations of GPU nodes and an image for GPUs are next to it, or if the image is a server's and the
 * values name no device anywhere. Empty `resources` next to labels of GPU nodes are reported for any component with an image and replicas (as a **warning** if its program needs
 * a GPU), and NVIDIA's runtime class if nothing else names a device. In a chart's template, the program is reported if neither the template nor the chart's values name a device.
 *
 * ## Fix safety
 *
 * Unsafe: the pod waits for a node with a free GPU.
 *
 * ## When it is silent
 *
 * For builds and settings for CPUs, for infrastructure, for other privileged pods without NVIDIA's runtime class and pods that mount other system
 * directories of their node (not its data), for jobs that may bring data to GPU nodes, for claims, fractions by annotation and unknown devices, for patches, definitions and values of charts that may add
 * resources, for bases to which a kustomize overlay adds accelerators, and if another pod of the same object requests accelerators for another program.
 *
 * ## Sources
 *
 * - [NVIDIA/gdrcopy#291](https://github.com/NVIDIA/gdrcopy/issues/291)
 * - [NVIDIA/k8s-device-plugin#1605](https://github.com/NVIDIA/k8s-device-plugin/issues/1605)
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 * - [AMD: ROCm environment variables](https://rocm.docs.amd.com/en/docs-7.1.1/reference/env-variables.html)
 * - [vLLM: images for CPUs](https://docs.vllm.ai/en/latest/getting_started/installation/cpu.html)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'info',
  aboutMissingRequest: true,
  podSet(podSet, { workload, document, report }) {
    // No device helps this build, whatever a chart adds.
    if (isValues(workload) && podSet.containers.some(reportCudaBuild)) return;
    if (isValues(workload) && workload.role === 'definition') {
      reportEmptyResources(podSet);
      if (workload.wholeResources === true && namesRuntimeAlone(podSet)) reportRuntimeClass(podSet);
    }
    // The values of some charts have everything that their pods get.
    const isWhole = !workload.partial || (workload.wholeResources === true && workload.role !== 'definition');
    if (isExempt(workload) || workload.kind === 'DaemonSet') return;
    // The trials of an Experiment are whole objects inside it.
    const twin = isWhole || workload.kind === 'Experiment' ? rankTwin(podSet, workload) : undefined;
    if (twin !== undefined) {
      const { other, container } = twin;
      report({
        severity: 'warning',
        message: `${shorten(podSet.name, 30)} runs the same program as ${shorten(other.name, 30)} but requests no GPU: the ranks fail, or all train on the CPU`,
        span: keySpanOf(container.resources ?? container.at),
      });
      return;
    }
    if (!isWhole) return;
    const zero = zeroRequest(podSet, workload);
    if (zero !== undefined) report(zero);
    if (namesAccelerators(workload) || getsDevicesOtherwise(podSet, workload)) return;
    if (podSet.pods.max !== 0 && podSet.containers.some(reportLaunch)) return;
    if (reportMount() || podSet.containers.some(reportDockerOption)) return;
    const isOpen =
      (podSet.pods.max === 0 && !isParked(podSet)) || [podSet.pod, getIn(podSet.pod, 'containers')].some(isUnseen);
    // visible-devices-bypass reports other values.
    if (isOpen || podSet.containers.some(({ env }) => env.some(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES')))
      return;
    if (seesDevicesOfNode(podSet)) {
      if (managesNode(podSet) || podSet.containers.some(isTool)) return;
      if (!podSet.containers.some(reportOfNode)) reportRuntimeClass(podSet);
      return;
    }
    // A job with data on the nodes may only bring the data there.
    const mayBringData = servesNode(podSet) && !staysUp(workload);
    let isSaid = false;
    for (const container of podSet.containers) {
      const program = container.type === 'init' ? undefined : gpuProgram(container);
      const { resources, image, at } = container;
      if ([at, image?.at, resources, getIn(resources, 'limits'), getIn(resources, 'requests')].some(isUnseen)) continue;
      if (program === undefined) {
        if (reportCudaBuild(container) || reportAmd(container) || reportNeed(container)) isSaid = true;
        else if (!mayBringData) reportImage(container);
        continue;
      }
      // Other values may request the device in a form of their own.
      if (workload.partial && !hasAllContainers(workload) && namesDevices(document.text)) continue;
      report({
        message: `${program.name} needs a GPU, but ${nounOf(container, podSet)} requests none: it fails, or uses GPUs that belong to other pods`,
        span: spanOf(program.at),
        fixes: () => [requestOne(container, document)],
      });
      return;
    }
    if (!isSaid) reportRuntimeClass(podSet);

    /** Whether values have NVIDIA's name only in the runtime class and in the image, which request nothing. */
    function namesRuntimeAlone({ pod }: PodSet): boolean {
      if (nvidiaRuntime(pod, workload) === undefined || namesAccelerators(workload)) return false;
      return !namesDevices(
        document.text.replace(/^[ \t]*(?:runtimeClassName|image|repository|registry|tag):.*$/gm, ''),
      );
    }

    function reportMount(): boolean {
      const found = podSet.pods.max === 0 ? undefined : mountedGpu(podSet);
      if (found === undefined || podSet.containers.some(isTool)) return false;
      const { container, at, path } = found;
      const users = container === undefined ? podSet.containers : [container];
      const parts = users.flatMap((one) => [one.at, one.resources, getIn(one.resources, 'limits')]);
      // A chart may have the claims of its pods elsewhere.
      const claims = users.some(({ resources }) => getIn(resources, 'claims') !== undefined);
      if (claims || parts.some(isUnseen)) return false;
      report({
        message: users.some(isPrivileged)
          ? `${nounOf(container, podSet, 'Container')} uses the GPU of its node through ${shorten(path, 24)} without a request: the scheduler does not count it, and other pods can get it`
          : `${shorten(path, 30)} of the node is mounted, but no GPU is requested: a container that is not privileged cannot open the device`,
        span: spanOf(at),
        oncePerFile: container === undefined,
      });
      return true;
    }

    function reportDockerOption(container: Container): boolean {
      const option = dockerGpus(container);
      if (option === undefined || podSet.pods.max === 0) return false;
      report({
        severity: 'warning',
        message: `${option.text} is an option of docker run, but here an argument of the program: the container requests no GPU and gets none`,
        span: option.span,
      });
      return true;
    }

    /** Several processes on GPUs. Privileged containers find all those of their node, which nobody keeps free for them. */
    function reportLaunch(container: Container): boolean {
      const { resources, type } = container;
      const parts = [podSet.pod, container.at, resources, getIn(resources, 'limits'), getIn(resources, 'requests')];
      if (type === 'init' || parts.some(isUnseen)) return false;
      const privileged = isPrivileged(container);
      // The runtime gives it GPUs that it does not request.
      if (!privileged && mayUseOtherGpus(container)) return false;
      const launch = privileged || !seesDevicesOfNode(podSet) ? gpuLaunch(container, document) : undefined;
      if (launch === undefined) return false;
      report({
        severity: privileged ? 'warning' : 'info',
        message: `${launch.text} starts ${launch.count} processes on GPUs, but the ${privileged ? 'privileged container requests none: other pods can get the same GPUs' : 'container requests none: the launch fails'}`,
        span: launch.span,
      });
      return true;
    }

    function reportCudaBuild(container: Container): boolean {
      const image = container.type === 'app' ? cudaBuildOnCpu(container) : undefined;
      if (image === undefined) return false;
      report({
        severity: 'warning',
        message: "This build of vLLM is for CUDA, but the container's settings are for CPUs: the server does not start",
        span: spanOf(image),
      });
      return true;
    }

    /** Nothing but a request, or the node's device files, gives AMD's GPUs to a container. */
    function reportAmd(container: Container): boolean {
      if (container.type !== 'app' || isTool(container) || mayGetAmdGpus(podSet)) return false;
      // Other values may request the device in a form of their own.
      if (workload.partial && !hasAllContainers(workload)) return false;
      const variable = amdVariable(container);
      const isBuilt = staysUp(workload) && isRocmImage(container.image?.value ?? '');
      const at = variable?.at ?? (isBuilt ? gpuImage(container) : undefined);
      if (at === undefined) return false;
      report({
        message: `${variable?.name ?? 'The image'} is for AMD GPUs, but the container requests none: its program fails or runs on the CPU`,
        span: spanOf(at),
        fixes: () => [requestOne(container, document)],
      });
      return true;
    }

    function reportOfNode(container: Container): boolean {
      const use = gpuOfNode(container, podSet);
      if (use === undefined || (workload.partial && !hasAllContainers(workload)) || mayGetAmdGpus(podSet)) return false;
      report({
        message: `${use.text} of the node, but the privileged container requests none: other pods can get the same GPUs`,
        span: spanOf(use.at),
      });
      return true;
    }

    function reportNeed(container: Container): boolean {
      const isOwn = container.type === 'app' && !workload.partial;
      const found = isOwn ? neededGpu(container, workload.name ?? '', document) : undefined;
      if (found === undefined) return false;
      const { text, span, effect, isChoice } = found;
      report({
        message: `${shorten(text, 40)} ${effect} another pod's GPU`,
        span,
        fixes: () => (isChoice === true ? [] : [requestOne(container, document)]),
      });
      return true;
    }

    function reportImage(container: Container): void {
      const tolerates = toleratesGpuNodes(podSet);
      const isLikely = container.type === 'app' && (tolerates || (isCudaItself(container) && staysUp(workload)));
      const image = isLikely ? gpuImage(container) : undefined;
      if (image === undefined) return;
      report({
        message: tolerates
          ? 'The image is built for GPUs, and the pod tolerates GPU nodes, but it requests no GPU'
          : "The image is NVIDIA's CUDA base image, but the pod requests no GPU: it gets none, or all GPUs of the node",
        span: spanOf(image),
        fixes: () => [requestOne(container, document)],
      });
    }

    /** `resources` without devices next to node labels or tolerations of GPU nodes: the pods go there, and their program needs a GPU. */
    function reportEmptyResources({ pod }: PodSet): void {
      const given = getIn(pod, 'resources');
      const amounts = ['limits', 'requests'].map((key) => getIn(given, key));
      if (given?.node.kind !== 'map' || [given, pod, ...amounts].some(isUnseen)) return;
      // Anything else under resources is a form of the chart's own.
      if (entries(given).some((entry) => !/^(?:limits|requests)$/.test(keyOf(entry)))) return;
      const named = amounts.flatMap(entries);
      if (named.some((entry) => !/^(?:cpu|memory|ephemeral-storage)$/.test(keyOf(entry)))) return;
      if (namesAccelerators(podSet) || entries(pod).some((entry) => mayRequest(keyOf(entry)) && !isSwitchedOff(entry)))
        return;
      const container = containerOf({ at: pod, name: keyOf(pod) });
      if (container.image === undefined || isUnseen(container.image.at) || replicasOf(pod).max === 0) return;
      const nodes = gpuNodeRequirement(podSet);
      const program = gpuProgram(container);
      const isPlaced = nodes !== undefined || toleratesGpuNodes(podSet);
      // Without them, another part of the values may request the GPU, or run the server on CPUs.
      const isCertain = workload.wholeResources === true && isPlainCudaBuild(container.image.value);
      if (!isPlaced && (program === undefined || !isCertain || namesDevices(withoutSwitchedOff(document.text, pod))))
        return;
      const isEmpty = named.length === 0;
      const variable = gpuVariable(container)?.text;
      const isForGpus = program !== undefined || variable !== undefined || gpuImage(container) !== undefined;
      if (!isForGpus && !(isEmpty && nodes !== undefined && isComponent(pod) && !isTool(container))) return;
      // A template may add the device to the amounts.
      report({
        severity: isEmpty && nodes !== undefined && program !== undefined ? 'warning' : 'info',
        message: `resources ${isEmpty ? 'is empty' : 'names no GPU'}, but ${program !== undefined ? `${program.name} needs a GPU` : variable !== undefined ? `${shorten(variable, 30)} turns one on` : isForGpus ? 'the image is built for GPUs' : 'the nodes are for GPUs'}: the pods ${nodes !== undefined ? 'land on GPU nodes but get no GPU' : isPlaced ? 'can land on GPU nodes but get no GPU' : 'get no GPU, and the server does not start'}`,
        span: keySpanOf(given),
        fixes: () => [requestOne(container, document)],
      });
    }

    function reportRuntimeClass({ pod, containers }: PodSet): void {
      if (mayRequestUnseen(podSet)) return;
      const runtime = nvidiaRuntime(pod, workload);
      if (runtime === undefined) return;
      const gets = containers.some(isPrivileged)
        ? 'the privileged container gets all GPUs of the node, even those of other pods'
        : 'they get no GPU, or all GPUs of the node';
      report({
        message: `runtimeClassName is ${shorten(asText(runtime) ?? '', 30)}, but no container requests a GPU: ${gets}`,
        span: spanOf(runtime),
      });
    }
  },
});
