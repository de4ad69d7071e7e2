import { readFlags } from '../command/flags.ts';
import type { Word } from '../command/shell.ts';
import { imageUseOf, processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { asNumber, asText, type Cursor, getIn, isTemplated, items } from '../yaml/cursor.ts';
import { mayHaveVariables, mayRunMore } from './launch.ts';
import { soleServer } from './sole-server.ts';

/** The port on which the only server of a container listens. */
export interface ListeningPort {
  readonly program: string;
  readonly port: number;
  /** The flag and its value; undefined for the default of the program. */
  readonly words: readonly [Word, Word] | undefined;
}

/** How the port of a server is set. */
interface PortSetting {
  readonly flags: readonly string[];
  /** undefined: files or images of these programs may set another one. */
  readonly byDefault?: number;
  /** The flags take an address with a port. */
  readonly isAddress?: true;
}

const portFlag: readonly string[] = ['port'];
const portFlags: readonly string[] = ['port', 'p'];

/**
 * https://docs.vllm.ai/en/latest/cli/serve/, https://docs.sglang.io/advanced_features/server_arguments.html,
 * https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md, https://docs.ollama.com/faq,
 * https://nvidia.github.io/TensorRT-LLM/latest/commands/trtllm-serve/trtllm-serve.html, https://www.uvicorn.org/settings/,
 * https://docs.gunicorn.org/en/stable/settings.html#bind, https://fastapi.tiangolo.com/fastapi-cli/, https://flask.palletsprojects.com/en/stable/cli/,
 * https://docs.streamlit.io/develop/api-reference/configuration/config.toml, https://huggingface.co/docs/text-generation-inference/reference/launcher,
 * https://huggingface.co/docs/text-embeddings-inference/cli_arguments, https://lmdeploy.readthedocs.io/en/latest/llm/api_server.html,
 * https://github.com/michaelfeil/infinity, https://llama-cpp-python.readthedocs.io/en/latest/server/
 */
const portSettings: ReadonlyMap<string, PortSetting> = new Map<string, PortSetting>([
  ['vllm', { flags: portFlag, byDefault: 8000 }],
  ['sglang', { flags: portFlag, byDefault: 30000 }],
  ['llama-server', { flags: portFlag, byDefault: 8080 }],
  ['ollama', { flags: portFlag, byDefault: 11434 }],
  ['trtllm-serve', { flags: portFlag, byDefault: 8000 }],
  ['uvicorn', { flags: portFlag, byDefault: 8000 }],
  ['fastapi', { flags: portFlag, byDefault: 8000 }],
  ['flask', { flags: portFlags }],
  ['gunicorn', { flags: ['bind', 'b'], isAddress: true }],
  ['streamlit', { flags: ['server.port'] }],
  ['llama_cpp', { flags: portFlag, byDefault: 8000 }],
  ['lmdeploy', { flags: ['server-port'], byDefault: 23333 }],
  ['text-generation-launcher', { flags: portFlags }],
  ['text-embeddings-router', { flags: portFlags }],
  ['infinity_emb', { flags: portFlag }],
  ['koboldcpp', { flags: portFlag }],
]);

/** Images whose own entrypoint is the server, with its default port. */
const plainImage =
  /^(?:(?:docker\.io\/)?(?:vllm\/vllm-openai|ollama\/ollama)|ghcr\.io\/ggml-org\/llama\.cpp)(?:[:@][^/]*)?$/;

/** Where the only server of a container listens; undefined if anything else may decide that. */
export function listeningPort(container: Container): ListeningPort | undefined {
  const { command, args, image } = container;
  if (mayRunMore(container) || [...command, ...args].some(({ at }) => isTemplated(at))) return undefined;
  const server = soleServer(container);
  const setting = server && portSettings.get(server.program);
  if (server === undefined || setting === undefined) return undefined;
  const { program } = server;
  const words = server.command?.words ?? [];
  const flags = readFlags(words);
  // Servers in parts and with several ranks also listen on ports of their own.
  if (flags.some(({ name }) => /^(?:disaggregation|data-parallel)-/.test(name))) return undefined;
  // Of several, the last one counts.
  const flag = flags.filter(({ name, isVariable }) => setting.flags.includes(name) && !isVariable).at(-1);
  if (flag !== undefined) {
    const { value = '', dynamic, word, valueWord } = flag;
    const written = setting.isAddress ? value.slice(value.lastIndexOf(':') + 1) : value;
    if (dynamic || valueWord === undefined || !/^\d{1,5}$/.test(written)) return undefined;
    return { program, port: Number(written), words: [word, valueWord] };
  }
  if (setting.byDefault === undefined) return undefined;
  const set = [
    ...processInput(container).env.map(({ name }) => name),
    ...(server.command?.assignments ?? []).map(({ text }) => text),
  ];
  const isOpen =
    mayHaveVariables(container) ||
    set.some((name) => /PORT|^OLLAMA_HOST=/.test(name)) ||
    flags.some(({ name }) =>
      /^(?:c|config|config-file|env-file|uds|fd|headless|bind|node-rank|rank|models-preset)$/.test(name),
    ) ||
    words.some((word) => word.dynamic && !flags.some(({ valueWord }) => valueWord === word)) ||
    words.some(({ text }) => text.startsWith('disaggregated'));
  const isOwn = !server.byImage || (plainImage.test(image?.value ?? '') && imageUseOf(container).program === program);
  // The variable has an address with or without a port.
  const address = container.env.find(({ name }) => program === 'ollama' && name === 'OLLAMA_HOST');
  if (isOpen || !isOwn || (address !== undefined && !/^[\w.]*$/.test(address.value?.value ?? ':'))) return undefined;
  return { program, port: setting.byDefault, words: undefined };
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
