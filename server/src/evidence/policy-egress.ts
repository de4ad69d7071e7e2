import {
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
} from '../yaml/cursor.ts';
import { type Table, tableOf } from '../yaml/table.ts';

/** What a NetworkPolicy says about connections from its pods. */
export interface Egress {
  /** The rules, each with ports; empty if nothing is admitted. */
  readonly rules: readonly Cursor[];
  /** Whether its pods can ask a name server: a rule admits its port, or may. */
  readonly admitsNames: boolean;
  /** The labels of its pods; empty: all pods of the namespace; null: unknown. */
  readonly selects: Table<string> | null;
}

/** Undefined if the policy does not limit connections from its pods. https://kubernetes.io/docs/concepts/services-networking/network-policies/ */
export function egressOf(spec: Cursor | undefined): Egress | undefined {
  const [types, egress] = [getIn(spec, 'policyTypes'), getIn(spec, 'egress')];
  const isLimited = types === undefined ? egress !== undefined : items(types).some((one) => asText(one) === 'Egress');
  if (!isLimited && !isIncomplete(spec) && !isIncomplete(types)) return undefined;
  const rules = items(egress);
  const isOpen = [spec, types, egress, ...rules].some(isIncomplete);
  return { rules, admitsNames: isOpen || rules.some(admitsNames), selects: selectedBy(getIn(spec, 'podSelector')) };
}

/** DNS, and the port on which OpenShift's pods for it listen. */
const dnsPorts = [53, 5353];

/** A rule without ports admits all. */
function admitsNames(rule: Cursor): boolean {
  const list = getIn(rule, 'ports');
  const ports = items(list);
  return ports.length === 0 || isIncomplete(list) || ports.some(isForNames);
}

function isForNames(at: Cursor): boolean {
  const [port, end] = [getIn(at, 'port'), getIn(at, 'endPort')];
  if (port === undefined || [at, port, end].some((one) => isIncomplete(one) || isTemplated(one))) return true;
  const first = asNumber(port);
  // A name may be that of any port.
  if (first === undefined) return !/^https?$/.test(asText(port) ?? '');
  return dnsPorts.some((dns) => dns >= first && dns <= (asNumber(end) ?? first));
}

function selectedBy(selector: Cursor | undefined): Table<string> | null {
  const labels = entries(getIn(selector, 'matchLabels'));
  if (isIncomplete(selector) || labels.some(isTemplated) || getIn(selector, 'matchExpressions') !== undefined)
    return null;
  return tableOf(labels.map((label): [string, string] => [keyOf(label), asText(label) ?? '']));
}

/** Whether a rule is about peers that are found by their names: pods, or any address, but not single addresses. */
export function leadsToNames(rule: Cursor): boolean {
  const peers = items(getIn(rule, 'to'));
  return (
    peers.length === 0 ||
    peers.some((peer) => /^(?:0\.0\.0\.0|::)\/0$|^$/.test(asText(getIn(peer, 'ipBlock', 'cidr')) ?? ''))
  );
}
