import { type ApiField, apiFields, isCustomType } from '../catalog/index.ts';
import { isSlip, nearest } from '../catalog/spelling.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { type Cursor, entries, getIn, items, keyOf } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import type { ApiHolder, ApiProblem } from './api-problems.ts';

/** What an unknown field was meant to be. */
export type MeantField =
  /** The same mapping has a field of a similar name. */
  | { readonly as: 'name'; readonly name: string; readonly certain: boolean }
  /** A mapping around it has the field. */
  | { readonly as: 'above'; readonly holder: ApiHolder }
  /** A mapping of the same name has it: a container's securityContext, not the pod's. */
  | { readonly as: 'elsewhere'; readonly words: string }
  /** A mapping below the same one has the field. */
  | { readonly as: 'below'; readonly path: readonly string[] }
  /** Docker Compose has it; what Kubernetes uses instead, in words. */
  | { readonly as: 'compose'; readonly instead: string }
  /** An earlier version of the type had it; the field of this one, and where it is if not here. */
  | { readonly as: 'former'; readonly name: string; readonly in: string };

/**
 * Whether the API server certainly does not know the field: the types of custom resources may have more fields in another version, but not
 * next to a field of the same name, or at the root of an object.
 */
export function isCertain({ holder }: ApiProblem, meant: MeantField | undefined): boolean {
  if (!isCustomType(holder.type) || holder.above === undefined || frozenTypes.has(holder.type)) return true;
  if (meant?.as !== 'name') return meant !== undefined;
  // The required field of a similar name is missing.
  return meant.certain || apiFields(holder.type).get(meant.name)?.required === true;
}

/** Types of versions that get no more fields. */
const frozenTypes = wordSet(
  'V2TrainJobSpec PyTorchJobSpec TFJobSpec XGBoostJobSpec PaddleJobSpec JAXJobSpec ReplicaSpec',
);

/** The field that an unknown one certainly or likely stands for: here under another name, or elsewhere under the same name. */
export function meantField({ at, holder, field }: ApiProblem): MeantField | undefined {
  if (isFormerOperand(holder)) return undefined;
  const inner = innerField(holder, field);
  if (inner !== undefined) return { as: 'below', path: inner };
  const free = freeFields(holder);
  const certain = similarField(holder, field) ?? onlyOne(free.filter((one) => hasFieldsOf(at, one)));
  if (certain !== undefined) return { as: 'name', name: certain.name, certain: true };
  const same = sameFields[holder.type]?.[field];
  if (same !== undefined && free.some(({ name }) => name === same)) return { as: 'name', name: same, certain: true };
  // A Service selects by plain labels.
  if (holder.type === 'LabelSelector' && at.node.kind === 'scalar') return { as: 'below', path: ['matchLabels'] };
  const instead = composeFields[holder.type]?.[field];
  if (instead !== undefined) {
    // A list in the form of Kubernetes. Next to an entrypoint, a command has its arguments.
    const isSame = (field === 'environment' || field === 'entrypoint') && free.some(({ name }) => name === instead);
    if (isSame && items(at).length > 0 && items(at).every((one) => isListed(one, field)))
      return { as: 'name', name: instead, certain: true };
    return { as: 'compose', instead };
  }
  const present = formerFields[holder.type]?.[field];
  if (present !== undefined) return { as: 'former', ...present };
  const above = holderAbove(holder, field);
  if (above !== undefined) return { as: 'above', holder: above };
  const twin = namesakes[holder.type];
  if (twin !== undefined && apiFields(twin.type).has(field)) return { as: 'elsewhere', words: twin.words };
  const path = pathBelow(holder, field, at);
  if (path !== undefined) return { as: 'below', path };
  const other = commonFields.has(field)
    ? undefined
    : relatedTypes[holder.type]?.find(({ type }) => apiFields(type).has(field));
  if (other !== undefined) return { as: 'elsewhere', words: other.words };
  const sibling = siblingWith(holder, field);
  if (sibling !== undefined) return { as: 'elsewhere', words: sibling };
  // Short names are near too many others.
  const long = free.map((one) => one.name).filter((one) => one.length > 5);
  const name = missingName(field, free) ?? nearest(field, long)[0];
  return name === undefined ? undefined : { as: 'name', name, certain: false };
}

