import type { Use } from './programs.ts';

// What programs, modules, scripts and images are there for. A name stands here only where it means one thing.

export const launchers: ReadonlySet<string> = new Set([
  'torchrun',
  'deepspeed',
  'horovodrun',
  'mpirun',
  'mpiexec',
  'composer',
  'torchpippy',
  'srun',
]);

export const programs: ReadonlyMap<string, Use> = new Map<string, Use>([
  ['text-generation-launcher', 'serving'],
  ['text-generation-server', 'serving'],
  ['text-embeddings-router', 'serving'],
  ['tritonserver', 'serving'],
  ['trtllm-serve', 'serving'],
  ['llama-server', 'serving'],
  ['torchserve', 'serving'],
  ['tensorflow_model_server', 'serving'],
  ['tf_serving_entrypoint.sh', 'serving'],
  ['infinity_emb', 'serving'],
  ['local-ai', 'serving'],
  ['jupyter', 'interactive'],
  ['jupyter-lab', 'interactive'],
  ['jupyter-notebook', 'interactive'],
  ['jupyterhub-singleuser', 'interactive'],
  ['start-notebook.sh', 'interactive'],
  ['start-notebook.py', 'interactive'],
  ['code-server', 'interactive'],
  ['nvidia-smi', 'batch'],
  ['nvbandwidth', 'batch'],
  ['gpu_burn', 'batch'],
  ['all_reduce_perf', 'batch'],
  ['all_gather_perf', 'batch'],
  ['alltoall_perf', 'batch'],
  ['reduce_scatter_perf', 'batch'],
  ['sendrecv_perf', 'batch'],
  ['broadcast_perf', 'batch'],
  ['osu_bw', 'batch'],
  ['osu_latency', 'batch'],
  ['osu_allreduce', 'batch'],
]);

export const likelyPrograms: ReadonlyMap<string, Use> = new Map<string, Use>([
  ['uvicorn', 'serving'],
  ['gunicorn', 'serving'],
  ['hypercorn', 'serving'],
]);

/** Programs whose first word after the name says what they do. */
export const subcommandPrograms: ReadonlyMap<string, Readonly<Record<string, Use>>> = new Map<
  string,
  Readonly<Record<string, Use>>
>([
  ['vllm', { serve: 'serving', bench: 'batch', 'run-batch': 'batch' }],
  ['sglang', { serve: 'serving' }],
  ['lmdeploy', { serve: 'serving' }],
  ['ollama', { serve: 'serving' }],
  ['mlserver', { start: 'serving' }],
  ['bentoml', { serve: 'serving', 'serve-http': 'serving' }],
  ['mlc_llm', { serve: 'serving' }],
  ['serve', { run: 'serving' }],
  ['fastapi', { run: 'serving', dev: 'serving' }],
  ['xinference-local', { '': 'serving' }],
  ['tune', { run: 'training' }],
  [
    'litgpt',
    {
      finetune: 'training',
      finetune_lora: 'training',
      finetune_full: 'training',
      pretrain: 'training',
      serve: 'serving',
    },
  ],
  ['axolotl', { train: 'training', preprocess: 'batch', inference: 'serving' }],
  ['llamafactory-cli', { train: 'training', api: 'serving', webchat: 'interactive', export: 'batch' }],
  ['trl', { sft: 'training', dpo: 'training', grpo: 'training', kto: 'training' }],
  ['swift', { sft: 'training', pt: 'training', rlhf: 'training', deploy: 'serving', export: 'batch' }],
  ['huggingface-cli', { download: 'batch', upload: 'batch' }],
  ['hf', { download: 'batch', upload: 'batch' }],
]);

