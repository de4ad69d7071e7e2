import { imageParts } from '../catalog/images.ts';
import { either, partOf } from '../catalog/word-patterns.ts';

/** The separate builds of a publisher for GPUs. */
export interface Builds {
  /** Marks the tags of builds for GPUs. */
  readonly gpu: RegExp;
  /** Installed packages may contain the libraries that the image lacks. */
  readonly bringsOwn?: true;
  /** Only the build for AMD is separate. */
  readonly amdOnly?: true;
}

const anyGpu = partOf('gpu nvidia cuda cublas cu\\d\\d rocm hip', 'intel xpu sycl openvino vulkan musa cann');

/** Whether a tag is not that of a build on Alpine. */
const notAlpine = /^(?!.*alpine)/i;

/** Publishers whose plain tag is for CPUs, by the end of the repository. */
const separateBuilds: ReadonlyMap<string, Builds> = new Map<string, Builds>([
  ['tensorflow/tensorflow', { gpu: anyGpu }],
  ['tensorflow/serving', { gpu: anyGpu }],
  ['pytorch/torchserve', { gpu: anyGpu }],
  // Until 0.14, one image was for both. https://github.com/kserve/kserve/pull/4049
  ['kserve/huggingfaceserver', { gpu: either(anyGpu, /^v?0\.(?:\d|1[0-4])(?:\.|$)/) }],
  ['ggml-org/llama.cpp', { gpu: anyGpu }],
  ['ggerganov/llama.cpp', { gpu: anyGpu }],
  ['localai/localai', { gpu: anyGpu }],
  ['go-skynet/local-ai', { gpu: anyGpu }],
  ['ggml-org/whisper.cpp', { gpu: anyGpu }],
  ['ggerganov/whisper.cpp', { gpu: anyGpu }],
  ['immich-app/immich-machine-learning', { gpu: anyGpu }],
  ['onerahmet/openai-whisper-asr-webservice', { gpu: anyGpu }],
  ['linuxserver/faster-whisper', { gpu: anyGpu }],
  ['rhasspy/wyoming-whisper', { gpu: anyGpu, bringsOwn: true }],
  ['rhasspy/wyoming-piper', { gpu: anyGpu, bringsOwn: true }],
  // Its variant with Ollama computes there.
  ['open-webui/open-webui', { gpu: /cuda|ollama/i }],
  ['deepquestai/deepstack', { gpu: anyGpu }],
  // https://www.intel.com/content/www/us/en/developer/articles/machine-learning-model/openvino-model-server.html
  ['openvino/model_server', { gpu: anyGpu }],
  ['intel/openvino-model-server', { gpu: anyGpu }],
  // https://github.com/LibreTranslate/LibreTranslate/tree/main/docker, https://github.com/abetlen/llama-cpp-python/tree/main/docker (2026-11-30)
  ['libretranslate/libretranslate', { gpu: anyGpu }],
  ['abetlen/llama-cpp-python', { gpu: anyGpu }],
  // https://github.com/rocker-org/rocker-versions2 (2026-11-30): its builds for GPUs have other repositories.
  ['rocker/rstudio', { gpu: anyGpu, bringsOwn: true }],
  ['rocker/tidyverse', { gpu: anyGpu, bringsOwn: true }],
  ['rocker/verse', { gpu: anyGpu, bringsOwn: true }],
  // https://milvus.io/docs/install_standalone-docker-compose-gpu.md, https://www.paddlepaddle.org.cn/documentation/docs/en/install/docker/linux-docker_en.html
  ['milvusdb/milvus', { gpu: anyGpu }],
  ['paddlepaddle/paddle', { gpu: anyGpu }],
  // https://github.com/Kaggle/docker-python
  ['kaggle-images/python', { gpu: anyGpu }],
  ['codeproject/ai-server', { gpu: anyGpu }],
  ['jupyter/tensorflow-notebook', { gpu: anyGpu }],
  ['jupyter/pytorch-notebook', { gpu: anyGpu }],
  ['jupyter/base-notebook', { gpu: anyGpu, bringsOwn: true }],
  ['jupyter/minimal-notebook', { gpu: anyGpu, bringsOwn: true }],
  ['jupyter/scipy-notebook', { gpu: anyGpu, bringsOwn: true }],
  ['jupyter/datascience-notebook', { gpu: anyGpu, bringsOwn: true }],
  // Kubeflow's repositories, not their tags, name the build.
  ['kubeflownotebookswg/jupyter-pytorch', { gpu: anyGpu }],
  ['kubeflownotebookswg/jupyter-pytorch-full', { gpu: anyGpu }],
  ['kubeflownotebookswg/jupyter-tensorflow', { gpu: anyGpu }],
  ['kubeflownotebookswg/jupyter-tensorflow-full', { gpu: anyGpu }],
  ['kubeflownotebookswg/jupyter-scipy', { gpu: anyGpu, bringsOwn: true }],
  // Alpine has another C library than CUDA's and PyTorch's builds. https://docs.docker.com/dhi/core-concepts/glibc-musl/
  ['python', { gpu: notAlpine }],
  ['library/python', { gpu: notAlpine }],
  ['rayproject/ray', { gpu: anyGpu, bringsOwn: true }],
  ['ollama/ollama', { gpu: /rocm/i, amdOnly: true }],
]);

/** The builds of an image whose tag is the plain one; a digest without a tag may be any. */
export function plainBuild(image: string, amd: boolean): Builds | undefined {
  const { repository, tag } = imageParts(image);
  if (tag === undefined && image.includes('@')) return undefined;
  const builds = separateBuilds.get(repository.split('/').slice(-2).join('/'));
  if (builds === undefined || builds.gpu.test(tag ?? '') || (builds.amdOnly === true && !amd)) return undefined;
  return builds;
}
