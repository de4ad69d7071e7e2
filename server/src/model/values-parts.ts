import { acceleratorResource, instanceType } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { Cursor, Located } from '../yaml/cursor.ts';
import { asBoolean, asText, entries, getIn, isIncomplete, isNull, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import type { PodCount, PodSetSource } from './kinds/kind.ts';
import { between, exactly } from './kinds/pod-sets.ts';
import { countOf, lowerContainer, lowerCount, text } from './pod.ts';
import { lowerQuantity } from './quantity.ts';
import { ownFlagsOf } from './vllm-settings.ts';
import type { AcceleratorRequest, Container } from './workload.ts';

// The parts of a pod in a chart's values, under the keys that charts use.

/** The pods of a mapping that describes them. */
export function podSetOf(block: Cursor, containers: readonly Container[]): PodSetSource {
  const type = instanceTypeOf(block);
  // KubeSpawner's names are in snake case; vLLM's production stack has the terms without their wrapping.
  const nodeSelector = getIn(block, 'node_selector');
  const nodeSelectorTerms = firstOf(block, ['nodeSelectorTerms', 'node_affinity_required']);
  return {
    name: 'replica',
    pod: block,
    metadata: undefined,
    replicas: getIn(block, 'replicaCount') ?? getIn(block, 'replicas'),
    pods: exactly(null),
    containers,
    ...(type === undefined ? {} : { instanceType: type }),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(nodeSelectorTerms === undefined ? {} : { nodeSelectorTerms }),
  };
}

/**
 * The pods that a chart makes of a mapping with `replicaCount` or `replicas`: none if it is disabled, a range if it is autoscaled.
 * @param unset the chart's own number; null if it is unknown
 */
export function replicasOf(block: Cursor, unset: number | null = 1): PodCount {
  if (isTemplated(getIn(block, 'enabled')) || isIncomplete(block)) return exactly(null);
  if (asBoolean(getIn(block, 'enabled')) === false) return exactly(0);
  const autoscaled = autoscaledReplicasOf(block);
  if (autoscaled !== undefined) return autoscaled;
  const written = firstOf(block, ['replicaCount', 'replicas']);
  return exactly(written === undefined && unset === null ? null : lowerCount(written, unset ?? 1));
}

/** The bounds of the autoscaler that a mapping turns on for its pods; undefined if it turns on none. */
export function autoscaledReplicasOf(block: Cursor): PodCount | undefined {
  const scaler = ['autoscaling', 'hpa', 'keda'].map((key) => getIn(block, key)).find((one) => isOn(one) !== false);
  if (scaler === undefined || isOn(scaler) === undefined) return boundsOf(block);
  if (isOn(scaler) === null) return exactly(null);
  const max = firstOf(scaler, ['maxReplicas', 'maxReplicaCount', 'max']);
  const min = firstOf(scaler, ['minReplicas', 'minReplicaCount', 'min']);
  // KEDA scales to zero unless a minimum is set, and an HPA leaves 0 replicas alone.
  const isOff = lowerCount(firstOf(block, ['replicaCount', 'replicas']), 1) === 0;
  return between(lowerCount(min, isOff ? 0 : 1), max === undefined ? null : lowerCount(max, 1));
}

/** Bounds without a switch, in values with no other number of pods: `scaling: {minReplicas: 1, maxReplicas: 3}`. */
function boundsOf(block: Cursor): PodCount | undefined {
  const scaling = firstOf(block, ['scaling', 'autoscaling']);
  const [min, max] = [getIn(scaling, 'minReplicas'), getIn(scaling, 'maxReplicas')];
  const isOpen = getIn(scaling, 'enabled') !== undefined || firstOf(block, ['replicaCount', 'replicas']) !== undefined;
  if (isOpen || min === undefined || max === undefined) return undefined;
  return between(lowerCount(min, 1), lowerCount(max, 1));
}

/** Whether an autoscaler is enabled; null if that is templated, undefined if there is none. */
function isOn(scaler: Cursor | undefined): boolean | null | undefined {
  const enabled = getIn(scaler, 'enabled');
  if (enabled === undefined) return false;
  return isTemplated(enabled) ? null : (asBoolean(enabled) ?? false);
}

/** The value of the first of these keys that a block has. */
export function firstOf(block: Cursor | undefined, keys: readonly string[]): Cursor | undefined {
  return keys.map((key) => getIn(block, key)).find((value) => value !== undefined);
}

/** A container of which a chart takes the parts from several places of its values. */
export interface ContainerParts {
  readonly at: Cursor;
  readonly name: string;
  readonly type?: Container['type'];
  readonly image?: Cursor | undefined;
  /** The repository of its image in the chart's own values. */
  readonly repository?: string;
  readonly resources?: Cursor | undefined;
  /** Requests outside `resources`. */
  readonly requests?: readonly AcceleratorRequest[];
  readonly command?: readonly Located<string>[];
  readonly env?: readonly (Cursor | undefined)[];
  /** The values of a chart that is not well known: its server may have settings under the names of flags. */
  readonly ownChart?: true;
}

/** The container that a chart makes of its values. */
export function containerOf(parts: ContainerParts): Container {
  const { at, name, type = 'app', image, resources = getIn(at, 'resources'), requests = [], command, env } = parts;
  const lowered = lowerContainer(at, type, name, resources);
  const container = parts.ownChart === true ? withStart(lowered) : lowered;
  const listed = [...container.args, ...listOf(getIn(at, 'extraArgs'))];
  const passed = parts.ownChart === true ? listed.flatMap(flagWithValue) : listed;
  const named = imageOf(at, image ?? getIn(at, 'image'), parts.repository);
  const settings =
    parts.ownChart === true && container.command.length === 0
      ? ownFlagsOf(at, named.repository ?? (named.image ?? container.image)?.value, passed)
      : [];
  return {
    ...container,
    ...named,
    args: command === undefined ? [...passed, ...settings] : [],
    ...(command === undefined ? {} : { command }),
    env: env === undefined ? variables(at) : env.flatMap(variablesIn),
    accelerators: [...container.accelerators, ...requests],
  };
}

/** A container with the command line from the part of its values that has one: `image: {command: […]}`, or a text for a shell. */
function withStart(container: Container): Container {
  const { at, command, args } = container;
  const parts = entries(at).filter(
    (part) => startParts.has(keyOf(part).toLowerCase()) && getIn(part, 'resources') === undefined,
  );
  const found = [at, ...parts].map((part) => ({
    command: wordsIn(getIn(part, 'command')),
    args: wordsIn(getIn(part, 'args')),
  }));
  const [only, ...others] = found.filter((one) => one.command.length + one.args.length > 0);
  return only === undefined || others.length > 0 || command.length + args.length > 0
    ? container
    : { ...container, ...only };
}

/** The words of an item with a flag and its value, which the chart's own template joins or splits. No edit changes one of them. */
function flagWithValue(item: Located<string>): readonly Located<string>[] {
  const [, flag, value] = /^(--[A-Za-z][\w.-]*)[ \t]+([^\s=-]\S*)$/.exec(item.value) ?? [];
  if (flag === undefined || value === undefined || isTemplated(item.at)) return [item];
  const at = { ...item.at, shared: true };
  return [
    { value: flag, at },
    { value, at },
  ];
}

const startParts = wordSet('image process container main server', 'app deployment engine vllm sglang llm');

/** The words of a list, or of a line that a chart passes to a shell. */
function wordsIn(list: Cursor | undefined): readonly Located<string>[] {
  const line = isTemplated(list) ? undefined : text(list);
  if (line === undefined) return listOf(list);
  return /\S\s+\S/.test(line.value) ? [{ ...line, value: 'sh' }, { ...line, value: '-c' }, line] : [];
}

/** The texts in a list. */
function listOf(list: Cursor | undefined): readonly Located<string>[] {
  return items(list).flatMap((item) => text(item) ?? []);
}

/** Environment variables, as a list or as a mapping of names to values. */
export function variables(block: Cursor): Container['env'] {
  return ['env', 'environment', 'extraEnv', 'extraEnvVars', 'envVars', 'containerEnv'].flatMap((key) =>
    variablesIn(getIn(block, key)),
  );
}

function variablesIn(list: Cursor | undefined): Container['env'] {
  const listed = items(list).map((env) => ({
    name: asText(getIn(env, 'name')) ?? '',
    value: text(getIn(env, 'value')),
    at: env,
  }));
  const mapped = entries(list).map((env) => ({ name: keyOf(env), value: text(env), at: env }));
  return [...listed, ...mapped];
}

/** A request under a chart's own key; null as the count if the value is not a whole number. */
export function requestOf(resource: string, amount: Cursor): readonly AcceleratorRequest[] {
  const known = acceleratorResource(resource);
  if (known === undefined || amount.node.kind !== 'scalar' || isNull(amount)) return [];
  const limit = lowerQuantity(amount);
  return [{ resource, form: known.form, limit, request: undefined, count: countOf(limit) }];
}

/**
 * JupyterHub: KubeSpawner's own names, and those of its chart. A profile replaces whole mappings of its defaults.
 * https://jupyterhub-kubespawner.readthedocs.io/en/latest/spawner.html, https://z2jh.jupyter.org/en/stable/resources/reference.html
 */
export function extraResources(block: Cursor, defaults = block, profile?: Cursor): readonly AcceleratorRequest[] {
  const own = (key: string) => getIn(block, key) ?? getIn(profile, key);
  const limits = own('extra_resource_limits') ?? getIn(defaults, 'extraResource', 'limits');
  const requests = own('extra_resource_guarantees') ?? getIn(defaults, 'extraResource', 'guarantees');
  const names = new Set([...entries(limits), ...entries(requests)].map(keyOf));
  return [...names].flatMap((resource): readonly AcceleratorRequest[] => {
    const known = acceleratorResource(resource);
    if (known === undefined) return [];
    const [limit, request] = [getIn(limits, resource), getIn(requests, resource)].map(
      (quantity) => quantity && lowerQuantity(quantity),
    );
    return [{ resource, form: known.form, limit, request, count: countOf(limit ?? request) }];
  });
}

/** A request that the chart adds itself. */
export function unwritten(resource: string, count: number | null): AcceleratorRequest {
  const form = acceleratorResource(resource)?.form ?? 'whole';
  return { resource, form, limit: undefined, request: undefined, count };
}

/**
 * The image of a mapping: a text, or `repository` and `tag`, which can also be next to each other in the mapping itself. Undefined if the chart
 * completes it: only the chart knows its default tag, and the values only the repository, or the reverse.
 * @param unset the repository if the values have none, if it is known
 */
export function imageOf(
  block: Cursor,
  image: Cursor | undefined,
  unset = '',
): Pick<Container, 'repository' | 'tag'> & { readonly image?: Located<string> | undefined } {
  if (image?.node.kind === 'scalar') {
    const name = text(image);
    // With a separate tag, the text is only the repository.
    const tag = firstOf(block, ['tag', 'imageTag', 'image_tag', 'version']);
    const isWhole = name !== undefined && /[:@]/.test(lastPart(name.value));
    // The chart may have the tag of a repository.
    if (name !== undefined && tag === undefined && !isWhole && /(?:name|repository)$/i.test(keyOf(image)))
      return { image: undefined, repository: name.value };
    if (name === undefined || tag === undefined || isWhole)
      // The image of the mapping itself is read with its other fields.
      return name === undefined || getIn(block, 'image')?.node === image.node ? {} : { image: name };
    return { image: tagged(name.value, tag) };
  }
  const parts = image?.node.kind === 'map' ? image : image === undefined ? block : undefined;
  if (parts === undefined) return {};
  const named = firstOf(parts, image === undefined ? ['repository', 'name'] : ['repository', 'name', 'repo', 'image']);
  const repository = asText(named) ?? (named === undefined ? unset : '');
  // Without a block of the image, the template has its own.
  if (image === undefined && getIn(parts, 'repository') === undefined)
    return unset === '' ? {} : { image: undefined, repository: unset };
  if (named === undefined && repository === '' && !isPinned(parts)) return { image: undefined, ...tagIn(parts) };
  if (isTemplated(named)) return { image: undefined, ...(isPinned(parts) ? {} : tagIn(parts)) };
  if (repository === '') return { image: undefined };
  const registry = asText(getIn(parts, 'registry')) ?? '';
  const name = registry === '' ? repository : `${registry}/${repository}`;
  const tag = firstOf(parts, image === undefined ? ['tag'] : ['tag', 'version', 'imageTag']);
  const whole = tag === undefined && lastPart(name).includes(':') ? named && text(named) : undefined;
  const found = isPinned(parts) ? undefined : (whole ?? tagged(name, tag));
  return { image: found, ...(found === undefined && { repository: name }) };
}

function tagIn(parts: Cursor): Pick<Container, 'tag'> {
  const tag = getIn(parts, 'tag');
  const found = isTemplated(tag) ? undefined : text(tag);
  return found === undefined || !/^\w[\w.-]*$/.test(found.value) ? {} : { tag: found };
}

function isPinned(parts: Cursor): boolean {
  return ['digest', 'sha', 'sha256'].some((key) => (asText(getIn(parts, key)) ?? '') !== '');
}

function tagged(repository: string, tag: Cursor | undefined): Located<string> | undefined {
  const name = isTemplated(tag) ? '' : (asText(tag) ?? '');
  return tag === undefined || name === '' ? undefined : { value: `${repository}:${name}`, at: tag };
}

function lastPart(image: string): string {
  return image.slice(image.lastIndexOf('/') + 1);
}

/** The instance type, for which each chart has its own key; only a type in the catalog is certain. */
function instanceTypeOf(block: Cursor): Located<string> | undefined {
  const holders = [block, getIn(block, 'resources')];
  return holders
    .flatMap((holder) =>
      ['instanceType', 'instance_type', 'nodeType', 'node_type'].map((key) => text(getIn(holder, key))),
    )
    .find((type) => type !== undefined && instanceType(type.value) !== undefined);
}

/** Whether it is a mapping with at least one key. */
export function isMap(cursor: Cursor | undefined): boolean {
  return cursor?.node.kind === 'map' && cursor.node.entries.length > 0;
}

/** The path of a key below a path: `server.resources`. */
export function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
