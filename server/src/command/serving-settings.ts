import type { FlagMeaning } from '../catalog/flag-records.ts';
import { once } from '../yaml/once.ts';
import { type Engine, engineOf } from './engines.ts';
import { type FlagName, meaningOf } from './flag-meaning.ts';
import { readFlags } from './flags.ts';
import { expand, hasUnknown, positional } from './model-server.ts';
import type { ProcessInput } from './processes.ts';
import { recognizeProgram } from './programs.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand, type Word } from './shell.ts';

/** One setting of a model server: a flag, a variable with the same effect, or a field of its configuration. */
export interface Setting extends FlagName {
  /** Undefined: a switch, or a value that is unknown here. */
  readonly value: string | undefined;
  /** The value comes from an expansion that cannot be followed. */
  readonly dynamic?: boolean;
}

/** What starts a container's model server. */
export interface ServerStart {
  readonly engine: Engine;
  readonly program: string;
  /** A model among the arguments that no flag names. */
  readonly model: string | undefined;
  readonly settings: readonly Setting[];
  /** Why settings may be missing, as a phrase; null if all are here. */
  readonly open: string | null;
}

/**
 * The model server that a command line starts, with its settings. Undefined if it starts none whose use of memory is known.
 * @param entrypoint the program that the image starts by default
 * @param isPlain the entrypoint makes no flags of variables
 */
export function readServerStart(
  input: ProcessInput,
  entrypoint: string | undefined,
  isPlain = false,
): ServerStart | undefined {
  const { statements, complete, script } = readCommandLine(input.command, input.args, input.env);
  const commands = allCommands(statements).filter(({ words }) => words.length > 0);
  const servers = commands.flatMap((command): readonly Started[] => {
    const program = withSubcommand(recognizeProgram([command])?.program, command);
    return program === undefined ? [] : [{ program, words: command.words }];
  });
  const [only, ...others] = withoutClients(servers);
  const byImage = only === undefined && entrypoint !== undefined && input.command.length === 0 && !script;
  const words = only?.words ?? (byImage ? commands.flatMap((command) => command.words) : []);
  const program =
    only?.program ?? (entrypoint === undefined || !startsByImage(input, byImage) ? undefined : entrypoint);
  const engine = program === undefined ? undefined : engineOf(program);
  if (program === undefined || engine === undefined) return undefined;
  const flags = readFlags(words).filter(({ word }) => word.text.startsWith('-'));
  const first = engine === 'ollama' && !byImage ? undefined : modelWord(engine, words, byImage);
  const takesFlagsOnly = flagPrograms.has(program) && (only !== undefined || isPlain);
  const variables = takesFlagsOnly ? [] : input.env.flatMap((one) => settingOfVariable(one, engine));
  const written = flags.map((flag): Setting => {
    const value = flag.value === undefined ? undefined : expand(flag.value, input);
    return { name: flag.name, written: flag.written, value, dynamic: flag.value !== undefined && value === undefined };
  });
  return {
    engine,
    program,
    model: engine === 'ollama' && !byImage ? onlyPulled(input) : first && expand(first.text, input),
    settings: [...variables, ...written],
    open: openEnd(others.length > 0, complete, hasUnknown(words, flags, first), only === undefined && script),
  };
}

interface Started {
  readonly program: string;
  readonly words: readonly Word[];
}

/** Without the clients of an Ollama that the same line serves: `ollama serve & ollama pull llama3.1`. */
function withoutClients(servers: readonly Started[]): readonly Started[] {
  const isClient = ({ program, words }: Started) => program === 'ollama' && !words.some(({ text }) => text === 'serve');
  const serving = servers.filter((one) => !isClient(one));
  return serving.some(({ program }) => program === 'ollama') ? serving : servers;
}

/** Among several, requests choose. */
function onlyPulled(input: ProcessInput): string | undefined {
  const [only, ...others] = pulledModels(input);
  return others.length === 0 ? only : undefined;
}

/** The models that a command line loads into Ollama by `ollama pull` or `ollama run`. */
export const pulledModels = once((input: ProcessInput): readonly string[] => {
  const { statements } = readCommandLine(input.command, input.args, input.env);
  const names = allCommands(statements).flatMap(({ words }) => {
    const isOllama = words.some(({ text }) => baseName(text) === 'ollama');
    const first = isOllama ? modelWord('ollama', words, false) : undefined;
    if (first === undefined) return requestedPull(words) ?? [];
    return expand(first.text, input) ?? listOfLoop(first.text, input);
  });
  const own = createdModels(input);
  return [...new Set(names)].filter((name) => !own.has(withoutLatest(name)));
});

/** The names that a command line gives to models itself, by `ollama create` or `ollama cp`. */
export function createdModels({ command, args, env }: ProcessInput): ReadonlySet<string> {
  const names = allCommands(readCommandLine(command, args, env).statements).flatMap(({ words }) => {
    const at = words.findIndex(({ text }) => baseName(text) === 'ollama');
    const action = at < 0 ? undefined : words[at + 1]?.text;
    const rest = words.slice(at + 2).map(({ text }) => text);
    if (action === 'cp') return rest[1] ?? [];
    return (action === 'create' && rest.find((text, index) => !isOfFlag(text, rest[index - 1]))) || [];
  });
  return new Set(names.map(withoutLatest));
}

/** Whether a word is a flag of `ollama create`, or its value: `-f Modelfile`, `-q q4_0`. */
function isOfFlag(text: string, before: string | undefined): boolean {
  return text.startsWith('-') || /^(?:-f|--file|-q|--quantize)$/.test(before ?? '');
}

function withoutLatest(name: string): string {
  return name.replace(/:latest$/, '');
}

