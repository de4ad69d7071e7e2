import { modelByName } from '../catalog/index.ts';
import type { Engine } from '../command/engines.ts';
import type { Setting } from '../command/serving-settings.ts';
import { asText, type Cursor, entries, getIn, isTemplated, keyOf } from '../yaml/cursor.ts';
import { imageUseOf } from './process-input.ts';
import { isValues } from './values.ts';
import { modelInValues, valuesPulls } from './values-model.ts';
import { flagsIn } from './vllm-settings.ts';
import type { Container, Workload } from './workload.ts';

/** What the fields of a custom resource say of the model that its server loads. */
export interface FieldModel {
  /** Undefined: the command line names it. */
  readonly name: string | undefined;
  readonly engine: Engine | undefined;
  readonly settings: readonly Setting[];
  /** What the fields leave to a controller or an application, as a phrase. */
  readonly open?: string;
  /** The server uses all devices of its pod. */
  readonly allDevices?: true;
  /** The pods among which a controller divides the layers if they do not fit one. */
  readonly nodes?: number;
}

/** The model in the fields of a workload; undefined if its kind has no such field, or the field is not set. */
export function fieldModel(container: Container | undefined, workload: Workload): FieldModel | undefined {
  const ofKind = fieldsOfKind(container, workload);
  // Another group may have a kind of the same name.
  return ofKind ?? (container && workload.byShape ? resourceModel(container) : undefined);
}

function fieldsOfKind(container: Container | undefined, workload: Workload): FieldModel | undefined {
  const { root } = workload.manifest;
  switch (workload.kind) {
    case 'InferenceService':
      return container && kserveModel(container);
    case 'LLMInferenceService':
    case 'LLMInferenceServiceConfig':
      return llmService(getIn(root, 'spec'));
    case 'Model':
      return kubeAiModel(getIn(root, 'spec'));
    case 'Workspace':
      return preset(getIn(root, 'inference'), getIn(root, 'resource', 'count'));
    case 'InferenceSet':
      return preset(getIn(root, 'spec', 'template', 'inference') ?? getIn(root, 'spec', 'inference'));
    case 'RAGEngine':
      return embedding(getIn(root, 'spec', 'embedding', 'local'));
    case 'JumpStartModel':
      return jumpStartModel(getIn(root, 'spec', 'model'));
    case 'InferenceEndpointConfig':
      return endpointModel(getIn(root, 'spec'));
    case 'RayService':
      return rayModel(asText(getIn(root, 'spec', 'serveConfigV2')) ?? '');
    default:
      return container && isValues(workload) ? valuesModel(container) : undefined;
  }
}

/** The template passes it to the server of the image. */
function valuesModel(container: Container): FieldModel | undefined {
  // KubeAI's catalog has the fields of its Models.
  if (getIn(container.at, 'resourceProfile') !== undefined) return kubeAiModel(container.at);
  const isServer = imageUseOf(container).use === 'serving' && imageUseOf(container).program !== null;
  if (isServer && imageUseOf(container).program === 'ollama') {
    const [only, ...others] = new Set(valuesPulls(container.at).map(({ name }) => name));
    // It loads one of several at a time.
    return only === undefined || others.length > 0 ? undefined : { name: only, engine: 'ollama', settings: [] };
  }
  const name = isServer ? modelInValues(container.at) : undefined;
  return name === undefined ? undefined : { name, engine: undefined, settings: [] };
}

/** The model in the fields of a custom resource whose kind nobody listed, if they say that vLLM serves it. */
function resourceModel({ at }: Container): FieldModel | undefined {
  const name = namesVllm(at) ? modelInValues(at) : undefined;
  if (name === undefined) return undefined;
  const flags = flagsIn(at);
  const settings = flags.flatMap(({ value }, index): readonly Setting[] => {
    const flag = value.startsWith('--') ? value.slice(2) : 'model';
    return flag === 'model' ? [] : [{ name: flag, written: flag, value: flags[index + 1]?.value }];
  });
  return { name, engine: 'vllm', settings, open: 'the operator may set more' };
}

