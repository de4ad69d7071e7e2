import type { GpuModel } from '../catalog/index.ts';
import {
  gpus,
  gpusByLabel,
  gpusMentioned,
  gpusNamed,
  instanceType,
  isInstanceTypeLabel,
  mayNameGpu,
} from '../catalog/index.ts';
import { gpusByPciLabel } from '../catalog/pci-devices.ts';
import { either, oneOf, partOf } from '../catalog/word-patterns.ts';
import { isTemplated, keyOf, type Located } from '../yaml/cursor.ts';
import { oncePerName } from '../yaml/lazy.ts';
import type { ModelFrom, ModelHint } from './workload.ts';

// The GPU models that labels, annotations and names state in words, whatever their key and spelling. Rules do not judge these words: only a
// cluster knows which labels its nodes have.

/** Models that an object names. */
export interface NamedModels {
  readonly candidates: readonly GpuModel[];
  readonly from: ModelFrom;
  /** The name only suggests the models. */
  readonly hint?: ModelHint;
}

/** The models that a required node label names with its whole value, or with its key; none if one of its values names none. */
export function modelsInLabel(key: string, values: readonly string[]): readonly GpuModel[] {
  if (values.length === 0 || isAboutPlaces(key)) return [];
  const models = values.map((value) => modelsOfValue(key, value));
  return models.some((found) => found.length === 0) ? [] : [...new Set(models.flat())];
}

/** The models that a label of a node names: by the catalog's own values, else in words. */
export function modelsOfNodeLabel(key: string, value: string): readonly GpuModel[] {
  const exact = gpusByLabel(key, value);
  return exact.length > 0 ? exact : modelsInLabel(key, [value]);
}

/** Whether a label says which machine a node is: the instance type, or a word that stands for it. */
export function namesMachine(key: string, values: readonly string[]): boolean {
  return isInstanceTypeLabel(key) || values.every((value) => instanceType(value) !== undefined);
}

function modelsOfValue(key: string, value: string): readonly GpuModel[] {
  const machine = machineModels(value);
  if (machine.length > 0) return machine;
  if (isInstanceTypeLabel(key)) return gpusMentioned(value);
  const short = key.slice(key.lastIndexOf('/') + 1);
  if (affirmative.test(value)) {
    const card = gpusByPciLabel(key);
    return card.length > 0 ? card : gpusNamed(short);
  }
  const named = gpusNamed(value, isAboutDevices(key));
  // `rack: a10` and `zone: p4` are places.
  return value.length > 3 || isAboutDevices(key) || choiceWords.test(short) ? named : [];
}

const choiceWords = partOf('type class kind model hardware', 'node pool flavor profile group');

function machineModels(value: string): readonly GpuModel[] {
  const model = gpus.get(instanceType(value)?.gpu ?? '');
  return model === undefined ? [] : [model];
}

const affirmative = /^(?:true|yes|1|present|enabled|exists|)$/i;

/** Whether a key is about accelerators, but not about their number or size: `gpu-type`, `nvidia.com/use-gputype`, `hardware.accelerator`. */
export const isAboutDevices = oncePerName((key) => !amountWords.test(key.toLowerCase()) && mentionsDevices(key));

const amountWords = new RegExp(oneOf('mem count num core fraction percent limit size', 'index uuid version'));

/** Whether a key has a word for accelerators: `gpuCount`, `useCuda`, `accelerator`. */
export function mentionsDevices(key: string): boolean {
  return deviceWords.test(key.toLowerCase());
}

const deviceWords = either(
  /gpu|accelerator|cuda|nvidia|graphics/,
  /(?:^|[^a-z])(?:tpu|npu|amd|card|device)s?(?:[^a-z]|$)/,
);

/** Whether a key holds what there is to say of a pod's accelerators: `gpu.productLabel`. Other keys name one of several: `gpu-a16`. */
export function holdsDevices(key: string): boolean {
  return /^(?:gpu|accelerator)s?(?:[-_]?(?:config|settings|spec|options|selector))?$/.test(key.toLowerCase());
}

