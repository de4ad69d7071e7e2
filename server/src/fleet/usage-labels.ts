import type { Labels } from './types.ts';

/** A pod that holds devices. */
export interface DevicePod {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
}

/** Such pods, by their bare name. */
export type DevicePods = ReadonlyMap<string, readonly DevicePod[]>;

/** An index of pods by name. */
export function devicePods(pods: readonly DevicePod[]): DevicePods {
  const byName = new Map<string, DevicePod[]>();
  for (const pod of pods) {
    const known = byName.get(pod.name);
    if (known === undefined) byName.set(pod.name, [pod]);
    else known.push(pod);
  }
  return byName;
}

/**
 * Finds the pod that a series is about. Scrape configs rename labels as they like (`exported_pod`, `pod_name`, `k8s_pod_name`), so any label of a pod
 * counts whose value is a pod with devices, in the namespace that the labels of the same prefix name. The exporter's own pod holds none. Undefined if no
 * pod is meant, if several may be, or if the series comes from another node: one Prometheus can have several clusters with pods of the same name.
 */
export function podFinder(pods: DevicePods): (labels: Labels) => DevicePod | undefined {
  const meanings = new Map<string, Meaning>();
  const meaningOf = (key: string) => {
    const known = meanings.get(key) ?? readName(key);
    meanings.set(key, known);
    return known;
  };

  return (labels) => {
    const found = new Set<DevicePod>();
    for (const [key, value] of labels) {
      const named = pods.get(value);
      if (named === undefined || !meaningOf(key).isPod) continue;
      const namespaces = namespacesFor(meaningOf(key).prefix, labels);
      const meant = namespaces.length === 0 ? named : named.filter(({ namespace }) => namespaces.includes(namespace));
      // What a scrape renames takes precedence over what it says of the exporter.
      if (meant.length === 1 && meant[0] !== undefined && key.startsWith('exported_')) return onNode(meant[0], labels);
      for (const pod of meant) found.add(pod);
    }
    const [only, ...others] = found;
    return only === undefined || others.length > 0 ? undefined : onNode(only, labels);
  };

  /** The values of labels that name a namespace: those of the same prefix, else all. */
  function namespacesFor(prefix: string, labels: Labels): readonly string[] {
    const all: string[] = [];
    const own: string[] = [];
    for (const [key, value] of labels) {
      const meaning = meaningOf(key);
      if (!meaning.isNamespace || value === '') continue;
      all.push(value);
      if (meaning.prefix === prefix) own.push(value);
    }
    return own.length > 0 ? own : all;
  }

  function onNode(pod: DevicePod, labels: Labels): DevicePod | undefined {
    for (const [key, value] of labels)
      if (meaningOf(key).isNode && value !== '' && !isExporter.test(value) && shortName(value) !== shortName(pod.node))
        return undefined;
    return pod;
  }
}

/** What a label is about, by the words of its name. */
interface Meaning {
  readonly isPod: boolean;
  readonly isNamespace: boolean;
  readonly isNode: boolean;
  /** What is before `pod` or `namespace`. */
  readonly prefix: string;
}

function readName(key: string): Meaning {
  const words = key.toLowerCase().split(/[_.-]/);
  const isNamespace = words.some((word) => namespaceWords.has(word));
  const end = words.findIndex((word) => word === 'pod' || namespaceWords.has(word));
  return {
    // `pod_uid` and `pod_ip` do not name it.
    isPod: words.includes('pod') && !isNamespace && !words.some((word) => notNames.test(word)),
    isNamespace,
    isNode: /^(?:exported_|kubernetes_|k8s_)?(?:node|node_?name|host_?name)$/i.test(key),
    prefix: words.slice(0, end).join('_'),
  };
}

const namespaceWords = new Set(['namespace', 'ns']);
const notNames = /^(?:uu?id|ip|hash|label|phase|node)$/;
/** Exporters that do not know the name of their node give that of their own pod. */
const isExporter = /exporter|dcgm|monitor/i;

function shortName(host: string): string {
  return host.toLowerCase().split('.', 1)[0] ?? '';
}