/** The field of the same mapping whose name is certainly meant. */
export function similarField(holder: ApiHolder, field: string): ApiField | undefined {
  return (
    misspelledField(holder, field) ??
    onlyOne(freeFields(holder).filter(({ name }) => field.length >= 6 && name.startsWith(field)))
  );
}

/** The same, but only for slips: a shorter word such as `liveness` may be a field of one's own. */
export function misspelledField(holder: ApiHolder, field: string): ApiField | undefined {
  const free = freeFields(holder);
  return free.find(({ name }) => isSameName(field, name)) ?? free.find(({ name }) => isSlip(field, name));
}

/** The unwritten field of a mapping whose name is the same but for case, separators or a plural. */
export function sameNamed(holder: ApiHolder, field: string): string | undefined {
  return freeFields(holder).find(({ name }) => isSameName(field, name))?.name;
}

const shmInstead = 'a Memory emptyDir at /dev/shm';

/**
 * What people copy from a service of Docker Compose, by the type that it is copied into.
 * https://docs.docker.com/reference/compose-file/services/
 */
const composeFields = table({
  Container: table({
    cap_add: 'securityContext.capabilities.add',
    container_name: 'name',
    cpus: 'resources.limits.cpu',
    depends_on: 'init containers',
    deploy: 'resources.limits',
    devices: 'resources.limits',
    entrypoint: 'command',
    env_file: 'envFrom',
    environment: 'env',
    expose: 'ports',
    gpus: 'resources.limits',
    healthcheck: 'livenessProbe',
    ipc: 'hostIPC of the pod',
    mem_limit: 'resources.limits.memory',
    network_mode: 'hostNetwork of the pod',
    pid: 'hostPID of the pod',
    restart: 'restartPolicy of the pod',
    runtime: 'runtimeClassName of the pod',
    shm_size: shmInstead,
    shmSize: shmInstead,
    user: 'securityContext.runAsUser',
  }),
  ResourceRequirements: table({ reservations: 'requests and limits' }),
});

/** Fields that have another name in similar types. */
const sameFields = table({
  DaemonSetSpec: table({ strategy: 'updateStrategy' }),
  DeploymentSpec: table({ updateStrategy: 'strategy' }),
  Predictor: table({ replicas: 'minReplicas' }),
  SecretVolumeSource: table({ name: 'secretName' }),
  StatefulSetSpec: table({ strategy: 'updateStrategy' }),
});

/**
 * Fields of earlier versions.
 * https://karpenter.sh/docs/upgrading/v1-migration/, https://gateway-api-inference-extension.sigs.k8s.io/guides/ga-migration/
 */
const formerFields = table({
  InferencePoolSpec: table({
    extensionRef: { name: 'endpointPickerRef', in: '' },
    targetPortNumber: { name: 'targetPorts', in: '' },
  }),
  NodeClassRef: table({ apiVersion: { name: 'group', in: '' } }),
  NodePoolNode: table({ kubelet: { name: 'kubelet', in: ' of the node class' } }),
});

const runtimePods = 'the pods of its runtime or their overrides';

/** Types that are mistaken for each other: of fields with one name, or of one that has some fields of the other. */
const namesakes = table<{ readonly type: string; readonly words: string }>({
  NodePoolDisruption: { type: 'NodePoolNode', words: 'spec.template.spec' },
  NodeTaint: { type: 'Toleration', words: 'the tolerations of pods' },
  PodSecurityContext: { type: 'SecurityContext', words: "a container's securityContext" },
  SecurityContext: { type: 'PodSecurityContext', words: "the pod's securityContext" },
  Trainer: { type: 'Container', words: runtimePods },
});

