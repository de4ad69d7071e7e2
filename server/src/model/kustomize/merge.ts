import type { YamlEntry, YamlItem, YamlMap, YamlNode, YamlSeq } from '../../yaml/node.ts';
import { nowhere } from '../../yaml/span.ts';
import { table } from '../../yaml/table.ts';

/**
 * Applies a patch to an object as kustomize does: mappings are merged, null removes a field, lists of built-in kinds are merged by the key of
 * their items, all other lists are replaced. Nodes from the patch keep their spans; nodes from the object have none.
 * https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 * @param builtIn whether kustomize has the schema of the kind; lists of custom resources are replaced
 */
export function mergeStrategic(base: YamlNode, patch: YamlNode, builtIn: boolean): YamlNode {
  return merge(external(base), patch, builtIn, '') ?? { ...emptyMap, span: patch.span };
}

/** A value from another file: it has no span in this one, and no edit here can change it. */
export function external(node: YamlNode): YamlNode {
  if (node.kind === 'scalar') return { ...node, span: nowhere };
  if (node.kind === 'seq') {
    return {
      ...node,
      span: nowhere,
      items: node.items.map(({ value }) => ({ value: external(value), shared: true })),
    };
  }
  const entries = node.entries.map(({ key, value }) => ({
    key,
    keySpan: nowhere,
    value: external(value),
    shared: true,
  }));
  return { ...node, span: nowhere, entries };
}

/** The merge keys of lists of built-in kinds. Other lists, such as tolerations and arguments, are replaced as a whole. */
const mergeKeys = table<readonly string[]>({
  containers: ['name'],
  initContainers: ['name'],
  ephemeralContainers: ['name'],
  volumes: ['name'],
  env: ['name'],
  imagePullSecrets: ['name'],
  resourceClaims: ['name'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  // Ports of a Service and ports of a container have different keys.
  ports: ['containerPort', 'port'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey'],
});

export const emptyMap: YamlMap = { kind: 'map', entries: [], flow: false, incomplete: false, span: nowhere };

/** Undefined if the patch removes the value. */
function merge(base: YamlNode | undefined, patch: YamlNode, builtIn: boolean, key: string): YamlNode | undefined {
  if (patch.kind === 'scalar') return patch.value === null && !patch.templated && key !== '' ? undefined : patch;
  if (patch.kind === 'seq') return base?.kind === 'seq' && builtIn ? mergeLists(base, patch, key) : patch;
  const directive = directiveOf(patch);
  if (directive === 'delete') return undefined;
  const from = base?.kind === 'map' && directive !== 'replace' ? base : emptyMap;
  return mergeMaps(from, patch, builtIn);
}

function mergeMaps(base: YamlMap, patch: YamlMap, builtIn: boolean): YamlMap {
  const patchEntries = new Map(
    patch.entries.filter(({ key }) => !key.startsWith('$')).map((entry) => [entry.key, entry]),
  );
  const entries: YamlEntry[] = [];
  for (const entry of base.entries) {
    const over = patchEntries.get(entry.key);
    patchEntries.delete(entry.key);
    const value = over === undefined ? entry.value : merge(entry.value, over.value, builtIn, entry.key);
    if (value !== undefined) entries.push({ ...(over ?? entry), value });
  }
  for (const entry of patchEntries.values()) {
    const value = merge(undefined, entry.value, builtIn, entry.key);
    if (value !== undefined) entries.push({ ...entry, value });
  }
  return { ...patch, entries, incomplete: base.incomplete || patch.incomplete };
}

function mergeLists(base: YamlSeq, patch: YamlSeq, key: string): YamlSeq {
  if (patch.items.some(({ value }) => directiveOf(value) === 'replace')) {
    return { ...patch, items: patch.items.filter(({ value }) => directiveOf(value) === undefined) };
  }
  const keyOf = (item: YamlItem) => itemKey(item.value, mergeKeys[key] ?? []);
  const keyed = patch.items.length > 0 && [...base.items, ...patch.items].every((item) => keyOf(item) !== undefined);
  if (!keyed) return patch;
  const patchItems = new Map(patch.items.map((item) => [keyOf(item), item]));
  const items: YamlItem[] = [];
  for (const item of base.items) {
    const over = patchItems.get(keyOf(item));
    patchItems.delete(keyOf(item));
    const value = over === undefined ? item.value : merge(item.value, over.value, true, '');
    if (value !== undefined) items.push({ ...(over ?? item), value });
  }
  for (const item of patchItems.values()) {
    const value = merge(undefined, item.value, true, '');
    if (value !== undefined) items.push({ ...item, value });
  }
  return { ...patch, items, incomplete: base.incomplete || patch.incomplete };
}

function itemKey(node: YamlNode, keys: readonly string[]): string | undefined {
  if (node.kind !== 'map') return undefined;
  const value = keys
    .map((key) => node.entries.find((entry) => entry.key === key)?.value)
    .find((found) => found !== undefined);
  return value?.kind === 'scalar' ? value.source : undefined;
}

function directiveOf(node: YamlNode): string | undefined {
  if (node.kind !== 'map') return undefined;
  const value = node.entries.find(({ key }) => key === '$patch')?.value;
  return value?.kind === 'scalar' ? value.source : undefined;
}
