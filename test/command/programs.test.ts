import { describe, expect, test } from 'vitest';
import { containerUse } from '../../server/src/command/programs.ts';

const sh = (script: string) => ({ command: ['/bin/bash', '-c'], args: [script] });

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
  ])('%j', (input, use, confidence) => {
    expect(containerUse(input)).toMatchObject({ use, confidence });
  });
});