const nodeClass = { type: 'EC2NodeClassSpec', words: 'the EC2NodeClass' };
const rayJob = { type: 'RayJobSpec', words: 'a RayJob' };
const rayService = { type: 'RayServiceSpec', words: 'a RayService' };
const trainingJob = { type: 'PyTorchJobSpec', words: 'a PyTorchJob' };
const runtime = { type: 'TrainingRuntimeSpec', words: 'its TrainingRuntime' };
const pool = ['NodePoolSpec', 'NodePoolNode'].map((type) => ({ type, words: 'the NodePool' }));

/** The objects next to an object of each type, some of whose fields are written in it. */
const relatedTypes = table<readonly { readonly type: string; readonly words: string }[]>({
  ClusterPolicyOperand: [{ type: 'ClusterPolicyDaemonsets', words: 'daemonsets' }],
  ClusterPolicyToolkit: [{ type: 'ClusterPolicyDaemonsets', words: 'daemonsets' }],
  EC2NodeClassSpec: pool,
  NodePoolNode: [nodeClass],
  NodePoolSpec: [nodeClass],
  RayClusterSpec: [rayJob, rayService],
  RayJobSpec: [rayService],
  RayServiceSpec: [rayJob],
  TrainJobSpec: [runtime, trainingJob],
  V2TrainJobSpec: [runtime, trainingJob],
  Trainer: [{ type: 'PodSpec', words: runtimePods }],
});

const operands = wordSet('ClusterPolicyOperand ClusterPolicyToolkit GPUOperand GPUDevicePlugin GPUDriver GPUToolkit');

/** Whether a part of the GPU operator has the form of version 1.7 and earlier, in which each part had its own placement. */
export function isFormerOperand({ at, type }: ApiHolder): boolean {
  return operands.has(type) && ['affinity', 'podSecurityContext'].some((key) => getIn(at, key) !== undefined);
}

/** Whether an item of Docker Compose has the form that Kubernetes needs. */
function isListed(item: Cursor, field: string): boolean {
  return field === 'environment' ? getIn(item, 'name') !== undefined : item.node.kind === 'scalar';
}

/** The fields that a mapping does not have; found once, because it may have thousands of unknown ones. */
function freeFields(holder: ApiHolder): readonly ApiField[] {
  const known = freeOf.get(holder);
  if (known !== undefined) return known;
  const found = [...apiFields(holder.type).values()].filter(({ name }) => getIn(holder.at, name) === undefined);
  freeOf.set(holder, found);
  return found;
}

const freeOf = new WeakMap<ApiHolder, readonly ApiField[]>();

/** Whether a mapping has only fields of another field's type, and several. */
function hasFieldsOf(at: Cursor, { type }: ApiField): boolean {
  const keys = entries(at).map(keyOf);
  if (type.form !== 'object' || keys.length < 2) return false;
  const fields = apiFields(type.name);
  return keys.every((key) => fields.has(key) && !commonFields.has(key));
}

/** Names that differ in case, separators or a plural. */
function isSameName(one: string, other: string): boolean {
  return plain(one) === plain(other);
}

function plain(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/ies$/, 'y')
    .replace(/s$/, '');
}

function onlyOne<T>([only, ...others]: readonly T[]): T | undefined {
  return others.length === 0 ? only : undefined;
}

/** The one required field that is missing, if the written name is a part of its name: `name` for `claimName`. */
function missingName(written: string, free: readonly ApiField[]): string | undefined {
  const [only, ...others] = free.filter(({ required }) => required);
  const isPart = only !== undefined && plain(only.name).endsWith(plain(written));
  return isPart && others.length === 0 ? only.name : undefined;
}

