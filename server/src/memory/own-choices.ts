import type { Engine } from '../command/engines.ts';
import type { ServedModel } from '../model/served-model.ts';

/**
 * What a server adapts to the memory that it finds, so more need than memory does not stop it. `format`: it may load smaller weights; `layers`: it
 * leaves a part of them in the node's memory; `length`: it shortens the longest request.
 */
export type OwnChoice = 'format' | 'layers' | 'length';

/** What a model server decides by itself; null if its settings decide. docs/memory.md has the sources. */
export function ownChoiceOf({ engine, quantization, gpuLayers, fitsLength, name }: ServedModel): OwnChoice | null {
  switch (engine) {
    case 'nim':
      return quantization === null ? 'format' : 'length';
    case 'triton':
      return 'format';
    case 'tensorrt-llm':
      return isFolder(name) && quantization === null ? 'format' : 'length';
    case 'ollama':
    case 'transformers':
      return 'layers';
    case 'llama-cpp':
      return gpuLayers === null ? 'layers' : 'length';
    case 'vllm':
      return fitsLength === true ? 'length' : null;
    default:
      return byLength.has(engine) ? 'length' : null;
  }
}

/** Servers whose longest request is what their cache holds. */
const byLength: ReadonlySet<Engine> = new Set(['sglang', 'tgi', 'lmdeploy']);

/** A folder may hold an engine that was built in any format. */
function isFolder(name: string): boolean {
  return /^(?:\.{0,2}\/|[a-z\d]+:\/\/(?!hf))/.test(name) || /engine|trt/i.test(name);
}
