/** What the data-parallel group divides among its devices: ZeRO 1, 2 and 3, or FSDP's SHARD_GRAD_OP and FULL_SHARD. */
export type Sharded = 'nothing' | 'optimizer' | 'gradients' | 'parameters';

/** What moves to the memory of the host, or to its disks. */
export type Offload = 'nothing' | 'optimizer' | 'all';

/** `mixed`: 16 bits with weights kept in 32; `half`: everything in 16 bits; `full`: everything in 32. */
export type Precision = 'mixed' | 'half' | 'full';

/** What the backward pass computes again instead of keeping it. `offloaded`: all, from inputs of the layers that are in the host's memory. */
export type Recomputation = 'none' | 'selective' | 'full' | 'offloaded';

export type Optimizer =
  | (
      | 'adamw'
      | 'adamw-fused'
      | 'adamw-8bit'
      | 'adamw-4bit'
      | 'paged-adamw'
      | 'paged-adamw-8bit'
      | 'adafactor'
      | 'lion'
      | 'lion-8bit'
    )
  | ('sgd' | 'sgd-momentum' | 'muon' | 'low-rank');

/** Who keeps the weights, gradients and optimizer states. */
export type Engine = 'torch' | 'fsdp' | 'deepspeed' | 'megatron';

/** LoRA and its relatives: the model is frozen, and small matrices next to its own are trained. */
export interface Adapter {
  readonly rank: number;
  readonly targets: 'query-value' | 'attention' | 'all';
  /** Bits of the frozen weights: 4 for QLoRA. */
  readonly bits: 4 | 8 | 16;
  /** Embeddings and output layer are trained in full. */
  readonly embeddings: boolean;
}

/** What decides how much memory training takes on each device. Null: unknown. */
export interface TrainingSettings {
  /** Sequences per device in one forward pass. */
  readonly batch: number | null;
  /** Tokens per sequence. */
  readonly sequence: number | null;
  readonly precision: Precision;
  readonly engine: Engine;
  readonly sharded: Sharded;
  readonly offload: Offload;
  readonly recomputation: Recomputation;
  /** Null: all weights are trained. */
  readonly adapter: Adapter | null;
  readonly optimizer: Optimizer;
  readonly tensor: number;
  /** Tensor parallelism also divides what lies between its layers. */
  readonly sequenceParallel: boolean;
  readonly pipeline: number;
  readonly context: number;
  readonly expert: number;
  /** All devices of the run. */
  readonly devices: number;
  /** `eager`: attention keeps its matrix of tokens × tokens. */
  readonly attention: 'fused' | 'eager';
  /** `chunked`: the output layer and the loss never hold the logits of all tokens. */
  readonly loss: 'whole' | 'chunked';
  /** Weights are updated during the backward pass, so gradients do not pile up. */
  readonly stepInBackward: boolean;
  /** Each step has one backward pass, so its gradients do not exist before. */
  readonly onePass?: true;
  /** Quantized models are prepared as PEFT does it: what stays unquantized gets 32 bits, and so does what flows between the layers. */
  readonly upcast?: true;
  /** Each example is two sequences, a chosen and a rejected one. */
  readonly pairs?: true;
  /** A frozen copy of the model rates the same sequences; an adapter does without, because the model under it is frozen. */
  readonly reference?: true;
}
