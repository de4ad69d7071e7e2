import { cpuBuild } from '../evidence/cpu-builds.ts';
import { cpuSetting } from '../evidence/cpu-setting.ts';
import { knownRequests, requestSpan, requestWords } from '../evidence/requested-accelerators.ts';
import { tritonModels } from '../evidence/triton-models.ts';
import { fix } from '../rewrite/fix.ts';
import { removeRequests } from '../rewrite/remove-requests.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { isIncomplete, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A program is set to run on the CPU, but its container holds GPUs.
 *
 * ## Why
 *
 * `--device cpu`, `--target_device CPU`, `--no-cuda`, `--n-gpu-layers 0` or `JAX_PLATFORMS=cpu` remain from a test on a laptop. The program works, only slowly, and
 * the container's GPUs cost money and stay idle.
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
 *       command: ["python", "serve.py"]
 *       env:
 *         - name: DEVICE
 *           value: cpu
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
 *       command: ["python", "serve.py"]
 *       env:
 *         - name: DEVICE
 *           value: cuda
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the program then uses the GPU, or no longer has one.
 *
 * ## When it is silent
 *
 * If the container runs several programs; if another setting names a GPU; for devices of a part of the program (`--draft-device`); for
 * templates, infrastructure, and images built for CPUs, which have their own rule.
 *
 * ## Sources
 *
 * - [PyTorch: CUDA semantics](https://docs.pytorch.org/docs/stable/notes/cuda.html)
 * - [PyTorch: get started](https://pytorch.org/get-started/locally/)
 * - [JAX: configuration options](https://docs.jax.dev/en/latest/config_options.html)
 * - [llama.cpp: server](https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md)
 * - [OpenVINO Model Server: parameters](https://docs.openvino.ai/2025/model-server/ovms_docs_parameters.html)
 * - [ComfyUI: command line](https://github.com/comfyanonymous/ComfyUI)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  wasteful: true,
  container(container, { workload, podSet, document, crossReferences, report }) {
    if (container.type === 'init' || workload.role === 'infrastructure' || isIncomplete(container.at)) return;
    const requests = knownRequests(container).filter(({ resource }) => devices.test(resource));
    if (requests.length === 0 || podSet.pods.max === 0 || /\bcpu\b/i.test(container.image?.value ?? '')) return;
    const setting = cpuSetting(container, workload.name === null ? [] : [workload.name]);
    if (setting === undefined) {
      const models = tritonModels(container, podSet, workload, crossReferences);
      const [model] = models;
      if (
        model !== undefined &&
        models.every(({ backend, kinds }) => placed.test(backend ?? '') && kinds.length > 0 && kinds.every(isOnCpu))
      ) {
        report({
          severity: 'info',
          message: `${shorten(model.file, 60)} keeps its model on the CPU (KIND_CPU): it leaves the container's ${shorten(requestWords(requests), 40)} idle`,
          span: requestSpan(requests, container),
        });
        return;
      }
      const build = cpuBuild(container);
      const at = build && spanOfWords(document, container, [build.word, build.word]);
      if (build === undefined || at === undefined) return;
      report({
        message: `${shorten(build.word.text, 50)} installs ${build.name} for CPUs: it leaves the container's ${shorten(requestWords(requests), 40)} idle`,
        span: at,
        fixes: () => [removeRequests(document, requests, 'Remove the GPU request')],
      });
      return;
    }
    const { place, text, namesDevice, isLikely } = setting;
    const lines = [...container.command, ...container.args];
    const span = 'value' in place ? spanOf(place.value) : spanOfWords(document, lines, place.words);
    if (span === undefined) return;
    const useGpu =
      'value' in place && namesDevice && requests.every(({ resource }) => !resource.startsWith('gpu.intel'))
        ? [fix('Set it to cuda', 'unsafe', replaceScalar(document, place.value, 'cuda'))]
        : [];
    report({
      ...(isLikely && { severity: 'info' as const }),
      message: `${shorten(text, 40)} keeps the program on the CPU: it leaves the container's ${shorten(requestWords(requests), 40)} idle`,
      span,
      fixes: () => [...useGpu, removeRequests(document, requests, 'Remove the GPU request')],
    });
  },
});

const devices = /^(?:nvidia|amd|gpu\.intel)\.com\//;

/** Triton's backends that run on the device of the instance. Those of TensorRT-LLM and Python choose their own, also with `KIND_CPU`. */
const placed = /^(?:onnxruntime(?:_onnx)?|tensorflow(?:_graphdef|_savedmodel)?|pytorch(?:_libtorch)?)$/;

function isOnCpu(kind: string): boolean {
  return kind === 'KIND_CPU';
}
