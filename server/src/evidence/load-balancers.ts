import { titleOf } from '../catalog/program-records.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import type { Manifest } from '../model/workload.ts';
import type { ServerFacts } from '../model/workload-facts.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, isUnseen, keyOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { type Table, table, tableOf } from '../yaml/table.ts';
import { backendsOf } from './route-backends.ts';
import { healthOfProgram, isForeignHealthPath, statusFor } from './server-paths.ts';
import { writtenText } from './written.ts';

/** What keeps a load balancer from the pods of a GPU server. */
export interface BalancerMistake {
  readonly at: Cursor;
  readonly message: string;
  readonly isInfo?: true;
  /** The value that is meant. */
  readonly meant?: string;
}

/** What is wrong between the load balancer of an Ingress and the GPU servers in the same file, of its class. At most one of each kind. */
export function ingressBalancerMistakes(
  manifest: Manifest,
  className: string,
  references: CrossReferences,
): readonly BalancerMistake[] {
  const annotations = getIn(manifest.root, 'metadata', 'annotations');
  const backends = [...gpuBackends(manifest, references)];
  const [slow] = backends.flatMap((one) => checkTimeout(one, className, annotations));
  if (/^gce(?:-internal)?$/.test(className)) return [...backends.flatMap(checkGoogle), slow ?? []].flat().slice(0, 1);
  if (slow !== undefined) return [slow];
  if (className !== 'alb') return [];
  const [targets] = backends.flatMap((one) => checkTargets(one, annotations));
  const [health] = backends.flatMap((one) => checkAmazon(one, annotations));
  // One word carries one of them.
  return [targets, health].flatMap((one) =>
    one === undefined || (one === health && one.at === targets?.at) ? [] : one,
  );
}

/**
 * What the balancers of a class do with long answers by default, and the setting against it.
 * https://github.com/kubernetes/ingress-nginx/blob/main/docs/user-guide/nginx-configuration/configmap.md#proxy-read-timeout
 * https://cloud.google.com/kubernetes-engine/docs/how-to/ingress-configuration#timeout
 */
const timeouts = table<{ readonly ends: string; readonly setting: string; readonly isSet: RegExp }>({
  nginx: {
    ends: 'ends a request after 60 s without data',
    setting: 'proxy-read-timeout',
    isSet: /read-timeout|snippet|proxy-timeout/,
  },
  // Another finding says that the class ignores a timeout.
  gce: {
    ends: 'ends a response after 30 s',
    setting: 'timeoutSec of a BackendConfig',
    isSet: /backend-config|timeout/,
  },
});

/** The default timeout of a class, in front of a server whose answers take longer. The settings of the controller may have another one. */
function checkTimeout(
  { nameAt, server, hasHealthCheck }: GpuBackend,
  className: string,
  annotations: Cursor | undefined,
): readonly BalancerMistake[] {
  const found = timeouts[className];
  if (found === undefined || server === null || !writesLongAnswers.has(server.program)) return [];
  const isSet = entries(annotations).some((one) => found.isSet.test(keyOf(one)));
  // A BackendConfig with the health check may also have the timeout.
  if (isSet || isIncomplete(annotations) || (className === 'gce' && hasHealthCheck)) return [];
  const message = `Class ${className} ${found.ends} by default: longer answers of ${titleOf(server.program)} fail without ${found.setting}`;
  return [{ at: nameAt, message, isInfo: true }];
}

/** Servers of language models: an answer that is not streamed may take minutes, and so may loading a model for the first one. */
export const writesLongAnswers = wordSet(
  'vllm sglang text-generation-launcher ollama llama-server trtllm-serve llama_cpp lmdeploy nim',
);

export interface GpuBackend {
  readonly nameAt: Cursor;
  readonly service: string;
  readonly type: string | null;
  readonly hasHealthCheck: boolean;
  readonly server: ServerFacts | null;
}

/** The GPU workloads in the same file behind the backends of an Ingress or a route, each with its Service. */
export function* gpuBackends({ kind, root, namespace }: Manifest, references: CrossReferences): Generator<GpuBackend> {
  for (const { name, nameAt } of backendsOf(kind, root)) {
    const service = references.service(namespace, name);
    const server = service?.file === null ? gpuServer(namespace, service.facts.selects, references) : undefined;
    if (service === undefined || server === undefined) continue;
    const { type, hasHealthCheck } = service.facts;
    yield { nameAt, service: service.name, type, hasHealthCheck, server };
  }
}

/** The known server of the only GPU workload that has the labels, null if it is unknown; undefined without such a workload in the same file. */
export function gpuServer(
  namespace: string | null,
  labels: Table<string> | null,
  references: CrossReferences,
): ServerFacts | null | undefined {
  const [pods, ...others] = labels === null ? [] : references.keptRunning(namespace, labels);
  if (pods === undefined || others.length > 0 || (pods.facts.devices ?? 0) === 0) return undefined;
  return pods.file === null ? pods.facts.server : null;
}

/** https://cloud.google.com/kubernetes-engine/docs/concepts/ingress#interpreted_hc */
function checkGoogle({ nameAt, server, hasHealthCheck }: GpuBackend): readonly BalancerMistake[] {
  if (server === null || server.isProbed || hasHealthCheck || !withoutPage.has(server.program)) return [];
  const message = `Without an httpGet readinessProbe, GKE's load balancer checks path / of ${titleOf(server.program)}, which has no page there: it sends no requests`;
  return [{ at: nameAt, message }];
}

