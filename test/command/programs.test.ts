import { describe, expect, test } from 'vitest';
import { containerUse } from '../../server/src/command/programs.ts';

const sh = (script: string) => ({ command: ['/bin/bash', '-c'], args: [script] });

describe('containerUse looks through', () => {
  test.each([
    ['training', ['bash', '/work/train_novels.sh', '--fast']],
    ['training', ['nsys', 'profile', '-o', 'out', '--trace=cuda', 'python', 'pretrain.py']],
    ['training', ['srun', 'bash', '-lc', 'cd /x && python finetune.py']],
    ['training', ['uv', 'run', '--frozen', 'python', '-m', 'lab.train']],
    ['training', ['conda', 'run', '--no-capture-output', '-n', 'lab', 'python', 'x/train.py']],
    ['training', ['/opt/nvidia/nvidia_entrypoint.sh', 'python', 'train.py']],
    ['training', ['sh', '-c', 'RUN="python train.py"; exec $RUN']],
    ['training', ['sh', '-c', 'main() { python "$SCRIPT" "$@"; }; SCRIPT=x; main']],
    ['training', ['make', 'train']],
    ['training', ['python', '-c', 'import m; m.fit(); loss.backward()']],
    ['training', ['Rscript', 'train.R']],
    ['training', ['sh', '-c', "python3 - <<'EOF'\nmodel.fit(x)\nEOF\n"]],
    ['training', ['bash', '-c', 'exec bash <<EOF\npython train.py\nEOF\n']],
    ['training', ['python', 'main.py', 'fit', '--config', 'unet.yaml']],
    ['training', ['python', '-m', 'lab.cli', 'finetune', '--out', '/out']],
    ['training', ['painter', 'train']],
    [null, ['mkdir', 'train']],
    [null, ['python', 'dataset.py', 'train']],
    [null, ['python', 'main.py', '--split', 'train']],
    [null, ['python', 'render.py', '--mode=train']],
    ['training', ['python', 'unet.py', '--mode=train']],
    ['batch', ['torchrun', 'train.py', '--test-only']],
    ['batch', ['python', 'train_net.py', '--eval-only', '--config', 'a.yaml']],
    ['training', ['python', 'train.py', '--eval_only', 'False']],
    [null, ['painter', 'ls', 'train']],
    ['batch', ['python', 'eval.py', 'train']],
    ['serving', ['python', 'server.py', 'train']],
    [null, ['python', 'main.py', '-c', 'model.fit(x)']],
    ['serving', ['gosu', 'me', 'taskset', '-c', '0-3', 'vllm', 'serve', 'a']],
    ['serving', ['npm', 'run', 'serve']],
    ['batch', ['python3', '-c', 'import torch; print(torch.cuda.is_available())']],
    ['batch', ['jupyter', 'nbconvert', '--execute', 'x.ipynb']],
    [null, ['python3', '-c', 'import lab; lab.main()']],
    [null, ['bash', '/work/start.sh']],
  ])('%s: %j', (use, command) => {
    expect(containerUse({ command, args: [], env: [{ name: 'SCRIPT', value: 'train.py' }] }).use).toBe(use);
  });
});

describe('containerUse takes the work, not what comes before or after it', () => {
  test.each([
    ['training', 'nvidia-smi && python train.py'],
    ['training', 'hf download org/model --local-dir /m; bash finetune.sh; hf upload me/model out'],
    [null, 'nvidia-smi; python3 main.py'],
    [null, 'huggingface-cli download org/model && ./run.sh'],
    [null, 'nvidia-smi; cargo run --release --bin fit'],
    [null, 'nvidia-smi && make && ./saxpy'],
    ['batch', 'pip install torch && nvidia-smi -L; sleep 5'],
    ['batch', 'hf download org/model --local-dir /m && ls /m'],
  ])('%s: %s', (use, script) => {
    expect(containerUse(sh(script)).use).toBe(use);
  });
});

describe('containerUse knows images by a word', () => {
  test.each([
    ['registry.example/team/my-vllm-cuda:1', 'serving'],
    ['docker.io/yanwk/comfyui-boot:cu124', 'serving'],
    ['rhasspy/wyoming-whisper:2', 'serving'],
    ['ghcr.io/blakeblackshear/frigate:0.15-tensorrt', 'serving'],
    ['nvcr.io/nvidia/tritonserver:25.08-py3-sdk', null],
    ['registry.example/vllm-router:1', null],
    ['registry.example/ollama-exporter:1', null],
    ['registry.example/vllm-trainer:1', null],
  ])('%s: %s', (image, use) => {
    expect(containerUse({ image, command: [], args: [] }).use).toBe(use);
  });
});

