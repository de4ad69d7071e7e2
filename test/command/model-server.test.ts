import { describe, expect, test } from 'vitest';
import { readModelServer } from '../../server/src/command/model-server.ts';

const server = (command: string[], env: Record<string, string> = {}, entrypoint?: string) =>
  readModelServer(
    { command, args: [], env: Object.entries(env).map(([name, value]) => ({ name, value })) },
    entrypoint,
  );
const read = (line: string, env: Record<string, string> = {}) => server(line.split(' ').filter(Boolean), env);
const script = (text: string) => server(['sh', '-c', text]);
/** The default program of an image, which receives only the arguments. */
const started = (entrypoint: string, line: string, env: Record<string, string> = {}) =>
  readModelServer(
    {
      command: [],
      args: line.split(' ').filter(Boolean),
      env: Object.entries(env).map(([name, value]) => ({ name, value })),
    },
    entrypoint,
  );

describe('the model of a server', () => {
  test.each([
    ['vllm serve Qwen/Qwen3-4B --port 8000', {}, 'Qwen/Qwen3-4B'],
    ['python3 -m vllm.entrypoints.openai.api_server --model=google/gemma-2b', {}, 'google/gemma-2b'],
    ['python3 -m sglang.launch_server --model-path a/b', {}, 'a/b'],
    ['text-generation-launcher --model-id $(MODEL)', { MODEL: 'a/b' }, 'a/b'],
    ['text-generation-launcher --num-shard 2', { MODEL_ID: 'a/b' }, 'a/b'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as a shell writes it
    ['vllm serve ${MODEL} --port=$PORT', { MODEL: 'a/b' }, 'a/b'],
    ['vllm serve $HUB/b', { HUB: 'a' }, undefined],
    ['vllm serve $(MODEL)', {}, undefined],
  ])('%s', (line, env, model) => {
    const found = read(line, env);
    expect(found).toBeDefined();
    expect(found?.model).toBe(model);
  });

  test('of an image is known from the arguments, or from the variables of TGI', () => {
    expect(started('vllm', '--model a/b')?.model).toBe('a/b');
    expect(started('vllm', 'a/b --port 80')?.model).toBe('a/b');
    expect(started('vllm', '', { MODEL_ID: 'a/b' })).toMatchObject({ model: undefined });
    const tgi = { MODEL_ID: 'a/b', MAX_TOTAL_TOKENS: '4096', DTYPE: 'float16' };
    expect(started('text-generation-launcher', '', tgi)).toEqual({
      model: 'a/b',
      bytes: 2,
      context: 4096,
      tuned: false,
    });
    expect(started('text-generation-launcher', '', { MODEL_ID: 'a/b', MAX_BATCH_SIZE: '64' })?.tuned).toBe(true);
    expect(started('text-generation-launcher', '', { MODEL_ID: 'a/b', QUANTIZE: 'awq' })?.bytes).toBeNull();
    expect(started('triton', '--model a/b')).toBeUndefined();
  });

  test.each([
    ['two servers', 'vllm serve a/b --port 1 & vllm serve c/d; wait'],
    ['two servers one after the other', 'vllm serve a/b; vllm serve c/d'],
    ['another program next to it', 'vllm serve a/b & python3 other.py'],
    ['a server for each GPU', 'for i in 0 1; do CUDA_VISIBLE_DEVICES=$i vllm serve a/b; done'],
    ['one of two branches', 'if [ -n "$BIG" ]; then vllm serve c/d; else vllm serve a/b; fi'],
    ['flags of a variable', 'vllm serve a/b $EXTRA_ARGS'],
    ['flags after a switch', 'vllm serve a/b --trust-remote-code $EXTRA_ARGS'],
    ['flags of the script', 'exec vllm serve a/b "$@"'],
    ['flags of a file', 'vllm serve a/b --config /etc/vllm.yaml'],
    ['a part of the card', 'vllm serve a/b --gpu-memory-utilization 0.3'],
    ['an unclosed quote', 'vllm serve "a/b'],
    ['another server', 'ollama serve a/b'],
    ['a server of services', 'bentoml serve service:svc --model a/b'],
    ['no server', 'python3 finetune.py --model_id a/b'],
    ['an evaluation', 'vllm bench serve --model a/b'],
  ])('is unknown with %s', (_, text) => {
    expect(script(text)).toBeUndefined();
  });

  test('is known in a script that ends in one server', () => {
    expect(script('set -e\nhf download a/b\nexec vllm serve a/b --port 8000')?.model).toBe('a/b');
  });

  test.each([
    ['', 2],
    ['--dtype auto', 2],
    ['--dtype float32', 4],
    ['--quantization fp8 --dtype bfloat16', null],
    ['-q awq', null],
    ['--load-format gguf', null],
    ['--dtype constructor', null],
    ['--dtype __proto__', null],
  ])('bytes of a number by %j', (flags, bytes) => {
    expect(read(`vllm serve a/b ${flags}`)?.bytes).toBe(bytes);
  });

  test.each([
    ['', undefined],
    ['--max-model-len 8192', 8192],
    ['--max-model-len=16k', 16_000],
    ['--max-model-len 16K', 16_384],
    ['--max-model-len auto', null],
    ['--max-model-len 0', null],
    ['--max_model_len -1', null],
    ['--rope-scaling {}', null],
  ])('tokens by %j', (flags, tokens) => {
    expect(read(`vllm serve a/b ${flags}`)?.context).toBe(tokens);
  });

  test('is tuned by flags for many requests', () => {
    expect(read('vllm serve a/b --max-num-seqs 256')?.tuned).toBe(true);
    expect(read('vllm serve a/b --kv-transfer-config={}')?.tuned).toBe(true);
    expect(read('sglang serve --model-path a/b --max-total-tokens 4096')).toMatchObject({ tuned: true });
    expect(read('vllm serve a/b', { VLLM_ALLOW_RUNTIME_LORA_UPDATING: 'True' })?.tuned).toBe(true);
    expect(read('vllm serve a/b --gpu-memory-utilization 0.95 --port 80')?.tuned).toBe(false);
  });
});
