import { titleOf } from '../catalog/program-records.ts';
import { partOf } from '../catalog/word-patterns.ts';
import { gpuBackends, gpuServer } from '../evidence/load-balancers.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { useOf } from '../model/process-input.ts';
import { isValues } from '../model/values.ts';
import type { Manifest } from '../model/workload.ts';
import type { ServerFacts } from '../model/workload-facts.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, isUnseen, items, keyOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { tableOf } from '../yaml/table.ts';
import { defineRule } from './rule.ts';

/**
 * A load balancer opens a model server without an API key outside the cluster.
 *
 * ## Why
 *
 * vLLM, SGLang, Text Generation Inference and llama.cpp answer every request unless they have an API key, and Ollama and Triton have none. Behind a Service of
 * type LoadBalancer, which most clouds give a public address, anyone who finds the address can use the GPUs and read what the server
 * knows of its models. An internal load balancer, source ranges or a key prevents that.
 *
 * ```yaml invalid
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
 *           args: ["--model=Qwen/Qwen2.5-7B-Instruct"]
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ---
 * apiVersion: v1
 * kind: Service
 * metadata: {name: chat, annotations: {note: for GPUs}}
 * spec:
 *   type: LoadBalancer
 *   selector: {app: chat}
 *   ports: [{port: 80, targetPort: 8000}]
 * ```
 *
 * ```yaml valid
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
 *           args: ["--model=Qwen/Qwen2.5-7B-Instruct"]
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ---
 * apiVersion: v1
 * kind: Service
 * metadata: {name: chat, annotations: {note: for GPUs}}
 * spec:
 *   type: LoadBalancer
 *   loadBalancerSourceRanges: [10.0.0.0/8]
 *   selector: {app: chat}
 *   ports: [{port: 80, targetPort: 8000}]
 * ```
 *
 * ## When it is silent
 *
 * In a chart's values, only Ollama is reported: charts may give other servers a key. For servers in other files, next to other containers, and with variables, files or scripts that may set a key; for Services with source ranges, a
 * class or an address of their own, or with annotations of internal load balancers, of private addresses, of Tailscale and of balancers in private networks (MetalLB, Cilium,
 * kube-vip); if the project has network policies for the namespace; for NodePorts, and for each Ingress except those of AWS with the scheme internet-facing and no sign of a login.
 *
 * ## Sources
 *
 * - [Kubernetes: Service of type LoadBalancer](https://kubernetes.io/docs/concepts/services-networking/service/#loadbalancer)
 * - [vLLM: arguments of the server](https://docs.vllm.ai/en/latest/configuration/serve_args/)
 * - [Ollama: authentication](https://docs.ollama.com/api/authentication)
 * - [AWS Load Balancer Controller: annotations](https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/)
 */
export default defineRule({
  topic: 'network',
  severity: 'info',
  manifest(manifest, { crossReferences, document, report }) {
    const { kind, apiVersion, name } = manifest;
    if (document.template) return;
    const found =
      kind === 'Service' && apiVersion === 'v1'
        ? ofService(manifest, crossReferences)
        : kind === 'Ingress'
          ? ofIngress(manifest, crossReferences)
          : undefined;
    if (found === undefined || crossReferences.limitsClients(manifest.namespace)) return;
    const { program } = found.server;
    const [lack, advice] = keyless.has(program) ? ['which has no', ''] : ['without an', 'a key or '];
    report({
      message: `${kind} ${shorten(name ?? '', 30)} opens ${titleOf(program)} outside the cluster, ${lack} API key: anyone who reaches its address uses the GPUs; set ${advice}source ranges`,
      span: spanOf(found.at),
    });
  },
  podSet({ pod, pods, containers }, { workload, crossReferences, report }) {
    if (!isValues(workload) || !containers.some((one) => useOf(one).program === 'ollama')) return;
    // Other values of the release, from a Secret or a file, may limit who reaches it.
    if (pods.max === null) return;
    const service = getIn(pod, 'service');
    const at = getIn(service, 'type');
    if (at === undefined || asText(at) !== 'LoadBalancer' || limits(service, getIn(service, 'annotations'))) return;
    if (isIncomplete(pod) || crossReferences.limitsClients(workload.namespace)) return;
    report({
      message:
        'The load balancer opens Ollama outside the cluster, which has no API key: anyone who reaches its address uses the GPUs; set source ranges',
      span: spanOf(at),
    });
  },
});