/** Python modules: prefix, program, use. */
export const modules: readonly (readonly [string, string, Use])[] = [
  ['vllm.entrypoints', 'vllm', 'serving'],
  ['sglang.launch_server', 'sglang', 'serving'],
  ['sglang.bench_serving', 'sglang', 'batch'],
  ['huggingfaceserver', 'huggingfaceserver', 'serving'],
  ['fastchat.serve', 'fastchat', 'serving'],
  ['llama_cpp.server', 'llama_cpp', 'serving'],
  ['tensorrt_llm.serve', 'trtllm-serve', 'serving'],
  ['dynamo', 'dynamo', 'serving'],
  ['axolotl.cli.train', 'axolotl', 'training'],
  ['MaxText.train', 'maxtext', 'training'],
  ['maxtext.train', 'maxtext', 'training'],
  ['maxtext.trainers', 'maxtext', 'training'],
  ['torchtitan.train', 'torchtitan', 'training'],
  ['verl.trainer', 'verl', 'training'],
  ['jupyter', 'jupyter', 'interactive'],
  ['jupyterlab', 'jupyter', 'interactive'],
];

/** Scripts known by name. */
export const scripts: ReadonlyMap<string, Use> = new Map<string, Use>([
  ['launch_triton_server', 'serving'],
  ['openai_api_server', 'serving'],
  ['pretrain_gpt', 'training'],
  ['pretrain_bert', 'training'],
  ['megatron_gpt_pretraining', 'training'],
  ['run_clm', 'training'],
  ['run_mlm', 'training'],
]);

export const trainingWords: ReadonlySet<string> = new Set([
  'train',
  'training',
  'trainer',
  'finetune',
  'finetuning',
  'pretrain',
  'pretraining',
  'sft',
  'dpo',
  'grpo',
  'rlhf',
  'lora',
  'qlora',
]);
export const servingWords: ReadonlySet<string> = new Set(['serve', 'serving', 'server', 'api']);
export const batchWords: ReadonlySet<string> = new Set([
  'benchmark',
  'benchmarks',
  'bench',
  'infer',
  'inference',
  'eval',
  'evaluate',
  'evaluation',
  'predict',
  'generate',
  'download',
  'downloader',
  'convert',
  'converter',
  'export',
  'preprocess',
  'tokenize',
  'prepare',
  'quantize',
  'merge',
  'upload',
  'test',
  'client',
]);

/** Images whose entrypoint is the program. */
export const images: readonly (readonly [RegExp, string, Use])[] = [
  [/(^|\/)vllm-openai(-[a-z]+)?$/, 'vllm', 'serving'],
  [/(^|\/)lmsysorg\/sglang$/, 'sglang', 'serving'],
  [/(^|\/)text-generation-inference$/, 'text-generation-launcher', 'serving'],
  // Google's deep-learning containers name the versions in the repository.
  [/(^|\/)huggingface-text-generation-inference(-[a-z0-9._-]+)?$/, 'text-generation-launcher', 'serving'],
  [/(^|\/)huggingface-text-embeddings-inference(-[a-z0-9._-]+)?$/, 'text-embeddings-router', 'serving'],
  [/(^|\/)tgi-gaudi$/, 'text-generation-launcher', 'serving'],
  [/(^|\/)text-embeddings-inference$/, 'text-embeddings-router', 'serving'],
  [
    /(^|\/)(huggingfaceserver|sklearnserver|xgbserver|lgbserver|paddleserver|torchserve|torchserve-kfs)(-gpu)?$/,
    'kserve',
    'serving',
  ],
  [/(^|\/)nim\//, 'nim', 'serving'],
  [/(^|\/)tensorflow\/serving$/, 'tensorflow_model_server', 'serving'],
  [/(^|\/)ollama\/ollama$/, 'ollama', 'serving'],
  [/(^|\/)llama\.cpp$/, 'llama-server', 'serving'],
  [/(^|\/)([a-z0-9]+-)?notebook(-[a-z0-9-]+)?$/, 'jupyter', 'interactive'],
  [/(^|\/)jupyter[a-z0-9-]*(\/|$)/, 'jupyter', 'interactive'],
];
