import { titleOf } from '../catalog/program-records.ts';
import { servesOnePort } from '../evidence/listening-port.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  keyOf,
  spanOf,
} from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { type Table, tableOf } from '../yaml/table.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A NetworkPolicy, an InferencePool, a PodMonitoring or a health check of a load balancer names a port on which its GPU server does not listen.
 *
 * ## Why
 *
 * They are about ports of pods, not of Services. A NetworkPolicy that allows port 80, the port of the Service, blocks the requests that arrive at
 * port 8000 of the pod. An InferencePool sends requests past the Service to the pods, and GKE's load balancer sends none to pods that fail its
 * health check. The server is ready, holds its GPUs and gets no requests. Google's managed Prometheus reads the port of the pods that a PodMonitoring names.
 *
 * ```yaml invalid
 * apiVersion: networking.k8s.io/v1
 * kind: NetworkPolicy
 * metadata: {name: chat}
 * spec:
 *   podSelector: {matchLabels: {app: chat}}
 *   ingress: [{ports: [{port: 80}]}]
 * ---
 * apiVersion: v1
 * kind: Service
 * metadata: {name: chat}
 * spec:
 *   selector: {app: chat}
 *   ports: [{port: 80, targetPort: 8000}]
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata: {name: chat}
 * spec:
 *   selector: {matchLabels: {app: chat}}
 *   template:
 *     metadata: {labels: {app: chat}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: vllm/vllm-openai:v0.11.0
 *           args: [--model=Qwen/Qwen3-4B]
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ```yaml fixed
 * apiVersion: networking.k8s.io/v1
 * kind: NetworkPolicy
 * metadata: {name: chat}
 * spec:
 *   podSelector: {matchLabels: {app: chat}}
 *   ingress: [{ports: [{port: 8000}]}]
 * ---
 * apiVersion: v1
 * kind: Service
 * metadata: {name: chat}
 * spec:
 *   selector: {app: chat}
 *   ports: [{port: 80, targetPort: 8000}]
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata: {name: chat}
 * spec:
 *   selector: {matchLabels: {app: chat}}
 *   template:
 *     metadata: {labels: {app: chat}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: vllm/vllm-openai:v0.11.0
 *           args: [--model=Qwen/Qwen3-4B]
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: requests arrive for the first time.
 *
 * ## When it is silent
 *
 * For servers in other files or whose port is not known, for pods with several containers, and for policies with a rule without ports, with a range,
 * a name, the right port or a port that no Service of the pods has.
 *
 * ## Sources
 *
 * - [Kubernetes: Network Policies](https://kubernetes.io/docs/concepts/services-networking/network-policies/)
 * - [GKE: HealthCheckPolicy](https://cloud.google.com/kubernetes-engine/docs/how-to/configure-gateway-resources#configure_health_check)
 * - [Gateway API Inference Extension: InferencePool](https://gateway-api-inference-extension.sigs.k8s.io/api-types/inferencepool/)
 */
export default defineRule({
  topic: 'network',
  severity: 'warning',
  manifest(manifest, context) {
    const { kind, root } = manifest;
    if (kind === 'HealthCheckPolicy' && groupOf(manifest.apiVersion) === 'networking.gke.io')
      checkHealth(manifest, context);
    const read = readers.get(`${groupOf(manifest.apiVersion)}/${kind}`);
    const metadata = getIn(root, 'metadata');
    const spec = getIn(root, 'spec');
    if (read === undefined || isIncomplete(metadata) || isUnseen(getIn(metadata, 'namespace')) || isUnseen(spec))
      return;
    const { selector, ports } = read(spec);
    const [first] = ports ?? [];
    const labels = labelsOf(selector);
    if (labels === undefined || first === undefined) return;
    check(manifest, first, ports ?? [], labels, context);
  },
});

function check(
  { kind, namespace }: Manifest,
  first: Cursor,
  ports: readonly Cursor[],
  labels: Table<string>,
  context: RuleContext,
) {
  const server = onlyServer(context.crossReferences, namespace, labels);
  if (server === undefined || ports.some((one) => asNumber(one) === undefined || asNumber(one) === server.port)) return;
  // Others may have their metrics on a port of their own.
  if (kind === 'PodMonitoring' && !servesOnePort.has(server.program)) return;
  const isPolicy = kind === 'NetworkPolicy';
  // Another policy may admit the requests, unless this one names the port of the Service instead.
  const services = isPolicy ? context.crossReferences.servicesOf(namespace, server.labels) : [];
  const hasPort = (at: Cursor) =>
    services.some(({ facts }) => facts.ports?.some(({ port }) => port === asText(at)) === true);
  if (isPolicy && !ports.every(hasPort)) return;
  const written = [...new Set(ports.map((one) => asText(one)))].join(', ');
  const isOf = `but ${titleOf(server.program)} listens on ${server.port} in its pods`;
  context.report({
    message: isPolicy
      ? `The policy allows only port ${shorten(written, 30)}, ${isOf}: no request arrives`
      : kind === 'PodMonitoring'
        ? `Prometheus scrapes port ${shorten(written, 30)}, ${isOf}: no metrics arrive`
        : `The pool sends requests to port ${shorten(written, 30)}, ${isOf}: no request arrives`,
    span: spanOf(first),
    fixes: () =>
      ports.length > 1
        ? []
        : [fix(`Use port ${server.port}`, 'unsafe', replaceScalar(context.document, first, server.port))],
  });
}

/** Reports a health check of GKE's load balancer on a port that the pods of its Service do not have. */
function checkHealth({ root, namespace }: Manifest, context: RuleContext): void {
  const spec = getIn(root, 'spec');
  const target = getIn(spec, 'targetRef');
  const config = getIn(spec, 'default', 'config');
  const own = ['httpHealthCheck', 'tcpHealthCheck', 'httpsHealthCheck', 'http2HealthCheck'].map((key) =>
    getIn(config, key),
  );
  const check = own.find((one) => one !== undefined);
  const [place, name] = [getIn(check, 'port'), getIn(target, 'name')];
  const port = asNumber(place);
  if (place === undefined || port === undefined || name === undefined || isTemplated(name) || isIncomplete(check))
    return;
  if (asText(getIn(target, 'kind')) !== 'Service' || asText(getIn(check, 'portSpecification')) === 'USE_SERVING_PORT')
    return;
  const service = context.crossReferences.service(namespace, asText(name) ?? '');
  const selects = service?.siblingFolder === false ? service.facts.selects : null;
  const server = selects === null ? undefined : onlyServer(context.crossReferences, namespace, selects);
  if (server === undefined || server.port === port) return;
  context.report({
    message: `The health check uses port ${port}, but ${titleOf(server.program)} listens on ${server.port} in its pods: the load balancer sends them no request`,
    span: spanOf(place),
    fixes: () => [fix(`Use port ${server.port}`, 'unsafe', replaceScalar(context.document, place, server.port))],
  });
}

/** The known server of all pods that have the labels, if they are in the same file. */
function onlyServer(others: CrossReferences, namespace: string | null, labels: Table<string>) {
  const [only, ...more] = others.keptRunning(namespace, labels);
  const server = only?.file === null && more.length === 0 ? only.facts.server : null;
  return only === undefined || server === null ? undefined : { ...server, labels: only.facts.labels };
}

interface PodPorts {
  readonly selector: Cursor | undefined;
  /** undefined if others are also admitted, or may be. */
  readonly ports: readonly Cursor[] | undefined;
}

const readers: ReadonlyMap<string, (spec: Cursor | undefined) => PodPorts> = new Map([
  ['networking.k8s.io/NetworkPolicy', policyPorts],
  ['inference.networking.x-k8s.io/InferencePool', poolPorts],
  ['inference.networking.k8s.io/InferencePool', poolPorts],
  ['monitoring.googleapis.com/PodMonitoring', monitoringPorts],
]);

function policyPorts(spec: Cursor | undefined): PodPorts {
  const selector = getIn(spec, 'podSelector', 'matchLabels');
  const ingress = getIn(spec, 'ingress');
  const rules = items(ingress).map((rule) => getIn(rule, 'ports'));
  const isOpen = [spec, ingress, ...items(ingress), getIn(spec, 'podSelector')].some(isIncomplete);
  const all = rules.flatMap((one) => items(one));
  const isPlain = all.every(
    (one) => !isUnseen(one) && getIn(one, 'endPort') === undefined && asText(getIn(one, 'protocol')) !== 'UDP',
  );
  const ports = all.flatMap((one) => getIn(one, 'port') ?? []);
  const isWhole =
    isPlain && !isOpen && ports.length === all.length && rules.every((one) => items(one).length > 0 && !isUnseen(one));
  const types = getIn(spec, 'policyTypes');
  // Without Ingress, the rules are ignored.
  const isIngress = types === undefined || items(types).some((one) => asText(one) === 'Ingress');
  const isPods = getIn(spec, 'podSelector', 'matchExpressions') === undefined;
  return { selector, ports: isWhole && isPods && isIngress && !ports.some(isTemplated) ? ports : undefined };
}

function poolPorts(spec: Cursor | undefined): PodPorts {
  const selector = getIn(spec, 'selector', 'matchLabels') ?? getIn(spec, 'selector');
  const list = getIn(spec, 'targetPorts');
  const one = getIn(spec, 'targetPortNumber');
  const ports = one === undefined ? items(list).flatMap((item) => getIn(item, 'number') ?? []) : [one];
  const isOpen = [spec, selector, list, ...items(list)].some(isIncomplete) || ports.some(isTemplated);
  return { selector, ports: isOpen ? undefined : ports };
}

/** The numbers; backend-port compares names. https://github.com/GoogleCloudPlatform/prometheus-engine/blob/main/doc/api.md */
function monitoringPorts(spec: Cursor | undefined): PodPorts {
  const selector = getIn(spec, 'selector', 'matchLabels');
  const list = getIn(spec, 'endpoints');
  const ports = items(list).flatMap((one) => getIn(one, 'port') ?? []);
  const isOpen = [spec, getIn(spec, 'selector'), selector, list, ...items(list)].some(isIncomplete);
  const isPlain = getIn(spec, 'selector', 'matchExpressions') === undefined && !ports.some(isTemplated);
  return { selector, ports: isOpen || !isPlain ? undefined : ports };
}

function labelsOf(selector: Cursor | undefined): Table<string> | undefined {
  const labels = entries(selector);
  if (labels.length === 0 || labels.some(isUnseen)) return undefined;
  return tableOf(labels.map((label): [string, string] => [keyOf(label), asText(label) ?? '']));
}
