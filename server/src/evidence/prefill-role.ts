import { readFlags } from '../command/flags.ts';
import type { Word } from '../command/shell.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { asText, getIn } from '../yaml/cursor.ts';
import { soleServer } from './sole-server.ts';

/** What tells a server that it computes only prompts, for another one. */
interface RoleFlag {
  readonly program: string;
  /** Any one is enough. The first one is for the message. */
  readonly flags: readonly string[];
}

/**
 * By the word that starts the server. https://docs.sglang.io/advanced_features/pd_disaggregation.html,
 * https://docs.vllm.ai/en/latest/features/disagg_prefill/, https://github.com/ai-dynamo/dynamo/blob/4a78ada1d9a0/components/src/dynamo/vllm/args.py
 */
const roleFlags: readonly (RoleFlag & { readonly words: RegExp })[] = [
  { words: /^dynamo\.vllm$/, program: 'Dynamo', flags: ['is-prefill-worker', 'disaggregation-mode'] },
  { words: /^dynamo\.(?:sglang|trtllm)$/, program: 'Dynamo', flags: ['disaggregation-mode'] },
  { words: /^sglang(?:\.launch_server)?$/, program: 'SGLang', flags: ['disaggregation-mode'] },
  { words: /^(?:vllm|vllm\.entrypoints\.openai\.api_server)$/, program: 'vLLM', flags: ['kv-transfer-config'] },
];

/** A server of a prefill role that is not told so: it serves whole requests as any other. Undefined if a file or a variable may tell it. */
export function untoldPrefill(
  container: Container,
  podSet: PodSet,
): (RoleFlag & { readonly word: Word; readonly flag: string }) | undefined {
  if (!isPrefill(podSet)) return undefined;
  const words = soleServer(container)?.command?.words ?? [];
  const known = roleFlags.find((one) => words.some(({ text }) => one.words.test(text)));
  const word = words.find(({ text }) => known?.words.test(text));
  const [flag] = known?.flags ?? [];
  if (known === undefined || word === undefined || flag === undefined) return undefined;
  const flags = readFlags(words);
  const isOpen =
    words.some(({ dynamic }) => dynamic) ||
    flags.some(({ name }) => known.flags.includes(name) || /config$|engine-args$/.test(name)) ||
    processInput(container).env.some(({ name }) => /ARGS|DISAGG|KV_TRANSFER|CONFIG|ROLE/.test(name));
  return isOpen ? undefined : { ...known, word, flag };
}

/** Whether the pods are there for prompts: by the field of Dynamo, by a label, or by the name of the part. */
function isPrefill({ name, labels, pod }: PodSet): boolean {
  const type = asText(getIn(pod.parent, 'subComponentType'));
  if (type !== undefined) return type === 'prefill';
  return labels.some(({ value }) => value === 'prefill') || /^(?:\w*-)?prefill(?:-?(?:worker|server)s?)?$/i.test(name);
}
