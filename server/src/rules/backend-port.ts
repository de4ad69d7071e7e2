import { exporterPort, type MonitorMistake, monitorMistakes } from '../evidence/monitor-mistakes.ts';
import { unlabeledService } from '../evidence/monitored-services.ts';
import { type Monitor, monitorKind, monitorOf } from '../evidence/monitors.ts';
import { type Backend, backendsOf } from '../evidence/route-backends.ts';
import { calledService, configMapUrls, type ServiceUrl, serviceUrls } from '../evidence/service-urls.ts';
import { isUnknown } from '../evidence/written.ts';
import type { Referenced, ServiceFacts } from '../model/cross-references.ts';
import { groupOf } from '../model/manifest.ts';
import type { ServicePort } from '../model/referenced.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isUnseen,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Table } from '../yaml/table.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * An Ingress, a route, a Prometheus monitor or an address uses a port that its Service does not have, or misspells the port's name.
 *
 * ## Why
 *
 * The port of a backend is a port of the Service, not of its pods. With another one, every request fails, while the server holds its GPUs. A
 * ServiceMonitor names ports of Services: without one of that name, Prometheus gets no metrics, and what scales on them does not scale.
 * It selects Services of its own namespace, unless a `namespaceSelector` names others, by their own labels, not by those of their pods. The same applies to a PodMonitor and its pods (information).
 * A PodMonitor names ports of containers. Both take names, not numbers, and their labels are in `matchLabels`.
 * Their times have units, and a timeout is not longer than its interval. The targets in the settings of Prometheus are addresses of Services.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Service
 * metadata: {name: chat}
 * spec:
 *   selector: {app: chat}
 *   ports: [{name: http, port: 80, targetPort: 8000}]
 * ---
 * apiVersion: networking.k8s.io/v1
 * kind: Ingress
 * metadata: {name: gpu-chat}
 * spec:
 *   ingressClassName: alb
 *   defaultBackend: {service: {name: chat, port: {number: 8000}}}
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Service
 * metadata: {name: chat}
 * spec:
 *   selector: {app: chat}
 *   ports: [{name: http, port: 80, targetPort: 8000}]
 * ---
 * apiVersion: networking.k8s.io/v1
 * kind: Ingress
 * metadata: {name: gpu-chat}
 * spec:
 *   ingressClassName: alb
 *   defaultBackend: {service: {name: chat, port: {number: 80}}}
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: requests arrive for the first time.
 *
 * ## When it is silent
 *
 * For Services in other files (a name is misspelled only next to GPU pods of almost the same Service), without a selector, or with unknown ports; for an Ingress with a target port of its Service, which ingress-nginx accepts,
 * unless its class names another controller; for headless Services in variables; for a ServiceMonitor with another port that one of its Services has; and for templates.
 *
 * ## Sources
 *
 * - [Kubernetes: Ingress](https://kubernetes.io/docs/concepts/services-networking/ingress/)
 * - [ingress-nginx: serviceEndpoints](https://github.com/kubernetes/ingress-nginx/blob/main/internal/ingress/controller/controller.go)
 * - [Gateway API: HTTPRoute](https://gateway-api.sigs.k8s.io/api-types/httproute/)
 * - [Istio: VirtualService](https://istio.io/latest/docs/reference/config/networking/virtual-service/)
 * - [Traefik: IngressRoute](https://doc.traefik.io/traefik/reference/routing-configuration/kubernetes/crd/http/ingressroute/)
 * - [NVIDIA/gpu-operator: the Service of its exporter](https://github.com/NVIDIA/gpu-operator/blob/main/assets/state-dcgm-exporter/0800_service.yaml)
 * - [Prometheus Operator: ServiceMonitor](https://prometheus-operator.dev/docs/developer/getting-started/), [its API](https://prometheus-operator.dev/docs/api-reference/api/)
 */
export default defineRule({
  topic: 'network',
  severity: 'warning',
  manifest(manifest, context) {
    const { apiVersion, kind, namespace, root } = manifest;
    const metadata = getIn(root, 'metadata');
    const key = `${groupOf(apiVersion)}/${kind}`;
    if (!kinds.has(key) && monitorKind(manifest) === undefined) return;
    if (isIncomplete(metadata) || isUnseen(getIn(metadata, 'namespace'))) return;
    if (kind === 'ConfigMap') {
      for (const url of configMapUrls(manifest)) checkUrl(url, namespace, context);
      return;
    }
    const mistakes = monitorMistakes(manifest);
    for (const mistake of mistakes) reportMistake(kind, mistake, context);
    if (mistakes.length > 0) return;
    const monitor = monitorOf(manifest, context.crossReferences);
    if (monitor !== undefined) {
      checkMonitor(manifest, monitor, context);
      return;
    }
    for (const backend of backendsOf(kind, root)) {
      const { name, port, at } = backend;
      const home = backend.namespace ?? namespace;
      const found = context.crossReferences.service(home, name);
      if (found === undefined) {
        checkName(backend, home, context);
        continue;
      }
      const ports = portsOf(found);
      if (ports === undefined || ports.some((one) => one[port] === asText(at))) continue;
      if (kind === 'Route' && found.facts.targets?.includes(asText(at) ?? '') !== false) continue;
      if (kind === 'Ingress' && mayAccept(root, found.facts.targets, asText(at))) continue;
      const own = ports.slice(0, 9).map((one) => one[port] ?? `${one.port} without a name`);
      context.report({
        message: `Service ${shorten(found.name, 40)} has no port ${port === 'name' ? 'named ' : ''}${shorten(asText(at) ?? '', 20) || '""'}, only ${shorten(own.join(', '), 40)}: every request to this backend fails`,
        span: spanOf(at),
        fixes: () => [rename(at, ports, port, context)],
      });
    }
  },
  container(container, { workload, crossReferences, document, report }) {
    for (const found of serviceUrls(container, document))
      checkUrl(found, workload.namespace, { crossReferences, document, report });
  },
});

/** Reports an address with a port that its Service does not have. */
function checkUrl(
  url: ServiceUrl,
  home: string | null,
  context: Pick<RuleContext, 'crossReferences' | 'document' | 'report'>,
): void {
  const { at, span, where, service, port, isLoopback, isValue } = url;
  if (port === undefined || isLoopback) return;
  const found = calledService(url, home, context.crossReferences);
  const ports = portsOf(found);
  if (found?.facts.hasAddress !== true || ports === undefined || ports.some((one) => one.port === port)) return;
  const [only, ...others] = ports;
  context.report({
    message: `${where} uses port ${port} of Service ${shorten(service, 30)}, which has only ${shorten(ports.map((one) => one.port).join(', '), 30)}: no request reaches it`,
    span,
    fixes: () => {
      const text = asText(at) ?? '';
      if (only === undefined || others.length > 0 || !isValue) return [];
      const value = text.replace(`:${port}`, `:${only.port}`);
      return [fix(`Use port ${only.port}`, 'unsafe', replaceScalar(context.document, at, value))];
    },
  });
}

const kinds: ReadonlySet<string> = new Set([
  '/ConfigMap',
  'networking.k8s.io/Ingress',
  ...['HTTPRoute', 'GRPCRoute', 'TCPRoute', 'TLSRoute'].map((kind) => `gateway.networking.k8s.io/${kind}`),
  ...['traefik.io', 'traefik.containo.us'].flatMap((group) => [`${group}/IngressRoute`, `${group}/IngressRouteTCP`]),
  'networking.istio.io/VirtualService',
  'route.openshift.io/Route',
  'http.keda.sh/HTTPScaledObject',
]);

/** Whether the controller may be ingress-nginx, which also compares with target ports. */
function mayAccept(root: Cursor, targets: readonly string[] | null, port: string | undefined): boolean {
  const others = /^(?:alb|gce|traefik|istio|cilium)\b/;
  return !others.test(asText(getIn(root, 'spec', 'ingressClassName')) ?? '') && targets?.includes(port ?? '') !== false;
}

/** Reports a name without a Service, if the file has almost the same one for GPU pods, with the port. */
function checkName(
  { name, nameAt, port, at }: Backend,
  home: string | null,
  { crossReferences, report }: RuleContext,
): void {
  const [like, ...more] = crossReferences
    .servicesLike(home, name)
    .filter(({ facts }) => facts.ports?.some((one) => one[port] === asText(at)) === true);
  if (like === undefined || more.length > 0 || like.facts.selects === null) return;
  const servers = crossReferences.keptRunning(home, like.facts.selects);
  if (!servers.some(({ file, facts }) => file === null && (facts.devices ?? 0) > 0)) return;
  report({
    message: `Service ${shorten(name, 33)} is not in this file, where the Service is named ${shorten(like.name, 33)}: every request to this backend fails`,
    span: spanOf(nameAt),
  });
}

/** The known ports of a Service in the same file that sends requests to pods. */
function portsOf(found: Referenced<ServiceFacts> | undefined): readonly ServicePort[] | undefined {
  return found?.file === null && found.facts.selects !== null ? (found.facts.ports ?? undefined) : undefined;
}

/** Reports a monitor without the form of its kind. */
function reportMistake(kind: string, { what, at, other }: MonitorMistake, { document, report }: RuleContext): void {
  const [key, text] = [shorten(keyOf(at), 30), shorten(asText(at) ?? '', 20)];
  const meant = what === 'unit' ? `${text}s` : (other ?? '');
  const messages: Record<MonitorMistake['what'], string> = {
    port: `port of a ${kind} must be the name of a port, a string, not the number ${text}: the API server rejects the object`,
    label: `Label ${key} belongs in selector.matchLabels: kubectl rejects the ${kind}, and other clients ignore the label and select everything`,
    list: `The endpoints of a ${kind} are in ${other}, not in ${key}: kubectl rejects the object, and other clients ignore them`,
    'known-port': `The GPU operator names this port ${other}, not ${text}: Prometheus gets no metrics of the GPUs`,
    unit: `${key} must have a unit, such as ${text}s, not ${text}: the API server rejects the ${kind}`,
    timeout: `${key} ${text} is longer than interval ${other}: the Prometheus operator ignores the ${kind}`,
  };
  report({
    severity: what === 'timeout' || what === 'known-port' ? 'warning' : 'error',
    message: messages[what],
    span: what === 'label' || what === 'list' ? keySpanOf(at) : spanOf(at),
    fixes: () =>
      what === 'unit' || what === 'known-port'
        ? [fix(`Set ${key} to ${meant}`, 'unsafe', replaceScalar(document, at, meant))]
        : [],
  });
}

/** Reports a ServiceMonitor of whose ports the Services that it selects have none. */
function checkMonitor({ kind, name }: Manifest, monitor: Monitor, context: RuleContext): void {
  const { ofPods, selector, namespace, wanted } = monitor;
  const ports = monitor.endpoints.map((one) => getIn(one, 'port'));
  const [first] = ports;
  if (first === undefined || ports.some((port) => port === undefined || isUnknown(port))) return;
  if (ofPods) {
    // PodMonitoring also takes the number of a port, which no container need declare.
    if (ports.some((port) => asNumber(port) !== undefined)) return;
    checkPods(first, ports.map(asText), namespace, wanted, context);
    checkPodsElsewhere(kind, monitor, context);
    return;
  }
  const found = context.crossReferences.servicesLabeled(namespace, wanted);
  const known = found.length === 0 ? exporterPort(monitor) : undefined;
  if (known !== undefined) reportMistake(kind, known, context);
  const own = found.filter(({ file }) => file === null);
  const all = found.flatMap(({ facts }) => facts.ports ?? []);
  const names = new Set(ports.map(asText));
  // Kustomize adds labels to Services.
  if (found.length === 0 && !context.crossReferences.mayBePatch()) {
    const named = namespace && name ? context.crossReferences.serviceElsewhere(namespace, name) : undefined;
    const stray = named?.namespace
      ? { namespace: named.namespace, facts: name ?? '' }
      : context.crossReferences.labeledElsewhere('service', namespace, wanted);
    if (stray?.namespace) {
      context.report({
        message: `Service ${shorten(stray.facts, 24)} is in namespace ${shorten(stray.namespace, 22)}: ${reach(monitor)}, the ${kind} looks only in ${shorten(namespace ?? '', 24)}`,
        span: keySpanOf(selector ?? first),
      });
    } else checkMonitorLabels(monitor, kind, name, ports.map(asText), context);
  }
  if (
    own.length === 0 ||
    found.some(({ facts }) => facts.ports === null) ||
    all.some(({ name }) => names.has(name ?? ''))
  )
    return;
  const [service] = own;
  const who = found.length > 1 ? `${found.length} Services have` : `Service ${shorten(service?.name ?? '', 40)} has`;
  const words = [...new Set(all.slice(0, 9).map(({ name, port }) => name ?? `${port} without a name`))].join(', ');
  context.report({
    message: `${who} no port named ${shorten(asText(first) ?? '', 20)}, only ${shorten(words, 40)}: Prometheus gets no metrics from ${found.length > 1 ? 'them' : 'it'}`,
    span: spanOf(first),
    fixes: () => (ports.length > 1 ? [] : [rename(first, all, 'name', context)]),
  });
}

/** Reports a PodMonitor with ports that no container of its pods has. */
function checkPods(
  at: Cursor,
  names: readonly (string | undefined)[],
  namespace: string | null,
  wanted: Table<string>,
  { crossReferences, report }: RuleContext,
): void {
  const found = crossReferences.keptRunning(namespace, wanted);
  const [first] = found;
  const known = found.flatMap(({ file, facts }) => (file === null ? (facts.portNames ?? names) : names));
  if (first === undefined || known.some((name) => names.includes(name)) || crossReferences.mayBePatch()) return;
  // Webhooks add sidecars with these ports.
  if (names.some((name) => /envoy|istio|linkerd|dapr|queue|proxy|usermetric|autometric/.test(name ?? ''))) return;
  report({
    message: `${first.kind} ${shorten(first.name, 22)} has no container port named ${shorten(asText(at) ?? '', 20)}${known.length === 0 ? '' : `, only ${shorten(known.join(', '), 26)}`}: Prometheus gets no metrics from its pods`,
    span: spanOf(at),
  });
}

/** Reports a PodMonitor without pods in its namespace, if the file has them in another one. */
function checkPodsElsewhere(kind: string, monitor: Monitor, { crossReferences, report }: RuleContext): void {
  const { selector, namespace, wanted } = monitor;
  const stray = namespace === null ? undefined : crossReferences.labeledElsewhere('workload', namespace, wanted);
  if (!stray?.namespace || crossReferences.keptRunning(namespace, wanted).length > 0 || crossReferences.mayBePatch())
    return;
  report({
    // Pods of a DaemonSet or a Job may have the same labels there.
    severity: 'info',
    message: `${shorten(stray.facts, 26)} is in namespace ${shorten(stray.namespace, 24)}: ${kind === 'PodMonitoring' ? 'a' : `${reach(monitor)}, the`} ${kind} looks only in ${kind === 'PodMonitoring' || !monitor.namesNamespace ? 'its own, ' : ''}${shorten(namespace ?? '', 24)}`,
    span: keySpanOf(selector),
  });
}

/** Why a monitor looks in one namespace. */
function reach({ namesNamespace }: Monitor): string {
  return namesNamespace ? 'by its namespaceSelector' : 'without a namespaceSelector';
}

/** Reports a ServiceMonitor with labels that its Service in the same file does not have. */
function checkMonitorLabels(
  { selector, namespace, wanted }: Monitor,
  kind: string,
  name: string | null,
  ports: readonly (string | undefined)[],
  { crossReferences, report }: RuleContext,
): void {
  const missed = unlabeledService({ namespace, wanted }, name, ports, crossReferences);
  const at = entries(getIn(selector, 'matchLabels'))[0];
  if (missed === undefined || at === undefined) return;
  const service = `Service ${shorten(missed.name, 30)}`;
  const label = shorten(`${missed.key}=${missed.value}`, 34);
  report({
    message:
      missed.own === null
        ? `${service} does not have the label ${label} itself, only its pods do: the ${kind} finds no Service`
        : `${service} has ${shorten(`${missed.key}=${missed.own}`, 34)}, not ${label}: the ${kind} finds no Service`,
    span: spanOf(at),
  });
}

/** The only port instead. */
function rename(
  at: Cursor,
  [only, ...others]: readonly ServicePort[],
  port: Backend['port'],
  { document }: RuleContext,
) {
  const name = others.length > 0 ? null : (only?.[port] ?? null);
  if (name === null) return undefined;
  const value = port === 'port' && /^\d+$/.test(name) ? Number(name) : name;
  return fix(`Use port ${shorten(name, 30)}`, 'unsafe', replaceScalar(document, at, value));
}
