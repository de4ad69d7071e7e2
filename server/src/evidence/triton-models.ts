import { imageParts } from '../catalog/images.ts';
import { partOf, wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import type { Word } from '../command/shell.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { commandsIn, useOf } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, getIn } from '../yaml/cursor.ts';

/** The description of a Triton model in a ConfigMap that a pod mounts. */
export interface TritonModel {
  /** `config.pbtxt of ConfigMap models`. */
  readonly file: string;
  readonly backend: string | undefined;
  /** Of its instance groups: `KIND_GPU`. */
  readonly kinds: readonly string[];
  /** The largest number of a GPU on which an instance is placed. */
  readonly lastGpu: number | undefined;
}

/** The models of a container with Triton that its ConfigMaps describe; none for other servers. */
export function tritonModels(
  container: Container,
  { volumes }: PodSet,
  { namespace }: Workload,
  crossReferences: CrossReferences,
): readonly TritonModel[] {
  const mounted = new Set(container.volumeMounts.map(({ name }) => name));
  const maps = volumes.filter(({ name, source }) => source === 'configMap' && mounted.has(name));
  if (maps.length === 0 || useOf(container).program !== 'tritonserver') return [];
  return maps.flatMap(({ at }) => {
    const map = asText(getIn(at, 'configMap', 'name')) ?? '';
    return Object.entries(crossReferences.configMap(namespace, map)?.facts ?? {}).flatMap(([key, text]) =>
      key.endsWith('.pbtxt') && text.length < maxText ? [modelIn(`${key} of ConfigMap ${map}`, text)] : [],
    );
  });
}

const maxText = 100_000;

/** https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/user_guide/model_configuration.html, 2026-11-30 */
function modelIn(file: string, text: string): TritonModel {
  const code = text.replace(/#[^\n]*/g, '');
  const [, backend] = /\b(?:backend|platform)\s*:\s*"([a-z_]{2,30})"/.exec(code) ?? [];
  const kinds = [...code.matchAll(/\bkind\s*:\s*(KIND_[A-Z]+)/g)].map(([, kind = '']) => kind);
  const gpus = [...code.matchAll(/\bgpus\s*:\s*\[?([\d\s,]{1,100})/g)].flatMap(
    ([, list = '']) => list.match(/\d+/g) ?? [],
  );
  return { file, backend, kinds, lastGpu: gpus.length === 0 ? undefined : Math.max(...gpus.map(Number)) };
}

/** The processes that Triton's launcher for TensorRT-LLM starts, one for each GPU. */
export function tritonRanks(
  container: Container,
): { readonly count: number; readonly text: string; readonly words: readonly [Word, Word] } | undefined {
  const command = commandsIn(container).find(({ words }) => words.some(({ text }) => launcherScript.test(text)));
  const flag = command && readFlags(command.words).find(({ name, dynamic }) => name === 'world-size' && !dynamic);
  if (flag === undefined || !/^[1-9]\d{0,2}$/.test(flag.value ?? '')) return undefined;
  return {
    count: Number(flag.value),
    text: `--${flag.written} ${flag.value}`,
    words: [flag.word, flag.valueWord ?? flag.word],
  };
}

/** https://github.com/triton-inference-server/tensorrtllm_backend/blob/main/scripts/launch_triton_server.py */
const launcherScript = /\blaunch_triton_server\.py$/;

/** A backend for language models that a container with Triton needs, but that its image lacks. */
export interface LackingBackend {
  readonly title: string;
  /** What asks for it: `config.pbtxt of ConfigMap models`. */
  readonly from: string;
  /** The tag of the image with the backend. */
  readonly tag: string;
  /** A setting asks for it, not only a name. */
  readonly isStated: boolean;
}

/** The backend for which a Triton container is meant, by its models, its launcher or its names, if its image does not have it. */
export function lackingBackend(
  container: Container,
  models: readonly TritonModel[],
  workload: Workload,
): LackingBackend | undefined {
  const { repository, tag } = imageParts(container.image?.value ?? '');
  const [, release = '', flavor] = /^(\d\d\.\d\d)-([a-z\d-]+)$/.exec(tag ?? '') ?? [];
  if (!/^nvcr\.io\/nvidia\/tritonserver$/.test(repository) || flavor === undefined || !flavors.has(flavor))
    return undefined;
  const words = [...container.command, ...container.args].map(({ value }) => value).join(' ');
  // A backend may come from a volume or be installed at the start.
  if (container.volumeMounts.some(({ mountPath }) => mountPath.includes('backends')) || installs.test(words))
    return undefined;
  for (const [backend, { title, launcher, names }] of backends) {
    const needed = `${backend.replace('tensorrtllm', 'trtllm')}-python-py3`;
    if (flavor === needed) continue;
    const model = models.find((one) => one.backend === backend);
    const script = launcher?.exec(words)?.[0];
    const name = [workload.name, container.name].find((one) => one !== null && names.test(one));
    const from = model?.file ?? script ?? name;
    if (from != null)
      return { title, from, tag: `${release}-${needed}`, isStated: model !== undefined || script !== undefined };
  }
  return undefined;
}

/** The images of one release with the usual backends. */
const flavors = wordSet('py3 python-py3 pyt-python-py3 tf2-python-py3 vllm-python-py3 trtllm-python-py3');

/**
 * The backends that have images of their own.
 * https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/customization_guide/compose.html
 * https://github.com/triton-inference-server/tensorrtllm_backend, 2026-11-30
 */
const backends: ReadonlyMap<string, { readonly title: string; readonly launcher?: RegExp; readonly names: RegExp }> =
  new Map([
    [
      'tensorrtllm',
      { title: 'TensorRT-LLM', launcher: /\blaunch_triton_server\.py\b/, names: partOf('trt-?llm tensorrt-?llm') },
    ],
    ['vllm', { title: 'vLLM', names: partOf('vllm') }],
  ]);

const installs = /\b(?:pip3?|apt-get|apt|git) (?:install|clone)\b|backend-directory/;
