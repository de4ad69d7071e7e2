import { fromConfigMap } from '../evidence/config-variables.ts';
import { isExempt, knownRequests, requestWords } from '../evidence/requested-accelerators.ts';
import type { Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { getIn, isIncomplete, isTemplated, isUnseen, keyOf, spanOf } from '../yaml/cursor.ts';
import { removeItem, removeKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * NVIDIA_VISIBLE_DEVICES is set by hand.
 *
 * ## Why
 *
 * The device plugin uses this variable to pass a container's GPUs to NVIDIA's container runtime. A value in the manifest takes precedence:
 * the container gets GPUs that the scheduler does not count and may assign to another pod. Request `nvidia.com/gpu` instead. To let several
 * pods use one GPU, use time slicing, MPS or MIG. The same applies to an annotation that adds a CDI device (`nvidia.com/gpu=0`). A device file of
 * the node (`/dev/nvidia0`) that is mounted next to a request may be that of another GPU, and only privileged containers may open it.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: embed
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/embed:1.4
 *       env:
 *         - name: PORT
 *           value: "8080"
 *         - name: NVIDIA_VISIBLE_DEVICES
 *           value: all
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: embed
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/embed:1.4
 *       env:
 *         - name: PORT
 *           value: "8080"
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a container that requests no GPU then has none.
 *
 * ## When it is silent
 *
 * For `none` and `void` without a request, for unknown values, for infrastructure, and next to a request of another vendor's devices. Next to
 * a request, or where only a chart's values or the users of a definition know the request, `all` is information: manifests often repeat the default of CUDA images, and on
 * nodes with one GPU it changes nothing.
 *
 * ## Sources
 *
 * - [NVIDIA/k8s-device-plugin#87](https://github.com/NVIDIA/k8s-device-plugin/issues/87)
 * - [NVIDIA/k8s-device-plugin#195](https://github.com/NVIDIA/k8s-device-plugin/issues/195)
 * - [CDI: annotations](https://github.com/cncf-tags/container-device-interface/blob/main/pkg/cdi/annotations.go)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  podSet({ annotations, containers }, { workload, report }) {
    if (isExempt(workload) || containers.some(({ accelerators }) => accelerators.length > 0)) return;
    for (const { value, at } of annotations) {
      if (!keyOf(at).includes('cdi.k8s.io/') || isTemplated(at)) continue;
      if (!/^nvidia\.com\/(?:gpu|mig|pgpu)=[\w:,.=/-]{1,200}$/.test(value)) continue;
      report({
        message: `The annotation adds ${shorten(value, 40)}, which bypasses the scheduler: another pod can get the same GPU`,
        span: spanOf(at),
      });
    }
  },
  container(container, context) {
    checkDeviceFiles(container, context);
    const env = container.env.find(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES');
    const value = env?.value ?? fromConfigMap(container, (name) => name === 'NVIDIA_VISIBLE_DEVICES')?.value;
    const { role, kind } = context.workload;
    if (value === undefined || isTemplated(value.at) || role === 'infrastructure') return;
    if (!/^(?:all|none|void|\d+(?:,\d+)*|(?:GPU|MIG)-[\w/,-]+)$/.test(value.value)) return;
    const all = knownRequests(container);
    const requests = all.filter(({ resource }) => resource.startsWith('nvidia.com/'));
    // Other device plugins do not use the variable.
    if (requests.length === 0 && (all.length > 0 || container.accelerators.some(({ count }) => count === null))) return;
    const hidesAll = value.value === 'none' || value.value === 'void';
    if (hidesAll && requests.length === 0) return;
    // Chart values, and who uses a definition, may request GPUs or not, and the variable is wrong in both cases.
    const isOpen =
      requests.length === 0 && (role === 'definition' || isUnseen(container.resources) || isIncomplete(container.at));
    if (isOpen && (kind === 'DaemonSet' || isUnseen(env?.at ?? value.at))) return;
    const isAll = value.value === 'all';
    const effect = hidesAll
      ? `hides the ${requestWords(requests)} that the device plugin assigns`
      : requests.length > 0
        ? isAll
          ? `shows the container every GPU of its node, not only the ${requestWords(requests)} that it requests`
          : `overrides the ${requestWords(requests)} that the device plugin assigns`
        : isOpen && isAll
          ? 'shows the container every GPU of its node, whatever it requests'
          : 'bypasses the scheduler: another pod can get the same GPU';
    context.report({
      // CUDA images set `all` themselves, manifests often repeat it, and many nodes have one GPU.
      severity: isAll && (requests.length > 0 || isOpen) ? 'info' : 'warning',
      message: `NVIDIA_VISIBLE_DEVICES=${shorten(value.value, 30)} ${effect}`,
      span: spanOf(value.at),
      fixes: () => {
        if (env?.value === undefined) return [];
        // Chart values may map names to values.
        const remove = typeof env.at.step === 'number' ? removeItem : removeKey;
        return [fix('Remove NVIDIA_VISIBLE_DEVICES', 'unsafe', remove(context.document, env.at))];
      },
    });
  },
});

/** Device files that a container mounts although the device plugin adds those of its GPUs. */
function checkDeviceFiles(container: Container, { podSet, workload, report }: PodSetContext): void {
  if (isExempt(workload)) return;
  const requests = knownRequests(container).filter(({ resource }) => resource.startsWith('nvidia.com/'));
  const mount = container.volumeMounts.find(({ mountPath }) => /^\/dev\/nvidia\d{1,2}$/.test(mountPath));
  if (requests.length === 0 || mount === undefined || isTemplated(mount.at)) return;
  if (!podSet.volumes.some((volume) => volume.name === mount.name && volume.source === 'hostPath')) return;
  report({
    severity: 'info',
    message: `${mount.mountPath} of the node is mounted by hand: the device plugin adds those of the GPUs that it assigns, which may be others`,
    span: spanOf(getIn(mount.at, 'mountPath') ?? mount.at),
  });
}
