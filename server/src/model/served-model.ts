import { isPlainVllm } from '../catalog/images.ts';
import { modelByName, type NamedModel } from '../catalog/index.ts';
import type { Engine } from '../command/engines.ts';
import {
  pulledModels,
  readServerStart,
  type ServerStart,
  type Setting,
  settingOf,
} from '../command/serving-settings.ts';
import { settingsIn } from '../command/training-flags.ts';
import { type Cursor, getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { downloadedModel } from './downloaded-model.ts';
import { modelInFolder } from './model-in-folder.ts';
import { parametersStated } from './model-params.ts';
import { once } from './once.ts';
import { lowerContainer } from './pod.ts';
import { imageUseOf, processInput, useOf } from './process-input.ts';
import { fieldModel } from './served-fields.ts';
import { type ServerSettings, serverSettings } from './server-settings.ts';
import type { Container, Workload } from './workload.ts';

/** The model that a container serves, and the settings of its server. */
export interface ServedModel extends ServerSettings {
  /** `organization/model`, a path, an address or a tag, as written. */
  readonly name: string;
  /** The model by its own config.json in the workspace. */
  readonly inFolder?: NamedModel;
  /** The number of parameters that an annotation states. */
  readonly parameters?: number;
  /** It uses all devices of its pod if no flag says otherwise. */
  readonly allDevices: boolean;
  /** The pods among which a controller divides the layers if one is too small. */
  readonly nodes?: number;
  /** Why settings may be missing here; empty: all are known. */
  readonly open: readonly string[];
}

/** What is known of a served model. */
export function knownModel({ name, inFolder }: Pick<ServedModel, 'name' | 'inFolder'>): NamedModel | undefined {
  return inFolder ?? modelByName(name);
}

/** Why a container's model is unknown. */
export type NoServedModel =
  | { readonly kind: 'notServing' }
  /** A program whose use of memory is unknown. */
  | { readonly kind: 'noServer' }
  | { readonly kind: 'context' }
  /** `detail`: what names the model instead, as a phrase. */
  | { readonly kind: 'unnamed'; readonly detail: string | null };

export type Served =
  | { readonly model: ServedModel; readonly unknown: null }
  | { readonly model: null; readonly unknown: NoServedModel };

const byContainer = new WeakMap<Workload, (container: Container) => Served>();

/** The model that a container serves, or why it is unknown. */
export function servedModel(container: Container, workload: Workload): Served {
  const read = byContainer.get(workload) ?? once((one: Container) => readServed(one, workload));
  byContainer.set(workload, read);
  return read(container);
}

function readServed(container: Container, workload: Workload): Served {
  const field = fieldModel(container, workload);
  const isServer = workload.role === 'serving' || workload.role === 'definition' || field !== undefined;
  if (container.type !== 'app' || !isServer) return without({ kind: 'notServing' });
  const start = startOf(container, field?.engine);
  if (start === undefined && field === undefined) return without({ kind: 'noServer' });
  const inFile = start === undefined ? [] : settingsOfFile(start, container);
  const given: ServerStart = {
    ...(start ?? { engine: field?.engine ?? 'vllm', program: 'vllm', model: undefined, open: null }),
    settings: [...(field?.settings ?? []), ...inFile, ...(start?.settings ?? [])],
  };
  const { name: written, detail } = nameOf(given, field?.name, container);
  if (written === null) return without({ kind: 'unnamed', detail });
  const open = [...openEnds(container, given, inFile.length > 0), ...(field?.open === undefined ? [] : [field.open])];
  const settings = serverSettings(given, container);
  if (settings === null) return without({ kind: 'context' });
  const podSet = workload.podSets.find(({ containers }) => containers.includes(container));
  const name = (podSet && downloadedModel(written, container, podSet)) ?? written;
  const parameters = podSet && parametersStated(workload.manifest, podSet, {}, name);
  const inFolder = modelInFolder(name, container);
  const nodes = field?.nodes === undefined ? {} : { nodes: field.nodes };
  const stated = { name, ...nodes, ...(inFolder && { inFolder }), ...(parameters !== undefined && { parameters }) };
  // Without a degree, AWS's container divides the model among all GPUs.
  const allDevices = field?.allDevices === true || given.program === 'lmi';
  return { model: { ...stated, ...settings, allDevices, open }, unknown: null };
}

function without(unknown: NoServedModel): Served {
  return { model: null, unknown };
}

/** The server by the command line, the scripts from ConfigMaps that it runs, or the image. */
function startOf(container: Container, engine: Engine | undefined): ServerStart | undefined {
  const input = processInput(container);
  const byImage = imageUseOf(container).program ?? undefined;
  const entrypoint = entrypointOf(container) ?? byImage ?? engine ?? useOf(container).program ?? undefined;
  return (
    readServerStart(input, entrypoint, isPlainVllm(container.image?.value ?? '')) ??
    container.scripts.flatMap(
      ({ text }) => readServerStart({ command: ['bash', '-c', text], args: [], env: input.env }, undefined) ?? [],
    )[0]
  );
}

/** KServe's server for models of Hugging Face and AWS's container for large models, which run vLLM. */
function entrypointOf({ image }: Container): string | undefined {
  const name = image?.value ?? '';
  if (/(^|\/)huggingfaceserver(-gpu)?[:@]/.test(name)) return 'huggingfaceserver';
  return /(^|\/)djl-(?:serving|inference):[^@]*\blmi/.test(name) ? 'lmi' : undefined;
}

interface NameFound {
  readonly name: string | null;
  readonly detail: string | null;
}

/** What a variable, a placeholder or a masked template leaves open. */
const unread = /[{$<\uE000]/;

/** The model's name: what KServe and the like download, else the flag, else the argument, else the image. */
function nameOf(start: ServerStart, stored: string | undefined, container: Container): NameFound {
  const flags = start.settings.filter((one) => settingOf({ ...start, settings: [one] }, 'model') !== undefined);
  const file = settingOf(start, 'model-file')?.value;
  const flag = flags.filter(({ value }) => value !== undefined && value !== '').at(-1)?.value;
  const given = stored ?? flag ?? start.model ?? imageModel(container) ?? hookModel(start, container);
  const name = start.engine === 'ollama' && given !== undefined ? withTag(given) : given;
  if (name !== undefined && !unread.test(name) && !/^\/mnt\/models\/?$/.test(name)) {
    return { name: file === undefined ? name : `${name}:${file}`, detail: null };
  }
  // The end of an address whose bucket is a placeholder.
  const end = name === undefined || !unread.test(name) ? undefined : name.slice(name.lastIndexOf('/') + 1);
  if (end !== undefined && !unread.test(end) && modelByName(end) !== undefined) return { name: end, detail: null };
  const written = [...container.args, ...container.command].some(
    ({ at }) => isTemplated(at) || isIncomplete(at.parent),
  );
  if (written || (name !== undefined && unread.test(name))) return { name: null, detail: 'a template names it' };
  if (flags.some(({ dynamic, value }) => dynamic === true || value === undefined))
    return { name: null, detail: 'a variable without a known value names it' };
  const takesFlagsOnly = container.command.length === 0 && isPlainVllm(container.image?.value ?? '');
  if (getIn(container.at, 'envFrom') !== undefined && !takesFlagsOnly)
    return { name: null, detail: 'envFrom may name it' };
  return { name: null, detail: start.engine === 'ollama' ? 'Ollama loads the models that clients request' : null };
}

/** A model of Ollama's library without a tag is the one tagged latest. */
function withTag(name: string): string {
  return /^[\w.-]+$/.test(name) ? `${name}:${liteByDefault.has(name) ? '16b' : 'latest'}` : name;
}

/** Models whose smaller version is the latest. https://ollama.com/library/deepseek-v2 https://ollama.com/library/deepseek-coder-v2 */
const liteByDefault: ReadonlySet<string> = new Set(['deepseek-v2', 'deepseek-coder-v2']);

/** The one model that a postStart hook pulls into Ollama. */
function hookModel({ engine }: ServerStart, { at, env }: Container): string | undefined {
  const hook = engine === 'ollama' ? getIn(at, 'lifecycle', 'postStart', 'exec') : undefined;
  if (hook === undefined) return undefined;
  const [only, ...others] = pulledModels(processInput({ ...lowerContainer(hook, 'app'), env }));
  return others.length === 0 ? only : undefined;
}

/** The model in the name of a NIM image: `nvcr.io/nim/meta/llama-3.1-8b-instruct:1.3`. */
export function imageModel({ image }: Pick<Container, 'image'>): string | undefined {
  const [, model] = /^nvcr\.io\/nim\/([\w.-]+\/[\w.-]+)/.exec(image?.value ?? '') ?? [];
  return model;
}

/**
 * The settings of a mounted file whose keys are the names of flags. Flags take precedence.
 * https://docs.vllm.ai/en/latest/configuration/serve_args/
 */
function settingsOfFile(start: ServerStart, { settingsFiles = [] }: Container): readonly Setting[] {
  const path =
    start.engine === 'vllm' || start.engine === 'sglang' ? settingOf(start, 'settings-file')?.value : undefined;
  const files = settingsFiles.filter((file) => file.path === path);
  return files.flatMap(settingsIn).filter(({ name }) => !name.includes('.'));
}

/** Why settings may be missing. */
function openEnds(container: Container, { open, settings }: ServerStart, knowsFile: boolean): readonly string[] {
  const { at, command, args } = container;
  const written: readonly (Cursor | undefined)[] = [...command, ...args].map((one) => one.at);
  const lists = ['command', 'args', 'env'].map((key) => getIn(at, key));
  const isTemplate =
    [at, ...lists, ...written.map((one) => one?.parent)].some(isIncomplete) || written.some(isTemplated);
  return [
    ...(open === null ? [] : [open]),
    ...(isTemplate ? ['a template may add flags'] : []),
    ...(getIn(at, 'envFrom') === undefined || container.configEnv !== undefined ? [] : ['envFrom may add settings']),
    ...(getIn(at, 'runtime') === undefined ? [] : ['its runtime may add flags']),
    ...(container.scripts.length === 0 ? [] : ['a script starts the server']),
    ...(settings.some(
      (one) =>
        !knowsFile &&
        one.written !== 'hf-config-path' &&
        settingOf(
          { engine: 'vllm', program: 'vllm', model: undefined, open: null, settings: [one] },
          'settings-file',
        ) !== undefined,
    )
      ? ['a file has more settings']
      : []),
  ];
}

/** Whether all settings are known and none adds memory by an unknown amount, and the server takes most of its device: it may be advised on. */
export function isWhole({ open, extras, fraction }: ServedModel): boolean {
  return open.length === 0 && extras.length === 0 && (fraction === null || fraction >= minFraction);
}

/** A smaller fraction leaves the rest of the card to others on purpose. The servers' own defaults are about 0.9. */
const minFraction = 0.8;
