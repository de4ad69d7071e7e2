import { gpus, type ModelShape } from '../catalog/index.ts';
import type { Engine } from '../command/engines.ts';

/**
 * How much larger experts in MXFP4 are on a device, because kernels need sides that are multiples. vLLM and SGLang choose the kernel by the card:
 * https://github.com/vllm-project/vllm/blob/007d50058a06/vllm/model_executor/layers/quantization/mxfp4.py
 * TensorRT-LLM's by the measured weights of gpt-oss.
 * @param tensor devices that share the width of each expert
 */
export function paddingOfExperts(
  { hidden, experts }: ModelShape,
  engine: Engine,
  tensor: number,
  card: string | undefined,
): number {
  if (experts === null || !(engine === 'vllm' || engine === 'sglang' || engine === 'tensorrt-llm')) return 1;
  const width = experts.width / tensor;
  const sides = engine === 'tensorrt-llm' ? [128, 128] : [256, widthMultiple(card)];
  const [ofHidden = 1, ofWidth = 1] = sides;
  return (roundUp(hidden, ofHidden) / hidden) * (roundUp(width, ofWidth) / width);
}

/** Hopper's kernels need multiples of 64, those of Blackwell in data centers of 256, and Marlin's, on all others, of 128. */
function widthMultiple(card: string | undefined): number {
  const capability = gpus.get(card ?? '')?.computeCapability ?? '';
  return capability === '9.0' ? 64 : capability.startsWith('10.') ? 256 : 128;
}

function roundUp(side: number, multiple: number): number {
  return Math.ceil(side / multiple) * multiple;
}
