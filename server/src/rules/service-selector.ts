import { isShuffled, isSlip } from '../catalog/spelling.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { mayBeCompleted } from '../evidence/chart-pods.ts';
import { nameKeys } from '../evidence/pod-selectors.ts';
import { missedRayService } from '../evidence/ray-services.ts';
import { isPlaceholderText, placesAt } from '../evidence/written.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { groupOf } from '../model/manifest.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { asText, getIn, isIncomplete, isTemplated, isUnseen, items, keyOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { tableOf } from '../yaml/table.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The Service of a GPU server does not select its pods, is in another namespace, or names a port that they do not have.
 *
 * ## Why
 *
 * A Service without pods is accepted, and every request to it is refused. The server waits for requests that cannot arrive and holds its
 * GPUs. A Service selects pods of its own namespace only; if the Service or the server names none, this depends on how the file is applied, and
 * is information. KubeRay labels its pods `ray.io/cluster` and `ray.io/node-type`, not `component: ray-head` as Ray's older examples did.
 *
 * ```yaml invalid
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: embed
 * spec:
 *   selector: {matchLabels: {app: embed}}
 *   template:
 *     metadata: {labels: {app: embed}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/embed:1.4
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ---
 * apiVersion: v1
 * kind: Service
 * metadata:
 *   name: embed
 * spec:
 *   selector: {app: embedder}
 *   ports: [{port: 80, targetPort: 8080}]
 * ```
 *
 * ```yaml valid
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: embed
 * spec:
 *   selector: {matchLabels: {app: embed}}
 *   template:
 *     metadata: {labels: {app: embed}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/embed:1.4
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ---
 * apiVersion: v1
 * kind: Service
 * metadata:
 *   name: embed
 * spec:
 *   selector: {app: embed}
 *   ports: [{port: 80, targetPort: 8080}]
 * ```
 *
 * ## When it is silent
 *
 * For Services in another file or whose name does not mention the workload, for labels that do not resemble each other or differ in a number,
 * if other pods have the selected labels, if an object has the selected name, and for charts and patches. For namespaces in projects with
 * kustomizations, which set them, and in projects with Helm releases or Argo CD applications.
 *
 * ## Sources
 *
 * - [Kubernetes: Service](https://kubernetes.io/docs/concepts/services-networking/service/)
 * - [KubeRay: labels of pods](https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/utils/constant.go)
 */
export default defineRule({
  topic: 'network',
  severity: 'warning',
  workload(workload, { crossReferences, manifest, report }) {
    const missed = requestsAccelerators(workload) ? missedRayService(workload, crossReferences) : undefined;
    const name = getIn(manifest.root, 'metadata', 'name');
    if (missed === undefined || name === undefined) return;
    const { service, key, value, instead } = missed;
    report({
      message: `Service ${shorten(service, 30)} selects ${shorten(`${key}=${value}`, 40)}, which no pod of this cluster has: no request reaches it; KubeRay's label is ${instead}`,
      span: spanOf(name),
    });
  },
  podSet(podSet, context) {
    const { workload, crossReferences, report } = context;
    const { name, namespace, role } = workload;
    if (!runsServers(workload) || name === null || !requestsAccelerators(podSet)) return;
    if (role === 'training' || role === 'infrastructure' || mayBeCompleted(workload) || isIncomplete(podSet.pod))
      return;
    reportPort(podSet, context);
    reportNamespace(podSet, name, context);
    for (const serviceName of serviceNames(name)) {
      const service = crossReferences.service(namespace, serviceName);
      if (service?.file !== null || service.facts.selects === null) continue;
      const selector = Object.entries(service.facts.selects);
      if (workload.podSets.some((one) => missedLabels(selector, one, workload).length === 0)) continue;
      const isOwn = sendsTo(service.facts.targets, podSet);
      const missed = missedLabel(selector, podSet, workload, isOwn);
      if (missed === undefined || crossReferences.keptRunning(namespace, service.facts.selects).length > 0) continue;
      if (missed.value !== name && isElsewhere(missed.value, namespace, crossReferences)) continue;
      const { selected, label, span } = missed;
      report({
        message: `Service ${shorten(serviceName, 20)} selects ${selected}, but these pods have ${label}: no request reaches them`,
        span,
      });
      return;
    }
  },
});

/** Kinds whose template's labels are those of all pods. */
function runsServers({ kind, apiVersion }: Workload): boolean {
  return groupOf(apiVersion) === 'apps' || kind === 'Rollout' || kind === 'LeaderWorkerSet';
}

/** What people call the Service of a workload. */
function serviceNames(name: string): readonly string[] {
  const base = name.replace(/-(?:deployment|deploy|statefulset|sts|daemonset|rollout|lws)$/, '');
  return [...new Set([name, base])].flatMap((one) => [one, `${one}-service`, `${one}-svc`, `${one}-leader`]);
}

/** Reports the workload's Service in another namespace: it selects pods of its own only. */
function reportNamespace(podSet: PodSet, name: string, context: PodSetContext): void {
  const { workload, crossReferences, manifest, report } = context;
  const { namespace, kind } = workload;
  const metadata = getIn(manifest.root, 'metadata');
  const at = getIn(metadata, 'namespace') ?? getIn(metadata, 'name');
  if (at === undefined || isUnseen(metadata) || isUnseen(at)) return;
  for (const serviceName of serviceNames(name)) {
    const service = crossReferences.serviceElsewhere(namespace, serviceName);
    const selector = Object.entries(service?.facts ?? {});
    if (service === undefined || service.hasWorkload || selector.length === 0) continue;
    if (missedLabels(selector, podSet, workload).length > 0) continue;
    if (crossReferences.keptRunning(service.namespace, service.facts).length > 0) continue;
    const object = `Service ${shorten(serviceName, 24)}`;
    const [there, here] = [shorten(service.namespace ?? '', 24), shorten(namespace ?? '', 24)];
    const isOpen = service.namespace === null || namespace === null;
    report({
      severity: isOpen ? 'info' : 'warning',
      message: !isOpen
        ? `${object} is in namespace ${there}, these pods in ${here}: no request reaches them`
        : namespace === null
          ? `${object} is in namespace ${there}, this ${kind} names none: the Service finds its pods only if applied to ${there}`
          : `${object} names no namespace: it finds these pods only if applied to ${here}`,
      span: spanOf(at),
    });
    return;
  }
}

/** Reports a port that a Service names and no container has. */
function reportPort({ pod, labels }: PodSet, { workload, crossReferences, report }: PodSetContext): void {
  const ports = placesAt(pod, 'containers.*.ports.*');
  const [first] = ports;
  const written = [...ports, ...ports.flatMap((port) => getIn(port, 'name') ?? []), ...labels.map(({ at }) => at)];
  if (first === undefined || written.some((at) => isUnseen(at) || isUnseen(at.parent))) return;
  const names = new Set(ports.map((port) => asText(getIn(port, 'name'))));
  const own = tableOf(labels.map(({ at, value }): [string, string] => [keyOf(at), value]));
  for (const { facts, file, name } of crossReferences.servicesOf(workload.namespace, own)) {
    const targets = file === null ? (facts.targets ?? []) : [];
    const [target] = targets;
    // The other ports may be those of other pods with the same labels.
    if (target === undefined || targets.some((one) => /^\d+$/.test(one) || names.has(one))) continue;
    if (items(getIn(pod, 'initContainers')).length > 0) continue;
    report({
      message: `Service ${shorten(name, 30)} sends requests to port "${shorten(target, 20)}", which no container names: no request arrives`,
      span: spanOf(getIn(first, 'name') ?? getIn(first, 'containerPort') ?? first),
    });
    return;
  }
}

interface MissedLabel {
  readonly value: string;
  /** The label of the selector, for a message. */
  readonly selected: string;
  /** What the pods have instead. */
  readonly label: string;
  readonly span: Span;
}

interface OwnLabel {
  readonly key: string;
  readonly value: string;
  readonly span: Span;
}

/** The labels of pods, with that by which a LeaderWorkerSet names them. */
function labelsOf({ labels }: PodSet, { kind, name, manifest }: Workload): readonly OwnLabel[] {
  const written = labels.map(({ at, value }) => ({ key: keyOf(at), value, span: spanOf(at) }));
  const named = getIn(manifest.root, 'metadata', 'name');
  if (kind !== 'LeaderWorkerSet' || name === null || named === undefined) return written;
  return [...written, { key: `${groupLabel}name`, value: name, span: spanOf(named) }];
}

/** https://lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables/ */
const groupLabel = 'leaderworkerset.sigs.k8s.io/';

/** The parts of a selector that the pods do not have. */
function missedLabels(selector: Selector, podSet: PodSet, workload: Workload): Selector {
  const own = labelsOf(podSet, workload);
  return selector.filter(
    ([key, value]) =>
      !own.some((one) => one.key === key && one.value === value) &&
      // The controller numbers the pods.
      (!key.startsWith(groupLabel) || key === `${groupLabel}name`),
  );
}

type Selector = readonly (readonly [key: string, value: string])[];

/** The only part of a selector that the pods do not have, but almost: another spelling of the value, or the value under another key. */
function missedLabel(selector: Selector, podSet: PodSet, workload: Workload, isOwn: boolean): MissedLabel | undefined {
  if (podSet.labels.some(({ at }) => isTemplated(at))) return undefined;
  const own = labelsOf(podSet, workload);
  const [first, ...others] = missedLabels(selector, podSet, workload);
  if (first === undefined || others.length > 0) return undefined;
  const [key, value] = first;
  if (isPlaceholderText(value)) return undefined;
  const same = own.find((one) => one.key === key);
  const near = same === undefined ? own.find((one) => one.value === value) : same;
  const isName = isOwn && nameKeys.has(key) && !isOther(value);
  if (near === undefined || (same !== undefined && !isName && !resembles(same.value, value))) return undefined;
  return { value, selected: inWords(key, value), label: inWords(near.key, near.value), span: near.span };
}

/** Whether all ports of a Service are declared by these pods or on their command lines. */
function sendsTo(targets: readonly string[] | null, { pod, containers }: PodSet): boolean {
  const words = containers.flatMap(({ command, args }) =>
    [...command, ...args].flatMap((one) => one.value.split(/[\s=]/)),
  );
  const ports = placesAt(pod, 'containers.*.ports.*');
  const own = new Set([
    ...words,
    ...ports.flatMap((port) => ['containerPort', 'name'].map((key) => asText(getIn(port, key)))),
  ]);
  return targets !== null && targets.length > 0 && targets.every((target) => own.has(target));
}

/** A label of up to 38 characters. A long key is cut first: the values differ. */
function inWords(key: string, value: string): string {
  const shown = shorten(value, 20);
  return `${shorten(key, 37 - shown.length)}=${shown}`;
}

/** What follows the name of a workload in the name of another, which serves it or is served by it. */
const otherParts = wordSet(
  'router proxy gateway frontend end ui web api worker redis cache db canary preview ingress nginx lb exporter',
);

function resembles(one: string, other: string): boolean {
  const [short = '', long = ''] = [one, other].sort((a, b) => a.length - b.length);
  if (isSlip(one, other) || isShuffled(one, other)) return true;
  if (short.length < 4 || !long.startsWith(short) || /\d/.test(long.slice(short.length))) return false;
  return !isOther(long);
}

/** Whether a name says that it is something next to a server. */
function isOther(name: string): boolean {
  const [, ...parts] = name.split(/[-_]/);
  return otherParts.has(parts.at(-1) ?? '');
}

/** The label may be that of another object, which mostly has it as its name. */
function isElsewhere(value: string, namespace: string | null, crossReferences: CrossReferences): boolean {
  return ['Deployment', 'StatefulSet', 'DaemonSet', 'Rollout', 'LeaderWorkerSet'].some(
    (kind) => crossReferences.workload(kind, namespace, value) !== undefined,
  );
}
