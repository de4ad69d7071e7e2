/** How weights are stored. GGUF's formats have llama.cpp's names in lower case. */
export type FormatId =
  | ('fp32' | 'bf16' | 'fp16' | 'fp8' | 'int8' | 'bnb-8bit' | 'nf4' | 'awq' | 'gptq-int4' | 'gptq-int8' | 'w4a16')
  | ('mxfp4' | 'nvfp4' | 'gguf' | 'exl2');

/** The size of weights in one format. */
export interface WeightFormat {
  readonly id: FormatId;
  /** As it is written for people: `AWQ int4`, `GGUF Q4_K_M`. */
  readonly name: string;
  /** Bits per weight that is in this format, with its scales and zero points. */
  readonly bits: number;
  /**
   * What is in this format; the rest keeps 16 bits. `all`: every weight (types without scales, GGUF). `layers`: the matrices of the layers, without
   * embeddings, output layer and towers. `experts`: the experts' matrices only.
   */
  readonly covers: 'all' | 'layers' | 'experts';
  readonly source: string;
}