/** The mapping around it that has the field. */
export function holderAbove(holder: ApiHolder, field: string): ApiHolder | undefined {
  // Every mapping around has a name or metadata: such words say nothing of the place.
  if (commonFields.has(field)) return undefined;
  for (let here = holder.above; here !== undefined; here = here.above) {
    if (apiFields(here.type).has(field)) return here;
  }
  return undefined;
}

const commonFields = wordSet('name namespace type metadata spec key value');

/** Entries of mappings with free keys, which are not fields of a type. */
const innerFields = table({
  PersistentVolumeClaimSpec: table({ storage: ['resources', 'requests'] }),
  VolumeResourceRequirements: table({ storage: ['requests'] }),
});

/** The path to a mapping directly below that is written next to the field, and has a field of exactly this name. */
function innerField({ at, type }: ApiHolder, field: string): readonly string[] | undefined {
  const path = innerFields[type]?.[field];
  if (path !== undefined || commonFields.has(field) || apiFields('ObjectMeta').has(field)) return path;
  const written = [...apiFields(type).values()].filter(
    ({ name, type: inner }) =>
      inner.form === 'object' &&
      name !== 'metadata' &&
      apiFields(inner.name).has(field) &&
      getIn(at, name) !== undefined,
  );
  return onlyOne(written.map(({ name }) => [name]));
}

/** A mapping next to the holder that has the field: `spec` for a field in `metadata`. Custom resources may have it in both. */
function siblingWith({ at, type, above }: ApiHolder, field: string): string | undefined {
  if (above === undefined || isCustomType(type) || commonFields.has(field)) return undefined;
  const written = [...apiFields(above.type).values()].filter(
    ({ name, type: inner }) =>
      inner.form === 'object' &&
      name !== keyOf(at) &&
      apiFields(inner.name).has(field) &&
      getIn(above.at, name) !== undefined,
  );
  return onlyOne(written.map(({ name }) => name));
}

const maxDepth = 4;

/** Whether a value has the keys of a field's type. */
function fits(value: Cursor | undefined, field: ApiField | undefined): boolean {
  const type = field?.type;
  if (value === undefined || type === undefined) return false;
  const isList = type.form === 'list';
  const inner = isList ? type.of : type;
  if (inner.form !== 'object' || (value.node.kind === 'seq') !== isList) return false;
  const known = apiFields(inner.name);
  return (isList ? items(value) : [value]).every((one) => entries(one).every((entry) => known.has(keyOf(entry))));
}

/** The shortest path of fields to a mapping with the field; undefined if there are several. */
export function pathBelow(
  { at, type, above }: ApiHolder,
  field: string,
  value?: Cursor,
): readonly string[] | undefined {
  if (above === undefined && apiFields('ObjectMeta').has(field)) return ['metadata'];
  if (commonFields.has(field)) return undefined;
  let level: readonly { readonly type: string; readonly path: readonly string[] }[] = [{ type, path: [] }];
  for (let depth = 0; depth < maxDepth && level.length > 0; depth += 1) {
    level = level.flatMap((here) =>
      [...apiFields(here.type).values()].flatMap(({ name, type: inner }) =>
        inner.form === 'object' && name !== 'metadata' ? [{ type: inner.name, path: [...here.path, name] }] : [],
      ),
    );
    const found = level.filter((here) => apiFields(here.type).has(field));
    const written = found.filter(({ path }) => getIn(at, ...path) !== undefined);
    // Fields that are misplaced together belong together: `path` and `port` of a probe.
    const together = found.filter((here) =>
      entries(at).every((entry) => apiFields(type).has(keyOf(entry)) || apiFields(here.type).has(keyOf(entry))),
    );
    const likely = [written, together].find((some) => some.length > 0) ?? found;
    // Node and pod affinity have fields of one name, but not of one form.
    const fitting = likely.length > 1 ? likely.filter((here) => fits(value, apiFields(here.type).get(field))) : likely;
    const [only, ...others] = fitting.length > 0 ? fitting : likely;
    if (only !== undefined) return others.length === 0 ? only.path : undefined;
  }
  return undefined;
}
