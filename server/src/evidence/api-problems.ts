import {
  type ApiType,
  acceleratorResource,
  apiFields,
  apiKind,
  isCustomType,
  requiredApiFields,
} from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { once } from '../model/once.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, childAt, entries, getIn, isIncomplete, items, keyOf } from '../yaml/cursor.ts';
import { oncePerName } from '../yaml/lazy.ts';
import type { YamlDocument, YamlNode, YamlScalar } from '../yaml/node.ts';
import { conforms, scalarProblem } from './api-conformity.ts';
import { isBareItem } from './bare-items.ts';
import { isEmptyItem, isLeftOpen, isMissing } from './empty-fields.ts';
import { passesGpus } from './gpu-files.ts';
import { type RenderedProblem, renderedProblem } from './rendered-fields.ts';
import { isConstantName } from './written.ts';

/** A place where an object differs from the API's types, so that the API server rejects it. */
export interface ApiProblem {
  readonly what:
    | 'unknown-field'
    /** A number or boolean where a string is required. */
    | 'not-string'
    | 'wrong-type'
    | 'not-in-enum'
    | 'not-a-quantity'
    | RenderedProblem
    /** `at` is the mapping without the field. */
    | 'missing-field'
    /** A required field, or an item with required fields, without a value: a dash or a colon with nothing after it. */
    | 'empty';
  readonly at: Cursor;
  /** The mapping that has, or should have, the field. */
  readonly holder: ApiHolder;
  /** The name of the field. */
  readonly field: string;
  /** What the place must hold; undefined for an unknown field. */
  readonly type: ApiType | undefined;
}

/** A mapping of an object with its type, and the mappings around it. */
export interface ApiHolder {
  readonly at: Cursor;
  readonly type: string;
  readonly above: ApiHolder | undefined;
}

/**
 * Compares an object with the types of its kind; empty for kinds that are not in the table. Templated values, what a template may add, and
 * sketches (`...`) are unknown.
 */
export const apiProblems: (manifest: Manifest) => readonly ApiProblem[] = once(
  ({ root, apiVersion, kind, document }) => {
    // Only a part of an invalid document can be read.
    if (document.problems.some(({ readable }) => readable !== true)) return [];
    const { node } = root;
    if (node.kind === 'map' && node.entries.filter(({ key }) => key === 'kind').length > 1) return [];
    const type = apiKind(apiVersion, kind);
    if (type === undefined) return [];
    const custom = isCustomType(type);
    // Nearly all objects conform: the other conditions are only for the rest.
    if (isNamed(root) && conforms(node, { form: 'object', name: type }, custom)) return [];
    if (!(concernsAccelerators(node, type) || joinsCluster(root, type))) return [];
    const walk: Walk = { partial: isPatch(root), found: [], text: document.text, custom };
    const holder: ApiHolder = { at: root, type, above: undefined };
    visitObject(holder, walk);
    if (lacksName(root, kind, walk)) {
      walk.found.push({ what: 'missing-field', at: root, holder, field: 'metadata.name', type: undefined });
    }
    return walk.found;
  },
);

/** The parts of a pod that charts pass on from their values unchanged, by their types. */
const passedOn: readonly (readonly [key: string, type: ApiType])[] = [
  ['affinity', { form: 'object', name: 'Affinity' }],
  ['tolerations', { form: 'list', of: { form: 'object', name: 'Toleration' } }],
  ['resources', { form: 'object', name: 'ResourceRequirements' }],
  ['nodeSelector', { form: 'map', of: { form: 'any' } }],
  ['env', { form: 'list', of: { form: 'object', name: 'EnvVar' } }],
];

/** The unknown fields and words in such parts of a chart's values, a single toleration, a list of selectors or a text for a variable, and lists and mappings that an affinity cannot have. */
export function passedOnProblems(block: Cursor, { problems, text }: YamlDocument): readonly ApiProblem[] {
  if (problems.some(({ readable }) => readable !== true)) return [];
  const walk: Walk = { partial: true, found: [], text, custom: false };
  const holder: ApiHolder = { at: block, type: 'PodSpec', above: undefined };
  for (const [key, type] of passedOn) {
    const part = getIn(block, key);
    if (part !== undefined && !isIncomplete(part)) visit(part, type, { holder, field: key }, walk);
  }
  return walk.found.filter(
    ({ what, at, field }) =>
      what === 'unknown-field' ||
      what === 'not-in-enum' ||
      (what === 'wrong-type' && (isBareItem(at, field) || affinityParts.has(field) || isLabelText(at, field))),
  );
}

