import { meantResource } from '../catalog/resource-spelling.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { baseName, type Word } from '../command/shell.ts';
import { plural } from '../cost/money.ts';
import { mayUseOtherGpus } from '../evidence/gpu-assignment.ts';
import { isExempt, knownRequests } from '../evidence/requested-accelerators.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { countIn } from '../model/count.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { writtenResources } from '../rewrite/rename-resource.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * Ray counts a different number of GPUs than the container has.
 *
 * ## Why
 *
 * Ray places tasks by `num-gpus`, not by the devices that it finds. If the number is larger than the container's limit, tasks that need a GPU
 * start without one and fail. If it is smaller, the rest of the GPUs is never used. Without the parameter KubeRay takes the number from the
 * limit. The same applies to `ray start --num-gpus` in a command, in any kind of pod: without the flag, Ray counts the GPUs that it sees.
 *
 * ```yaml invalid
 * apiVersion: ray.io/v1
 * kind: RayCluster
 * metadata:
 *   name: research
 * spec:
 *   headGroupSpec:
 *     rayStartParams: {}
 *     template:
 *       spec:
 *         containers:
 *           - name: head
 *             image: rayproject/ray:2.46.0
 *   workerGroupSpecs:
 *     - groupName: gpu
 *       replicas: 2
 *       rayStartParams:
 *         num-gpus: "4"
 *       template:
 *         spec:
 *           containers:
 *             - name: worker
 *               image: rayproject/ray:2.46.0-gpu
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: ray.io/v1
 * kind: RayCluster
 * metadata:
 *   name: research
 * spec:
 *   headGroupSpec:
 *     rayStartParams: {}
 *     template:
 *       spec:
 *         containers:
 *           - name: head
 *             image: rayproject/ray:2.46.0
 *   workerGroupSpecs:
 *     - groupName: gpu
 *       replicas: 2
 *       rayStartParams:
 *         num-gpus: "1"
 *       template:
 *         spec:
 *           containers:
 *             - name: worker
 *               image: rayproject/ray:2.46.0-gpu
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: Ray then places other tasks.
 *
 * ## When it is silent
 *
 * For shares of a GPU, which Ray may count in its own way, for devices that are not requested by a resource name, for misspelled resource
 * names, and for 0 on the head, which keeps tasks away from it. For commands, also with fewer GPUs than the container has, because another program
 * may use the rest, in pods without a request that may see GPUs by other means, and if no pod of the workload requests GPUs.
 *
 * ## Sources
 *
 * - [Ray: configuring KubeRay, rayStartParams](https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/config.html)
 * - [Ray: ray start](https://docs.ray.io/en/latest/cluster/cli.html#ray-start)
 * - [ray-project/kuberay#2612](https://github.com/ray-project/kuberay/issues/2612)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, { podSet, workload, document, report }) {
    if (container.type === 'init' || isExempt(workload) || !namesAccelerators(workload)) return;
    for (const { flag, words } of rayCounts(container)) {
      const counted = countIn(flag.value) ?? 0;
      const held = counted === 0 ? undefined : gpusOf(container, podSet);
      if (held === undefined || counted <= held || (held === 0 && (mayUseOtherGpus(container) || isOpen(podSet))))
        continue;
      const span = spanOfWords(document, container, words);
      if (span === undefined) continue;
      report({
        message: `ray start --num-gpus ${counted}, but container ${shorten(container.name, 30)} has ${held === 0 ? 'no GPU' : plural(held, 'GPU')}: Ray schedules tasks on GPUs that do not exist`,
        span,
      });
    }
  },
  podSet(podSet, { workload, document, report }) {
    const written = startParameter(podSet);
    const [ray] = podSet.containers.filter(({ type }) => type === 'app');
    const counted = countIn(asText(written));
    if (written === undefined || ray === undefined || isTemplated(written) || counted === null) return;
    const held = gpusOf(ray, podSet);
    if (held === undefined || held === counted) return;
    if (counted === 0 && podSet.name === 'head') return;
    const has = held === 0 ? 'no GPU' : plural(held, 'GPU');
    report({
      // Without any GPU in the cluster, the number may stand for something else.
      severity: namesAccelerators(workload) ? 'warning' : 'info',
      message:
        counted > held
          ? `num-gpus is ${counted}, but container ${shorten(ray.name, 30)} has ${has}: Ray schedules tasks on GPUs that do not exist`
          : `num-gpus is ${counted}, but container ${shorten(ray.name, 30)} has ${held} GPUs: Ray leaves the others idle`,
      span: spanOf(written),
      fixes: () =>
        held === 0 ? [] : [fix(`Set num-gpus to ${held}`, 'unsafe', replaceScalar(document, written, String(held)))],
    });
  },
});

/** The known numbers of GPUs with which a container's commands start Ray. */
function rayCounts(container: Container): readonly { readonly flag: Flag; readonly words: readonly [Word, Word] }[] {
  return commandsIn(container).flatMap(({ words }) => {
    const [program, task] = words;
    if (baseName(program?.text ?? '') !== 'ray' || task?.text !== 'start') return [];
    const flag = readFlags(words).find(({ name }) => name === 'num-gpus');
    const { valueWord } = flag ?? {};
    return flag === undefined || valueWord === undefined || flag.dynamic
      ? []
      : [{ flag, words: [flag.word, valueWord] }];
  });
}

/** Whether a pod's devices may come from elsewhere. */
function isOpen({ containers, pod }: PodSet): boolean {
  const devices = containers.some(({ volumeMounts }) =>
    volumeMounts.some(({ mountPath }) => /^\/dev\b(?!\/shm)/.test(mountPath)),
  );
  return devices || ['runtimeClassName', 'resourceClaims'].some((field) => getIn(pod, field) !== undefined);
}

/** `num-gpus` of the group that the pods belong to. */
function startParameter({ pod }: PodSet): Cursor | undefined {
  const template = pod.parent;
  if (template === undefined || keyOf(template) !== 'template') return undefined;
  return getIn(template.parent, 'rayStartParams', 'num-gpus');
}

/** The GPUs that Ray's container requests; undefined if they are shares, of several kinds, unknown or from elsewhere. */
function gpusOf(container: Container, { accelerators, pod }: PodSet): number | undefined {
  const requests = knownRequests(container);
  if (isIncomplete(pod) || isIncomplete(container.at) || isIncomplete(getIn(container.resources, 'limits')))
    return undefined;
  // gpu-resource-name reports misspelled names.
  if (writtenResources(container).some((entry) => isMisspelled(keyOf(entry)))) return undefined;
  if (accelerators.length === 0) return 0;
  const [only, ...others] = requests;
  if (
    only === undefined ||
    others.length > 0 ||
    only.form !== 'whole' ||
    !/^(?:nvidia|amd)\.com\/gpu$/.test(only.resource)
  )
    return undefined;
  return only.count ?? undefined;
}

function isMisspelled(name: string): boolean {
  return /^gpus?$/i.test(name) || meantResource(name) !== undefined;
}
