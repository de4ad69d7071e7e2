import { type ModelShape, modelByName, type NamedModel } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { lastSetting, type TrainerSettings } from '../command/training-flags.ts';
import { modelInFolder } from './model-in-folder.ts';
import type { Container } from './workload.ts';

export interface TrainedModel {
  readonly name: string;
  readonly shape: ModelShape | null;
  /** Bits per weight that the name states: 4 for `-bnb-4bit`. */
  readonly bits?: number;
}

/** The model that a trainer starts from, as written, and its shape; null if the catalog has none. An empty name: no setting names one. */
export function trainedModel(written: TrainerSettings, container: Container): TrainedModel {
  const candidates = [...written.settings].reverse().flatMap(({ written: name, value }) => {
    const words = wordsOf(name.split('.').slice(-2).join('.'));
    const isModel = words.some((word) => modelWords.has(word)) && !words.some((word) => otherWords.has(word));
    return isModel && value !== undefined ? [value] : [];
  });
  const recipes = [...written.words.map(({ text }) => text), ...settingValues(written, /config|factory|recipe/)];
  const flavor = flavorOf(written);
  for (const name of [...candidates, ...(flavor === undefined ? [] : [flavor])]) {
    const found = modelInFolder(name, container) ?? modelByName(name);
    if (found !== undefined) return { name, shape: found.shape, ...bitsOf(found.format) };
  }
  for (const text of recipes) {
    const name = recipeModel(text) ?? (text.includes('/') && !text.startsWith('-') ? text : undefined);
    const shape = name === undefined ? undefined : modelByName(name)?.shape;
    if (name !== undefined && shape !== undefined) return { name, shape };
  }
  const shape = writtenShape(written);
  if (shape !== undefined) return { name: 'the model of its flags', shape };
  const unknown = candidates.find((value) => /^\w[\w.-]*\/[\w.-]+$/.test(value) || isSizedName(value));
  return { name: unknown ?? '', shape: null };
}

/** A name without its organization that states a size: `atom-7b-chat`. */
function isSizedName(value: string): boolean {
  if (value.length > 100 || !/^[a-z][\w.-]*$/i.test(value)) return false;
  const [, ...rest] = value.split('-');
  return rest.some((part) => /^\d+(?:\.\d+)?b$/i.test(part)) && !rest.includes('');
}

function bitsOf(format: NamedModel['format']): { readonly bits?: number } {
  return format === null || format === 'unknown' ? {} : { bits: format.layerBits };
}

const modelWords = wordSet('model checkpoint ckpt pretrained pretrain load restore backbone base');
const otherWords: ReadonlySet<string> = new Set(
  'tokenizer reward teacher ref reference draft output save adapter lora max dataset data log hub push resume interval length parallel files judge eval in'.split(
    ' ',
  ),
);

function settingValues({ settings }: TrainerSettings, name: RegExp): readonly string[] {
  return settings.flatMap((one) => (name.test(one.name) && one.value !== undefined ? [one.value] : []));
}

/** torchtitan: `model.name = "llama3"` and `model.flavor = "8B"`. */
function flavorOf(written: TrainerSettings): string | undefined {
  const [name] = settingValues(written, /(?:^|\.)model\.name$/);
  const [flavor] = settingValues(written, /(?:^|\.)model\.flavor$/);
  return name === undefined || flavor === undefined ? undefined : recipeModel(`${name}_${flavor}`);
}

/** Recipes of torchtune and torchtitan name models as `llama3_1/8B_full` and `llama3_8b.toml`. */
function recipeModel(text: string): string | undefined {
  const [, family, version, size] =
    /(?<![a-z])([a-z]+)(\d(?:[._]\d)?)[/_-](\d{1,3}(?:\.\d)?b)(?![a-z])/i.exec(text) ?? [];
  return family === undefined || version === undefined || size === undefined
    ? undefined
    : `${family}-${version.replace('_', '.')}-${size.toUpperCase()}`;
}

/** Megatron's flags describe the model instead of naming it. Its vocabulary is usually in a file: GPT-2's is assumed. */
function writtenShape(written: TrainerSettings): ModelShape | undefined {
  const count = (means: Parameters<typeof lastSetting>[1]) => {
    const value = Number(lastSetting(written, means)?.value);
    return Number.isSafeInteger(value) && value > 0 && value < 1e6 ? value : undefined;
  };
  const [layers, hidden, heads] = [count('shape-layers'), count('shape-hidden'), count('shape-heads')];
  if (layers === undefined || hidden === undefined || heads === undefined) return undefined;
  if (written.settings.some(({ name }) => name.includes('experts'))) return undefined;
  // Models with fewer KV heads than heads also have gated feed-forward parts.
  const gated = written.settings.some(({ name }) => name === 'swiglu') || count('shape-kv-heads') !== undefined;
  const feedForward = count('shape-feed-forward') ?? 4 * hidden;
  const kvHeads = count('shape-kv-heads') ?? heads;
  const headSize = hidden / heads;
  const vocabulary = count('shape-vocabulary') ?? 50_304;
  const tiedEmbeddings = !written.settings.some(({ name }) => name === 'untie-embeddings-and-output-weights');
  const matrices = gated ? 3 : 2;
  const attention = 2 * hidden * hidden + 2 * hidden * kvHeads * headSize;
  const parameters =
    layers * (attention + matrices * hidden * feedForward) + vocabulary * hidden * (tiedEmbeddings ? 1 : 2);
  return {
    name: '',
    kind: 'language',
    parameters,
    active: parameters,
    layers,
    hidden,
    feedForward,
    feedForwardMatrices: matrices,
    heads,
    kvHeads,
    headSize,
    vocabulary,
    context: 0,
    tiedEmbeddings,
    experts: null,
    latent: null,
    cache: [],
    encoderLayers: 0,
    towerParameters: 0,
    format: 'bf16',
    source: 'flags',
    date: null,
  };
}
