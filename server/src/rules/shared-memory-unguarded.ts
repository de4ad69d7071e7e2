import { meaningOf } from '../command/flag-meaning.ts';
import { readFlags } from '../command/flags.ts';
import { allCommands, readCommandLine } from '../command/shell.ts';
import { isExempt, knownRequests, requestSpan } from '../evidence/requested-accelerators.ts';
import { useOf } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A model server on a time-sliced GPU takes the memory of its neighbors.
 *
 * ## Why
 *
 * Time slicing does not divide the memory. vLLM and SGLang reserve about nine tenths of the GPU's memory when they start, whatever the model
 * needs: another server on the same GPU finds too little and fails, or this one does. A fraction that leaves room (`--gpu-memory-utilization`,
 * `--mem-fraction-static`) lets them run side by side.
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
 *       args: ["--model", "Qwen/Qwen3-0.6B"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu.shared: 1
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
 *       args: ["--model", "Qwen/Qwen3-0.6B", "--gpu-memory-utilization=0.3"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu.shared: 1
 * ```
 *
 * ## When it is silent
 *
 * For MPS and MIG, if the command line is incomplete, and if it sets a fraction or an amount of memory.
 *
 * ## Sources
 *
 * - [NVIDIA device plugin: time slicing](https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing)
 * - [vLLM: conserving memory](https://docs.vllm.ai/en/latest/configuration/conserving_memory/)
 */
export default defineRule({
  topic: 'sharing',
  severity: 'info',
  container(container, { workload, podSet, report }) {
    if (workload.partial || isExempt(workload) || container.type !== 'app') return;
    const { program } = useOf(container);
    if (program === null || !greedy.has(program)) return;
    const requests = knownRequests(container).filter(({ resource }) => isTimeSliced(resource, podSet));
    const [request] = requests;
    if (request === undefined || limitsMemory(container, program)) return;
    report({
      message: `${program} reserves about 90% of the GPU's memory by default, but time slices share it: other pods on this GPU can fail`,
      span: requestSpan([request], container),
    });
  },
});

const greedy = new Set(['vllm', 'sglang']);

function isTimeSliced(resource: string, { selectors }: PodSet): boolean {
  if (resource === 'nvidia.com/gpu.shared') return !selects('nvidia.com/gpu.sharing-strategy', /^mps$/);
  if (resource !== 'nvidia.com/gpu') return false;
  return (
    selects('cloud.google.com/gke-gpu-sharing-strategy', /^time-sharing$/) ||
    selects('nvidia.com/gpu.sharing-strategy', /^time-slicing$/) ||
    selects('nvidia.com/gpu.product', /-SHARED$/)
  );

  function selects(key: string, value: RegExp): boolean {
    const selector = selectors.find((one) => one.key === key);
    return (
      selector !== undefined && selector.values.length > 0 && selector.values.every((one) => value.test(one.value))
    );
  }
}

/** Whether a flag sets how much memory the server takes, or another place may set it. */
function limitsMemory({ at, command, args, scripts, env }: Container, program: string): boolean {
  const lines = [...command, ...args];
  if (
    isIncomplete(at) ||
    scripts.length > 0 ||
    lines.some(({ at: line }) => isTemplated(line) || isIncomplete(line.parent))
  )
    return true;
  const { statements, complete } = readCommandLine(
    command.map(({ value }) => value),
    args.map(({ value }) => value),
  );
  const commands = allCommands(statements);
  if (!complete || commands.some(({ words }) => words.some(({ dynamic }) => dynamic))) return true;
  if (env.some(({ name }) => /MEM|ARGS|CONFIG|OPTS/.test(name))) return true;
  return commands.some(({ words }) =>
    readFlags(words).some(
      (flag) =>
        meaningOf(flag, 'memory-fraction', program) !== undefined ||
        meaningOf(flag, 'settings-file', program) !== undefined ||
        /mem(?:ory)?-|kv-cache/.test(flag.name),
    ),
  );
}
