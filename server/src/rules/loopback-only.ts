import { titleOf } from '../catalog/program-records.ts';
import { readFlags } from '../command/flags.ts';
import type { SimpleCommand, Word } from '../command/shell.ts';
import { mayRunMore } from '../evidence/launch.ts';
import { probesOf } from '../evidence/probes.ts';
import { isAlone, soleServer } from '../evidence/sole-server.ts';
import { webUiOf } from '../evidence/web-uis.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { processInput } from '../model/process-input.ts';
import { isValues } from '../model/values.ts';
import type { Container, Workload } from '../model/workload.ts';
import { addItem } from '../rewrite/add-item.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asBoolean, asText, type Cursor, entries, getIn, isTemplated, items, keyOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { tableOf } from '../yaml/table.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A server listens on the loopback address of its pod.
 *
 * ## Why
 *
 * Some servers accept connections only at 127.0.0.1 unless a flag says otherwise, because they are meant for local use. In a pod, only the
 * pod itself can reach that address: Services and probes connect to the pod's IP and are refused. The server runs and holds its GPUs, but
 * no request reaches it, and with a probe it never becomes ready. `kubectl port-forward` still works, so the mistake is easy to miss.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/sglang:0.5.5
 *       command: [python3, -m, sglang.launch_server]
 *       args:
 *         - --model-path=/models/llm
 *       readinessProbe:
 *         httpGet: {path: /health, port: 30000}
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/sglang:0.5.5
 *       command: [python3, -m, sglang.launch_server]
 *       args:
 *         - --model-path=/models/llm
 *         - --host=0.0.0.0
 *       readinessProbe:
 *         httpGet: {path: /health, port: 30000}
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the server is then reachable from the whole cluster.
 *
 * ## When it is silent
 *
 * If a variable, a config file or a template may set the address, if another container of the pod may forward requests, on the network of the
 * node, and in pods without a probe and without ports, or that no controller keeps running, because a port can be forwarded to them.
 *
 * ## Sources
 *
 * - [SGLang: server arguments](https://docs.sglang.io/advanced_features/server_arguments.html)
 * - [TensorRT-LLM: trtllm-serve](https://nvidia.github.io/TensorRT-LLM/latest/commands/trtllm-serve/trtllm-serve.html)
 * - [Uvicorn: settings](https://www.uvicorn.org/settings/)
 * - [Flask: command line](https://flask.palletsprojects.com/en/stable/cli/)
 * - [Ollama: FAQ](https://docs.ollama.com/faq)
 * - [llama.cpp: server](https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md)
 * - [ComfyUI: arguments](https://github.com/comfyanonymous/ComfyUI/blob/master/comfy/cli_args.py)
 * - [MLC LLM: REST server](https://llm.mlc.ai/docs/deploy/rest.html)
 * - [FastAPI: command line](https://fastapi.tiangolo.com/fastapi-cli/)
 * - [Gunicorn: settings](https://docs.gunicorn.org/en/stable/settings.html)
 * - [Hypercorn: configuring](https://hypercorn.readthedocs.io/en/latest/how_to_guides/configuring.html)
 * - [Text Generation Inference: launcher arguments](https://huggingface.co/docs/text-generation-inference/reference/launcher)
 * - [Xinference: start a local server](https://inference.readthedocs.io/en/latest/getting_started/using_xinference.html)
 */
export default defineRule({
  topic: 'network',
  severity: 'warning',
  container(container, context) {
    const { podSet, workload, document, report } = context;
    if (container.type !== 'app' || !requestsAccelerators(podSet)) return;
    if (!isAlone(container, podSet, workload)) return;
    const lines = [...container.command, ...container.args];
    if (mayRunMore(container) || lines.some(({ at }) => isTemplated(at))) return;
    if (items(getIn(container.at, 'envFrom')).length > 0) return;
    const found = listenerOf(container) ?? ofWebUi(container);
    const span = found && ('words' in found ? spanOfWords(document, lines, found.words) : spanOf(found.variable));
    if (
      found === undefined ||
      span === undefined ||
      !(isServed(container, found.port, workload) || hasService(context))
    )
      return;
    const { program, host } = found;
    report({
      ...(host === undefined && setInImages.has(program) && { severity: 'info' }),
      message:
        host === undefined
          ? `${titleOf(program)} without ${webUiOf(container) === undefined ? (openedBy.get(program) ?? '--host') : '--listen'} listens only on 127.0.0.1: Services and probes cannot reach it`
          : `${shorten(host, 40)} is reachable only inside the pod: Services and probes cannot reach ${titleOf(program)}`,
      span,
      fixes: () => ('words' in found && host === undefined ? [listenOnAll(found, container, context)] : []),
    });
  },
});

/** Whether a Service sends requests to the pods. Those of the common library are next to its controllers. */
function hasService({ podSet, workload, crossReferences }: PodSetContext): boolean {
  if (isValues(workload)) {
    const { root } = workload.manifest;
    const isOnly = entries(root.parent).length === 1;
    return entries(getIn(root.parent?.parent, 'service')).some((service) => {
      const controller = getIn(service, 'controller');
      const isOfPods = controller === undefined ? isOnly : asText(controller) === keyOf(root);
      return isOfPods && asBoolean(getIn(service, 'enabled')) !== false && getIn(service, 'ports') !== undefined;
    });
  }
  const labels = podSet.labels.map(({ value, at }): [string, string] => [keyOf(at), value]);
  const services = labels.length === 0 ? [] : crossReferences.servicesOf(workload.namespace, tableOf(labels));
  return services.some(({ siblingFolder, facts }) => !siblingFolder && facts.hasAddress);
}

/** Whether something connects to the server: a probe, or clients of a port that a controller keeps open. */
function isServed(container: Container, port: string | undefined, workload: Workload): boolean {
  const ports = items(getIn(container.at, 'ports'));
  const isOfServer = (at: Cursor | undefined) =>
    port === undefined || !/^\d+$/.test(asText(at) ?? '') || asText(at) === port;
  const { startup, readiness, liveness } = probesOf(container, workload);
  const isProbed = [startup, readiness, liveness].some((probe) =>
    ['httpGet', 'tcpSocket', 'grpc'].some(
      (action) =>
        getIn(probe, action) !== undefined &&
        getIn(probe, action, 'host') === undefined &&
        isOfServer(getIn(probe, action, 'port')),
    ),
  );
  return isProbed || (workload.kind !== 'Pod' && ports.some((one) => isOfServer(getIn(one, 'containerPort'))));
}

interface ByFlag {
  readonly program: string;
  /** The flag with its value; undefined for the default of the program. */
  readonly host: string | undefined;
  readonly words: readonly [Word, Word];
  /** The port of its flag; undefined if that is not known. */
  readonly port: string | undefined;
}

interface ByVariable {
  readonly program: string;
  /** The variable with its value. */
  readonly host: string;
  readonly variable: Cursor;
  readonly port: string | undefined;
}

/** The one server of a container, if it listens only on the loopback address. */
function listenerOf(container: Container): ByFlag | ByVariable | undefined {
  const server = soleServer(container);
  const set = ofVariable(server?.program, container);
  if (set !== undefined || server?.command === undefined) return set;
  const variables = processInput(container).env.map(({ name }) => name);
  const found = ofCommand(server.program, server.command, variables, container.image?.value ?? container.repository);
  // An image may change the default address of the server that it starts.
  return server.byImage && found?.host === undefined ? undefined : found;
}

/** The address in the variable of a server, with or without a port. */
function ofVariable(server: string | undefined, { env }: Container): ByVariable | undefined {
  const variable = env.find(({ name }) => name === hostVariables.get(server ?? '') || frameworks.has(name));
  const program = frameworks.get(variable?.name ?? '') ?? server;
  if (program === undefined || variable?.value === undefined || isTemplated(variable.value.at)) return undefined;
  const { value, at } = variable.value;
  const [, host = '', port] = /^(?:https?:\/\/)?([\w.]{1,40})(?::(\d{1,5}))?\/?$/.exec(value) ?? [];
  return loopback.test(host) ? { program, host: `${variable.name}=${value}`, variable: at, port } : undefined;
}

/** The variables that have the address on which servers listen. Images set them to all addresses. */
const hostVariables: ReadonlyMap<string, string> = new Map([
  ['ollama', 'OLLAMA_HOST'],
  ['llama-server', 'LLAMA_ARG_HOST'],
]);

const hostFlags: ReadonlySet<string> = new Set(['host', 'hostname', 'server.address', 'server-name']);

/** Flags with the address and the port, and the servers that have them. */
const bindFlags: ReadonlySet<string> = new Set(['bind', 'b']);
const bound: ReadonlySet<string> = new Set(['gunicorn', 'hypercorn', 'daphne']);

/** The variables of frameworks for the servers that people write themselves. */
const frameworks: ReadonlyMap<string, string> = new Map([
  // https://www.gradio.app/guides/environment-variables
  ['GRADIO_SERVER_NAME', 'Gradio'],
  // https://docs.streamlit.io/develop/concepts/configuration/options
  ['STREAMLIT_SERVER_ADDRESS', 'Streamlit'],
  // https://uvicorn.dev/settings/
  ['UVICORN_HOST', 'uvicorn'],
]);

function hostIn(address: string): string {
  return address.replace(/:\d{1,5}$/, '');
}

function ofCommand(
  program: string,
  { words, assignments }: SimpleCommand,
  env: readonly string[],
  image = '',
): ByFlag | undefined {
  const [first, last] = [words[0], words.at(-1)];
  const flags = readFlags(words);
  const isBind = ({ name }: (typeof flags)[number]) => bound.has(program) && bindFlags.has(name);
  const binds = flags.filter(isBind);
  const host =
    flags.find(({ name, written }) => hostFlags.has(name) || (name.length === 1 && /^H$/.test(written))) ??
    // One of several addresses outside the pod is enough.
    binds.find(({ value = '' }) => !loopback.test(hostIn(value))) ??
    binds[0];
  if (first === undefined || last === undefined) return undefined;
  // If there are several nodes, only the first one serves requests.
  if (flags.some(({ name, value }) => /^(?:node-)?rank$/.test(name) && value !== '0')) return undefined;
  const port = flags.find(({ name, dynamic }) => name === 'port' && !dynamic)?.value;
  if (host !== undefined) {
    const { value = '' } = host;
    if (host.dynamic || host.valueWord === undefined || !loopback.test(isBind(host) ? hostIn(value) : value))
      return undefined;
    return {
      program,
      host: `--${host.name.length > 1 ? host.name : isBind(host) ? 'bind' : 'host'} ${host.value}`,
      words: [host.word, host.valueWord],
      port: isBind(host) ? /:(\d{1,5})$/.exec(value)?.[1] : port,
    };
  }
  const isOpen =
    flags.some(({ name }) => /^(?:c|config|env-file|uds|fd|h|b|bind|u|e|endpoint)$/.test(name)) ||
    words.some(({ text }) => text.startsWith('disaggregated')) ||
    // Only its server for development does not listen on all addresses.
    (program === 'fastapi' && words[1]?.text !== 'dev') ||
    // `"$@"` and `$EXTRA_ARGS` may hold the flag.
    words.some((word) => word.dynamic && !flags.some(({ valueWord }) => valueWord === word)) ||
    [...env, ...assignments.map(({ text }) => text)].some((text) => /^\w*HOST(?:=|$)/.test(text)) ||
    // Gunicorn listens on all addresses of PORT, and reads flags from the other one.
    (program === 'gunicorn' && env.some((name) => /^(?:PORT|GUNICORN_CMD_ARGS)$/.test(name))) ||
    // Its web interface listens on all addresses.
    (program === 'fastchat' && words.some(({ text }) => text.includes('gradio')));
  return isOpen || !loopbackByDefault.has(program) || namesServer(image, program)
    ? undefined
    : { program, host: undefined, words: [first, last], port };
}

/** A web interface that a script starts without `--listen`. */
function ofWebUi(container: Container): ByFlag | undefined {
  const found = webUiOf(container);
  if (found === undefined || found.listens) return undefined;
  return { program: found.title, host: undefined, words: found.words, port: found.port?.toString() };
}

/** Programs that also read their address from a variable or a file, which their image may have. */
const setInImages: ReadonlySet<string> = new Set([
  'Stable Diffusion WebUI',
  'text-generation-webui',
  'gunicorn',
  'llama-server',
  'ollama',
]);

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

/** Servers that listen on the loopback address by default. */
const loopbackByDefault: ReadonlySet<string> = new Set([
  'sglang',
  'trtllm-serve',
  'uvicorn',
  'flask',
  'xinference-local',
  'mlc_llm',
  'fastapi',
  'fastchat',
  'daphne',
  'granian',
  'hypercorn',
  'gunicorn',
  'llama-server',
  'ollama',
]);

/** The servers whose address is not a flag --host. */
const openedBy: ReadonlyMap<string, string> = new Map([
  ['ollama', 'OLLAMA_HOST'],
  ...[...bound].map((program): [string, string] => [program, '--bind']),
]);

/** Whether an image is made for a server that reads its address from a variable: the image sets that. */
function namesServer(image: string, program: string): boolean {
  return hostVariables.has(program) && /ollama|llama[-_.]?cpp|llama-swap|ggml/i.test(image);
}

/** Appends the flag to a list of words. A script is left alone. */
function listenOnAll({ words, program }: ByFlag, container: Container, { document }: PodSetContext): Fix | undefined {
  const { command, args } = container;
  const lines = [...command, ...args];
  const isList = lines.every(({ value }, index) => index === 0 || !/\s/.test(value));
  if (!isList || words[1].item !== lines.length - 1) return undefined;
  const key = args.length > 0 || command.length === 0 ? 'args' : 'command';
  // llama.cpp reads no value after an equals sign.
  if (openedBy.has(program) || program === 'llama-server') return undefined;
  const flag = webUiOf(container) === undefined ? '--host=0.0.0.0' : '--listen';
  return fix(`Add ${flag}`, 'unsafe', addItem(document, container.at, key, flag));
}
