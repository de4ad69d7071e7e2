import { partOf } from '../catalog/word-patterns.ts';
import { lookUp } from '../model/manifest.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { asNumber, asText, type Cursor, getIn, isUnseen, items, keyOf } from '../yaml/cursor.ts';
import { declaredPorts, type ListeningPort, mayListen, portNumber, servesOnePort } from './listening-port.ts';

/** Whether certainly nothing in the pod listens on a port, although the server is right elsewhere. */
export function isElsewhere(port: number | undefined, server: ListeningPort, container: Container): boolean {
  // Servers talk with each other on ports of their own.
  if (container.args.concat(container.command).some(({ value }) => talks.test(value))) return false;
  return isUnanswered(port, server, container) && !declaredPorts(container).includes(port ?? 0);
}

/** Whether no HTTP server of the pod answers on a port, which `ports` may declare all the same. */
function isUnanswered(port: number | undefined, server: ListeningPort, container: Container): boolean {
  if (isUnseen(getIn(container.at, 'ports')) || port === undefined || port === server.port) return false;
  return !server.declared && servesOnePort.has(server.program) && !mayListen(port, server, container);
}

const talks = /--(?:kv-|disaggregation-|data-parallel-|nnodes|dist-)/;

/** The ports for metrics of Istio, Linkerd and Consul. Dapr needs annotations of the pod. */
const meshPorts: ReadonlySet<number> = new Set([15020, 15090, 4191, 20200]);
const injects = /inject|^dapr\.io\/|sidecar/;

/** Whether flags of Triton say on which ports it has gRPC and metrics, or that it has no metrics. */
function movesPorts({ command, args }: Container): boolean {
  return [...command, ...args].some(({ value }) => /grpc-port|metrics/.test(value));
}

/** Whether annotations of the pods name a port that may have metrics. */
export function isScraped(server: ListeningPort, container: Container, podSet: PodSet): boolean {
  const [scrape, at] = ['scrape', 'port'].map((key) => lookUp(podSet.annotations, `prometheus.io/${key}`));
  const port = portNumber(at?.value, container);
  return (
    scrape?.value === 'true' && port !== undefined && metricsElsewhere(port, server, container, podSet) === undefined
  );
}

/** Whether labels or annotations of pods may add the proxy of a mesh, which has metrics, too. */
export function isMeshed({ labels, annotations }: PodSet): boolean {
  return [...labels, ...annotations].some(({ at }) => injects.test(keyOf(at)));
}

/** The port on which a server has its metrics, if it certainly has none on this one. */
export function metricsElsewhere(
  port: number | undefined,
  server: ListeningPort,
  container: Container,
  podSet: PodSet,
): number | undefined {
  const isTriton = server.program === 'tritonserver' && (port === server.port || port === 8001);
  if (isTriton ? movesPorts(container) : !isUnanswered(port, server, container)) return undefined;
  // The proxies that meshes inject have ports of their own.
  if (meshPorts.has(port ?? 0) || isMeshed(podSet)) return undefined;
  return isTriton ? 8002 : server.port;
}

/** A port of a container that is declared for metrics although its server has none there. */
export interface StrayMetricsPort {
  readonly at: Cursor;
  readonly port: number;
  /** Where the server has its metrics. */
  readonly right: number;
}

/** The first port whose name says that it is for metrics, and on which certainly nothing listens. */
export function strayMetricsPort(
  server: ListeningPort,
  container: Container,
  podSet: PodSet,
): StrayMetricsPort | undefined {
  for (const { at, port } of metricsPorts(container)) {
    const right = metricsElsewhere(port, server, container, podSet);
    if (right !== undefined) return { at, port, right };
  }
  return undefined;
}

/** The known ports of a container whose name says that they are for metrics. */
export function metricsPorts(container: Container): readonly { name: string; at: Cursor; port: number }[] {
  return items(getIn(container.at, 'ports')).flatMap((one) => {
    const at = getIn(one, 'containerPort');
    const [port, name] = [asNumber(at), asText(getIn(one, 'name')) ?? ''];
    return at === undefined || port === undefined || isUnseen(at) || !forMetrics.test(name) ? [] : [{ name, at, port }];
  });
}

const forMetrics = partOf('metric prom');