/** `for model in a b; do ollama pull $model; done`. */
function listOfLoop(text: string, { command, args }: ProcessInput): readonly string[] {
  const [, name = ''] = /^\$\{?(\w+)\}?$/.exec(text) ?? [];
  const line = name === '' ? undefined : [...command, ...args].find((one) => one.includes(`for ${name} in `));
  const [list = ''] = line?.slice(line.indexOf(`for ${name} in `) + name.length + 8).split(/[;\n]/, 1) ?? [];
  return list.split(/[\s"'\\]+/).filter((word) => /^[\w.-]+(?:[:/][\w.-]+)*$/.test(word));
}

/** What a request to the API of the pod's own Ollama pulls: `curl localhost:11434/api/pull -d '{"name": "a"}'`. */
function requestedPull(words: readonly Word[]): string | undefined {
  if (!words.some(({ text }) => /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d+\/api\/pull\/?$/.test(text)))
    return undefined;
  const data = words.find(({ text, dynamic }) => !dynamic && /^\{.*\}$/s.test(text.trim()))?.text ?? '';
  return /"(?:name|model)"\s*:\s*"([\w.:/-]+)"/.exec(data)?.[1];
}

/** `ollama pull` and `ollama run` name the model of the server that runs in the same container. */
function withSubcommand(program: string | undefined, { words }: SimpleCommand): string | undefined {
  if (program !== undefined) return engineOf(program) === undefined ? undefined : program;
  return words.some(({ text }) => text === 'ollama') ? 'ollama' : undefined;
}

/** A command of its own replaces what the image starts, except for entrypoint scripts. */
function startsByImage({ command }: ProcessInput, byImage: boolean): boolean {
  return byImage || (command.length === 1 && /entrypoint|start/.test(command[0] ?? ''));
}

function openEnd(several: boolean, complete: boolean, unknown: boolean, script: boolean): string | null {
  if (several) return 'the container starts several servers';
  if (!complete) return 'the command line cannot be read completely';
  if (unknown) return 'an expansion may add flags';
  return script ? 'a script of the image starts the server' : null;
}

/** The model that stands without a flag: `vllm serve MODEL`, `lmdeploy serve api_server MODEL`, `trtllm-serve MODEL`. */
function modelWord(engine: Engine, words: readonly Word[], byImage: boolean): Word | undefined {
  if (engine === 'triton' || engine === 'llama-cpp' || engine === 'embeddings') return undefined;
  if (engine === 'ollama') {
    const at = words.findIndex(({ text }) => /^(?:run|pull)$/.test(text));
    return at < 0 ? undefined : words.slice(at + 1).find(({ text }) => !text.startsWith('-'));
  }
  const isArgument = byImage || words.some(({ text }) => text === 'serve');
  const known = isArgument ? positional(words) : undefined;
  if (known !== undefined && known.text !== 'api_server') return known;
  const at = words.findIndex(({ text }) => /(?:^|\/)(?:api_server|trtllm-serve|serve)$/.test(text));
  const next = at < 0 ? undefined : words[at + 1];
  const found = next?.text === 'serve' || next?.text === 'api_server' ? words[at + 2] : next;
  return found === undefined || found.text.startsWith('-') ? undefined : found;
}

/**
 * Variables that have the effect of a flag: each flag of TGI, TEI and llama.cpp has one, and images around other servers take the same names in
 * capitals. Prefixes name the server.
 */
function settingOfVariable({ name, value }: ProcessInput['env'][number], engine: Engine): readonly Setting[] {
  const special = ollamaNames.get(name);
  if (special !== undefined) return engine === 'ollama' ? [{ name: special, written: special, value }] : [];
  const short = name.replace(/^(?:LLAMA_ARG|NIM|VLLM|SGLANG|LMDEPLOY|INFINITY|TGI|TEI|OPTION|HF)_/, '');
  if (!/^[A-Z][A-Z0-9_]{1,40}$/.test(short) || notSettings.test(name)) return [];
  const flag = short.toLowerCase().replaceAll('_', '-');
  return [{ name: variableNames.get(flag) ?? flag, written: flag, value }];
}

/** Servers that read no variables in place of flags. What sets them is a script of an image around them. */
const flagPrograms: ReadonlySet<string> = new Set(['vllm', 'sglang']);

const notSettings = /CACHE_DIR|CACHE_PATH|TOKEN$|_HOME$|SERVED|KEY$|^VLLM_CONFIG/;

/** https://github.com/ollama/ollama/blob/main/envconfig/config.go, 2026-11-22 */
const ollamaNames: ReadonlyMap<string, string> = new Map([
  ['OLLAMA_CONTEXT_LENGTH', 'context-length'],
  ['OLLAMA_NUM_PARALLEL', 'parallel'],
  ['OLLAMA_KV_CACHE_TYPE', 'cache-type'],
  ['OLLAMA_FLASH_ATTENTION', 'flash-attention'],
]);

/** Words for a flag of another name. */
const variableNames: ReadonlyMap<string, string> = new Map([
  ['model-name', 'model'],
  ['model-id', 'model'],
  ['model-path', 'model'],
  ['model', 'model'],
  ['n-parallel', 'parallel'],
  ['tensor-parallelism', 'tensor-parallel-size'],
  ['pipeline-parallelism', 'pipeline-parallel-size'],
  ['num-shard', 'num-shard'],
]);

/** The last setting with a meaning. Flags come after variables, so they take precedence. */
export function settingOf({ settings, program }: ServerStart, means: FlagMeaning): Setting | undefined {
  return settings.filter((setting) => meaningOf(setting, means, program) !== undefined).at(-1);
}