/** Whether a mapping says that its server is vLLM: `backend: vllm`, `engine: {type: vllm}`. */
export function namesVllm(block: Cursor): boolean {
  return entries(block).some((entry) => {
    if (!serverKey.test(keyOf(entry))) return false;
    const named = entry.node.kind === 'map' ? (getIn(entry, 'type') ?? getIn(entry, 'name')) : entry;
    return known(named)?.toLowerCase() === 'vllm';
  });
}

const serverKey = /^(?:inference|serving)?-?_?(?:engine|backend|runtime|server|framework)(?:type|name)?$/i;

function known(cursor: Cursor | undefined): string | undefined {
  return cursor === undefined || isTemplated(cursor) ? undefined : (asText(cursor) ?? undefined);
}

/** KServe's own server is for models of Hugging Face; other formats have servers for other models. */
function kserveModel({ at }: Container): FieldModel | undefined {
  const uri = getIn(at, 'storageUri') ?? getIn(at, 'storage', 'path');
  const format = known(getIn(at, 'modelFormat', 'name'))?.toLowerCase() ?? '';
  const runtime = known(getIn(at, 'runtime')) ?? '';
  const words = `${format} ${runtime}`;
  const engine = engineWords.find(([pattern]) => pattern.test(words))?.[1];
  if (uri === undefined && engine === undefined) return undefined;
  // A volume or a bucket often has another name than the model.
  const named = [stored(known(uri)), format, runtime].find((one) => one && modelByName(one) !== undefined);
  return { name: named ?? stored(known(uri)), engine, settings: [] };
}

const engineWords: readonly (readonly [RegExp, Engine])[] = [
  [/sglang/i, 'sglang'],
  [/vllm|hugging ?-?face/i, 'vllm'],
  [/\btgi\b/i, 'tgi'],
  [/llama-?cpp|gguf/i, 'llama-cpp'],
  [/trt-?llm|tensorrt/i, 'tensorrt-llm'],
  [/ollama/i, 'ollama'],
];

