import { deviceGiB } from './gpus.ts';
import type { GpuModel } from './types.ts';

/**
 * The memory in GiB that a process can see on a card: less than its label, because the driver, error correction and firmware keep a part. As
 * measured; else the least part of the label that was measured on GeForce cards, which correct no errors; else what the catalog knows. null if
 * nothing is known.
 */
export function usableGiB(gpu: GpuModel): number | null {
  const known = measured.get(gpu.id);
  if (known !== undefined) return known;
  return isGeForce.test(gpu.id) && gpu.memoryGiB !== null ? gpu.memoryGiB * partOnGeForce : deviceGiB(gpu);
}

const isGeForce = /^(?:gtx-\d|rtx-[2-5]0[5-9]0(?!-ada))/;

/** 5.79 of 6 GiB on an RTX 2060, https://github.com/facebookresearch/meshrcnn/issues/92, 2021-01-13; 0.97 to 0.995 on the others below. */
const partOnGeForce = 0.965;

/** As PyTorch or nvidia-smi reports the total; of Neuron devices, what AWS states in GiB. */
const measured: ReadonlyMap<string, number> = new Map([
  ['inferentia2', 32], // https://awsdocs-neuron.readthedocs-hosted.com/en/latest/general/arch/neuron-hardware/inferentia2.html, 2026-11-28
  ['trainium1', 32], // the same memory
  ['t4', 14.58], // https://github.com/datawhalechina/self-llm/issues/162, 2024-06-17
  ['v100-16gb', 15.77], // a vLLM memory estimator in a public repository, address not kept
  ['v100-32gb', 31.74], // the same ratio as the card with 16 GB
  ['a10g', 22.0], // as L4
  ['l4', 22.0], // https://github.com/NVIDIA/TensorRT-LLM/issues/2398, 2024-11-05: 23,034 MiB with 0.46 GiB for the driver
  ['a10', 22.18], // https://github.com/OpenBMB/MiniCPM-V/issues/640, 2024-10-17
  ['a30', 23.53], // https://github.com/google/RB-Modulation/issues/5, 2024-09-13
  ['rtx-2080-ti', 10.76], // https://github.com/JDAI-CV/image-captioning/issues/11, 2020-07-10
  ['rtx-3070', 7.78], // https://github.com/akshitac8/OW-DETR/issues/46, 2023-03-11
  ['rtx-3080', 9.78], // https://github.com/zai-org/CogVideo/issues/34, 2023-03-11
  ['rtx-3090', 23.58], // https://github.com/vllm-project/vllm/issues/10517, 2024-12-02
  ['rtx-4090', 23.52], // https://github.com/ggml-org/llama.cpp/issues/23679, 2026-05-01
  ['rtx-5090', 31.84], // https://github.com/ollama/ollama/pull/16031, 2026-05-01
  ['rtx-a4000', 15.61], // https://github.com/DengKaiCQ/VGGT-Long/issues/6, 2025-07-14
  ['rtx-6000-ada', 44.43], // https://github.com/DINGYANB/MTVCrafter/issues/21, 2025-07-18: with error correction
  ['mi300x', 191.98], // https://github.com/ROCm/vllm/issues/397: 201,310,208 KiB
  ['a100-40gb-sxm', 39.5], // https://github.com/vllm-project/vllm/issues/12330, 2025-01-13
  ['a100-40gb-pcie', 39.5], // the same chip
  ['l40s', 44.42], // https://github.com/vllm-project/vllm/issues/15815, 2025-04-02
  ['l40', 44.42], // the same chip
  ['a100-80gb-sxm', 79.22], // https://github.com/vllm-project/vllm/pull/10511, 2024-12-14
  ['a100-80gb-pcie', 79.22], // the same chip
  ['a800-80gb', 79.22], // the same chip with slower links
  ['a800-40gb', 39.5], // the same
  ['h100-80gb-sxm', 79.18], // https://github.com/llm-d/llm-d-benchmark, config_explorer/empirical-vllm-memory-results.md, 2026-02-26
  ['h100-80gb-pcie', 79.18], // the same chip
  ['h800-80gb', 79.18], // the same chip with slower links
  ['rtx-pro-6000-blackwell-server', 94.97], // a log of llama.cpp in a public repository, address not kept: 97,247 MiB
  ['h200-141gb-sxm', 139.8], // https://github.com/sgl-project/sglang/issues/3196, 2025-01-30: 143,771 MiB with 0.6 GiB for the driver
]);
