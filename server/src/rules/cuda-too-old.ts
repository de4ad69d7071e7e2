import { gpus } from '../catalog/index.ts';
import { knownRequests } from '../evidence/requests.ts';
import type { PodSet } from '../model/workload.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule } from './rule.ts';

/**
 * An image's CUDA is older than the GPU that the pod selects.
 *
 * ## Why
 *
 * A CUDA toolkit makes code for the architectures of its day. One that is older than the GPU runs there only where its libraries carry PTX,
 * which is compiled at the start; where they do not, they fail with "no kernel image is available". Hopper came with CUDA 11.8, Blackwell
 * with 12.8.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   nodeSelector:
 *     nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1-cuda11.3
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   nodeSelector:
 *     nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1-cuda12.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * Where no selector names the GPU, or one of several that it may be is old enough; where the tag tells no version; for images of samples and
 * base images, and for Ada, on which code for Ampere runs.
 *
 * ## Sources
 *
 * - [CUDA toolkit release notes](https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/)
 * - [CUDA: Hopper compatibility guide](https://docs.nvidia.com/cuda/hopper-compatibility-guide/)
 * - [CUDA: Blackwell compatibility guide](https://docs.nvidia.com/cuda/blackwell-compatibility-guide/)
 * - [CUDA: Ada compatibility guide](https://docs.nvidia.com/cuda/ada-compatibility-guide/)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, context) {
    const { image } = container;
    // Samples carry PTX, and base images only the runtime for what a program brings along.
    if (/sample|vectoradd|[-.:]base\b|dcgm/i.test(image?.value ?? '')) return;
    if (image === undefined || isTemplated(image.at) || knownRequests(container).length === 0) return;
    const cuda = cudaOf(image.value);
    const needed = neededBy(context.podSet);
    if (cuda === undefined || needed === undefined || cuda >= needed.version) return;
    context.report({
      message: `CUDA ${cuda.toFixed(1)} of ${shorten(image.value.slice(image.value.lastIndexOf('/') + 1), 40)} makes no code for ${needed.name} (${needed.version.toFixed(1)} does): kernels may be missing there`,
      span: spanOf(image.at),
    });
  },
});

/** The version in the name: `cuda:11.3.1-base`, `-cuda11.3`, `cu113`. */
function cudaOf(image: string): number | undefined {
  const dotted = /(?:^|[/._-])cuda[:_-]?(\d{1,2})\.(\d)\d?(?!\d)/i.exec(image);
  if (dotted !== null) return Number(`${dotted[1]}.${dotted[2]}`);
  const packed = /[:._-]cu(\d\d)(\d)(?![0-9a-z])/i.exec(image);
  return packed === null ? undefined : Number(`${packed[1]}.${packed[2]}`);
}

/** By architecture: the first toolkit that compiles for it. */
const firstToolkit = table<number>({
  Hopper: 11.8,
  Blackwell: 12.8,
  'Blackwell Ultra': 12.8,
});

function neededBy({ accelerators }: PodSet): { readonly name: string; readonly version: number } | undefined {
  const [only, ...others] = accelerators;
  if (only === undefined || others.length > 0 || only.modelFrom === null || only.modelFrom === 'config')
    return undefined;
  const models = only.model === null ? only.candidates : [only.model];
  const needs = models.map((id) => firstToolkit[gpus.get(id)?.architecture ?? ''] ?? 0);
  const version = Math.min(...needs);
  const name = gpus.get(models[0] ?? '')?.name;
  return name === undefined || needs.length === 0 || version === 0 ? undefined : { name, version };
}
