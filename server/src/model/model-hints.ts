import { imageParts } from '../catalog/images.ts';
import type { GpuModel } from '../catalog/index.ts';
import { acceleratorResource, gpusByLabel, gpusNamed, mayNameGpu } from '../catalog/index.ts';
import { either, oneOf } from '../catalog/word-patterns.ts';
import { asString, asText, type Cursor, entries, getIn, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { oncePerName } from '../yaml/lazy.ts';
import { cardInTexts, commentModels } from './comment-models.ts';
import {
  excludes,
  holdsDevices,
  isAboutDevices,
  isOneCard,
  modelsInLabel,
  modelsInList,
  modelsMentioned,
  type NamedModels,
} from './named-models.ts';
import type { Container, Manifest, ModelHint, Selector, Toleration } from './workload.ts';

// What suggests a GPU model without requiring it: names of node pools, queues and objects, preferences, tolerations, arguments and comments.
// The best hint applies, and the reader sees it.

/** The parts of a pod set that can suggest a model. */
export interface HintSource {
  readonly manifest: Manifest;
  /** The name of the pod set. */
  readonly name: string;
  readonly pod: Cursor;
  readonly selectors: readonly Selector[];
  readonly tolerations: readonly Toleration[];
  readonly containers: readonly Container[];
  /** The comments of documents in the same file that run no pods. */
  readonly header: () => readonly string[];
}

/** The suggested models, the most reliable first. */
export function modelHints(source: HintSource): readonly NamedModels[] {
  return [
    ...source.selectors.flatMap(nodeHint),
    ...nodeNameHint(source.pod),
    ...preferred(source.pod).flatMap(preferenceHint),
    ...source.tolerations.flatMap(tolerationHint),
    ...fieldHints(source),
    ...argumentHints(source),
    ...nameHints(source),
    ...commentModels(source).flatMap(({ models, text }) => hint(models, 'comment', text)),
    ...described(source.manifest).flatMap(({ models, text }) => hint(models, 'comment', text)),
    ...source.containers.flatMap(imageHint),
  ];
}

function hint(candidates: readonly GpuModel[], basis: ModelHint['basis'], text: string): readonly NamedModels[] {
  return candidates.length === 0 ? [] : [{ candidates, from: 'hint', hint: { basis, text } }];
}

/** `cloud.google.com/gke-nodepool: h100-pool`, `kubernetes.io/hostname: dgx-a100-1`. */
function nodeHint({ key, values }: Selector): readonly NamedModels[] {
  // `rack: a10` and `team: l4` are not cards.
  if (values.some(({ value, at }) => isTemplated(at) || value.length < 4)) return [];
  // The catalog says which cards an exact label stands for: `A100` of Azure is also the PCIe card.
  if (values.every(({ value }) => gpusByLabel(key, value).length > 0)) return [];
  const isNode = /(?:host|node)-?name$/i.test(key);
  const models = values.map(({ value }) => (isNode ? modelsOnNode : modelsOnNodes)(value));
  if (models.some((found) => found.length === 0)) return [];
  return hint([...new Set(models.flat())], 'node', labelWords(key, values[0]?.value ?? ''));
}

/** What the labels and annotations of an object say of it or of its machine: `description: Chat on the RTX 4090`. */
function described({ labels, annotations }: Manifest): ReturnType<typeof cardInTexts> {
  const texts = [...labels, ...annotations].filter(
    ({ value, at }) => description.test(keyOf(at)) && mayNameGpu(value) && !isTemplated(at) && isOnCard(value),
  );
  return cardInTexts(texts.map(({ value }) => value));
}

/** Whether a description is little more than a card, or says on what something runs: others may compare cards. */
function isOnCard(text: string): boolean {
  if (text.length > 400) return false;
  const [, after = ''] = /\b(?:on|with|using|has|uses)\s(.{2,40})/i.exec(text) ?? [];
  return modelsMentioned(after).length > 0 || text.trim().split(/[\s,]+/).length <= 4;
}

const description = /(?:^|[/.])(?:description|summary|notes?|comment|hardware|machine|server)$/i;

/** An image that is built for a card: `trainer-a100`, `comfyui:rtx5090`. Short names and `v100` may be versions. */
function imageHint({ image, accelerators }: Container): readonly NamedModels[] {
  if (image === undefined || accelerators.length === 0 || isTemplated(image.at)) return [];
  const { repository, tag = '' } = imageParts(image.value);
  const name = repository.slice(repository.lastIndexOf('/') + 1);
  if (
    /neuron/i.test(name) &&
    firstNeuron.test(name) &&
    !/neuronx|inf2|trn\d/i.test(image.value) &&
    accelerators.some(isOfNeuron)
  )
    return hint(gpusNamed('inf1'), 'name', name);
  // The numbers of a tag belong to no word of the name.
  const models = [name, tag].flatMap((part) => modelsMentioned(part.toLowerCase().replace(shortOrVersion, ' ')));
  if (!isOneCard(models) || /(?:^|[-_.])(?:not?|non|without|removed?)(?:[-_.]|$)/i.test(`${name}.${tag}`)) return [];
  return hint(models, 'name', tag === '' ? name : `${name}:${tag}`);
}

/**
 * Images with the libraries of the first Inferentia; those of later chips are called `neuronx`. https://github.com/aws/deep-learning-containers,
 * available_images.md
 */
const firstNeuron = /(?:^|[-_])(?:torch|pytorch|tensorflow|mxnet)(?:-(?:inference|serving))?-neuron(?:$|[-_])/i;

function isOfNeuron({ resource }: Container['accelerators'][number]): boolean {
  return acceleratorResource(resource)?.vendor === 'aws';
}

const shortOrVersion = /(?<![a-z\d])(?:[a-z]\d{1,2}|[bv]\d{3})(?![a-z\d])/g;

/** The node by its name, and labels that it must have with any value. */
function nodeNameHint(pod: Cursor): readonly NamedModels[] {
  const node = getIn(pod, 'nodeName');
  const name = node === undefined || isTemplated(node) ? '' : (asText(node) ?? '');
  const required = getIn(pod, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution');
  const keys = items(getIn(required, 'nodeSelectorTerms', 0, 'matchExpressions')).flatMap((expression) =>
    asString(getIn(expression, 'operator')) === 'Exists' ? (asText(getIn(expression, 'key')) ?? []) : [],
  );
  return (name === '' ? keys : [name, ...keys]).flatMap((written) => hint(modelsOnNode(written), 'node', written));
}

/** The models that the name of a node, a pool or a taint mentions: also by a family of machines (`p4d-nodes`). */
function modelsOnNodes(name: string): readonly GpuModel[] {
  if (!mayNameGpu(name)) return [];
  const mentioned = modelsMentioned(name);
  if (mentioned.length > 0) return mentioned;
  const families = name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => /^(?:p[2-6]|g[4-7]|dl\d)\w{0,2}$/.test(word));
  return [...new Set(families.flatMap((family) => gpusByLabel('karpenter.k8s.aws/instance-family', family)))];
}

/** The same for one node, which people also name by the card's number: `desktop-3090`. */
function modelsOnNode(name: string): readonly GpuModel[] {
  const mentioned = modelsOnNodes(name);
  const isDesktop = /rtx|gtx|geforce|gpu|desktop|workstation|nvidia/i.test(name);
  const number =
    mentioned.length > 0 || !isDesktop ? undefined : /(?<![a-z\d.])[2-5]0[5-9]0(?:-?ti)?(?![a-z\d.])/i.exec(name)?.[0];
  return number === undefined ? mentioned : gpusNamed(number, true);
}

interface Preference {
  readonly key: string;
  readonly values: readonly string[];
}

/** The node labels that a pod prefers. */
function preferred(pod: Cursor): readonly Preference[] {
  const terms = getIn(pod, 'affinity', 'nodeAffinity', 'preferredDuringSchedulingIgnoredDuringExecution');
  return items(terms).flatMap((term) =>
    items(getIn(term, 'preference', 'matchExpressions')).flatMap((expression): Preference[] => {
      const key = asText(getIn(expression, 'key'));
      const values = items(getIn(expression, 'values'));
      if (key === undefined || asString(getIn(expression, 'operator')) !== 'In' || values.some(isTemplated)) return [];
      return [{ key, values: values.flatMap((value) => asText(value) ?? []) }];
    }),
  );
}

function preferenceHint({ key, values }: Preference): readonly NamedModels[] {
  const stated = modelsInLabel(key, values);
  const models = stated.length > 0 ? stated : modelsMentioned(values.length === 1 ? (values[0] ?? '') : '');
  return hint(models, 'preference', labelWords(key, values[0] ?? ''));
}

/** `gpu-type=a100:NoSchedule`. */
function tolerationHint({ key, value }: Toleration): readonly NamedModels[] {
  if (isTemplated(key?.at) || isTemplated(value?.at)) return [];
  const written = value === undefined ? (key?.value ?? '') : value.value;
  const models = [modelsOnNodes(written), modelsOnNodes(key?.value ?? '')].find((found) => found.length > 0) ?? [];
  return hint(models, 'toleration', labelWords(key?.value ?? '', value?.value ?? ''));
}

/**
 * Fields next to the pods or above, and those in a mapping about accelerators: `gpuType: A100` of a custom resource, `gpu.productLabel` or
 * `node_instance_type: p4d.24xlarge` of a chart.
 */
function fieldHints({ pod }: HintSource): readonly NamedModels[] {
  const found: NamedModels[] = [];
  let level = 0;
  for (let at: Cursor | undefined = pod; at !== undefined && level < 8; at = at.parent) {
    level += 1;
    const written = at.node.kind === 'map' ? at.node.entries : [];
    for (let index = 0; index < written.length && index < 64; index++) {
      const { key = '', value } = written[index] ?? {};
      // Few fields are about machines: the others need no cursor.
      const isHolder = value?.kind === 'map' && (holdsDevices(key) || key === 'model' || key === 'resources');
      const entry = isHolder || topicOf(key) !== undefined ? entries(at)[index] : undefined;
      if (entry === undefined) continue;
      if (value?.kind !== 'map') found.push(...fieldHint(entry, key));
      else if (isHolder)
        for (const field of entries(entry).slice(0, 64)) {
          const isBlock = key === 'resources' && field.node.kind === 'map' && holdsDevices(keyOf(field));
          for (const one of isBlock ? entries(field).slice(0, 64) : [field])
            found.push(...fieldHint(one, `${isBlock ? keyOf(field) : key}.${keyOf(one)}`));
        }
    }
  }
  return found;
}

/** @param key the field's key, behind that of a mapping about accelerators */
function fieldHint(field: Cursor, key: string): readonly NamedModels[] {
  const topic = topicOf(key);
  const value = topic && asText(field);
  if (value === undefined || !mayNameGpu(value) || isTemplated(field)) return [];
  const models =
    topic === 'machine'
      ? modelsOnMachine(key, value)
      : topic === 'variant'
        ? variantModels(value)
        : modelsInList(value);
  return hint(models, 'argument', `${key}: ${value}`);
}

/** What a field with such a key may name the model of. */
const topicOf = oncePerName((key): 'machine' | 'variant' | 'devices' | undefined => {
  const lower = key.toLowerCase();
  if (machineField.test(lower)) return 'machine';
  if (variantField.test(lower)) return 'variant';
  return isAboutDevices(key) ? 'devices' : undefined;
});

/** The card that a variant is made for: `sglang-tp2-h100`. Short words may be versions. */
function variantModels(name: string): readonly GpuModel[] {
  const models = /[\s,]/.test(name)
    ? []
    : modelsMentioned(name.replace(/(?<![a-z\d])(?:[a-z]\d{1,2}|v\d{3})(?![a-z\d])/gi, ' '));
  return isOneCard(models) ? models : [];
}

const variantField = /(?:^|[.a-z]|[-_])(?:variant|flavou?r|profile|preset)(?:[-_]?name)?$/;

function modelsOnMachine(key: string, value: string): readonly GpuModel[] {
  const stated = modelsInLabel(key, [value]);
  return stated.length > 0 ? stated : modelsOnNodes(value);
}

/** Both patterns are for names in lower case: ignoring case would take twice as long to compile. */
const machineField = either(
  new RegExp(
    `(?:${oneOf('instance machine node vm server')})[-_]?(?:${oneOf('type class size shape family profile pools? groups?')})$`,
  ),
  /^(?:shape|sku)$/,
);

/** Environment variables and arguments about accelerators, and the resources that Ray and Slurm schedule by. */
function argumentHints({ manifest: { root }, pod, containers }: HintSource): readonly NamedModels[] {
  const variables = containers.flatMap(({ env, configEnv = [] }) => [
    ...env.flatMap(({ name, value }) =>
      value === undefined || isTemplated(value.at) ? [] : variableHint(name, value.value),
    ),
    ...configEnv.flatMap(({ name, value }) => variableHint(name, value)),
  ]);
  // Ray's group, and the configuration of Serve and of Slurm.
  const group = pod.parent?.parent;
  const lines = containers.map(({ command, args }) => [...command, ...args].map(({ value }) => value));
  const texts = [
    ...lines.flat(),
    // A flag and its value may be two items.
    ...lines.map((words) => words.filter((word) => word.length < 80).join(' ')),
    ...entries(getIn(group, 'rayStartParams')).flatMap((entry) => asText(entry) ?? []),
    asText(getIn(root, 'spec', 'serveConfigV2')) ?? '',
    asText(getIn(root, 'spec', 'extraConf')) ?? '',
  ];
  const written = texts.flatMap((text) => {
    const mayName = text.length <= maxText && /gpu|accelerator/i.test(text);
    const found = mayName ? acceleratorArgument.exec(text) : null;
    return found === null ? [] : hint(gpusNamed(found[1] ?? '', true), 'argument', found[0]);
  });
  return [...variables, ...written];
}

/** `GPU_TYPE=l40s`, `INSTANCE_TYPE=g5.2xlarge`. */
function variableHint(name: string, value: string): readonly NamedModels[] {
  if (!mayNameGpu(value)) return [];
  const isMachine = machineField.test(name.toLowerCase());
  if (!isMachine && !isAboutDevices(name)) return [];
  return hint(isMachine ? modelsOnMachine(name, value) : modelsInList(value), 'argument', `${name}=${value}`);
}

const maxText = 20_000;
/** `accelerator_type: "H100"`, `--gpu-type=a100`, `--gres=gpu:a100:4`. */
const acceleratorArgument =
  /(?:accelerator[_-]?type|gpu[_-]?(?:type|model|name|product)|accelerator(?=[=:])|gres=gpu)\\?["']?[=: ]{1,3}\\?["']?([\w-]{2,40})/i;

/** The names of the object and of its pods, of its queue and of its claims: `llama-70b-h100`. */
function nameHints({ manifest, name, pod }: HintSource): readonly NamedModels[] {
  const marks = [...manifest.labels, ...manifest.annotations];
  const queues = marks.filter(
    ({ at }) => /queue(?:-name)?$/.test(keyOf(at)) || (isAboutDevices(keyOf(at)) && !excludes(keyOf(at))),
  );
  const queued = queues.filter(({ at }) => !isTemplated(at)).map(({ value }) => value);
  const spec = getIn(manifest.root, 'spec', 'queue');
  if (spec !== undefined && !isTemplated(spec)) queued.push(asText(spec) ?? '');
  const isTemplatedName = isTemplated(getIn(manifest.root, 'metadata', 'name'));
  // What a profile of JupyterHub is called.
  const title = getIn(pod.parent, 'display_name');
  const groups = [name, ...(title === undefined || isTemplated(title) ? [] : [asText(title) ?? ''])];
  const object = manifest.name === null || isTemplatedName ? '' : manifest.name;
  const claims = items(getIn(pod, 'resourceClaims')).flatMap((claim) => {
    const written = getIn(claim, 'resourceClaimTemplateName') ?? getIn(claim, 'resourceClaimName');
    return written === undefined || isTemplated(written) ? [] : [asText(written) ?? ''];
  });
  // What a platform's profile of nodes is called: `opendatahub.io/hardware-profile-name: l4-small`.
  const profiles = marks.filter(
    ({ at, value }) => /hardware-?profile(?:-?name)?$/i.test(keyOf(at)) && value.length > 3 && !isTemplated(at),
  );
  return [
    ...claims.flatMap((claim) => hint(modelsMentioned(claim), 'name', claim)),
    ...profiles.flatMap(({ value }) => hint(modelsOnNodes(value), 'name', value)),
    ...queued.flatMap((queue) => hint(modelsMentioned(queue), 'queue', queue)),
    ...groups.flatMap((group) => hint(modelsOnNodes(group), 'name', group)),
    ...hint(modelsMentioned(object), 'name', object),
  ];
}

function labelWords(key: string, value: string): string {
  const short = key.slice(key.lastIndexOf('/') + 1);
  return value === '' ? short : `${short} ${value}`;
}
