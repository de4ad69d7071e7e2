import { describe, expect, test } from 'vitest';
import { readModelServer } from '../../server/src/command/model-server.ts';

const read = (line: string, env: Record<string, string> = {}) =>
  readModelServer({
    command: line.split(' ').filter(Boolean),
    args: [],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
  });

describe('the model of a server', () => {
  test.each([
    ['vllm serve Qwen/Qwen3-4B --port 8000', {}, 'Qwen/Qwen3-4B'],
    ['python3 -m vllm.entrypoints.openai.api_server --model=google/gemma-2b', {}, 'google/gemma-2b'],
    ['python3 -m sglang.launch_server --model-path a/b', {}, 'a/b'],
    ['text-generation-launcher --model-id $(MODEL)', { MODEL: 'a/b' }, 'a/b'],
    ['--num-shard 2', { MODEL_ID: 'a/b' }, 'a/b'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell writes it
    ['vllm serve ${MODEL}', { MODEL: 'a/b' }, 'a/b'],
    ['vllm serve $HUB/b', { HUB: 'a' }, undefined],
    ['vllm serve $(MODEL)', {}, undefined],
  ])('%s', (line, env, model) => {
    expect(read(line, env)?.model).toBe(model);
  });

  test('is not known where there are several', () => {
    expect(read('vllm serve a/b --model c/d --model e/f')).toBeUndefined();
    expect(read('bash -c')).toMatchObject({ model: 'bash' });
    const both = readModelServer({
      command: ['sh', '-c', 'vllm serve --model a/b & vllm serve --model c/d'],
      args: [],
      env: [],
    });
    expect(both).toBeUndefined();
  });

  test.each([
    ['', 2],
    ['--dtype auto', 2],
    ['--dtype float32', 4],
    ['--quantization fp8 --dtype bfloat16', 1],
    ['-q awq', null],
    ['--load-format gguf', null],
    ['--quantize bitsandbytes-nf4', null],
  ])('bytes of a parameter by %j', (flags, bytes) => {
    expect(read(`vllm serve a/b ${flags}`)?.weightBytes).toBe(bytes);
  });

  test.each([
    ['', undefined],
    ['--max-model-len 8192', 8192],
    ['--max-model-len=16k', 16_000],
    ['--max-model-len 16K', 16_384],
    ['--max-model-len auto', null],
    ['--max-model-len 0', null],
    ['--max_model_len -1', null],
  ])('tokens by %j', (flags, tokens) => {
    expect(read(`vllm serve a/b ${flags}`)?.context).toBe(tokens);
  });

  test('is tuned by flags for many requests', () => {
    expect(read('vllm serve a/b --max-num-seqs 256')?.tuned).toBe(true);
    expect(read('vllm serve a/b --kv-transfer-config={}')?.tuned).toBe(true);
    expect(read('vllm serve a/b --gpu-memory-utilization 0.95 --port 80')?.tuned).toBe(false);
  });
});
