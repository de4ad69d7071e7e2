import { readFlags } from '../command/flags.ts';
import type { Word } from '../command/shell.ts';
import { imageUseOf, processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { asNumber, asText, type Cursor, getIn, isTemplated, items } from '../yaml/cursor.ts';
import { mayRunMore } from './launch.ts';
import { soleServer } from './sole-server.ts';

/** The port on which the only server of a container listens. */
export interface ListeningPort {
  readonly program: string;
  readonly port: number;
  /** The flag and its value; undefined for the default of the program. */
  readonly words: readonly [Word, Word] | undefined;
}

/**
 * The ports on which servers listen by default.
 * https://docs.vllm.ai/en/latest/cli/serve/, https://docs.sglang.io/advanced_features/server_arguments.html,
 * https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md, https://docs.ollama.com/faq,
 * https://nvidia.github.io/TensorRT-LLM/latest/commands/trtllm-serve/trtllm-serve.html
 */
const defaultPorts: ReadonlyMap<string, number> = new Map([
  ['vllm', 8000],
  ['sglang', 30000],
  ['llama-server', 8080],
  ['ollama', 11434],
  ['trtllm-serve', 8000],
]);

/** Images whose own entrypoint is the server, with its default port. */
const plainImage =
  /^(?:(?:docker\.io\/)?(?:vllm\/vllm-openai|ollama\/ollama)|ghcr\.io\/ggml-org\/llama\.cpp)(?:[:@][^/]*)?$/;

/** Where the only server of a container listens; undefined if anything else may decide that. */
export function listeningPort(container: Container): ListeningPort | undefined {
  const { command, args, image } = container;
  if (mayRunMore(container) || [...command, ...args].some(({ at }) => isTemplated(at))) return undefined;
  const server = soleServer(container);
  const known = server && defaultPorts.get(server.program);
  if (server === undefined || known === undefined) return undefined;
  const { program } = server;
  const words = server.command?.words ?? [];
  const flags = readFlags(words);
  // Servers in parts and with several ranks also listen on ports of their own.
  if (flags.some(({ name }) => /^(?:disaggregation|data-parallel)-/.test(name))) return undefined;
  // Of several, the last one counts.
  const flag = flags.filter(({ name, isVariable }) => name === 'port' && !isVariable).at(-1);
  if (flag !== undefined) {
    const { value = '', dynamic, word, valueWord } = flag;
    if (dynamic || valueWord === undefined || !/^\d{1,5}$/.test(value)) return undefined;
    return { program, port: Number(value), words: [word, valueWord] };
  }
  const set = [
    ...processInput(container).env.map(({ name }) => name),
    ...(server.command?.assignments ?? []).map(({ text }) => text),
  ];
  const isOpen =
    items(getIn(container.at, 'envFrom')).length > 0 ||
    set.some((name) => /PORT|^OLLAMA_HOST=/.test(name)) ||
    flags.some(({ name }) => /^(?:c|config|env-file|uds|fd|headless|bind|node-rank|rank|models-preset)$/.test(name)) ||
    words.some((word) => word.dynamic && !flags.some(({ valueWord }) => valueWord === word)) ||
    words.some(({ text }) => text.startsWith('disaggregated'));
  const isOwn = !server.byImage || (plainImage.test(image?.value ?? '') && imageUseOf(container).program === program);
  // The variable has an address with or without a port.
  const address = container.env.find(({ name }) => program === 'ollama' && name === 'OLLAMA_HOST');
  if (isOpen || !isOwn || (address !== undefined && !/^[\w.]*$/.test(address.value?.value ?? ':'))) return undefined;
  return { program, port: known, words: undefined };
}

/** The number of a port of a container, which probes and Services may name; undefined if it is unknown. */
export function portNumber(port: Cursor | string | undefined, { at }: Container): number | undefined {
  const written = typeof port === 'string' ? port : asText(port);
  if (written === undefined || (typeof port !== 'string' && isTemplated(port))) return undefined;
  if (/^\d{1,5}$/.test(written)) return Number(written);
  const named = items(getIn(at, 'ports')).find((one) => asText(getIn(one, 'name')) === written);
  return asNumber(getIn(named, 'containerPort'));
}

/** Whether a flag or a variable of the container mentions a port: it may listen there too. */
export function mentionsPort(port: number, { command, args, env }: Container): boolean {
  const texts = [...command, ...args].map(({ value }) => value);
  const all = [...texts, ...env.map(({ value }) => value?.value ?? '')];
  return all.some((text) => new RegExp(`(?:^|\\D)${port}(?:\\D|$)`).test(text));
}
