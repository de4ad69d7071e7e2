import { at, list, number, text, textMap, texts, timeOf } from './json.ts';
import { amountsOf, podRequests } from './requests.ts';
import { admitted } from './tolerations.ts';
import type {
  FleetNode,
  FleetPod,
  HostPort,
  LabelSelector,
  Labels,
  NodeSelectorTerm,
  PodTerm,
  Requirement,
  SpreadConstraint,
  Taint,
} from './types.ts';

// API objects, as JSON, to what the scheduler needs of them. What is missing has the API's default.

/** A node as the API server returns it. */
export function readNode(node: unknown): FleetNode {
  return {
    name: text(at(node, 'metadata', 'name')) ?? '',
    labels: textMap(at(node, 'metadata', 'labels')),
    taints: list(at(node, 'spec', 'taints')).map(readTaint),
    unschedulable: at(node, 'spec', 'unschedulable') === true,
    allocatable: amountsOf(at(node, 'status', 'allocatable')),
  };
}

/** Priorities and preemption by PriorityClass; the class that is the default has the name ''. */
export type PriorityClasses = ReadonlyMap<string, { readonly value: number; readonly preempts: boolean }>;

/** A pod as the API server returns it, or as a manifest's template describes it. */
export function readPod(pod: unknown, classes: PriorityClasses): FleetPod {
  const spec = at(pod, 'spec');
  const labels = textMap(at(pod, 'metadata', 'labels'));
  const namespace = text(at(pod, 'metadata', 'namespace')) ?? 'default';
  const priorityClass = classes.get(text(at(spec, 'priorityClassName')) ?? '');
  const nodeTerms = at(spec, 'affinity', 'nodeAffinity', required, 'nodeSelectorTerms');
  const policy = text(at(spec, 'preemptionPolicy'));
  return {
    namespace,
    name: text(at(pod, 'metadata', 'name')) ?? '',
    labels,
    priority: number(at(spec, 'priority')) ?? priorityClass?.value ?? 0,
    preempts: policy === undefined ? (priorityClass?.preempts ?? true) : policy !== 'Never',
    terminating: at(pod, 'metadata', 'deletionTimestamp') !== undefined,
    started: timeOf(at(pod, 'status', 'startTime')),
    nodeName: text(at(spec, 'nodeName')) ?? '',
    requests: podRequests(spec),
    tolerations: admitted(list(at(spec, 'tolerations')).map(readToleration)),
    nodeSelector: textMap(at(spec, 'nodeSelector')),
    nodeTerms: nodeTerms === undefined ? null : list(nodeTerms).map(readNodeTerm),
    preferredNodes: list(at(spec, 'affinity', 'nodeAffinity', preferred)).map((term) =>
      readNodeTerm(at(term, 'preference')),
    ),
    affinity: readPodTerms(at(spec, 'affinity', 'podAffinity'), labels, namespace),
    antiAffinity: readPodTerms(at(spec, 'affinity', 'podAntiAffinity'), labels, namespace),
    spread: list(at(spec, 'topologySpreadConstraints'))
      .filter((constraint) => at(constraint, 'whenUnsatisfiable') !== 'ScheduleAnyway')
      .map((constraint) => readSpread(constraint, labels)),
    hostPorts: readHostPorts(spec),
    gates: list(at(spec, 'schedulingGates')).map((gate) => text(at(gate, 'name')) ?? ''),
    schedulerName: text(at(spec, 'schedulerName')) ?? 'default-scheduler',
    claims: list(at(spec, 'resourceClaims')).map((claim) => ({
      name: text(at(claim, 'resourceClaimName')) ?? null,
      template: text(at(claim, 'resourceClaimTemplateName')) ?? null,
    })),
  };
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

/** A taint of a node or device. */
export function readTaint(taint: unknown): Taint {
  return {
    key: text(at(taint, 'key')) ?? '',
    value: text(at(taint, 'value')) ?? '',
    effect: text(at(taint, 'effect')) ?? '',
  };
}

/** A toleration of a pod or a device request. */
export function readToleration(toleration: unknown): FleetPod['tolerations'][number] {
  return {
    key: text(at(toleration, 'key')) ?? '',
    operator: text(at(toleration, 'operator')) ?? '',
    value: text(at(toleration, 'value')) ?? '',
    effect: text(at(toleration, 'effect')) ?? '',
  };
}

/** A term of a node selector. */
export function readNodeTerm(term: unknown): NodeSelectorTerm {
  return {
    labels: list(at(term, 'matchExpressions')).map(readRequirement),
    fields: list(at(term, 'matchFields')).map(readRequirement),
  };
}

function readRequirement(requirement: unknown): Requirement {
  return {
    key: text(at(requirement, 'key')) ?? '',
    operator: text(at(requirement, 'operator')) ?? '',
    values: texts(at(requirement, 'values')),
  };
}

/** A label selector; without one, nothing is selected. */
export function readSelector(selector: unknown): LabelSelector {
  if (selector === undefined || selector === null) return null;
  const labels = [...textMap(at(selector, 'matchLabels'))].map(([key, value]) => isIn(key, value));
  return [...labels, ...list(at(selector, 'matchExpressions')).map(readRequirement)];
}

function isIn(key: string, value: string): Requirement {
  return { key, operator: 'In', values: [value] };
}

function readPodTerms(affinity: unknown, labels: Labels, namespace: string): readonly PodTerm[] {
  return list(at(affinity, required)).map((term) => {
    const named = texts(at(term, 'namespaces'));
    const namespaceSelector = readSelector(at(term, 'namespaceSelector'));
    return {
      selector: withKeys(readSelector(at(term, 'labelSelector')), [
        ...ofPod(at(term, 'matchLabelKeys'), labels, 'In'),
        ...ofPod(at(term, 'mismatchLabelKeys'), labels, 'NotIn'),
      ]),
      topologyKey: text(at(term, 'topologyKey')) ?? '',
      namespaces: named.length === 0 && namespaceSelector === null ? [namespace] : named,
      namespaceSelector,
    };
  });
}

/** The pod's own values of some labels, as conditions; labels that it does not have count for nothing. */
function ofPod(keys: unknown, labels: Labels, operator: string): readonly Requirement[] {
  return texts(keys).flatMap((key) => {
    const value = labels.get(key);
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
}

function withKeys(selector: LabelSelector, requirements: readonly Requirement[]): LabelSelector {
  return selector === null ? null : [...selector, ...requirements];
}

function readSpread(constraint: unknown, labels: Labels): SpreadConstraint {
  return {
    maxSkew: number(at(constraint, 'maxSkew')) ?? 1,
    minDomains: number(at(constraint, 'minDomains')) ?? 1,
    topologyKey: text(at(constraint, 'topologyKey')) ?? '',
    selector: withKeys(
      readSelector(at(constraint, 'labelSelector')),
      ofPod(at(constraint, 'matchLabelKeys'), labels, 'In'),
    ),
    honorsAffinity: at(constraint, 'nodeAffinityPolicy') !== 'Ignore',
    honorsTaints: at(constraint, 'nodeTaintsPolicy') === 'Honor',
  };
}

/** With the host's network, each container port is a port of the host. Init containers count only as sidecars. */
function readHostPorts(spec: unknown): readonly HostPort[] {
  const sidecars = list(at(spec, 'initContainers')).filter((each) => at(each, 'restartPolicy') === 'Always');
  return [...sidecars, ...list(at(spec, 'containers'))].flatMap((container) =>
    list(at(container, 'ports')).flatMap((each) => {
      const own = number(at(each, 'hostPort')) ?? 0;
      const port = own === 0 && at(spec, 'hostNetwork') === true ? (number(at(each, 'containerPort')) ?? 0) : own;
      const ip = text(at(each, 'hostIP')) ?? '';
      return port === 0
        ? []
        : [{ ip: ip === '' ? '0.0.0.0' : ip, protocol: text(at(each, 'protocol')) ?? 'TCP', port }];
    }),
  );
}