/** A label and its value in one text, as for kubectl: `nodeSelector: gpu=true`. */
function isLabelText({ node }: Cursor, field: string): boolean {
  return field === 'nodeSelector' && node.kind === 'scalar' && /^[\w./-]+[=:] ?[\w.-]+$/.test(node.source);
}

const affinityParts = wordSet(
  'requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution',
  'nodeSelectorTerms matchExpressions matchFields preference podAffinityTerm labelSelector values weight',
);

/** The problems in a mapping to which others may add. */
export function problemsBelow(holder: ApiHolder, text: string, custom = true): readonly ApiProblem[] {
  const walk: Walk = { partial: true, found: [], text, custom };
  visitObject(holder, walk);
  return walk.found;
}

interface Walk {
  /** A part of an object, such as a patch: other parts may have what is missing here. */
  readonly partial: boolean;
  readonly found: ApiProblem[];
  readonly text: string;
  /** The schema of a custom resource, which is stricter with numbers. */
  readonly custom: boolean;
}

interface Place {
  readonly holder: ApiHolder;
  readonly field: string;
}

function visitObject(holder: ApiHolder, walk: Walk): void {
  const { at, type } = holder;
  const fields = apiFields(type);
  const own = entries(at);
  for (const entry of own) {
    const name = keyOf(entry);
    const field = fields.get(name);
    if (field !== undefined) visit(entry, field.type, { holder, field: name }, walk);
    // SOPS adds its field to encrypted files, and removes it when they are applied.
    else if (isWrittenKey(entry, walk) && !(name === 'sops' && holder.above === undefined)) {
      walk.found.push({ what: 'unknown-field', at: entry, holder, field: name, type: undefined });
    }
  }
  const missing = requiredApiFields(type).filter(({ name }) => isMissing(childAt(at, name)));
  if (missing.length === 0 || isIncomplete(at) || isSketch(at.node)) return;
  if (own.some((entry) => keyOf(entry).startsWith('$'))) return;
  for (const { name, type: expected } of missing) {
    // The operators fill in parts of their pods.
    if (walk.custom && !isCustomType(type)) continue;
    if (walk.partial && !mergeKeys.has(`${type}.${name}`)) continue;
    if (!isExpected(holder, name)) continue;
    const empty = childAt(at, name);
    if (empty === undefined) walk.found.push({ what: 'missing-field', at, holder, field: name, type: expected });
    else report('empty', empty, expected, { holder, field: name }, walk);
  }
}

/** The fields by which a patch finds the item of a list, so that a patch needs them too. */
const mergeKeys = wordSet(
  'Container.name ContainerPort.containerPort EnvVar.name PodResourceClaim.name',
  'TopologySpreadConstraint.topologyKey Volume.name VolumeMount.mountPath',
);

/** Whether an object without a field is certainly whole: a patch of a workload repeats no labels, and one of a scaler no metrics. */
function isExpected(holder: ApiHolder, field: string): boolean {
  const { at, type } = holder;
  if (field === 'image') return isWholeContainer(holder);
  if (field === 'selector') return entries(getIn(at, 'template', 'metadata', 'labels')).length > 0;
  if (field === 'scaleTargetRef') return getIn(at, 'metrics') !== undefined;
  if (field === 'maxReplicas') return getIn(at, 'scaleTargetRef') !== undefined;
  if (field === 'metadata') return getIn(at, 'spec') !== undefined;
  if (field === 'consolidateAfter') return getIn(at.parent, 'template', 'spec', 'nodeClassRef') !== undefined;
  return type !== 'PodSpec' || getIn(at.parent, 'metadata') !== undefined;
}

