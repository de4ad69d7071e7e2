import { oneOf, partOf, wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import { allCommands, readCommandLine, type Word } from '../command/shell.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { imageUseOf, processInput } from '../model/process-input.ts';
import type { Container, Workload } from '../model/workload.ts';
import type { ServerFacts } from '../model/workload-facts.ts';
import { asNumber, asText, type Cursor, getIn, isTemplated, isUnseen, items } from '../yaml/cursor.ts';
import { mayHaveVariables, mayRunMore } from './launch.ts';
import { probesOf } from './probes.ts';
import { missingMetrics } from './served-metrics.ts';
import { lacksKey } from './server-keys.ts';
import { isAlone, soleServer } from './sole-server.ts';
import { webUiOf } from './web-uis.ts';

/** The port on which the only server of a container listens. */
export interface ListeningPort {
  readonly program: string;
  readonly port: number;
  /** The flag and its value; undefined for the default of the program. */
  readonly words: readonly [Word, Word] | undefined;
  /** The program is unknown: it may also listen on other ports. What says which port it is: its settings, or only its probes. */
  readonly declared?: 'set' | 'probed';
}

/** How the port of a server is set. */
interface PortSetting {
  readonly flags: readonly string[];
  /** undefined: files or images of these programs may set another one. */
  readonly byDefault?: number;
  /** The port that the variable PORT of the publisher's images sets, unless the pod sets it. */
  readonly ofImage?: number;
  /** The port that the entrypoint of the publisher's image sets. */
  readonly ofEntrypoint?: number;
  /** Ports for other protocols and metrics. */
  readonly others?: readonly number[];
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
 * https://docs.bentoml.com/en/latest/reference/bentoml/cli.html,
 * https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/protocol/README.html,
 * https://docs.nvidia.com/nim/large-language-models/latest/configuration.html,
 * https://github.com/michaelfeil/infinity, https://llama-cpp-python.readthedocs.io/en/latest/server/,
 * https://www.tensorflow.org/tfx/serving/docker, https://github.com/pytorch/serve/blob/master/docs/configuration.md
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
  ['text-generation-launcher', { flags: portFlags, ofImage: 80 }],
  ['text-embeddings-router', { flags: portFlags, ofImage: 80 }],
  ['infinity_emb', { flags: portFlag }],
  ['koboldcpp', { flags: portFlag }],
  ['bentoml', { flags: portFlags }],
  ['nim', { flags: [], byDefault: 8000 }],
  ['tritonserver', { flags: ['http-port'], byDefault: 8000, others: [8001, 8002] }],
  ['tensorflow_model_server', { flags: ['rest-api-port'], ofEntrypoint: 8501, others: [8500] }],
  ['torchserve', { flags: [], ofEntrypoint: 8080, others: [8081, 8082, 7070, 7071] }],
]);

/** Servers without code of the user and without another port, for metrics for example. Their probes can never succeed elsewhere. */
export const servesOnePort: ReadonlySet<string> = wordSet('vllm sglang llama-server ollama trtllm-serve');

/** Images whose own entrypoint is the server, with its default port. */
const plainImage =
  /^(?:(?:docker\.io\/)?(?:vllm\/vllm-openai|ollama\/ollama)|ghcr\.io\/ggml-org\/llama\.cpp)(?:[:@][^/]*)?$/;

/** NIM's images of language models; those for speech, video and chemistry have other ports. */
const languageNim = new RegExp(
  `^nvcr\\.io/nim/(?:${oneOf('meta mistralai google qwen deepseek-ai microsoft')}/(?!.*${oneOf('whisper')})|nvidia/(?:llama|nv-embed|nv-rerank|nemotron))[\\w./-]*(?:[:@]\\S*)?$`,
);

/** Whether an image is NIM with a language model, or one that embeds text or ranks it. */
export function isLanguageNim(image: string): boolean {
  return languageNim.test(image);
}

