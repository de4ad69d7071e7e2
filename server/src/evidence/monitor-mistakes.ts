import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import {
  asNumber,
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
import { type Monitor, monitorKind } from './monitors.ts';

/** A place where a monitor does not have the form of its kind. */
export interface MonitorMistake {
  readonly what: /** A number in place of the name of a port. */
    | 'port'
    /** A label outside of matchLabels. */
    | 'label'
    /** The endpoints under the field of the other kind; `other` is its own one. */
    | 'list'
    /** Another name than that of the port of a well-known Service, which is `other`. */
    | 'known-port'
    /** A time without a unit. */
    | 'unit'
    /** A timeout that is longer than the interval, which is `other`. */
    | 'timeout';
  readonly at: Cursor;
  readonly other?: string;
}

/** What is wrong with the form of a monitor. Google's kind has another form. */
export function monitorMistakes(manifest: Manifest): readonly MonitorMistake[] {
  const { root, kind, apiVersion } = manifest;
  const known = monitorKind(manifest);
  if (known === undefined || kind === 'PodMonitoring') return [];
  const spec = getIn(root, 'spec');
  const endpoints = items(getIn(spec, known.list));
  const port = endpoints
    .map((one) => getIn(one, 'port'))
    .find((one) => !isUnseen(one) && asNumber(one) !== undefined && asString(one) === undefined);
  const selector = getIn(spec, 'selector');
  const label = entries(isIncomplete(selector) ? undefined : selector).find(
    (one) => !/^match(?:Labels|Expressions)$/.test(keyOf(one)),
  );
  // A ServiceMonitor without its own field is rejected.
  const list = known.ofPods ? getIn(spec, 'endpoints') : undefined;
  const isElsewhere = list !== undefined && getIn(spec, known.list) === undefined && !isIncomplete(spec);
  return [
    ...(port === undefined ? [] : [{ what: 'port' as const, at: port }]),
    ...(label === undefined ? [] : [{ what: 'label' as const, at: label }]),
    ...(isElsewhere ? [{ what: 'list' as const, at: list, other: known.list }] : []),
    // VictoriaMetrics reads more forms of a time.
    ...(groupOf(apiVersion).endsWith('coreos.com') ? endpoints.flatMap(wrongTimes) : []),
  ];
}

/**
 * The first port of a monitor of NVIDIA's exporter, if it reads none by the name that the GPU operator gives to its port. The namespace says
 * that it is the operator's.
 * https://github.com/NVIDIA/gpu-operator/blob/main/assets/state-dcgm-exporter/0800_service.yaml
 */
export function exporterPort({ ofPods, namespace, wanted, endpoints }: Monitor): MonitorMistake | undefined {
  const isExporter = Object.keys(wanted).length === 1 && wanted.app === 'nvidia-dcgm-exporter';
  if (ofPods || !isExporter || !/^(?:nvidia-)?gpu-operator$/.test(namespace ?? '')) return undefined;
  const ports = endpoints.map((one) => getIn(one, 'port'));
  const [first] = ports;
  if (first === undefined || ports.some((one) => isUnseen(one) || asText(one) === 'gpu-metrics')) return undefined;
  return { what: 'known-port', at: first, other: 'gpu-metrics' };
}

/** https://github.com/prometheus-operator/prometheus-operator/blob/main/pkg/apis/monitoring/v1/types.go (Duration) */
function wrongTimes(endpoint: Cursor): readonly MonitorMistake[] {
  const [interval, timeout] = ['interval', 'scrapeTimeout'].map((key) => getIn(endpoint, key));
  const bare = [interval, timeout].filter(
    (at): at is Cursor => at !== undefined && !isUnseen(at) && /^[1-9]\d*$/.test(asText(at) ?? ''),
  );
  if (bare.length > 0 || timeout === undefined) return bare.map((at) => ({ what: 'unit', at }));
  const [most, waits] = [interval, timeout].map((at) => (isUnseen(at) ? undefined : secondsOf(asText(at))));
  if (most === undefined || waits === undefined || waits <= most) return [];
  return [{ what: 'timeout', at: timeout, other: asText(interval) ?? '' }];
}

const seconds: ReadonlyMap<string | undefined, number> = new Map([
  ['ms', 0.001],
  ['s', 1],
  ['m', 60],
  ['h', 3600],
]);

/** The seconds of a duration with one unit: others are rare. */
function secondsOf(text = ''): number | undefined {
  const [, count, unit] = /^(\d{1,6})(ms|s|m|h)$/.exec(text) ?? [];
  const factor = seconds.get(unit);
  return factor === undefined ? undefined : Number(count) * factor;
}
