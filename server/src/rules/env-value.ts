import { findNodeCounts } from '../command/processes.ts';
import { isFirstWith } from '../evidence/config-variables.ts';
import { lackingCapability } from '../evidence/driver-capabilities.ts';
import { envValues, isOfForm } from '../evidence/env-values.ts';
import { spansPods } from '../evidence/gpu-assignment.ts';
import { usesAccelerators } from '../evidence/launch.ts';
import { missedInterface } from '../evidence/pod-interfaces.ts';
import { placeOfConfigVariable } from '../model/config-env.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The value of a well-known environment variable is one that its program rejects or ignores.
 *
 * ## Why
 *
 * PyTorch reads `PYTORCH_CUDA_ALLOC_CONF` only when it first uses the GPU, and stops if it cannot read it. JAX takes
 * `XLA_PYTHON_CLIENT_MEM_FRACTION` as a share, so 90 is 90 times the memory. NCCL cannot reach other nodes over `lo`, and a pod without `hostNetwork` has only `eth0`: neither `ens5` nor all interfaces except `^eth`. The backends of
 * `VLLM_ATTENTION_BACKEND` are uppercase. vLLM and NCCL read many switches as numbers: with `true`, vLLM stops, and NCCL does not apply them. With `NVIDIA_DRIVER_CAPABILITIES: utility`, a container gets nvidia-smi but not CUDA.
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
 *       env:
 *         - name: PYTORCH_CUDA_ALLOC_CONF
 *           value: max_split_size_mb=256
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
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
 *       env:
 *         - name: PYTORCH_CUDA_ALLOC_CONF
 *           value: max_split_size_mb:256
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the setting takes effect.
 *
 * ## When it is silent
 *
 * For containers without accelerators, for templates and placeholders, for `lo` in pods that work alone, for interfaces in pods with annotations, claims or devices that may add networks, and for `utility` where only
 * nvidia-smi or an exporter runs.
 *
 * ## Sources
 *
 * - [PyTorch: CUDA memory management](https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-alloc-conf)
 * - [JAX: GPU memory allocation](https://docs.jax.dev/en/latest/gpu_memory_allocation.html)
 * - [NVIDIA Container Toolkit: driver capabilities](https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html#driver-capabilities)
 * - [NCCL: environment variables](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)
 * - [vLLM: environment variables](https://docs.vllm.ai/en/stable/configuration/env_vars/)
 * - [libgomp: OMP_NUM_THREADS](https://gcc.gnu.org/onlinedocs/libgomp/OMP_005fNUM_005fTHREADS.html)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  judgesWords: true,
  container(container, { workload, podSet, document, report }) {
    if (workload.role === 'infrastructure') return;
    reportConfigMaps(container, workload, podSet, report);
    for (const { name, value: located } of container.env) {
      const known = envValues.get(name);
      const value = located?.value.trim();
      if (known === undefined || located === undefined || !value || isTemplated(located.at) || /[$<{]/.test(value))
        continue;
      const { form, mustBe, effect } = known;
      const isInterface = /^(?:link|interface)$/.test(form);
      const missed = isInterface ? missedInterface(value, form === 'link', { podSet, container, workload }) : undefined;
      const lacking = form === 'capabilities' ? lackingCapability(value, container) : undefined;
      if (lacking === undefined && missed === undefined && isOfForm(value, form)) continue;
      if (isInterface && !meetsOthers(container, workload)) continue;
      if (!usesAccelerators(container, podSet) || (form === 'capabilities' && onlyWatches(container))) continue;
      if (firstWith(name, located.value, workload) !== container) continue;
      if (missed !== undefined) {
        const problem =
          missed === 'excluded'
            ? `${shorten(value, 30)} excludes eth0, the only interface of a pod without hostNetwork`
            : `is ${shorten(value, 20)}, but without hostNetwork, a pod has only eth0`;
        report({ message: `${name} ${problem}: ${effect}`, span: spanOf(located.at) });
        continue;
      }
      const corrected = form === 'backend' ? value.toUpperCase() : value.replaceAll('=', ':');
      report({
        ...(/ignores|slows/.test(effect) && { severity: 'info' }),
        message:
          lacking === undefined
            ? `${name} must be ${mustBe}, not ${shorten(value, 30)}: ${effect}`
            : `${name} ${shorten(value, 30)} lacks ${lacking.capability}: ${shorten(lacking.program, 40)} cannot ${lacking.purpose} on the GPU`,
        span: spanOf(located.at),
        fixes: () =>
          lacking !== undefined
            ? [
                fix(
                  `Add ${lacking.capability}`,
                  'unsafe',
                  replaceScalar(document, located.at, `${value},${lacking.capability}`),
                ),
              ]
            : (form === 'allocator' || (form === 'backend' && !/auto|-/i.test(value))) && isOfForm(corrected, form)
              ? [fix(`Change to ${shorten(corrected, 40)}`, 'unsafe', replaceScalar(document, located.at, corrected))]
              : [],
      });
    }
  },
});

/** Reports values of ConfigMaps from which the container takes its variables. */
function reportConfigMaps(
  container: Container,
  workload: Workload,
  podSet: PodSet,
  report: PodSetContext['report'],
): void {
  for (const variable of container.configEnv ?? []) {
    const { name } = variable;
    const known = envValues.get(name);
    const value = variable.value.trim();
    if (known === undefined || value === '' || /[$<{]/.test(value) || isOfForm(value, known.form)) continue;
    // The last ConfigMap with a name takes precedence, and those of a group repeat each other.
    if (container.configEnv?.filter((one) => one.name === name).at(-1) !== variable) continue;
    if (/^(?:link|interface)$/.test(known.form) && !meetsOthers(container, workload)) continue;
    if (!usesAccelerators(container, podSet) || (known.form === 'capabilities' && onlyWatches(container))) continue;
    const at = isFirstWith(variable, container, workload) ? placeOfConfigVariable(container, variable) : undefined;
    if (at === undefined || isTemplated(at)) continue;
    report({
      ...(/ignores|slows/.test(known.effect) && { severity: 'info' }),
      message: `${name} of this ConfigMap must be ${known.mustBe}, not ${shorten(value, 20)}: ${known.effect}`,
      span: spanOf(at),
    });
  }
}

/** The first container with a setting, which the pods of a group copy from each other. */
function firstWith(name: string, value: string, { podSets }: Workload): Container | undefined {
  const isSame = (one: Container['env'][number]) => one.name === name && one.value?.value === value;
  for (const { containers } of podSets) {
    const found = containers.find(({ env }) => env.some(isSame));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a container may only read the state of the GPUs, for which utility is enough. */
function onlyWatches({ command, args, image }: Container): boolean {
  return [...command, ...args, ...(image ? [image] : [])].some(({ value }) =>
    /nvidia-smi|nvtop|dcgm|export|monitor/.test(value),
  );
}

/** Whether a container works together with those of other pods. */
function meetsOthers(container: Container, workload: Workload): boolean {
  if (spansPods(workload)) return true;
  return findNodeCounts(processInput(container)).some(({ count }) => typeof count === 'number' && count > 1);
}
