import { wordSet } from '../catalog/word-patterns.ts';
import type { Flag } from '../command/flags.ts';

/** A switch of a model server with a value, which it does not take. */
export interface SwitchWithValue {
  readonly flag: Flag;
  /** The value turns it on: without the value, the switch does what is meant. */
  readonly isOn: boolean;
  /** The server exits; otherwise some versions read the value as another argument. */
  readonly isRejected: boolean;
}

// Flags without a value in all versions: vLLM's enable-chunked-prefill took one at times, llama.cpp's flash-attn takes one now.
// Sources, read 2026-11-28: https://docs.vllm.ai/en/latest/cli/serve/, https://docs.sglang.io/advanced_features/server_arguments.html,
// https://huggingface.co/docs/text-generation-inference/reference/launcher, https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
const switches: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    'vllm',
    wordSet(
      'enable-prefix-caching no-enable-prefix-caching trust-remote-code enforce-eager enable-lora enable-expert-parallel',
      'enable-auto-tool-choice disable-log-requests disable-log-stats disable-custom-all-reduce enable-sleep-mode',
    ),
  ],
  [
    'sglang',
    wordSet(
      'trust-remote-code enable-torch-compile disable-radix-cache disable-cuda-graph enable-dp-attention enable-metrics',
      'enable-mixed-chunk skip-tokenizer-init enable-p2p-check log-requests',
    ),
  ],
  [
    'text-generation-launcher',
    wordSet('trust-remote-code disable-custom-kernels json-output disable-grammar-support enable-prefill-logprobs'),
  ],
  ['llama-server', wordSet('mlock no-mmap jinja metrics embedding embeddings cont-batching no-warmup verbose')],
]);

const on = wordSet('true yes on 1 enable enabled');
const off = wordSet('false no off 0 disable disabled');

/** The switches of a server that have a value such as `true`. */
export function switchesWithValue(
  program: string,
  words: readonly { readonly text: string }[],
  flags: readonly Flag[],
): readonly SwitchWithValue[] {
  const known = switches.get(program);
  if (known === undefined) return [];
  // The module of vLLM's server has no other argument without a flag, but newer versions accept one and ignore it.
  const isModule = program === 'vllm' && !words.some(({ text }) => text === 'serve');
  return flags.flatMap((flag) => {
    const value = flag.value?.toLowerCase() ?? '';
    const isOn = on.has(value);
    if (flag.isVariable || flag.dynamic || !known.has(flag.name) || !(isOn || off.has(value))) return [];
    return [{ flag, isOn, isRejected: flag.word === flag.valueWord || !isModule }];
  });
}