/** Where the only server of a container listens; undefined if anything else may decide that. */
export function listeningPort(container: Container): ListeningPort | undefined {
  const { command, args, image } = container;
  if (mayRunMore(container) || [...command, ...args].some(({ at }) => isTemplated(at))) return undefined;
  const ui = webUiOf(container);
  if (ui !== undefined)
    return ui.port === undefined ? undefined : { program: ui.title, port: ui.port, words: undefined };
  const server = soleServer(container);
  const setting = server && portSettings.get(server.program);
  if (server === undefined || setting === undefined) return undefined;
  const { program } = server;
  const words = server.command?.words ?? [];
  const flags = readFlags(words);
  // Servers in parts and with several ranks also listen on ports of their own.
  if (flags.some(({ name }) => /^(?:disaggregation|data-parallel)-/.test(name))) return undefined;
  // If there are several, the last one applies.
  const flag = flags.filter(({ name, isVariable }) => setting.flags.includes(name) && !isVariable).at(-1);
  if (flag !== undefined) {
    const { value = '', dynamic, word, valueWord } = flag;
    const written = setting.isAddress ? value.slice(value.lastIndexOf(':') + 1) : value;
    if (dynamic || valueWord === undefined || !/^\d{1,5}$/.test(written)) return undefined;
    return { program, port: Number(written), words: [word, valueWord] };
  }
  if (setting.ofImage !== undefined) return ofImage(program, setting.ofImage, container);
  if (setting.ofEntrypoint !== undefined) {
    const isFixed = server.byImage && hasOwnEntrypoint(container) && !flags.some(({ name }) => name.includes('config'));
    return isFixed ? { program, port: setting.ofEntrypoint, words: undefined } : undefined;
  }
  if (setting.byDefault === undefined) return undefined;
  const set = [
    ...processInput(container).env.map(({ name }) => name),
    ...(server.command?.assignments ?? []).map(({ text }) => text),
  ];
  const isOpen =
    mayHaveVariables(container) ||
    set.some((name) => /PORT|^OLLAMA_HOST=/.test(name)) ||
    flags.some(({ name }) => listenFlags.has(name)) ||
    words.some((word) => word.dynamic && !flags.some(({ valueWord }) => valueWord === word)) ||
    words.some(({ text }) => text.startsWith('disaggregated'));
  const isOwn = !server.byImage || (isPlain(image?.value ?? '') && imageUseOf(container).program === program);
  // The variable has an address with or without a port.
  const address = container.env.find(({ name }) => program === 'ollama' && name === 'OLLAMA_HOST');
  if (isOpen || !isOwn || (address !== undefined && !/^[\w.]*$/.test(address.value?.value ?? ':'))) return undefined;
  return { program, port: setting.byDefault, words: undefined };
}

/** Whether a container runs an image of TensorFlow Serving or TorchServe as it is, with its settings. */
function hasOwnEntrypoint(container: Container): boolean {
  const { image, env, volumeMounts } = container;
  const isOwn = /^(?:docker\.io\/)?(?:tensorflow\/serving|pytorch\/torchserve)(?:[:@][^/]*)?$/.test(image?.value ?? '');
  if (!isOwn || mayHaveVariables(container) || env.some(({ name }) => /PORT|CONFIG|^TS_/.test(name))) return false;
  // A mount may bring the settings.
  return !volumeMounts.some(({ mountPath }) => /config|^\/home\/model-server\/?$/.test(mountPath));
}

function isPlain(image: string): boolean {
  return plainImage.test(image) || languageNim.test(image);
}

/**
 * The port that the variable PORT sets, by the pod or by the image of Hugging Face.
 * https://github.com/huggingface/text-generation-inference/blob/main/Dockerfile
 */
function ofImage(program: string, port: number, container: Container): ListeningPort | undefined {
  const { image, env } = container;
  if (mayHaveVariables(container) || !isHuggingFaceImage(image?.value ?? '')) return undefined;
  if (processInput(container).env.length !== env.length || env.some(({ at }) => isTemplated(getIn(at, 'name'))))
    return undefined;
  const set = env.find(({ name }) => name === 'PORT');
  if (set === undefined) return { program, port, words: undefined };
  const value = set.value?.value ?? '';
  return /^\d{1,5}$/.test(value) ? { program, port: Number(value), words: undefined } : undefined;
}

/** Whether it is an image of Hugging Face with the server itself: other builds start something else. */
function isHuggingFaceImage(image: string): boolean {
  const [name = ''] = image.split('@');
  return (
    /^ghcr\.io\/huggingface\/text-(?:generation|embeddings)-inference(?::|$)/.test(name) && !otherBuilds.test(name)
  );
}

const otherBuilds = partOf('sagemaker grpc llamacpp trtllm');