/** Whether a key is about something else, in which `a10` and `v100` are ordinary values. */
function isAboutPlaces(key: string): boolean {
  return ofPlaces.test(key);
}

/**
 * The models that a text mentions, by the names of cards or of machines: `GPU on P4d.24xlarge`. A machine tells which of several cards with the
 * same name it is.
 */
export function modelsMentioned(text: string): readonly GpuModel[] {
  const cards = gpusMentioned(text);
  if (cards.length === 1 || text.length > 400 || !mayNameGpu(text)) return cards;
  const machines = machinesMentioned(text);
  return cards.length === 0 || (machines.length > 0 && isOneCard([...cards, ...machines])) ? machines : cards;
}

/** Whether models differ only in their memory or form. */
export function isOneCard(models: readonly GpuModel[]): boolean {
  return new Set(models.map(({ name }) => name.split(/ (?:\d+GB|PCIe|SXM|NVL)/)[0])).size === 1;
}

/** The models of the machines that a text mentions. */
export function machinesMentioned(text: string): readonly GpuModel[] {
  const lower = text.toLowerCase();
  // Most texts mention none, and a search is several times as fast as a list of matches.
  if (!machineSign.test(lower) || lower.search(machineName) === -1) return [];
  return [...new Set([...lower.matchAll(machineName)].flatMap(([name]) => machineModels(name)))];
}

/** What names of machines have, and few other names. */
const machineSign = /large|metal|standard_n|m\.gpu|[\dx]-[a-z]{3,10}-\d|\bct\w/;

/** Instance types: AWS, Azure, Oracle Cloud, Google Cloud; in lower case. */
const machineName = either(
  /\b(?:ml\.)?[a-z]{1,3}\d[a-z\d]{0,3}(?:-[a-z]\d{3})?\.(?:\d{0,3}x?large|metal)\b/g,
  /\bstandard_n[a-z]\w{3,40}\b/g,
  /\b[bv]m\.gpu[\w.-]{2,20}\b/g,
  /\b(?:a[234]x?|g[24]|ct\w{2,3})-[a-z]{3,10}-\d{1,3}[gt]?\b/g,
);

/** Labels and annotations on the pods or their object that name a model: `nvidia.com/use-gputype: A100,V100`, `gpu-type: h100`. */
export function modelsInMarks(marks: readonly Located<string>[]): readonly NamedModels[] {
  return marks.flatMap(({ value, at }): NamedModels[] => {
    const key = keyOf(at);
    if (isTemplated(at) || !isAboutDevices(key) || excludes(key)) return [];
    const candidates = modelsInList(value);
    return candidates.length === 0 ? [] : [{ candidates, from: 'annotation' }];
  });
}

/** Whether a key names what is not wanted: `nvidia.com/nouse-gputype`. */
export function excludes(key: string): boolean {
  return /(?:^|[^a-z])(?:no|not|nouse|exclude|avoid|without)/i.test(key);
}

/** The models in a list of names; none if one of its items is anything else. */
export function modelsInList(text: string): readonly GpuModel[] {
  const whole = gpusNamed(text, true);
  if (whole.length > 0 || text.length > 200) return whole;
  const each = text.split(/[,;|]/).map((item) => gpusNamed(item.trim(), true));
  return each.length < 2 || each.some((found) => found.length === 0) ? [] : [...new Set(each.flat())];
}

/** The models in the name of a resource: `nvidia.com/a100`, `nvidia.com/gpu-3090`, `huawei.com/Ascend310P`, `habana.ai/gaudi`. */
export function modelsInResource(resource: string): readonly GpuModel[] {
  const short = resource.slice(resource.indexOf('/') + 1).replace(/-(?:memory|\d+c.*)$/, '');
  return (short.length < 4 && !/\d/.test(short)) || short.startsWith('mig-') || short.startsWith('neuron')
    ? []
    : gpusNamed(short, /gpu/i.test(short));
}

const ofPlaces = either(
  new RegExp(`(?:^|/|\\.|-)(?:${oneOf('hostname zone region rack row os arch version release')})$`),
  /^(?:topology|failure-domain)\./,
);
