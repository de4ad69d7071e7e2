import { imageParts } from '../catalog/images.ts';
import { meantVariable } from '../catalog/variable-names.ts';
import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { programWords } from '../command/programs.ts';
import { allCommands, readCommandLine } from '../command/shell.ts';
import { processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { getIn, isTemplated, isUnseen } from '../yaml/cursor.ts';
import { soleServer, startedServers } from './sole-server.ts';
import { variableUsers } from './variable-users.ts';

/** A variable that Ollama does not read. */
export interface UnreadByOllama {
  readonly name: string;
  /** The variable that it reads for the same setting, or the parameter of a model. */
  readonly meant: { readonly variable: string } | { readonly parameter: string };
  readonly at: Container['env'][number]['at'];
}

/** The variables of a container named after Ollama's that its own image does not read, and which nothing else there mentions. */
export function unreadByOllama(container: Container): readonly UnreadByOllama[] {
  const { env, image, command, args, at } = container;
  const candidates = env.filter(({ name }) => name.startsWith('OLLAMA_'));
  if (candidates.length === 0 || !/(?:^|\/)ollama\/ollama$/.test(imageParts(image?.value ?? '').repository)) return [];
  const lines = [...command, ...args];
  const isSeen = ![at, getIn(at, 'command'), getIn(at, 'args')].some(isUnseen);
  if (!isSeen || lines.some((one) => isTemplated(one.at)) || soleServer(container)?.program !== 'ollama') return [];
  const mentioned = new Set(variableUsers(container).flatMap((text) => text.match(/OLLAMA_\w+/g) ?? []));
  const names = new Set(env.map(({ name }) => name));
  return candidates.flatMap(({ name, value, at: variable }) => {
    const meant = meantBy(name.slice('OLLAMA_'.length).toLowerCase());
    if (meant === undefined || value === undefined || value.value === '' || isTemplated(value.at)) return [];
    // The port by default, which Kubernetes also sets for a Service of this name.
    if (value.value === '11434' || mentioned.has(name)) return [];
    const isSet = 'variable' in meant && names.has(meant.variable);
    return isSet ? [] : [{ name, meant, at: variable }];
  });
}

/** A list of models or of folders in the variable with the one folder of Ollama's models; undefined if something else may read it. */
export function listedOllamaModels(container: Container): Container['env'][number]['value'] | undefined {
  const { env, command, args, image, at } = container;
  const value = env.find(({ name }) => name === 'OLLAMA_MODELS')?.value;
  const isOwn = /(?:^|\/)ollama\/ollama$/.test(imageParts(image?.value ?? '').repository);
  if (value === undefined || !isOwn || isTemplated(value.at) || !isList(value.value.trim())) return undefined;
  const lines = [...command, ...args];
  const isSeen = ![getIn(at, 'command'), getIn(at, 'args')].some(isUnseen) && !lines.some((one) => isTemplated(one.at));
  const isRead = variableUsers(container).some((text) => text.includes('OLLAMA_MODELS'));
  return isSeen && !isRead && runsOllamaAlone(container) ? value : undefined;
}

/** Whether Ollama is the server of a container, and nothing there runs a file that may read its variables. */
function runsOllamaAlone(container: Container): boolean {
  if (soleServer(container)?.program === 'ollama') return true;
  const servers = startedServers(container);
  const { command, args, env } = processInput(container);
  const names = allCommands(readCommandLine(command, args, env).statements).map((one) => programWords(one)[0] ?? '');
  const isPlain = names.every((name) => !name.includes('/') || /^\/(?:usr\/)?bin\//.test(name));
  return servers.length > 0 && isPlain && servers.every(({ program }) => program === 'ollama');
}

/** A folder may have spaces in its name. A name alone is a folder of the working directory, unless it is that of a model. */
function isList(text: string): boolean {
  return text.startsWith('/') ? /[,:]|\s\//.test(text) : /[,:\s]/.test(text) || models.test(text);
}

/** https://ollama.com/library, 2026-11-29 */
const models = new RegExp(
  `^(?:${oneOf('llama[23][.\\d]* codellama tinyllama mistral mixtral qwen[23][.\\d]* gemma[23n\\d]* phi[34] llava gpt-oss nomic-embed-text')}` +
    `|deepseek-(?:r1|coder|v3))$`,
);

/** The setting that the words of a name stand for; undefined for those that Ollama reads, and for unknown ones. */
function meantBy(name: string): UnreadByOllama['meant'] | undefined {
  // env-misspelled reports slips.
  if (read.has(name) || meantVariable(`OLLAMA_${name.toUpperCase()}`) !== undefined) return undefined;
  if (name === 'model') return { parameter: name };
  const words = name.split('_');
  const found = settings.find(([all]) =>
    all.split(' ').every((part) => part.split('|').some((word) => words.includes(word))),
  );
  if (found === undefined) return undefined;
  const [, meant] = found;
  return /^[a-z]/.test(meant) ? { parameter: meant } : { variable: `OLLAMA_${meant}` };
}

/** Of any version. https://github.com/ollama/ollama/blob/main/envconfig/config.go, 2026-11-29 */
const read = wordSet(
  'auth context_length debug debug_log_requests editor flash_attention gpu_overhead home host intel_gpu keep_alive kv_cache_type library_path llm_library',
  'load_timeout max_loaded_models max_queue max_vram models multiuser_cache new_engine no_cloud nohistory noprune num_parallel origins remotes',
  'runners_dir sched_spread tmpdir vulkan',
);

/** Words of a setting, and the variable or the parameter of a model that decides it. */
const settings: readonly (readonly [words: string, meant: string])[] = [
  ['ctx|context', 'CONTEXT_LENGTH'],
  ['keep alive', 'KEEP_ALIVE'],
  ['model|models path|dir|directory|folder|home|root|location', 'MODELS'],
  ['flash', 'FLASH_ATTENTION'],
  ['kv|cache type|quant|quantization', 'KV_CACHE_TYPE'],
  ['parallel|parallelism', 'NUM_PARALLEL'],
  ['max|loaded model|models', 'MAX_LOADED_MODELS'],
  ['queue max|size|length', 'MAX_QUEUE'],
  ['model|models name|default|pull|preload|load|list', 'model'],
  ['cors|origin', 'ORIGINS'],
  ['port', 'HOST'],
  ['thread|threads', 'num_thread'],
  ['gpu|gpus layer|layers', 'num_gpu'],
  ['num gpu|gpus', 'num_gpu'],
  ['gpu memory|mem|vram|fraction|limit', 'num_gpu'],
];