/** The known server of a workload whose pods run nothing else, and the port on which it listens. */
export function listenerOf(workload: Workload): ServerFacts | null {
  const [podSet, ...others] = workload.podSets;
  const container = podSet?.containers.find(({ type }) => type !== 'init');
  if (podSet === undefined || others.length > 0 || !requestsAccelerators(podSet) || container === undefined)
    return null;
  const found = isAlone(container, podSet, workload) ? listeningPort(container) : undefined;
  if (found === undefined) return null;
  const { readiness } = probesOf(container, workload);
  const isProbed = isUnseen(readiness) || getIn(readiness, 'httpGet') !== undefined;
  const words = [...container.command, ...container.args].map(({ value }) => value);
  const hasPrefix = words.some((word) => /--(?:api-prefix|root-path|middleware|config)|\bROOT_PATH\b/.test(word));
  const lacksMetrics = missingMetrics(container) ?? null;
  return { program: found.program, port: found.port, lacksMetrics, isProbed, hasPrefix, lacksKey: lacksKey(container) };
}

/** Flags by which a server may listen on another port, or on none. */
const listenFlags = wordSet(
  'c config config-file env-file models-preset allow-http allow-sagemaker allow-vertex-ai',
  'uds fd headless bind node-rank rank',
);

/** Where a server of an unknown kind listens: on the port of a flag, a variable or else a probe, if its container declares that port too. */
export function declaredPort(container: Container, workload: Workload): ListeningPort | undefined {
  if (mayRunMore(container) || items(getIn(container.at, 'envFrom')).length > 0) return undefined;
  const declared = new Set(declaredPorts(container));
  if (declared.size === 0) return undefined;
  const { command, args, env } = processInput(container);
  const commands = allCommands(readCommandLine(command, args, env).statements);
  const set = [
    ...commands.flatMap(({ words }): readonly { name: string; value: string | undefined }[] => [...readFlags(words)]),
    ...env.map(({ name, value }) => ({ name: name.toLowerCase().replaceAll('_', '-'), value })),
  ];
  const written = set.flatMap(({ name, value = '' }) =>
    isPortName(name) && /^\d{1,5}$/.test(value) ? Number(value) : [],
  );
  const isSet = written.length > 0;
  const [port, ...others] = new Set(isSet ? written : probedPorts(container, workload));
  if (port === undefined || others.length > 0 || !declared.has(port)) return undefined;
  return { program: `container ${container.name}`, port, words: undefined, declared: isSet ? 'set' : 'probed' };
}

function probedPorts(container: Container, workload: Workload): readonly (number | undefined)[] {
  const requests = Object.values(probesOf(container, workload)).flatMap((probe) =>
    ['httpGet', 'tcpSocket', 'grpc'].map((action) => getIn(probe, action, 'port')),
  );
  return requests.flatMap((at) => {
    if (at === undefined) return [];
    // A port of its own can answer probes.
    return [besideServer.test(asText(at) ?? '') ? undefined : portNumber(at, container)];
  });
}

/** `port`, `server-port`, `http-port`; not those of other servers: `db-port`, `master-port`. */
function isPortName(name: string): boolean {
  const words = name.split('-');
  return words.pop() === 'port' && words.every((word) => ownWords.has(word));
}

const ownWords = wordSet('server http app api web listen container service gradio uvicorn webui');

const besideServer = partOf('metric prom health manage admin status probe');

/** The numbers in `ports` of a container. */
export function declaredPorts({ at }: Container): readonly number[] {
  return items(getIn(at, 'ports')).flatMap((one) => asNumber(getIn(one, 'containerPort')) ?? []);
}

/** The number of a port of a container, which probes and Services may name; undefined if it is unknown. */
export function portNumber(port: Cursor | string | undefined, { at }: Container): number | undefined {
  const written = typeof port === 'string' ? port : asText(port);
  if (written === undefined || (typeof port !== 'string' && isTemplated(port))) return undefined;
  if (/^\d{1,5}$/.test(written)) return Number(written);
  const named = items(getIn(at, 'ports')).find((one) => asText(getIn(one, 'name')) === written);
  return asNumber(getIn(named, 'containerPort'));
}

/** Whether a server may also listen on another port: a flag or a variable of its container mentions it. */
export function mayListen(port: number, server: ListeningPort, container: Container): boolean {
  if (server.declared && declaredPorts(container).includes(port)) return true;
  if (portSettings.get(server.program)?.others?.includes(port)) return true;
  const { command, args, env } = container;
  const texts = [...command, ...args].map(({ value }) => value);
  const all = [...texts, ...env.map(({ value }) => value?.value ?? '')];
  return all.some((text) => new RegExp(`(?:^|\\D)${port}(?:\\D|$)`).test(text));
}
