import { acceleratorResource, knownAccelerator } from '../catalog/index.ts';
import type { Cursor, Located } from '../yaml/cursor.ts';
import { asString, asText, entries, getIn, isNull, isRepeated, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { knownCount } from './count.ts';
import { lowerQuantity } from './quantity.ts';
import type { AcceleratorRequest, Container, Quantity, Selector, Toleration, Volume } from './workload.ts';

// The fields of a pod spec as written, without conclusions.

/** Init containers, native sidecars and app containers, in the order of the text. */
export function lowerContainers(pod: Cursor): readonly Container[] {
  const init = items(getIn(pod, 'initContainers')).map((container) => {
    const sidecar = asString(getIn(container, 'restartPolicy')) === 'Always';
    return lowerContainer(container, sidecar ? 'sidecar' : 'init');
  });
  return [...init, ...items(getIn(pod, 'containers')).map((container) => lowerContainer(container, 'app'))];
}

/**
 * @param name the name of a mapping that stands for a container without `name` (KServe's `model:`)
 * @param resources the container's resources, for kinds that have them outside the container or under another key
 */
export function lowerContainer(
  container: Cursor,
  type: Container['type'],
  name = '',
  resources = getIn(container, 'resources'),
): Container {
  return {
    type,
    name: asText(getIn(container, 'name')) ?? name,
    at: container,
    image: text(getIn(container, 'image')),
    command: items(getIn(container, 'command')).flatMap((item) => text(item) ?? []),
    args: items(getIn(container, 'args')).flatMap((item) => text(item) ?? []),
    env: items(getIn(container, 'env')).map((env) => ({
      name: asText(getIn(env, 'name')) ?? '',
      value: text(getIn(env, 'value')),
      at: env,
    })),
    resources,
    accelerators: isRepeated(container) ? unknownTimes(lowerAccelerators(resources)) : lowerAccelerators(resources),
    volumeMounts: items(getIn(container, 'volumeMounts')).map((mount) => ({
      name: asText(getIn(mount, 'name')) ?? '',
      mountPath: asText(getIn(mount, 'mountPath')) ?? '',
      at: mount,
    })),
    scripts: [],
  };
}

/** Whether a container is in a pod's list of containers: mappings that stand for one elsewhere have their own names and fields. */
export function isListedContainer(container: Cursor): boolean {
  return /^(containers|initContainers)$/.test(String(container.parent?.step));
}

function unknownTimes(accelerators: readonly AcceleratorRequest[]): readonly AcceleratorRequest[] {
  return accelerators.map((request) => ({ ...request, count: null }));
}

/** The accelerator resources in limits or requests. */
function lowerAccelerators(resources: Cursor | undefined): readonly AcceleratorRequest[] {
  const limits = getIn(resources, 'limits');
  const requests = getIn(resources, 'requests');
  const names = new Set([...entries(limits), ...entries(requests)].map(keyOf));
  const found: AcceleratorRequest[] = [];
  for (const resource of names) {
    const known = acceleratorResource(resource);
    if (known === undefined) continue;
    const limit = quantityAt(limits, resource);
    const request = quantityAt(requests, resource);
    found.push({ resource, form: known.form, limit, request, count: countOf(limit ?? request) });
  }
  return found.length < 2 ? found : withoutCompanions(found);
}

/** Next to a listed accelerator, a name that only looks like one stands for something that comes with it, unless it is a counter. */
function withoutCompanions(found: readonly AcceleratorRequest[]): readonly AcceleratorRequest[] {
  const isListed = ({ resource }: AcceleratorRequest) => knownAccelerator(resource) !== undefined;
  if (!found.some(isListed)) return found;
  return found.filter((one) => isListed(one) || one.form === 'memory' || one.form === 'percent');
}

/** The tolerations of a pod spec as written, valid or not. */
export function lowerTolerations(pod: Cursor): readonly Toleration[] {
  // JupyterHub's chart has its own key.
  return items(getIn(pod, 'tolerations') ?? getIn(pod, 'extraTolerations')).map((toleration) => ({
    at: toleration,
    key: text(getIn(toleration, 'key')),
    operator: text(getIn(toleration, 'operator')),
    value: text(getIn(toleration, 'value')),
    effect: text(getIn(toleration, 'effect')),
    tolerationSeconds: getIn(toleration, 'tolerationSeconds'),
  }));
}

/** The volumes of a pod spec. One without a name has an empty one. */
export function lowerVolumes(pod: Cursor): readonly Volume[] {
  return items(getIn(pod, 'volumes')).map((volume) => ({
    name: asText(getIn(volume, 'name')) ?? '',
    source:
      entries(volume)
        .map(keyOf)
        .find((key) => key !== 'name') ?? 'emptyDir',
    at: volume,
  }));
}

/** The node labels that the pods require: nodeSelector, and required node affinity with `In`. */
export function lowerSelectors(pod: Cursor): readonly Selector[] {
  const required = getIn(pod, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution');
  // JupyterHub's profiles use the names of Python.
  const labels = getIn(pod, 'nodeSelector') ?? getIn(pod, 'node_selector');
  return [...selectorsIn(labels), ...selectorsInTerms(getIn(required, 'nodeSelectorTerms'))];
}

/** The labels in a mapping. */
export function selectorsIn(labels: Cursor | undefined): readonly Selector[] {
  return entries(labels).map(
    (entry): Selector => ({
      key: keyOf(entry),
      values: text(entry) === undefined ? [] : [{ value: asText(entry) ?? '', at: entry }],
      from: 'nodeSelector',
      at: entry,
    }),
  );
}

/** The node labels that the pods avoid: required node affinity with `NotIn` in every term. */
export function lowerAvoided(pod: Cursor): readonly Selector[] {
  const required = getIn(pod, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution');
  const [first = [], ...others] = items(getIn(required, 'nodeSelectorTerms')).map((term) =>
    items(getIn(term, 'matchExpressions')).flatMap((expression): Selector[] => {
      const key = asText(getIn(expression, 'key'));
      if (key === undefined || asString(getIn(expression, 'operator')) !== 'NotIn') return [];
      const values = items(getIn(expression, 'values')).flatMap((value) => text(value) ?? []);
      return [{ key, values, from: 'affinity', at: expression }];
    }),
  );
  const excludes = (term: readonly Selector[], key: string, value: string) =>
    term.some((other) => other.key === key && other.values.some((one) => one.value === value));
  return first.flatMap((selector): Selector[] => {
    const values = selector.values.filter(({ value }) => others.every((term) => excludes(term, selector.key, value)));
    return values.length === 0 ? [] : [{ ...selector, values }];
  });
}

/** Terms are alternatives, so a label is required only if every term names it; its values are then combined. */
export function selectorsInTerms(list: Cursor | undefined): readonly Selector[] {
  const terms = items(list).map((term) =>
    items(getIn(term, 'matchExpressions')).flatMap((expression): Selector[] => {
      const key = asText(getIn(expression, 'key'));
      if (key === undefined || asString(getIn(expression, 'operator')) !== 'In') return [];
      const values = items(getIn(expression, 'values')).flatMap((value) => text(value) ?? []);
      return [{ key, values, from: 'affinity', at: expression }];
    }),
  );
  const [first, ...others] = terms;
  if (first === undefined) return [];
  return first.flatMap((selector): Selector[] => {
    const alternatives = others.map((term) => term.find((other) => other.key === selector.key));
    if (alternatives.includes(undefined)) return [];
    return [{ ...selector, values: [...selector.values, ...alternatives.flatMap((other) => other?.values ?? [])] }];
  });
}

/** A scalar as text with its location; undefined for null and for anything but a scalar. */
export function text(cursor: Cursor | undefined): Located<string> | undefined {
  const value = asText(cursor);
  return cursor === undefined || value === undefined ? undefined : { value, at: cursor };
}

/** The image of a mapping with a repository and a tag, located at the tag; a repository from a template hides it. */
export function imageOfParts(repository: Cursor | undefined, tag: Cursor | undefined): Located<string> | undefined {
  const [name, version] = [text(repository), text(tag)];
  return (
    name && (version && !isTemplated(repository) ? { value: `${name.value}:${version.value}`, at: version.at } : name)
  );
}

function quantityAt(map: Cursor | undefined, resource: string): Quantity | undefined {
  const value = getIn(map, resource);
  return value && lowerQuantity(value);
}

/** The whole number of devices in a quantity; null if it is not a whole number. */
export function countOf(quantity: Quantity | undefined): number | null {
  if (quantity === undefined || quantity.value === null) return null;
  return Number.isInteger(quantity.value) ? knownCount(quantity.value) : null;
}

/** A count of pods: the written number, the kind's default if none is written, null if it is templated or invalid. */
export function lowerCount(cursor: Cursor | undefined, unset: number): number | null {
  if (cursor === undefined || (isNull(cursor) && cursor.node.kind === 'scalar' && !cursor.node.templated)) return unset;
  if (cursor.node.kind !== 'scalar' || cursor.node.templated) return null;
  const { value } = cursor.node;
  return typeof value === 'number' && Number.isInteger(value) ? knownCount(value) : null;
}
