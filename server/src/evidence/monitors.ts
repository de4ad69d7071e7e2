import type { CrossReferences } from '../model/cross-references.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import {
  asBoolean,
  asString,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isUnseen,
  items,
  keyOf,
} from '../yaml/cursor.ts';
import { type Table, tableOf } from '../yaml/table.ts';

/** What an object tells a Prometheus to read: pods, or Services, by their labels. */
export interface Monitor {
  readonly ofPods: boolean;
  readonly selector: Cursor;
  /** The namespace in which it looks: its own, or the only one that it names. */
  readonly namespace: string | null;
  readonly namesNamespace: boolean;
  /** The required labels in that namespace. */
  readonly wanted: Table<string>;
  readonly endpoints: readonly Cursor[];
}

/**
 * Where these kinds list their endpoints, and whether they select pods.
 * https://prometheus-operator.dev/docs/api-reference/api/ https://docs.victoriametrics.com/operator/resources/vmservicescrape/
 * https://learn.microsoft.com/azure/azure-monitor/containers/prometheus-metrics-scrape-crd
 * https://github.com/GoogleCloudPlatform/prometheus-engine/blob/main/doc/api.md
 */
const kinds: ReadonlyMap<string, MonitorKind> = new Map([
  ...['monitoring.coreos.com', 'azmonitoring.coreos.com'].flatMap((group) => [
    [`${group}/ServiceMonitor`, { list: 'endpoints', ofPods: false }] as const,
    [`${group}/PodMonitor`, { list: 'podMetricsEndpoints', ofPods: true }] as const,
  ]),
  ['operator.victoriametrics.com/VMServiceScrape', { list: 'endpoints', ofPods: false }],
  ['operator.victoriametrics.com/VMPodScrape', { list: 'podMetricsEndpoints', ofPods: true }],
  ['monitoring.googleapis.com/PodMonitoring', { list: 'endpoints', ofPods: true }],
]);

interface MonitorKind {
  /** The field with its endpoints. */
  readonly list: string;
  readonly ofPods: boolean;
}

/** How the kind of an object lists what a Prometheus reads; undefined for other kinds. */
export function monitorKind({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>): MonitorKind | undefined {
  return kinds.get(`${groupOf(apiVersion)}/${kind}`);
}

/**
 * What a monitor reads; undefined if its selector is not a plain list of labels in one namespace, or if a template may change it. Of one for
 * all namespaces, it is what it reads in the only namespace of the file that has such objects.
 */
export function monitorOf(
  { apiVersion, kind, namespace, root }: Manifest,
  references: Pick<CrossReferences, 'servicesLabeled' | 'keptRunning' | 'labeledElsewhere'>,
): Monitor | undefined {
  const known = monitorKind({ apiVersion, kind });
  const spec = getIn(root, 'spec');
  const selector = getIn(spec, 'selector');
  if (known === undefined || selector === undefined) return undefined;
  const list = getIn(spec, known.list);
  const labels = entries(getIn(selector, 'matchLabels'));
  const isOpen = [spec, selector, getIn(selector, 'matchLabels'), list].some(isIncomplete);
  if (isOpen || labels.length === 0 || labels.some(isUnseen)) return undefined;
  if (entries(selector).length > 1) return undefined;
  const wanted = tableOf(labels.map((label): [string, string] => [keyOf(label), asText(label) ?? '']));
  const namespaces = getIn(spec, 'namespaceSelector');
  const isHere = () =>
    (known.ofPods ? references.keptRunning(namespace, wanted) : references.servicesLabeled(namespace, wanted)).length >
    0;
  const anywhere = () =>
    isHere()
      ? namespace
      : references.labeledElsewhere(known.ofPods ? 'workload' : 'service', namespace, wanted)?.namespace;
  const isAny = entries(namespaces).length === 1 && asBoolean(getIn(namespaces, 'any')) === true;
  const named = namespaces === undefined ? undefined : isAny ? anywhere() : onlyName(namespaces);
  if (namespaces !== undefined && (named === undefined || named === null)) return undefined;
  return {
    ofPods: known.ofPods,
    selector,
    namespace: named ?? namespace,
    namesNamespace: named !== undefined,
    wanted,
    endpoints: items(list),
  };
}

/** The only namespace of a selector; undefined if it has several or if a template may add some. */
function onlyName(selector: Cursor): string | undefined {
  const names = getIn(selector, 'matchNames');
  const [first, ...others] = items(names);
  if (first === undefined || others.length > 0 || entries(selector).length > 1) return undefined;
  return [selector, names].some(isIncomplete) || isUnseen(first) ? undefined : asString(first);
}