/** Servers without keys, whatever their settings are. */
const keyless: ReadonlySet<string> = new Set(['ollama', 'tritonserver']);

interface Exposed {
  readonly at: Cursor;
  readonly server: ServerFacts;
}

/** The open server behind a Service with a load balancer that may be public. */
function ofService({ root, namespace }: Manifest, references: CrossReferences): Exposed | undefined {
  const [metadata, spec] = [getIn(root, 'metadata'), getIn(root, 'spec')];
  const annotations = getIn(metadata, 'annotations');
  const [selector, at] = [getIn(spec, 'selector'), getIn(spec, 'type')];
  if ([metadata, selector].some(isIncomplete) || asText(at) !== 'LoadBalancer') return undefined;
  if (at === undefined || limits(spec, annotations) || opensOnlyMetrics(spec)) return undefined;
  const labels = entries(selector);
  if (labels.length === 0 || labels.some(isUnseen)) return undefined;
  const wanted = tableOf(labels.map((label): [string, string] => [keyOf(label), asText(label) ?? '']));
  const server = gpuServer(namespace, wanted, references);
  return server?.lacksKey ? { at, server } : undefined;
}

/** Whether a Service says who reaches it, or may. */
function limits(spec: Cursor | undefined, annotations: Cursor | undefined): boolean {
  if ([spec, annotations].some(isIncomplete) || bounds.some((key) => getIn(spec, key) !== undefined)) return true;
  return entries(annotations).some((one) => isUnseen(one) || restricts(keyOf(one), asText(one) ?? ''));
}

/** Whether all ports of a Service are for a monitor: 8002 is Triton's. */
function opensOnlyMetrics(spec: Cursor | undefined): boolean {
  const ports = items(getIn(spec, 'ports'));
  const isMetrics = (port: Cursor) =>
    /metric|prom/i.test(asText(getIn(port, 'name')) ?? '') ||
    /^(?:8002|.*metric.*)$/i.test(asText(getIn(port, 'targetPort') ?? getIn(port, 'port')) ?? '');
  return ports.length > 0 && ports.every(isMetrics);
}

/** Fields by which a Service decides who reaches it, or who gives it its address. */
const bounds = ['loadBalancerSourceRanges', 'loadBalancerClass', 'loadBalancerIP', 'externalIPs'];

/** Whether an annotation of a Service makes its load balancer internal, restricts it, or belongs to balancers in private networks. */
function restricts(key: string, value: string): boolean {
  // The controller of AWS makes internal load balancers by default.
  if (key.endsWith('/aws-load-balancer-scheme')) return value !== 'internet-facing';
  if (key.endsWith('/aws-load-balancer-type')) return value !== 'nlb';
  return restricted.test(`${key} ${value}`) || privateAddress.test(value);
}

/** Words by which an annotation keeps strangers out, or that name a balancer of a private network. Any of them makes the service unknown. */
const restricted = partOf(
  'internal private intranet vpn subnet allow whitelist auth',
  'security-?group source-?ranges tailscale metallb cilium kube-vip purelb openelb',
);

/** An address of a private network, which no one reaches from outside. https://www.rfc-editor.org/rfc/rfc1918 */
const privateAddress = /^(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d/;

/** The open server behind an Ingress of AWS that is certainly public. */
function ofIngress(manifest: Manifest, references: CrossReferences): Exposed | undefined {
  const annotations = getIn(manifest.root, 'metadata', 'annotations');
  const at = getIn(annotations, 'alb.ingress.kubernetes.io/scheme');
  if (at === undefined || asText(at) !== 'internet-facing' || isIncomplete(annotations)) return undefined;
  if (entries(annotations).some((one) => isUnseen(one) || /auth|cidr|waf|security|group|conditions/.test(keyOf(one))))
    return undefined;
  for (const { server } of gpuBackends(manifest, references)) if (server?.lacksKey) return { at, server };
  return undefined;
}
