import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, entries, getIn, isTemplated, isUnseen, items, keyOf } from '../../yaml/cursor.ts';
import type { YamlEntry, YamlNode } from '../../yaml/node.ts';
import { isMap } from '../values-parts.ts';
import type { Container, Volume } from '../workload.ts';

// The volumes of the common library: `persistence` has each one with its mounts.
// https://github.com/bjw-s-labs/helm-charts/tree/main/charts/library/common/templates/lib (_volumes.tpl, _volumeMounts.tpl), 2026-11-28

/** The volumes of a controller's pods, and what its containers mount of them. */
export interface Persistence {
  readonly volumes: readonly Volume[];
  readonly mountsOf: (container: string) => Container['volumeMounts'];
}

/**
 * @param controller the name of the controller; undefined in the first versions, whose pods have one container
 * @param claims the claim templates of a StatefulSet
 */
export function persistenceOf(values: Cursor, controller?: string, claims?: Cursor): Persistence {
  const all = getIn(values, 'persistence');
  const enabled = entries(all).filter((one) => isMap(one) && asBoolean(getIn(one, 'enabled')) !== false);
  const listed = enabled.slice(0, maxVolumes);
  const open = [all, claims, ...listed, ...listed.map((one) => getIn(one, 'enabled'))].filter(isUnseen);
  if (enabled.length > maxVolumes) open.push(all);
  const templates = items(claims).map((at) => ({ name: asText(getIn(at, 'name')) ?? '', at }));
  const named = [...listed.map((at) => ({ name: keyOf(at), at })), ...templates];
  return {
    // A claim template makes no volume of the pod.
    volumes: listed.map(volumeOf),
    mountsOf: (container) => [
      ...named.flatMap(({ name, at }) => mounts(name, at, controller, container)),
      // Like a mount whose path a template writes.
      ...open.flatMap((at) => (at === undefined ? [] : [{ name: '', mountPath: '', at }])),
    ],
  };
}

/** Each of them is mounted by each container of each controller. */
const maxVolumes = 50;

function volumeOf(item: Cursor): Volume {
  const type = getIn(item, 'type');
  const spec = entries(getIn(item, 'volumeSpec'))[0];
  const written = isTemplated(type) ? 'unknown' : (asText(type) ?? 'persistentVolumeClaim');
  const source = written === 'pvc' ? 'persistentVolumeClaim' : written === 'custom' && spec ? keyOf(spec) : written;
  const body = written === 'custom' && spec !== undefined ? spec.node : withNames(item, volumeNames).node;
  return { name: keyOf(item), source, at: { ...item, node: onlyEntry(item, source, body) } };
}

/** A mapping with one entry that is not written as such, so no edit changes it. */
function onlyEntry({ node, entry }: Cursor, key: string, value: YamlNode): YamlNode {
  const made = { key, keySpan: entry?.keySpan ?? node.span, value, shared: true };
  return node.kind === 'map' ? { ...node, entries: [made] } : node;
}

/** The fields under the names that Kubernetes has for them. */
const volumeNames: ReadonlyMap<string, string> = new Map([
  ['existingClaim', 'claimName'],
  ['hostPath', 'path'],
]);
const mountNames: ReadonlyMap<string, string> = new Map([['path', 'mountPath']]);

function withNames(item: Cursor, names: ReadonlyMap<string, string>): Cursor {
  const { node } = item;
  if (node.kind !== 'map') return item;
  const renamed = node.entries.flatMap((entry): YamlEntry[] => {
    const key = names.get(entry.key);
    return key === undefined ? [] : [{ ...entry, key, shared: true }];
  });
  return renamed.length === 0 ? item : { ...item, node: { ...node, entries: [...node.entries, ...renamed] } };
}

function mounts(
  name: string,
  item: Cursor,
  controller: string | undefined,
  container: string,
): Container['volumeMounts'] {
  const unset = asText(getIn(item, 'hostPath')) ?? `/${name}`;
  if (controller === undefined) {
    const mountPath = asText(getIn(item, 'mountPath')) ?? unset;
    return mountPath === '-' ? [] : [{ name, mountPath, at: item }];
  }
  const [shared, own] = [getIn(item, 'globalMounts'), getIn(item, 'advancedMounts')];
  if (shared === undefined && own === undefined) return [{ name, mountPath: unset, at: item }];
  const lists = [shared, own, getIn(own, controller), getIn(own, controller, container)];
  const open = lists.filter(isUnseen).flatMap((at) => (at === undefined ? [] : [{ name: '', mountPath: '', at }]));
  const written = [...items(shared), ...items(getIn(own, controller, container))].map((one) => {
    const at = withNames(one, mountNames);
    return { name, mountPath: asText(getIn(at, 'mountPath')) ?? unset, at };
  });
  return [...written, ...open];
}
