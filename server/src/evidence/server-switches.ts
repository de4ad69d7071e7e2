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

// Flags without a value in all versions: llama.cpp's flash-attn takes one now.
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

/** vLLM's switches that took a value in older releases. https://github.com/vllm-project/vllm/blob/v0.10.0/vllm/engine/arg_utils.py, 2026-11-29 */
const newSwitches = wordSet('enable-chunked-prefill');

const on = wordSet('true yes on 1 enable enabled');
const off = wordSet('false no off 0 disable disabled');

/**
 * The switches of a server that have a value such as `true`.
 * @param isNew whether the release certainly takes no values for the switches of vLLM that once had one
 */
export function switchesWithValue(
  program: string,
  words: readonly { readonly text: string }[],
  flags: readonly Flag[],
  isNew = false,
): readonly SwitchWithValue[] {
  const always = switches.get(program);
  if (always === undefined) return [];
  const isKnown = (name: string) => always.has(name) || (isNew && program === 'vllm' && newSwitches.has(name));
  // The module of vLLM's server has no other argument without a flag, but newer versions accept one and ignore it.
  const isModule = program === 'vllm' && !words.some(({ text }) => text === 'serve');
  return flags.flatMap((flag) => {
    const value = flag.value?.toLowerCase() ?? '';
    const isOn = on.has(value);
    if (flag.isVariable || flag.dynamic || !isKnown(flag.name) || !(isOn || off.has(value))) return [];
    return [{ flag, isOn, isRejected: flag.word === flag.valueWord || !isModule }];
  });
}
