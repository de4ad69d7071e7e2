import { titleOf } from '../catalog/program-records.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import { programWords } from '../command/programs.ts';
import { baseName } from '../command/shell.ts';
import { commandsIn, useOf } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { asBoolean, type Cursor, entries, getIn } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { mayHaveVariables } from './launch.ts';
import { isLanguageNim, listeningPort } from './listening-port.ts';
import { isHarmless } from './sole-server.ts';
import { webUiOf } from './web-uis.ts';

/** What the HTTP server of a container answers. */
export interface ServerPaths {
  readonly name: string;
  /** The path of its health check. */
  readonly health: string;
  /** The port of its API; undefined if unknown. */
  readonly port: string | undefined;
  /** What it answers to paths that it does not have. */
  readonly status: 400 | 404;
}

/** The paths of a container that certainly runs a known server, without anything that adds others. */
export function serverPaths(container: Container): ServerPaths | undefined {
  const { type, image, command, args, env } = container;
  const { program } = useOf(container);
  if (type === 'init') return undefined;
  const ui = webUiOf(container);
  const ofUi = ui && healthOfUi[ui.title];
  if (ui !== undefined && ofUi !== undefined)
    return { name: ui.title, health: ofUi, port: ui.port?.toString(), status: 404 };
  // https://docs.nvidia.com/nim/large-language-models/latest/reference/api-reference.html
  if (command.length === 0 && isLanguageNim(image?.value ?? '')) {
    const isMoved = mayHaveVariables(container) || env.some((one) => /^NIM_\w{0,20}PORT$/.test(one.name));
    return { name: 'NIM', health: '/v1/health/ready', port: isMoved ? undefined : '8000', status: 404 };
  }
  if (program !== 'vllm' && program !== 'ollama') return pathsOfOthers(container);
  const words = [...command, ...args].map(({ value }) => value).join(' ');
  const name = image?.value ?? container.repository ?? '';
  if (program === 'ollama') {
    // https://github.com/ollama/ollama/blob/main/server/routes.go
    if ((command.length > 0 && !onlyServes(container)) || !/(?:^|\/)ollama\/ollama(?:[:@]|$)/.test(name))
      return undefined;
    const host = env.find((one) => one.name === 'OLLAMA_HOST');
    const isPlain = host === undefined || (host.value !== undefined && !/:|\$/.test(host.value.value));
    return { name: 'Ollama', health: '/', port: isPlain ? '11434' : undefined, status: 404 };
  }
  // Middleware and the servers of other kinds of models can answer anything.
  if (/--(?:middleware|omni)/.test(words)) return undefined;
  if (!/(?:^|\/)vllm-openai[^/]*$/.test(name) && !/\bvllm serve\b|\bvllm\.entrypoints\.openai\b/.test(words))
    return undefined;
  const own = /--port[= ]+["']?(\d+)/.exec(words)?.[1];
  return { name: 'vLLM', health: '/health', port: own ?? (/--port/.test(words) ? undefined : '8000'), status: 404 };
}

/** Whether a script starts Ollama, and nothing else that could answer requests. */
function onlyServes(container: Container): boolean {
  const commands = commandsIn(container);
  const words = commands.map((one) => programWords(one));
  const isOllama = ([name = '']: readonly string[]) => baseName(name) === 'ollama';
  return (
    words.some((one) => isOllama(one) && one[1] === 'serve') &&
    commands.every((one, at) => isHarmless(one) || isOllama(words[at] ?? []))
  );
}

/**
 * The paths of servers that are alone in their container.
 * https://github.com/huggingface/text-generation-inference/blob/main/router/src/server.rs,
 * https://github.com/huggingface/text-embeddings-inference/blob/main/router/src/http/server.rs,
 * https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/http_server.py,
 * https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/customization_guide/inference_protocols.html,
 * https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md,
 * https://github.com/abetlen/llama-cpp-python/blob/main/llama_cpp/server/app.py,
 * https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve/trtllm-serve.html,
 * https://docs.pytorch.org/serve/inference_api.html, https://www.tensorflow.org/tfx/serving/api_rest
 */
function pathsOfOthers(container: Container): ServerPaths | undefined {
  const found = listeningPort(container);
  const health = found && (healthOf[found.program] ?? statusOfModel(found.program, container));
  if (found === undefined || health === undefined) return undefined;
  if ([...container.command, ...container.args].some(({ value }) => prefixed.test(value))) return undefined;
  return { name: titleOf(found.program), health, port: String(found.port), status: statusOf(found.program) };
}

const healthOf = table<string>({
  'text-generation-launcher': '/health',
  'text-embeddings-router': '/health',
  sglang: '/health',
  tritonserver: '/v2/health/ready',
  'llama-server': '/health',
  'trtllm-serve': '/health',
  llama_cpp: '/v1/models',
  torchserve: '/ping',
});

/**
 * Web interfaces have no addresses for health checks: others that they have.
 * https://docs.comfy.org/development/comfyui-server/comms_routes https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/API
 */
const healthOfUi = table<string>({
  ComfyUI: '/system_stats',
  'Stable Diffusion WebUI': '/',
});

/** The path of the status of TensorFlow Serving's only model. */
function statusOfModel(program: string, { command, args, env }: Container): string | undefined {
  if (program !== 'tensorflow_model_server') return undefined;
  const words = [...command, ...args].map(({ value }) => value);
  if (words.some((word) => word.includes('model_config_file'))) return undefined;
  const flag = /--model_name[= ]["']?([\w.-]+)/.exec(words.join(' '))?.[1];
  const set = env.find(({ name }) => name === 'MODEL_NAME');
  const name = flag ?? (set === undefined ? 'model' : set.value?.value);
  return name === undefined || !/^[\w.-]+$/.test(name) ? undefined : `/v1/models/${name}`;
}

/** The path of health checks of a server by its program, and what it answers to others; undefined for unknown ones. */
export function healthOfProgram(program: string): Omit<ServerPaths, 'port'> | undefined {
  if (program === 'vllm') return { name: 'vLLM', health: '/health', status: 404 };
  if (program === 'ollama') return { name: 'Ollama', health: '/', status: 404 };
  const health = healthOf[program];
  return health === undefined ? undefined : { name: titleOf(program), health, status: statusOf(program) };
}

function statusOf(program: string): ServerPaths['status'] {
  return program === 'tritonserver' ? 400 : 404;
}

/** A prefix of all paths. */
const prefixed = /--(?:api-prefix|root-path)/;

/** Whether a path is an address of health checks that the server does not have. */
export function isForeignHealthPath(path: string, { name, health }: Pick<ServerPaths, 'name' | 'health'>): boolean {
  const own = path.replace(/(?<=.)\/$/, '');
  if (takesPost.has(own)) return true;
  if (name === 'vLLM' || name === 'Ollama')
    return own !== health && (own === '/' || foreign.has(own) || (health === '/' && ownOfVllm.has(own)));
  // Open Inference Protocol has two paths, which some builds of other servers have, too.
  if (own.startsWith('/v2/health')) return own !== '/v2/health/live' && own !== '/v2/health/ready';
  // NIMs of other kinds of models have more paths.
  if (name === 'NIM') return false;
  if (own === '/health') return health !== '/health';
  return foreign.has(own) && !(name === titleOf('llama-server') && own === '/v1/health');
}

/** The status of the answer to a probe's request for a path that is not for health checks. */
export function statusFor(path: string, { name, status }: Pick<ServerPaths, 'name' | 'status'>): number {
  return takesPost.has(path) && namesMethods.has(name) ? 405 : status;
}

/** The paths at which servers of language models take only POST; probes send GET. */
const namesMethods: ReadonlySet<string> = new Set([
  'NIM',
  ...['vllm', 'ollama', 'sglang', 'text-generation-launcher', 'text-embeddings-router'].map(titleOf),
]);
const takesPost = wordSet('/v1/completions /v1/chat/completions /v1/embeddings /api/generate /api/chat');

/**
 * Whether a server answers a path only to requests with its API key, which the container sets.
 * https://docs.vllm.ai/en/latest/usage/security.html
 */
export function needsKey(path: string, { name }: ServerPaths, container: Container): boolean {
  const isVllm = name === 'vLLM';
  if (!path.startsWith('/v1/') || (!isVllm && name !== titleOf('sglang'))) return false;
  const { env } = container;
  const mayBeUnset = env.filter((one) => isOptional(one.at)).map((one) => one.name);
  return (
    (isVllm && env.some((one) => one.name === 'VLLM_API_KEY' && one.value?.value !== '' && !isOptional(one.at))) ||
    commandsIn(container)
      .flatMap(({ words }) => readFlags(words))
      .some(
        // With an empty key, such as that of an unset variable, the server needs none.
        ({ name: flag, value = '' }) =>
          flag === 'api-key' && !/^$|:-\}/.test(value) && !mayBeUnset.some((one) => value.includes(one)),
      )
  );
}

/** Whether a variable may be unset. */
function isOptional(variable: Cursor): boolean {
  return entries(getIn(variable, 'valueFrom')).some((source) => asBoolean(getIn(source, 'optional')) === true);
}

/** What `helm create`, Kubernetes, Triton, NIM and others use. */
const foreign = wordSet(
  '/healthz /livez /readyz /live /ready /liveness /readiness /healthcheck /api/health /v1/health /v1/health/live',
  '/v1/health/ready /v2/health/live /v2/health/ready /health/live /health/ready /v1/ready /v1/live /health/liveness',
  '/health/readiness /api/healthz /api/ready',
);

const ownOfVllm: ReadonlySet<string> = new Set(['/health', '/ping']);
