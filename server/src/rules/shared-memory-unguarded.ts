import { titleOf } from '../catalog/program-records.ts';
import { meaningOf } from '../command/flag-meaning.ts';
import { readFlags } from '../command/flags.ts';
import { allCommands, readCommandLine } from '../command/shell.ts';
import { formatNumber } from '../cost/money.ts';
import { mayBeCompleted } from '../evidence/chart-pods.ts';
import { isExempt, knownRequests, requestSpan } from '../evidence/requested-accelerators.ts';
import { useOf } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { memoryPart } from '../rewrite/fractions.ts';
import { isIncomplete, isTemplated } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { defineRule } from './rule.ts';

/**
 * A model server on a time-sliced GPU uses memory that other pods need.
 *
 * ## Why
 *
 * Time slicing does not divide the memory. vLLM and SGLang reserve about 90% of the GPU's memory when they start, whatever the model needs:
 * another server on the same GPU finds too little and fails, or this one does. A fraction that leaves room (`--gpu-memory-utilization`,
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
 * For MPS and MIG, if the command line is incomplete, and if it sets a fraction below 0.8 or an amount of memory.
 *
 * ## Fix safety
 *
 * Unsafe: the model and its KV cache must fit in the smaller part.
 *
 * ## Sources
 *
 * - [NVIDIA device plugin: time slicing](https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing)
 * - [vLLM: conserving memory](https://docs.vllm.ai/en/latest/configuration/conserving_memory/)
 */
export default defineRule({
  topic: 'sharing',
  severity: 'info',
  container(container, { workload, podSet, options, document, report }) {
    if (mayBeCompleted(workload) || isExempt(workload) || container.type !== 'app') return;
    const { program } = useOf(container);
    if (program === null || !greedy.has(program)) return;
    const requests = knownRequests(container).filter(({ resource }) => isTimeSliced(resource, podSet));
    const [request] = requests;
    if (request === undefined) return;
    const large = largeFraction(container, program);
    if (large === undefined && limitsMemory(container, program)) return;
    const reserves =
      large === undefined
        ? `${titleOf(program)} reserves about 90% of the GPU's memory by default`
        : `${titleOf(program)} reserves ${formatNumber(large * 100)}% of the GPU's memory`;
    report({
      message: `${reserves}, but the GPU is time-sliced: other pods on it can fail`,
      span: requestSpan([request], container),
      fixes: () => [leaveRoom(container, program, sharers(podSet, options.sharing.replicas), document)],
    });
  },
});

const greedy = new Set(['vllm', 'sglang']);

/** Two servers with this fraction never fit on one GPU, and small neighbors hardly. */
const leastLarge = 0.8;

/** The fraction that a flag sets, if it leaves too little. */
function largeFraction(container: Container, program: string): number | undefined {
  const { command, args } = container;
  const { statements } = readCommandLine(
    command.map(({ value }) => value),
    args.map(({ value }) => value),
  );
  const values = allCommands(statements).flatMap(({ words }) =>
    readFlags(words).flatMap((flag) =>
      meaningOf(flag, 'memory-fraction', program) === undefined || flag.dynamic ? [] : [Number(flag.value)],
    ),
  );
  const [value, ...others] = values;
  return value !== undefined && others.length === 0 && value >= leastLarge && value <= 1 ? value : undefined;
}

/** The pods that share one GPU, by node labels or the config; null if unknown. */
function sharers({ selectors }: PodSet, configured: number | null): number | null {
  const keys = ['cloud.google.com/gke-max-shared-clients-per-gpu', 'nvidia.com/gpu.replicas'];
  const label = selectors.find(({ key }) => keys.includes(key))?.values[0]?.value;
  return label !== undefined && /^[1-9]\d?$/.test(label) ? Number(label) : configured;
}

function leaveRoom(container: Container, program: string, pods: number | null, document: YamlDocument) {
  if (pods === null || pods < 2) return undefined;
  const part = memoryPart({ document, container, engine: program === 'vllm' ? 'vllm' : 'sglang' }, 1 / pods);
  return fix(`Reserve ${formatNumber(Math.floor(95 / pods))}% of the GPU's memory`, 'unsafe', part);
}

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
