import { gpus } from '../catalog/index.ts';
import { knownRequests } from '../evidence/requested-accelerators.ts';
import type { PodSet } from '../model/workload.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule } from './rule.ts';

/**
 * The CUDA version of an image is older than the GPU that the pod selects.
 *
 * ## Why
 *
 * A CUDA toolkit compiles for the GPU architectures of its time. On a newer GPU, libraries work only if they contain PTX, which the driver
 * compiles at startup; otherwise they fail with "no kernel image is available". Support for Hopper came with CUDA 11.8, for Blackwell with
 * CUDA 12.8.
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
 * If no selector names the GPU, if one of several possible GPUs is old enough, and if the image name contains no CUDA version. For samples and
 * base images, and for Ada, which runs code for Ampere.
 *
 * ## Sources
 *
 * - [CUDA toolkit release notes](https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/)
 * - [CUDA: Hopper compatibility guide](https://docs.nvidia.com/cuda/hopper-compatibility-guide/)
 * - [CUDA: Blackwell compatibility guide](https://docs.nvidia.com/cuda/blackwell-compatibility-guide/)
 * - [NVIDIA: frameworks support matrix](https://docs.nvidia.com/deeplearning/frameworks/support-matrix/)
 * - [CUDA: Ada compatibility guide](https://docs.nvidia.com/cuda/ada-compatibility-guide/)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, context) {
    const { image } = container;
    // Samples contain PTX. Base images contain only the runtime, and programs bring their own libraries.
    if (/sample|vectoradd|[-.:]base\b|dcgm/i.test(image?.value ?? '')) return;
    if (image === undefined || isTemplated(image.at) || knownRequests(container).length === 0) return;
    const cuda = cudaVersion(image.value);
    const required = toolkitFor(context.podSet);
    if (required === undefined) return;
    const since = cuda === undefined ? firstRelease(image.value, required.version) : undefined;
    if (since !== undefined) {
      context.report({
        message: `${shorten(image.value.slice(image.value.lastIndexOf('/') + 1), 40)} predates ${required.name} (supported since ${since}): GPU kernels may be missing`,
        span: spanOf(image.at),
      });
      return;
    }
    if (cuda === undefined || cuda >= required.version) return;
    context.report({
      message: `CUDA ${cuda.toFixed(1)} in ${shorten(image.value.slice(image.value.lastIndexOf('/') + 1), 40)} predates ${required.name} (supported since ${required.version.toFixed(1)}): GPU kernels may be missing`,
      span: spanOf(image.at),
    });
  },
});

/**
 * The first release of an image for GPUs that need a CUDA toolkit, if its tag names an earlier one. The months of NVIDIA's frameworks and the versions
 * of vLLM decide the toolkit.
 * https://docs.nvidia.com/deeplearning/frameworks/support-matrix/ https://github.com/vllm-project/vllm/releases/tag/v0.9.0
 */
function firstRelease(image: string, toolkit: number): string | undefined {
  const [, name = '', major, minor] = release.exec(image) ?? [];
  const first = firstReleases[name.includes('vllm') ? 'vllm' : 'ngc'][String(toolkit)];
  if (major === undefined || minor === undefined || first === undefined) return undefined;
  const [firstMajor = 0, firstMinor = 0] = first.split('.').map(Number);
  const isEarlier = Number(major) < firstMajor || (Number(major) === firstMajor && Number(minor) < firstMinor);
  return isEarlier ? first : undefined;
}

const release =
  /^(?:docker\.io\/)?(nvcr\.io\/nvidia\/(?:pytorch|tensorflow|jax|tritonserver)|vllm\/vllm-openai):v?(\d{1,2})\.(\d{1,2})(?!\d)/;

const firstReleases = {
  ngc: table<string>({ '11.8': '22.09', '12.8': '25.01' }),
  vllm: table<string>({ '12.8': '0.9' }),
};

/** The version in the name: `cuda:11.3.1-base`, `-cuda11.3`, `cu113`. */
function cudaVersion(image: string): number | undefined {
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

function toolkitFor({ accelerators }: PodSet): { readonly name: string; readonly version: number } | undefined {
  const [only, ...others] = accelerators;
  if (only === undefined || others.length > 0) return undefined;
  if (only.modelFrom === null || only.modelFrom === 'config' || only.modelFrom === 'hint') return undefined;
  const models = only.model === null ? only.candidates : [only.model];
  const versions = models.map((id) => firstToolkit[gpus.get(id)?.architecture ?? ''] ?? 0);
  const version = Math.min(...versions);
  const name = gpus.get(models[0] ?? '')?.name;
  return name === undefined || versions.length === 0 || version === 0 ? undefined : { name, version };
}