/** The address without its scheme and revision: `hf://org/model:main`. */
function stored(uri: string | undefined): string | undefined {
  return uri
    ?.slice(0, 1000)
    .replace(/^(?:hf|huggingface|ollama):\/\//, '')
    .replace(/^([\w.-]+\/[\w.-]+)[:@](?:main|[0-9a-f]{7,40})$/, '$1');
}

function llmService(spec: Cursor | undefined): FieldModel | undefined {
  const name = stored(known(getIn(spec, 'model', 'uri')) ?? known(getIn(spec, 'model', 'name')));
  if (getIn(spec, 'model') === undefined) return undefined;
  const settings = fieldSettings(getIn(spec, 'parallelism'), parallelism);
  return { name, engine: 'vllm', settings };
}

const parallelism: ReadonlyMap<string, string> = new Map([
  ['tensor', 'tensor-parallel-size'],
  ['pipeline', 'pipeline-parallel-size'],
  ['data', 'data-parallel-size'],
  ['dataLocal', 'data-parallel-size-local'],
  ['expert', 'enable-expert-parallel'],
]);

function fieldSettings(fields: Cursor | undefined, names: ReadonlyMap<string, string>): readonly Setting[] {
  return entries(fields).flatMap((entry) => {
    const name = names.get(keyOf(entry));
    return name === undefined ? [] : [{ name, written: name, value: known(entry) }];
  });
}

/** https://github.com/kubeai-project/kubeai/blob/main/docs/reference/kubernetes-api.md */
function kubeAiModel(spec: Cursor | undefined): FieldModel | undefined {
  const url = getIn(spec, 'url');
  if (url === undefined) return undefined;
  const engine = kubeAiEngines.get(known(getIn(spec, 'engine')) ?? '');
  const adapters =
    getIn(spec, 'adapters') === undefined ? [] : [{ name: 'enable-lora', written: 'enable-lora', value: 'true' }];
  return { name: stored(known(url))?.replace(/\?.*$/, ''), engine, settings: adapters };
}

const kubeAiEngines: ReadonlyMap<string, Engine> = new Map([
  ['VLLM', 'vllm'],
  ['OLlama', 'ollama'],
  ['FasterWhisper', 'transformers'],
  ['Infinity', 'embeddings'],
]);

/**
 * KAITO's presets run with vLLM and with tensor parallelism over the GPUs of a node. Models that are too large for a node are divided among nodes by layers.
 * https://github.com/kaito-project/kaito/blob/main/website/docs/multi-node-inference.md
 */
function preset(inference: Cursor | undefined, count?: Cursor): FieldModel | undefined {
  const name = known(getIn(inference, 'preset', 'name'));
  const open = 'KAITO chooses the number of nodes and the request length';
  const nodes = Number(known(count) ?? 1);
  const several = Number.isSafeInteger(nodes) && nodes > 1 && nodes < 100 ? { nodes } : {};
  return name === undefined ? undefined : { name, engine: 'vllm', settings: [], open, allDevices: true, ...several };
}

/** The preset that a Workspace of KAITO tunes, with settings that KAITO chooses; undefined for other workloads. */
export function tunedPreset({ kind, manifest: { root } }: Workload): string | undefined {
  return kind === 'Workspace' ? known(getIn(root, 'tuning', 'preset', 'name')) : undefined;
}

/** https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-deploy-js.html */
function jumpStartModel(model: Cursor | undefined): FieldModel | undefined {
  const name = known(getIn(model, 'modelId'));
  const open = 'JumpStart chooses the settings';
  return name === undefined ? undefined : { name, engine: 'vllm', settings: [], open, allDevices: true };
}

/** The folder in the bucket, or the free name of the endpoint, if it is that of a model: the server itself loads a path. */
function endpointModel(spec: Cursor | undefined): FieldModel | undefined {
  const names = [getIn(spec, 'modelSourceConfig', 'modelLocation'), getIn(spec, 'modelName')].map(known);
  const name = names.find((one) => one !== undefined && modelByName(one) !== undefined);
  // A path, because the bucket may hold the weights in another format.
  return name === undefined ? undefined : { name: `/${name}`, engine: undefined, settings: [] };
}

/** The model with which a RAGEngine reads documents. https://github.com/kaito-project/kaito/tree/main/examples/RAG */
function embedding(local: Cursor | undefined): FieldModel | undefined {
  const name = known(getIn(local, 'modelID'));
  return name === undefined ? undefined : { name, engine: 'transformers', settings: [] };
}

/** The keys and values of a Ray Serve configuration, which may name the model as a field, an engine argument or a variable. */
function rayModel(config: string): FieldModel | undefined {
  const settings = config.split(/[\n{},]/, maxLines).flatMap((line): readonly Setting[] => {
    const [, key, value] =
      /^[\s-]*["']?([A-Za-z_][\w-]{1,60})["']?\s*:\s*["']?([^\s"'#{}]{1,200})["']?,?\s*(?:#.*)?$/.exec(line) ?? [];
    if (key === undefined || value === undefined) return [];
    const name = key.toLowerCase().replaceAll('_', '-');
    return [{ name: rayNames.get(name) ?? name, written: name, value }];
  });
  const names = settings.filter(({ name }) => name === 'model').map(({ value }) => value);
  const name = names.find((one) => one?.includes('/')) ?? names[0];
  const open = 'the application may set more';
  return name === undefined
    ? undefined
    : { name: stored(name), engine: 'vllm', settings: settings.filter((one) => one.name !== 'model'), open };
}

const maxLines = 2000;
const rayNames: ReadonlyMap<string, string> = new Map([
  ['model-source', 'model'],
  ['model-id', 'model'],
  ['model-name', 'model'],
  ['tensor-parallelism', 'tensor-parallel-size'],
  ['pipeline-parallelism', 'pipeline-parallel-size'],
]);
