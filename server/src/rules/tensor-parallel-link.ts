import { type GpuModel, gpus } from '../catalog/index.ts';
import { findSharding, type Sharding } from '../command/parallelism.ts';
import { assignsGpus } from '../evidence/gpu-assignment.ts';
import { processInput, wholeGpus } from '../evidence/launch.ts';
import { isExempt } from '../evidence/requested-accelerators.ts';
import { isGroupKind } from '../model/kinds/index.ts';
import { once } from '../model/once.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asBoolean, entries, getIn, keyOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * Tensor parallelism across GPUs without a fast link.
 *
 * ## Why
 *
 * With tensor parallelism, all GPUs exchange their sums twice per layer and step. NVLink carries that; PCIe and the network of pods are 10 to
 * 100 times slower, so GPUs wait for each other. Pipeline parallelism exchanges much less: over GPUs without NVLink, and between nodes with
 * tensor parallelism inside each.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: g6.48xlarge
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: [--model=example/atlas-70b, --tensor-parallel-size=8]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: g6.48xlarge
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: [--model=example/atlas-70b, --tensor-parallel-size=2, --pipeline-parallel-size=4]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ## When it is silent
 *
 * For 2 GPUs, unknown GPUs, GPUs for which NVLink exists, and groups of pods that request a fabric (RDMA, EFA), claim devices or use the
 * network of their nodes. If a leader and its workers have the same flags, only the leader is reported.
 *
 * ## Sources
 *
 * - [vLLM: parallelism and scaling](https://docs.vllm.ai/en/latest/serving/parallelism_scaling/)
 * - [NVIDIA L4](https://www.nvidia.com/en-us/data-center/l4/), [L40S](https://www.nvidia.com/en-us/data-center/l40s/) and
 *   [T4](https://www.nvidia.com/en-us/data-center/tesla-t4/): PCIe only
 */
export default defineRule({
  topic: 'parallelism',
  severity: 'info',
  container(container, { workload, podSet, document, report }) {
    if (document.template || workload.partial || isExempt(workload) || container.type !== 'app') return;
    const found = slowLink(container, podSet, isGroupKind(workload));
    if (found === undefined || firstWith(workload).get(found.problem) !== container) return;
    const { words, text, problem } = found;
    const span = spanOfWords(document, container, words);
    if (span !== undefined) report({ message: `${shorten(text, 40)} ${problem}`, span });
  },
});

/** The first container with each problem: leader and workers of a group often have the same flags. */
const firstWith = once((workload: Workload): ReadonlyMap<string, Container> => {
  const isGroup = isGroupKind(workload);
  const all = workload.podSets.flatMap((podSet) =>
    podSet.containers.flatMap((container) => {
      const problem = container.type === 'app' ? slowLink(container, podSet, isGroup)?.problem : undefined;
      return problem === undefined ? [] : [[problem, container] as const];
    }),
  );
  return new Map(all.reverse());
});

function slowLink(container: Container, podSet: PodSet, isGroup: boolean) {
  const sharding = findSharding(processInput(container));
  const held = wholeGpus(container, podSet);
  if (sharding?.words === undefined || held === null || held === 0 || assignsGpus(container)) return undefined;
  const problem = betweenPods(sharding, held, container, podSet, isGroup) ?? withoutLink(sharding, held, podSet);
  return problem === undefined ? undefined : { words: sharding.words, text: sharding.text, problem };
}

/** A group of pods of which each has a part of the GPUs, without a fabric. */
function betweenPods(
  { tensor }: Sharding,
  held: number,
  container: Container,
  podSet: PodSet,
  isGroup: boolean,
): string | undefined {
  if (!isGroup || tensor <= held || tensor % held !== 0 || hasFabric(container, podSet)) return undefined;
  const stages = tensor / held;
  const inside =
    held === 1 ? `pipeline parallelism ${stages}` : `tensor parallelism ${held} with pipeline parallelism ${stages}`;
  return `spans ${stages} pods, whose network is much slower than NVLink: ${inside} sends less between them`;
}

function hasFabric({ resources, at }: Container, { pod, containers }: PodSet): boolean {
  if (asBoolean(getIn(pod, 'hostNetwork')) === true || getIn(pod, 'resourceClaims') !== undefined) return true;
  if (getIn(at, 'envFrom') !== undefined || containers.length > 1) return true;
  const keys = [...entries(getIn(resources, 'limits')), ...entries(getIn(resources, 'requests'))].map(keyOf);
  return keys.some((key) => !/^(?:cpu|memory|ephemeral-storage|nvidia\.com\/gpu)$/.test(key ?? ''));
}

function withoutLink({ tensor, spansPods }: Sharding, held: number, { accelerators }: PodSet): string | undefined {
  const [only, ...others] = accelerators;
  if (spansPods || tensor < 4 || tensor !== held || others.length > 0 || only?.modelHint !== undefined)
    return undefined;
  const gpu = gpus.get(only?.model ?? '');
  if (gpu === undefined || !isPcieOnly(gpu)) return undefined;
  return `splits each layer across ${tensor} × ${gpu.name}, which have no NVLink: pipeline parallelism sends less over PCIe`;
}

/** Ada and the PCIe cards of Blackwell have no NVLink, and neither have these. */
function isPcieOnly({ id, nvlink, computeCapability }: GpuModel): boolean {
  return !nvlink && (computeCapability === '8.9' || computeCapability === '12.0' || pcieCards.has(id));
}

const pcieCards: ReadonlySet<string> = new Set(['t4', 't4g', 'a10', 'a10g', 'a16', 'p4']);