describe('containerUse', () => {
  test.each([
    [{ command: ['vllm', 'serve', 'org/model'], args: [] }, 'serving', 'certain'],
    [
      { command: ['python3', '-u', '-m', 'vllm.entrypoints.openai.api_server'], args: ['--port', '80'] },
      'serving',
      'certain',
    ],
    [{ command: ['tini', '--', 'tritonserver'], args: ['--model-repository=/m'] }, 'serving', 'certain'],
    [sh('pip install x && exec torchrun --nproc_per_node=8 train.py'), 'training', 'certain'],
    [sh('export A=b\nif [ -f x ]; then\n  accelerate launch --num_processes 2 sft.py\nfi'), 'training', 'certain'],
    [{ command: ['mpirun', '-np', '16', 'all_reduce_perf', '-b', '8'], args: [] }, 'batch', 'certain'],
    [{ command: ['torchrun', 'benchmark_inference.py'], args: [] }, 'batch', 'likely'],
    [{ command: ['python', 'finetune.py'], args: [] }, 'training', 'likely'],
    [{ command: ['python', 'constraints.py'], args: [] }, null, null],
    [{ command: ['jupyter', 'lab'], args: [] }, 'interactive', 'certain'],
    [{ command: [], args: ['--model', 'x'], image: 'vllm/vllm-openai:v0.9.0' }, 'serving', 'likely'],
    [{ command: ['sleep', 'infinity'], args: [], image: 'vllm/vllm-openai:v0.9.0' }, null, null],
    [{ command: [], args: [] }, null, null],
    // Programs, modules and scripts of model servers.
    [{ command: ['sglang', 'serve'], args: [] }, 'serving', 'certain'],
    [{ command: ['python3', '-m', 'sglang.launch_server'], args: [] }, 'serving', 'certain'],
    [{ command: ['lmdeploy', 'serve', 'api_server', 'm'], args: [] }, 'serving', 'certain'],
    [{ command: ['ollama', 'serve'], args: [] }, 'serving', 'certain'],
    [{ command: ['/app/llama-server', '-m', 'm.gguf'], args: [] }, 'serving', 'certain'],
    [{ command: ['torchserve', '--start'], args: [] }, 'serving', 'certain'],
    [{ command: ['python', '-m', 'huggingfaceserver'], args: [] }, 'serving', 'certain'],
    [{ command: ['bentoml', 'serve', '.'], args: [] }, 'serving', 'certain'],
    [{ command: ['xinference-local', '-H', '0.0.0.0'], args: [] }, 'serving', 'certain'],
    [{ command: ['python', '-m', 'jetstream.entrypoints.http.api_server'], args: [] }, 'serving', 'certain'],
    // Trainers.
    [{ command: ['deepspeed', 'run_clm.py'], args: [] }, 'training', 'certain'],
    [{ command: ['horovodrun', '-np', '8', 'python', 'train.py'], args: [] }, 'training', 'certain'],
    [{ command: ['mpirun', '-np', '8', 'python', 'imagenet.py'], args: [] }, 'training', 'likely'],
    [{ command: ['axolotl', 'train', 'c.yaml'], args: [] }, 'training', 'certain'],
    [{ command: ['llamafactory-cli', 'train', 'c.yaml'], args: [] }, 'training', 'certain'],
    [{ command: ['torchrun', 'pretrain_gpt.py'], args: [] }, 'training', 'certain'],
    [{ command: ['python', '-m', 'MaxText.train', 'base.yml'], args: [] }, 'training', 'certain'],
    [{ command: ['composer', 'train/train.py', 'm.yaml'], args: [] }, 'training', 'certain'],
    [{ command: ['swift', 'sft', '--model', 'm'], args: [] }, 'training', 'certain'],
    [{ command: ['nemo', 'llm', 'finetune'], args: [] }, 'training', 'certain'],
    [{ command: ['python', 'unsloth-cli.py'], args: [] }, 'training', 'certain'],
    [{ command: ['python', 'Gemma3LLMTrain.py'], args: [] }, 'training', 'likely'],
    [{ command: ['python', 'Constraint.py'], args: [] }, null, null],
    // Wrappers of other programs.
    [{ command: ['timeout', '60', 'vllm', 'serve', 'm'], args: [] }, 'serving', 'certain'],
    [{ command: ['exec', 'env', '-i', 'A=b', 'vllm', 'serve', 'm'], args: [] }, 'serving', 'certain'],
    [
      { command: ['conda', 'run', '-n', 'x', '--no-capture-output', 'vllm', 'serve', 'm'], args: [] },
      'serving',
      'certain',
    ],
    [{ command: ['uv', 'run', 'vllm', 'serve', 'm'], args: [] }, 'serving', 'certain'],
    [{ command: ['uv', 'pip', 'install', 'vllm'], args: [] }, null, null],
    // Only whole words match, and names of object properties are not programs.
    [{ command: ['vllm serve', 'm'], args: [] }, null, null],
    [{ command: ['python', '-m', 'constructor.serve'], args: [] }, 'serving', 'likely'],
    [{ command: ['__proto__', 'constructor'], args: [] }, null, null],
  ])('%j', (input, use, confidence) => {
    expect(containerUse(input)).toMatchObject({ use, confidence });
  });

  test.each([
    ['nvcr.io/nvidia/tritonserver:25.08-py3', 'tritonserver'],
    ['ghcr.io/huggingface/text-embeddings-inference:89-1.8', 'text-embeddings-router'],
    ['ghcr.io/huggingface/tei-gaudi:1.5.0', 'text-embeddings-router'],
    ['ghcr.io/huggingface/text-generation-inference:3.3.4', 'text-generation-launcher'],
    ['registry.example/optimum-tpu/tgi-tpu:1', 'text-generation-launcher'],
    ['ghcr.io/huggingface/tgi-gaudi:2.3.1', 'text-generation-launcher'],
    ['us-docker.pkg.dev/cloud-tpu-images/inference/jetstream-http:v0.2.3', 'jetstream'],
    ['us-docker.pkg.dev/cloud-tpu-images/inference/sax-model-server:v1.2.0', 'sax'],
    ['registry.example/vllm-gaudi:0.9', 'vllm'],
    ['registry.example/vllm-neuron:0.9', 'vllm'],
    ['lmsysorg/sglang:v0.5.1', 'sglang'],
    ['openmmlab/lmdeploy:v0.9.1', 'lmdeploy'],
    ['ollama/ollama:0.11.4', 'ollama'],
    ['ghcr.io/ggml-org/llama.cpp:server-cuda', 'llama-server'],
    ['nvcr.io/nim/meta/llama-3.1-8b-instruct:1.12.0', 'nim'],
    ['pytorch/torchserve:0.12.0-gpu', 'torchserve'],
    ['kserve/huggingfaceserver:v0.15.2-gpu', 'kserve'],
    ['xprobe/xinference:v1.9.0', 'xinference'],
    ['vllm/vllm-openai-cpu:latest', 'vllm'],
    ['registry.example:5000/team/vllm-rocm63@sha256:abc', 'vllm'],
    ['tensorflow/serving:2.19.0-gpu', 'tensorflow_model_server'],
  ])('%s likely serves', (image, program) => {
    expect(containerUse({ command: [], args: [], image })).toEqual({ use: 'serving', program, confidence: 'likely' });
  });

  test.each([
    'registry.example/ollama-webui:1',
    'registry.example/serving:1',
    'registry.example/vllm-openaiproxy:1',
    'jupyter.example/app:1',
    'registry.example/nim:1',

    'nvcr.io/nvidia/nemo:25.07',
    'rayproject/ray:2.52.0',
    'ubuntu:24.04',
  ])('%s is inconclusive', (image) => {
    expect(containerUse({ command: [], args: [], image }).use).toBeNull();
  });

  test.each([
    ['ray start --head --port=6379; bash run.sh --tp-size 2 --models-path /data', null],
    ['bash run.sh --port=6379 --tp-size 2 --models-path /data', 'serving'],
    ['nc -z db --port 80; bash run.sh --learning-rate 1 --weight-decay 2 --port=80', 'training'],
  ])('flags of one command count together: %s', (script, use) => {
    expect(containerUse(sh(script)).use).toBe(use);
  });
});
