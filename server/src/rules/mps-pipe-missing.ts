import { isExempt } from '../evidence/requested-accelerators.ts';
import { mayMountMore } from '../evidence/volume-lifetime.ts';
import { isUnknown } from '../evidence/written.ts';
import { isRequested } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import { useOf } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { isIncomplete, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A container is set up for MPS, but cannot reach its daemon.
 *
 * ## Why
 *
 * A CUDA program is a client of MPS only if it finds the pipes of the control daemon in the folder that `CUDA_MPS_PIPE_DIRECTORY` names. In a
 * container, this folder is empty unless a volume brings it in. CUDA then uses the GPU directly, without a message: programs take turns instead
 * of running at the same time, and `CUDA_MPS_ACTIVE_THREAD_PERCENTAGE` and `CUDA_MPS_PINNED_DEVICE_MEM_LIMIT` limit nothing. If the device plugin
 * shares GPUs by MPS, it sets the variable and mounts the folder itself.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: captions
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/captions:4.2
 *       command: [python, serve.py]
 *       env:
 *         - name: CUDA_MPS_PIPE_DIRECTORY
 *           value: /tmp/nvidia-mps
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: captions
 * spec:
 *   hostIPC: true
 *   containers:
 *     - name: main
 *       image: registry.example/captions:4.2
 *       command: [python, serve.py]
 *       env:
 *         - name: CUDA_MPS_PIPE_DIRECTORY
 *           value: /tmp/nvidia-mps
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: mps
 *           mountPath: /tmp/nvidia-mps
 *   volumes:
 *     - name: mps
 *       hostPath:
 *         path: /tmp/nvidia-mps
 * ```
 *
 * ## When it is silent
 *
 * If a command or a script of the pod starts the daemon, for nodes that are selected by a label of MPS and for shared GPUs under another name, whose
 * plugin may mount the folder, for infrastructure, for patches and templates, and for containers whose mounts a template
 * may add. An image that is not known, and whose command is not written, may start the daemon itself: then it is information.
 *
 * ## Sources
 *
 * - [NVIDIA: environment variables of MPS](https://docs.nvidia.com/deploy/mps/appendix-tools-and-interface-reference.html#environment-variables)
 * - [NVIDIA/k8s-device-plugin: MPS](https://github.com/NVIDIA/k8s-device-plugin#with-cuda-mps)
 */
export default defineRule({
  topic: 'sharing',
  severity: 'warning',
  container(container, { workload, podSet, crossReferences, report }) {
    const { at, env, accelerators, type } = container;
    const variable = env.find(({ name }) => name === 'CUDA_MPS_PIPE_DIRECTORY');
    const folder = variable?.value;
    if (folder === undefined || !folder.value.startsWith('/') || isUnknown(folder.at) || type !== 'app') return;
    if (!accelerators.some(isRequested) || isExempt(workload) || workload.partial || crossReferences.mayBePatch())
      return;
    if (mayBeShared(podSet) || folder.value.startsWith('/mps/')) return;
    if (isIncomplete(at) || mayMountMore(container) || startsDaemonIn(podSet)) return;
    if (container.volumeMounts.some(({ mountPath }) => isWithin(folder.value, mountPath))) return;
    report({
      ...(!isClient(container) && { severity: 'info' as const }),
      message: `CUDA_MPS_PIPE_DIRECTORY is ${shorten(folder.value, 40)}, but no volume is mounted there: CUDA finds no MPS daemon and uses the GPU without MPS`,
      span: spanOf(folder.at),
    });
  },
});

/**
 * Whether a device plugin may mount the folder itself: it shares by MPS the GPUs of nodes with such a label, and those with another name. Its own
 * folder is in /mps. https://cloud.google.com/kubernetes-engine/docs/how-to/nvidia-mps-gpus
 */
const mayBeShared = once(({ containers, selectors }: PodSet): boolean => {
  if (selectors.some(({ key, values }) => /\bmps\b/.test([key, ...values.map(({ value }) => value)].join(' '))))
    return true;
  return containers.some(({ accelerators }) =>
    accelerators.some((one) => isRequested(one) && !/^nvidia\.com\/(?:gpu$|mig-)/.test(one.resource)),
  );
});

const startsDaemonIn = once(({ containers }: PodSet) => containers.some(startsDaemon));

/** Whether a path is a folder, or in it. */
function isWithin(path: string, folder: string): boolean {
  const above = folder.replace(/\/+$/, '');
  return path === above || path.startsWith(`${above}/`);
}

/** Whether a container runs the daemon, or may by its name. */
function startsDaemon({ name, image, command, args, scripts }: Container): boolean {
  const texts = [name ?? '', image?.value ?? '', ...[...command, ...args].map(({ value }) => value)];
  return [...texts, ...scripts.map(({ text }) => text)].some((text) => daemon.test(text));
}

const daemon = /mps[-_ ]?(?:control|daemon|server|start|init)|(?:start|run|launch)[-_ ]?(?:nvidia[-_ ])?mps/i;

/** Whether it is known what the container runs: a shell may run a script of the image. */
function isClient(container: Container): boolean {
  const [program = ''] = container.command.map(({ value }) => value);
  return /(?:^|\/)python[\d.]*$/.test(program) || useOf(container).program !== null;
}