function visit(at: Cursor, type: ApiType, place: Place, walk: Walk): void {
  const { node } = at;
  if (node.kind === 'scalar') {
    // Most values.
    if (type.form === 'string' && typeof node.value === 'string' && !node.templated) return;
    const rendered = node.templated ? renderedProblem(node, type, walk.text) : undefined;
    if (rendered !== undefined) report(rendered, at, type, place, walk);
    // The decoder accepts null everywhere.
    if (node.value === null || node.templated || isSketch(node) || isInserted(node, type, place.field)) return;
  }
  switch (type.form) {
    case 'any':
      return;
    case 'object':
      if (node.kind === 'map') visitObject({ at, type: type.name, above: place.holder }, walk);
      else report('wrong-type', at, type, place, walk);
      return;
    case 'map':
      if (node.kind !== 'map') report('wrong-type', at, type, place, walk);
      for (const entry of entries(at)) {
        if (!keyOf(entry).startsWith('$')) visit(entry, type.of, place, walk);
      }
      return;
    case 'list':
      if (node.kind !== 'seq') report('wrong-type', at, type, place, walk);
      for (const item of items(at)) {
        if (!walk.partial && isEmptyItem(item, type.of, at)) report('empty', item, type.of, place, walk);
        else visit(item, type.of, place, walk);
      }
      return;
    default: {
      const what = node.kind === 'scalar' ? scalarProblem(node, type, walk.custom) : 'wrong-type';
      if (what !== undefined) report(what, at, type, place, walk);
    }
  }
}

function report(what: ApiProblem['what'], at: Cursor, type: ApiType, { holder, field }: Place, walk: Walk): void {
  if (what === 'empty' && isLeftOpen(at, walk.text)) return;
  walk.found.push({ what, at, holder, field, type });
}

/** Whether a key was meant as a field: not a directive of a patch, an extension, or a placeholder. */
function isWrittenKey({ entry }: Cursor, { text }: Walk): boolean {
  const name = entry?.key.replace(invisible, '') ?? '';
  if (entry === undefined || !/^[A-Za-z][\w./-]*:?$/.test(name) || entry.key.startsWith('x-')) return false;
  const written = text.slice(entry.keySpan.start, entry.keySpan.end);
  return written.includes(entry.key);
}

/** Characters without width or ink, as pages have them to divide long words. */
const invisible = /[\u00ad\u200b-\u200d\u2060\ufeff]/g;

/** What a written name says that is a known one with an invisible character, up to its colon. */
export function hiddenWords(written: string, known: string): string | undefined {
  const [character] = written.match(invisible) ?? [];
  if (character === undefined || written.replace(invisible, '') !== known) return undefined;
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `This ${known} contains the invisible character U+${code}, so it is another name:`;
}

/** `...` and `N` stand for what an example leaves out. */
function isSketch(node: YamlNode): boolean {
  if (node.kind === 'map') return node.entries.some(({ key }) => /^\W+$/.test(key) && !key.startsWith('$'));
  return (
    node.kind === 'scalar' &&
    node.style === 'plain' &&
    node.source.length < 500 &&
    /^(?:\W*(?:\.{2,}|\u2026).*|<.*>|[A-Z])$/.test(node.source)
  );
}

/**
 * Whether a word such as `GPU_COUNT` stands where no text can be, so a program replaces it, or the name of a type such as `ResourceQuota`, as in a
 * reference. Lists of words have constants such as `IPC_LOCK`.
 */
function isInserted({ source, style }: YamlScalar, type: ApiType, field: string): boolean {
  if (type.form === 'object' && style === 'plain' && /^(?:[A-Z][a-z]+){2,6}$/.test(source)) return true;
  if (type.form === 'string' || type.form === 'enum' || style !== 'plain' || !isConstantName(source)) return false;
  if (type.form === 'list') return type.of.form !== 'string' || field === 'command' || field === 'args';
  return true;
}

/** Whether a container is part of a whole workload. */
function isWholeContainer({ at, above }: ApiHolder): boolean {
  const isListed = at.parent?.step === 'containers' || at.parent?.step === 'initContainers';
  return isListed && above !== undefined && (isWhole(above.above?.above?.at) || runsOnce(above.at, at));
}

/** Whether a pod says when it restarts and what a container runs: a patch changes one thing, and rarely that of pods that end. */
function runsOnce(pod: Cursor | undefined, container: Cursor): boolean {
  const runs = getIn(container, 'command') ?? getIn(container, 'args');
  const restarts = asText(getIn(pod, 'restartPolicy'));
  const ends = restarts === 'Never' || restarts === 'OnFailure';
  return ends && runs !== undefined && getIn(container, 'resources') !== undefined;
}