/** Servers that do not answer a request for `/` with 200. */
const withoutPage = wordSet('vllm tritonserver trtllm-serve');

const alb = 'alb.ingress.kubernetes.io/';

/** https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/#target-type */
function checkTargets(
  { nameAt, service, type }: GpuBackend,
  annotations: Cursor | undefined,
): readonly BalancerMistake[] {
  if (getIn(annotations, `${alb}target-type`) !== undefined || type !== 'ClusterIP') return [];
  const message = `Without target-type ip, the load balancer sends requests to node ports by default, and Service ${shorten(service, 30)} has none (type ClusterIP)`;
  return [{ at: nameAt, message, isInfo: true }];
}

/** https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/#health-check */
function checkAmazon(
  { nameAt, server, hasHealthCheck }: GpuBackend,
  annotations: Cursor | undefined,
): readonly BalancerMistake[] {
  if (server === null || hasHealthCheck || isIncomplete(annotations)) return [];
  const set = (name: string) => getIn(annotations, `${alb}${name}`);
  const [port, codes, path] = [set('healthcheck-port'), set('success-codes'), set('healthcheck-path')];
  if (port !== undefined && asText(port) !== 'traffic-port') return [];
  if (codes !== undefined && asText(codes) !== '200') return [];
  if (path !== undefined) return wrongPath(path, server);
  if (!withoutPage.has(server.program)) return [];
  return [
    {
      at: nameAt,
      message: `Without healthcheck-path, the load balancer checks / of ${titleOf(server.program)}, which has no page there: it considers no pod healthy`,
      // If no target is healthy, it sends requests to all of them.
      isInfo: true,
    },
  ];
}

function wrongPath(at: Cursor, server: ServerFacts): readonly BalancerMistake[] {
  const own = healthOfProgram(server.program);
  const path = writtenText(at);
  const isWrong =
    own !== undefined &&
    path !== undefined &&
    (isForeignHealthPath(path, own) || (path === '/' && withoutPage.has(server.program)));
  if (!isWrong) return [];
  const message = `The load balancer checks ${shorten(path, 30)} of ${own.name}, which answers ${statusFor(path, own)}: it considers no pod healthy`;
  return [{ at, message, meant: own.health }];
}

/**
 * The annotations of a Service with the path of its load balancer's check, and those that say that the check has a path.
 * https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/#health-check
 * https://cloud-provider-azure.sigs.k8s.io/topics/loadbalancer/#custom-load-balancer-health-probe
 * https://docs.digitalocean.com/products/kubernetes/how-to/configure-load-balancers/#health-check-path
 * https://github.com/linode/linode-cloud-controller-manager/blob/main/docs/configuration/annotations.md
 * https://github.com/hetznercloud/hcloud-cloud-controller-manager/blob/main/docs/reference/load_balancer_annotations.md
 */
const ofServices: readonly (readonly [path: string, protocol: string])[] = [
  ['aws-load-balancer-healthcheck-path', 'aws-load-balancer-healthcheck-protocol'],
  ['azure-load-balancer-health-probe-request-path', 'azure-load-balancer-health-probe-protocol'],
  ['do-loadbalancer-healthcheck-path', 'do-loadbalancer-healthcheck-protocol'],
  ['linode-loadbalancer-check-path', 'linode-loadbalancer-check-type'],
].map(([path, protocol]) => [`service.beta.kubernetes.io/${path}`, `service.beta.kubernetes.io/${protocol}`] as const);
const ofHetzner = 'load-balancer.hetzner.cloud/health-check-';

/** A check of a path that the GPU server behind a Service of type LoadBalancer does not have. */
export function serviceBalancerMistakes(
  { root, namespace }: Manifest,
  references: CrossReferences,
): readonly BalancerMistake[] {
  const [metadata, spec] = [getIn(root, 'metadata'), getIn(root, 'spec')];
  const annotations = getIn(metadata, 'annotations');
  const selector = getIn(spec, 'selector');
  if ([metadata, spec, annotations, selector].some(isIncomplete) || asText(getIn(spec, 'type')) !== 'LoadBalancer')
    return [];
  // The check of a local Service asks the kubelet's proxy, and a check may have a port of its own.
  if (asText(getIn(spec, 'externalTrafficPolicy')) === 'Local') return [];
  if (entries(annotations).some((one) => /check-port$|probe-port$|_health-probe_/.test(keyOf(one)))) return [];
  const checks = [...ofServices, [`${ofHetzner}http-path`, `${ofHetzner}protocol`] as const];
  const places = checks.flatMap(([path, protocol]) =>
    /^https?$/i.test(asText(getIn(annotations, protocol)) ?? '') ? (getIn(annotations, path) ?? []) : [],
  );
  const labels = entries(selector);
  if (places.length === 0 || labels.length === 0 || labels.some(isUnseen)) return [];
  const wanted = tableOf(labels.map((label): [string, string] => [keyOf(label), asText(label) ?? '']));
  const server = gpuServer(namespace, wanted, references);
  return server ? places.flatMap((at) => wrongPath(at, server)) : [];
}
