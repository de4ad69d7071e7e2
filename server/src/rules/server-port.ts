import { titleOf } from '../catalog/program-records.ts';
import {
  declaredPort,
  type ListeningPort,
  listeningPort,
  mayListen,
  portNumber,
  servesOnePort,
} from '../evidence/listening-port.ts';
import { isElsewhere, isScraped, metricsElsewhere, metricsPorts, strayMetricsPort } from '../evidence/metrics-port.ts';
import { otherProtocol } from '../evidence/probe-protocol.ts';
import { probesOf } from '../evidence/probes.ts';
import { isAlone } from '../evidence/sole-server.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { lookUp } from '../model/manifest.ts';
import type { Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asBoolean,
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
import { tableOf } from '../yaml/table.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A probe, a Service or a Prometheus annotation uses a port that the server does not listen on.
 *
 * ## Why
 *
 * Each server has its own default port: vLLM 8000, SGLang 30000, llama.cpp 8080, Ollama 11434, ComfyUI 8188. The images of Hugging Face's
 * servers set `PORT` to 80. Knative and KServe use `containerPort`, or port 8080 without `ports`. The port of any other server is known if a
 * flag, a variable or a probe names the same one as `containerPort`; a `containerPort` alone does not set it. A probe on another port, or in a
 * protocol that the server does not speak (gRPC, HTTPS), fails: the pod never becomes ready, or keeps restarting while it holds its GPUs.
 * Requests through a Service to another port are refused. Prometheus gets no metrics from another port, which annotations of the pod or its
 * Service name, even if `ports` declares it. A wrong port that `ports` declares for metrics is reported by itself (as information, unless a
 * Service has it), and so is an annotation whose port is not the one that an unknown server declares for metrics.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model", "Qwen/Qwen3-4B"]
 *       readinessProbe:
 *         httpGet:
 *           path: /health
 *           port: 8080
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model", "Qwen/Qwen3-4B"]
 *       readinessProbe:
 *         httpGet:
 *           path: /health
 *           port: 8000
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the probe takes effect and can restart the pod.
 *
 * ## When it is silent
 *
 * If a variable, a config file, a template or another image may set the port, if the command line mentions the other port as well, if another
 * container of the pod may listen there, on the network of the node, for the metrics of the proxies of meshes, and for Services of unknown
 * servers that also have the right port (for known servers, the wrong one is information). The severity is information if other programs are
 * known only by their settings or probes, and error for probes of servers with a single port and without code of the user, which can never
 * succeed.
 *
 * ## Sources
 *
 * - [vLLM: vllm serve](https://docs.vllm.ai/en/latest/cli/serve/)
 * - [SGLang: server arguments](https://docs.sglang.io/advanced_features/server_arguments.html)
 * - [llama.cpp: server](https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md)
 * - [Kubernetes: configure probes](https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/)
 */
export default defineRule({
  topic: 'network',
  severity: 'warning',
  container(container, context) {
    const { podSet, workload } = context;
    if (container.type !== 'app' || !requestsAccelerators(podSet) || !isAlone(container, podSet, workload)) return;
    const server = listeningPort(container) ?? declaredPort(container, workload);
    if (server === undefined || server.declared) checkNamedPort(container, context);
    if (server === undefined) return;
    checkProbes(server, container, context);
    checkKnative(server, container, context);
    const isReported = [checkServices(server, container, context), checkScraping(server, container, context)];
    if (!isReported.includes(true)) checkMetricsPort(server, container, context);
    if (workload.partial) checkChartServices(server, container, context);
  },
});

/**
 * Knative and KServe send requests to the port that the container declares, or to 8080. Knative sets PORT to it.
 * https://knative.dev/docs/serving/reference/spec-fields/
 */
function checkKnative(server: ListeningPort, container: Container, context: PodSetContext): void {
  const { workload, report, document } = context;
  const isPredictor =
    workload.kind === 'InferenceService' && getIn(container.at.parent?.parent, 'containers') !== undefined;
  const isService = workload.kind === 'Service' && workload.apiVersion.startsWith('serving.knative.dev/');
  if ((!isPredictor && !isService) || server.declared) return;
  // Only the first of several nodes gets requests.
  if (container.at.parent?.parent?.step === 'workerSpec') return;
  if (container.name === 'queue-proxy' || (server.words === undefined && readsPort.has(server.program))) return;
  const platform = isService ? 'Knative' : 'KServe';
  const ports = getIn(container.at, 'ports');
  if (ports !== undefined) {
    const [only, ...more] = items(ports);
    const place = getIn(only, 'containerPort');
    const port = asNumber(place);
    if (place === undefined || port === undefined || port === server.port || more.length > 0) return;
    if (isIncomplete(ports) || isIncomplete(only) || mayListen(port, server, container)) return;
    report({
      severity: 'error',
      message: `${platform} sends requests to containerPort ${port}, but ${titleOf(server.program)} listens on ${server.port}: no request arrives`,
      span: spanOf(place),
      fixes: () => [fix(`Use port ${server.port}`, 'unsafe', replaceScalar(document, place, server.port))],
    });
    return;
  }
  if (server.port === 8080) return;
  const name = getIn(container.at, 'name') ?? container.image?.at;
  if (name === undefined || isUnseen(container.at)) return;
  report({
    severity: 'error',
    message: `Without ports, ${platform} sends requests to port 8080, but ${titleOf(server.program)} listens on ${server.port}: no request arrives`,
    span: spanOf(name),
  });
}

/** Servers that take their port from PORT. */
const readsPort: ReadonlySet<string> = new Set(['text-generation-launcher', 'text-embeddings-router']);

function checkProbes(server: ListeningPort, container: Container, { workload, document, report }: PodSetContext) {
  for (const [type, probe] of Object.entries(probesOf(container, workload))) {
    for (const action of ['httpGet', 'tcpSocket', 'grpc']) {
      const request = getIn(probe, action);
      const place = getIn(request, 'port');
      const port = portNumber(place, container);
      if (port === server.port) checkProtocol(type, server, request, container, report);
      if (place === undefined || port === undefined || port === server.port) continue;
      if (isIncomplete(request) || getIn(request, 'host') !== undefined || mayListen(port, server, container)) continue;
      const effect =
        type === 'readiness' ? 'the pod never becomes ready' : 'the kubelet keeps restarting the container';
      report({
        severity: server.declared ? 'info' : servesOnePort.has(server.program) ? 'error' : 'warning',
        message: server.declared
          ? `The ${type} probe uses port ${port}, but ${server.program} is set to ${server.port}: unless it listens on both, ${effect}`
          : `The ${type} probe uses port ${port}, but ${titleOf(server.program)} listens on ${server.port}: ${effect}`,
        span: spanOf(place),
        fixes: () =>
          asNumber(place) === undefined || server.declared
            ? []
            : [fix(`Use port ${server.port}`, 'unsafe', replaceScalar(document, place, server.port))],
      });
    }
  }
}

/** Reports a probe in another protocol than HTTP on the port of a server that speaks only that. */
function checkProtocol(
  type: string,
  server: ListeningPort,
  request: Cursor | undefined,
  container: Container,
  report: PodSetContext['report'],
) {
  const wrong = server.declared || !servesOnePort.has(server.program) ? undefined : otherProtocol(request, container);
  if (wrong === undefined) return;
  report({
    severity: 'error',
    message: `The ${type} probe speaks ${wrong.protocol} to ${titleOf(server.program)}, which speaks HTTP on port ${server.port}: the probe never succeeds`,
    span: spanOf(wrong.at),
  });
}

/** The Services of the common library, which sends requests to `targetPort`, or else to `port`. */
function checkChartServices(server: ListeningPort, container: Container, { workload, report }: PodSetContext): void {
  const { root } = workload.manifest;
  const isOnly = entries(root.parent).length === 1;
  for (const service of server.declared ? [] : entries(getIn(root.parent?.parent, 'service'))) {
    const controller = asText(getIn(service, 'controller'));
    const isOfPods = controller === undefined ? isOnly : controller === keyOf(root);
    const used = [service, ...entries(getIn(service, 'ports'))];
    if (!isOfPods || [getIn(service, 'ports'), ...used].some(isIncomplete)) continue;
    if (used.some((one) => asBoolean(getIn(one, 'enabled')) === false)) continue;
    const places = used.slice(1).map((one) => getIn(one, 'targetPort') ?? getIn(one, 'port'));
    const isElsewhere = (place: Cursor | undefined) => {
      const port = asNumber(place);
      return port !== undefined && port !== server.port && !mayListen(port, server, container);
    };
    const [place] = places;
    if (place === undefined || !places.every(isElsewhere)) continue;
    report({
      message: `Service ${shorten(keyOf(service), 30)} sends requests to port ${places.map((one) => asText(one)).join(' and ')}, but ${titleOf(server.program)} listens on ${server.port}: no request arrives`,
      span: spanOf(place),
    });
  }
}

/** The annotation by which many Prometheus set-ups find the port for metrics. */
function checkScraping(
  server: ListeningPort,
  container: Container,
  { podSet, document, report }: PodSetContext,
): boolean {
  const [scrape, port] = ['scrape', 'port'].map((key) => lookUp(podSet.annotations, `prometheus.io/${key}`));
  const written = port === undefined || isTemplated(port.at) ? undefined : portNumber(port.value, container);
  const metrics = metricsElsewhere(written, server, container, podSet);
  if (port === undefined || scrape?.value !== 'true' || metrics === undefined) return false;
  report({
    message: `The annotations tell Prometheus to scrape port ${written}, but ${titleOf(server.program)} ${metrics === server.port ? 'listens' : 'has its metrics'} on ${metrics}: Prometheus gets no metrics`,
    span: spanOf(port.at),
    fixes: () => [fix(`Use port ${metrics}`, 'unsafe', replaceScalar(document, port.at, String(metrics)))],
  });
  return true;
}

/** Reports an annotation of an unknown server that names another port than the one that it declares for metrics. */
function checkNamedPort(container: Container, { podSet, report }: PodSetContext): void {
  const [scrape, port] = ['scrape', 'port'].map((key) => lookUp(podSet.annotations, `prometheus.io/${key}`));
  if (scrape?.value !== 'true' || port === undefined || isTemplated(port.at)) return;
  const [meant, ...others] = metricsPorts(container);
  const written = portNumber(port.value, container);
  if (meant === undefined || others.length > 0 || written === undefined || written === meant.port) return;
  report({
    severity: 'info',
    message: `prometheus.io/port is ${written}, but the container has port ${meant.port} for metrics (${shorten(meant.name, 20)}): Prometheus likely reads the wrong one`,
    span: spanOf(port.at),
  });
}

/** Reports a port that only `ports` and Services say is for metrics. */
function checkMetricsPort(
  server: ListeningPort,
  container: Container,
  { podSet, workload, crossReferences, report }: PodSetContext,
): void {
  const stray = strayMetricsPort(server, container, podSet);
  // Annotations can lead Prometheus to the right port.
  if (stray === undefined || isScraped(server, container, podSet)) return;
  const labels = podSet.labels.map(({ value, at }): [string, string] => [keyOf(at), value]);
  const services = labels.length === 0 ? [] : crossReferences.servicesOf(workload.namespace, tableOf(labels));
  if (services.some(({ facts }) => portNumber(facts.scraped ?? undefined, container) === stray.right)) return;
  const isUsed = services.some(
    ({ siblingFolder, facts }) =>
      !siblingFolder && facts.targets?.some((target) => portNumber(target, container) === stray.port) === true,
  );
  report({
    ...(!isUsed && { severity: 'info' }),
    message: `Port ${stray.port} is declared for metrics, but ${titleOf(server.program)} ${stray.right === server.port ? 'listens only' : 'has them'} on ${stray.right}: Prometheus gets none there`,
    span: spanOf(stray.at),
  });
}

/** Whether a Service with a port on which the server does not listen has been reported. */
function checkServices(server: ListeningPort, container: Container, context: PodSetContext): boolean {
  const { podSet, workload, crossReferences, report } = context;
  const labels = podSet.labels.map(({ value, at }): [string, string] => [keyOf(at), value]);
  if (labels.length === 0 || container.image === undefined) return false;
  const services = crossReferences.servicesOf(workload.namespace, tableOf(labels));
  const portsOf = ({ facts }: (typeof services)[number]) =>
    facts.targets?.map((one) => portNumber(one, container)) ?? [];
  // Next to a Service with the right port, another one can be for metrics.
  if (server.declared && services.some((service) => portsOf(service).includes(server.port))) return false;
  for (const service of services) {
    const { name, file, siblingFolder, facts } = service;
    const ports = portsOf(service);
    // Clients of a headless Service choose the port themselves.
    if (siblingFolder || ports.length === 0 || !facts.hasAddress) continue;
    const declared = items(getIn(container.at, 'ports')).map((one) => getIn(one, 'containerPort'));
    const scraped = portNumber(facts.scraped ?? undefined, container);
    // Prometheus may have the metrics by the annotations of the pods.
    const metrics = isScraped(server, container, podSet)
      ? undefined
      : metricsElsewhere(scraped, server, container, podSet);
    if (metrics !== undefined && ports.includes(server.port)) {
      const place = declared.find((one) => asNumber(one) === scraped) ?? getIn(container.at, 'name');
      report({
        message: `The annotations of Service ${shorten(name, 26)} tell Prometheus to scrape port ${scraped}, but ${titleOf(server.program)} ${metrics === server.port ? 'listens' : 'has its metrics'} on ${metrics}: Prometheus gets no metrics`,
        span: spanOf(place ?? container.image.at),
      });
      return true;
    }
    const surplus = ports.includes(server.port)
      ? ports.find((port) => isElsewhere(port, server, container))
      : undefined;
    if (surplus !== undefined) {
      report({
        severity: 'info',
        message: `Service ${shorten(name, 30)} also sends requests to port ${surplus}, but ${titleOf(server.program)} listens only on ${server.port}: nothing answers there`,
        span: spanOf(getIn(container.at, 'name') ?? container.image.at),
      });
      return true;
    }
    if (ports.some((port) => port === undefined || port === server.port || mayListen(port, server, container)))
      continue;
    const place = declared.find((one) => ports.includes(Number(asText(one)))) ?? getIn(container.at, 'name');
    const source = file === null ? '' : ` (${shorten(file, 30)})`;
    const isProbed = server.declared === 'probed';
    report({
      ...(isProbed && { severity: 'info' }),
      message: `Service ${shorten(name, 30)}${source} sends requests to port${ports.length > 1 ? 's' : ''} ${ports.join(' and ')}, but ${titleOf(server.program)} ${isProbed ? 'is probed' : 'listens'} on ${server.port}: ${isProbed ? 'they may not arrive' : 'no request arrives'}`,
      span: spanOf(place ?? container.image.at),
    });
    // Hundreds of Services may select the same pods.
    return true;
  }
  return false;
}