/** Whether a whole object has no name. Operators and schedulers name the pods that they make of a file with a Pod. */
function lacksName(root: Cursor, kind: string, walk: Walk): boolean {
  const metadata = getIn(root, 'metadata');
  const spec = getIn(root, 'spec');
  if (root.parent !== undefined || kind === 'PodTemplate' || walk.partial) return false;
  if (isIncomplete(root) || isIncomplete(metadata) || isSketch(root.node) || metadata?.node.kind === 'scalar')
    return false;
  if (isNamed(root) || !isMissing(getIn(metadata, '$patch'))) return false;
  const empty = getIn(metadata, 'name');
  if (empty !== undefined && isLeftOpen(empty, walk.text)) return false;
  return getIn(spec, 'template') === undefined ? spec !== undefined : isWhole(spec) || kind === 'Job';
}

function isNamed(root: Cursor): boolean {
  const metadata = getIn(root, 'metadata');
  return !isMissing(getIn(metadata, 'name')) || !isMissing(getIn(metadata, 'generateName'));
}

/** Whether a workload selects its own pods: a patch does not repeat that. */
function isWhole(spec: Cursor | undefined): boolean {
  return getIn(spec, 'selector') !== undefined && getIn(spec, 'template', 'metadata', 'labels') !== undefined;
}

/** Whether a container of the object has no image: the object that it patches does. */
function isPatch(root: Cursor): boolean {
  const spec = getIn(root, 'spec');
  const pod = getIn(getIn(spec, 'jobTemplate', 'spec') ?? spec, 'template', 'spec') ?? spec;
  if (isWhole(spec)) return false;
  return items(getIn(pod, 'containers')).some(
    (one) => one.node.kind === 'map' && getIn(one, 'image') === undefined && !runsOnce(pod, one),
  );
}

/** Kinds whose objects name the accelerators of their pods. Others may take them from elsewhere, or hold them for other objects. */
const bearingKinds = wordSet(
  'ArgoApplication ArgoApplicationSet CronJob DaemonSet Deployment HelmChart HelmRelease JAXJob Job JobSet KnativeService LeaderWorkerSet MPIJob PaddleJob Pod PodTemplate',
  'PyTorchJob RayCluster RayJob RayService ReplicaSet ReplicationController ScaledJob ScheduledSparkApplication SparkApplication StatefulSet TFJob',
  'VirtualMachine VirtualMachineInstance Notebook VolcanoJob XGBoostJob',
);

/** Whether a job runs in a Ray cluster of another object, which may have the accelerators. */
function joinsCluster(root: Cursor, type: string): boolean {
  return type === 'RayJob' && getIn(root, 'spec', 'clusterSelector') !== undefined;
}

/** Whether an object names accelerators anywhere, even where no container gets them, or is of a kind that need not name them. */
export function concernsAccelerators(node: YamlNode, kind: string): boolean {
  return !bearingKinds.has(kind) || namesAccelerators(node, kind.startsWith('Argo'));
}

/** @param texts whether texts may be values of a chart, or the names of some */
function namesAccelerators(node: YamlNode, texts: boolean): boolean {
  if (node.kind === 'map')
    return node.entries.some(({ key, value }) => isAccelerator(key) || namesAccelerators(value, texts));
  if (node.kind === 'seq') return node.items.some(({ value }) => namesAccelerators(value, texts));
  if (typeof node.value !== 'string') return false;
  // Most values are single words.
  if (!node.value.includes('/')) return passesGpus(node.value) || (texts && acceleratorWords.test(node.value));
  // As in `limits: nvidia.com/gpu=1` and in what Docker Compose calls a driver or a runtime.
  return (
    passesGpus(node.value) ||
    (texts && acceleratorWords.test(node.value)) ||
    acceleratorResource(/^[^\s=:,]{0,80}/.exec(node.value)?.[0] ?? '') !== undefined
  );
}

const isAccelerator = oncePerName((key) => acceleratorWords.test(key) || acceleratorResource(key) !== undefined);

const acceleratorWords = /gpu|nvidia|accelerator|\/tpu|neuron|gaudi|habana|resourceClaims/i;
