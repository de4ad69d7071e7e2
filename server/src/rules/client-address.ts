import { titleOf } from '../catalog/program-records.ts';
import { either, partOf } from '../catalog/word-patterns.ts';
import { declaredPorts } from '../evidence/listening-port.ts';
import { calledService, configMapUrls, type ServiceUrl, serviceUrls } from '../evidence/service-urls.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { CrossReferences, Referenced, ServiceFacts } from '../model/cross-references.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asBoolean, asText, getIn, isIncomplete, isTemplated, isUnseen, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { tableOf } from '../yaml/table.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A client calls a GPU server at an address where nothing answers.
 *
 * ## Why
 *
 * The server runs and holds its GPUs, and no request reaches it. A name without a namespace is looked up in the namespace of the client. An
 * address without a port means port 80. In a pod, `localhost` is the pod itself, not the node and not another pod.
 * With `hostNetwork`, names of Services resolve only if `dnsPolicy` is `ClusterFirstWithHostNet`. Clients of the OpenAI API add
 * `/chat/completions` to their base address, but vLLM and SGLang answer at `/v1/chat/completions`.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Service
 * metadata: {name: chat}
 * spec:
 *   selector: {app: chat}
 *   ports: [{port: 8000}]
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
 * ---
 * apiVersion: v1
 * kind: Pod
 * metadata: {name: web}
 * spec:
 *   containers:
 *     - name: web
 *       image: registry.example/web:2.1
 *       env: [{name: OPENAI_BASE_URL, value: 'http://chat:8000'}]
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Service
 * metadata: {name: chat}
 * spec:
 *   selector: {app: chat}
 *   ports: [{port: 8000}]
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
 * ---
 * apiVersion: v1
 * kind: Pod
 * metadata: {name: web}
 * spec:
 *   containers:
 *     - name: web
 *       image: registry.example/web:2.1
 *       env: [{name: OPENAI_BASE_URL, value: 'http://chat:8000/v1'}]
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: requests arrive for the first time.
 *
 * ## When it is silent
 *
 * For servers in other files, for Services without GPU pods, in projects with kustomizations or installers (for names and namespaces), for
 * `localhost` in pods with several containers or on the network of the node or in variables not named after models, for addresses that browsers
 * use, and for an address without a port if the client has the port elsewhere.
 *
 * ## Sources
 *
 * - [Kubernetes: DNS for Services and Pods](https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/)
 * - [vLLM: OpenAI-compatible server](https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html)
 * - [Open WebUI: connection errors](https://docs.openwebui.com/troubleshooting/connection-error)
 */
export default defineRule({
  topic: 'network',
  severity: 'warning',
  manifest(manifest, context) {
    if (manifest.apiVersion !== 'v1' || manifest.kind !== 'ConfigMap') return;
    const { root, namespace } = manifest;
    if (isIncomplete(getIn(root, 'metadata')) || isUnseen(getIn(root, 'metadata', 'namespace'))) return;
    for (const url of configMapUrls(manifest)) checkUrl(url, namespace, context);
  },
  container(container, context) {
    const { workload, podSet, document } = context;
    if (isUnseen(getIn(workload.manifest.root, 'metadata', 'namespace')) || workload.partial) return;
    for (const url of serviceUrls(container, document)) {
      if (!url.isLoopback && asksNode(podSet) && requestsAccelerators(podSet))
        checkNodeDns(url, workload.namespace, context);
      else if (url.isLoopback) checkLoopback(url, container, podSet, workload, context);
      else checkUrl(url, workload.namespace, context);
    }
  },
});

type Context = Pick<RuleContext, 'crossReferences' | 'document' | 'report'>;

function checkUrl(url: ServiceUrl, home: string | null, context: Context): void {
  const { crossReferences: others } = context;
  if (url.isLoopback) return;
  const found = calledService(url, home, others);
  const namespace = found?.namespace ?? null;
  if (found === undefined) checkName(url, home, context);
  else if (found.file === null && found.facts.selects !== null) checkRequest(url, found, namespace, context);
}

/** Reports a name that has no Service, if one of the file is certainly meant. */
function checkName(url: ServiceUrl, home: string | null, { crossReferences: others, report }: Context): void {
  const { where, service, span } = url;
  const namespace = url.namespace ?? home;
  const elsewhere = others.serviceElsewhere(namespace, service);
  if (elsewhere !== undefined) {
    const there = elsewhere.namespace;
    if (there === null || namespace === null || !servesGpus(others, there, elsewhere.facts)) return;
    report({
      message: `${where} looks for Service ${shorten(service, 22)} in namespace ${shorten(namespace, 16)}, but it is in ${shorten(there, 16)}: the name does not resolve`,
      span,
    });
    return;
  }
  const [like, ...more] = others
    .servicesLike(namespace, service)
    .filter(({ facts }) => facts.selects !== null && servesGpus(others, namespace, facts.selects));
  if (like === undefined || more.length > 0 || !like.facts.ports?.some(({ port }) => port === (url.port ?? '80')))
    return;
  report({
    message: `${where} calls Service ${shorten(service, 19)}, which is not in this file; its Service is named ${shorten(like.name, 19)}: the name does not resolve`,
    span,
  });
}

/** Whether pods on the network of the node ask the DNS of the node, which is the default there. */
function asksNode({ pod }: PodSet): boolean {
  if (asBoolean(getIn(pod, 'hostNetwork')) !== true || isIncomplete(pod)) return false;
  return getIn(pod, 'dnsPolicy') === undefined && getIn(pod, 'dnsConfig') === undefined;
}

function checkNodeDns(url: ServiceUrl, home: string | null, { crossReferences: others, report }: Context): void {
  const found = calledService(url, home, others);
  if (found?.file !== null) return;
  report({
    message: `${url.where} names Service ${shorten(url.service, 16)}, but with hostNetwork the pod asks the DNS of its node: it needs dnsPolicy ClusterFirstWithHostNet`,
    span: url.span,
  });
}

/** Reports an address without the port or the path that its server needs. */
function checkRequest(url: ServiceUrl, found: Referenced<ServiceFacts>, namespace: string | null, context: Context) {
  const { crossReferences: others, report } = context;
  const { scheme, where, service, port, path, span } = url;
  const { ports, hasAddress, selects, targets, type } = found.facts;
  if (ports === null || selects === null || !/^https?$/.test(scheme)) return;
  const usual = scheme === 'http' ? '80' : '443';
  const asked = port ?? usual;
  const isDirect = !hasAddress && type === 'ClusterIP' && targets?.every((one) => /^\d+$/.test(one));
  if (isDirect && !targets?.includes(asked) && ports.some((one) => one.port === asked)) {
    if (servesGpus(others, namespace, selects))
      report({
        message: `${where} uses port ${asked}, but Service ${shorten(service, 26)} is headless: its name leads to the pods, which listen on ${shorten(targets?.join(', ') ?? '', 26)}`,
        span,
      });
    return;
  }
  if (!hasAddress) return;
  const isOther = !ports.some((one) => one.port === usual);
  if (port === undefined && isOther && servesGpus(others, namespace, selects)) {
    if (ports.some((one) => hasPort(url, one.port, context))) return;
    report({
      message: `${where} names no port, which means ${usual}, but Service ${shorten(service, 26)} has only ${shorten(ports.map((one) => one.port).join(', '), 26)}: no request reaches it`,
      span,
      fixes: () => (ports.length > 1 ? [] : [insertAt(url, `:${ports[0]?.port}`, host(url), context)]),
    });
    return;
  }
  if (path.length > 1 || !isOpenAi(url)) return;
  const program = serversOf(others, namespace, selects)[0]?.facts.server?.program ?? '';
  if (!answersAtV1.has(program)) return;
  report({
    message: `${where} has no /v1, but ${titleOf(program)} answers at /v1/chat/completions: clients of the OpenAI API get 404`,
    span,
    fixes: () => [insertAt(url, '/v1', `${host(url)}${port === undefined ? '' : `:${port}`}`, context)],
  });
}

/** Whether the client or the ConfigMap has the port elsewhere: the client may add it to the address. */
function hasPort({ at }: ServiceUrl, port: string, { document }: Context): boolean {
  const owner = [at.parent?.parent?.parent, at.parent?.parent, at.parent, at].find((one) => one !== undefined) ?? at;
  const { start, end } = spanOf(owner);
  const text = document.text.slice(start, end);
  return /_PORT\b/.test(text) || new RegExp(`(?<!\\d|[\\w.]:)${port}(?!\\d)`).test(text);
}

/** Servers that have the OpenAI API only below /v1. */
const answersAtV1: ReadonlySet<string> = new Set(['vllm', 'sglang', 'trtllm-serve', 'ollama']);

/** Settings with the base address of clients of the OpenAI API: `OPENAI_API_BASE_URL`. Spring AI and GuideLLM add the path. */
function isOpenAi({ where, provider }: ServiceUrl): boolean {
  if (provider !== undefined) return provider === 'openai';
  const words = where.toLowerCase().split(/[^a-z]+/);
  if (words[0] === 'spring' || words[0] === 'guidellm') return false;
  return words.includes('openai') && words.some((word) => /^(?:base|baseurl|basepath)$/.test(word));
}

function host({ scheme, service, namespace }: ServiceUrl): string {
  return `${scheme}://${service}${namespace === undefined ? '' : `.${namespace}`}`;
}

/** Inserts a text behind the start of an address that is the whole value. */
function insertAt({ at, isValue }: ServiceUrl, text: string, start: string, { document }: Context): Fix | undefined {
  const value = asText(at) ?? '';
  const end = value.replace(/\/$/, '');
  // A longer name of the host goes on behind the namespace.
  const rest = end.startsWith(start)
    ? (/^(?:\.svc(?:\.cluster\.local)?)?(?::\d+)?/.exec(end.slice(start.length))?.[0] ?? '')
    : undefined;
  if (!isValue || rest === undefined) return undefined;
  const place = start.length + rest.length;
  const whole = `${end.slice(0, place)}${text}${end.slice(place)}`;
  return fix(`Add ${text}`, 'unsafe', replaceScalar(document, at, whole));
}

/** The workloads that hold GPUs behind a Service. */
function serversOf(others: CrossReferences, namespace: string | null, selects: ServiceFacts['selects']) {
  const found = selects === null ? [] : others.keptRunning(namespace, selects);
  return found.filter(({ file, facts }) => file === null && (facts.devices ?? 0) > 0);
}

function servesGpus(others: CrossReferences, namespace: string | null, selects: ServiceFacts['selects']): boolean {
  return serversOf(others, namespace, selects).length > 0;
}

/** Reports `localhost` in a pod that holds no GPUs, if a GPU server of another pod in the file has the port. */
function checkLoopback(
  { where, port, span }: ServiceUrl,
  container: Container,
  podSet: PodSet,
  { namespace, role }: Workload,
  { crossReferences: others, report }: Context,
): void {
  const { pod, containers } = podSet;
  if (port === undefined || role === 'definition' || requestsAccelerators(podSet) || containers.length > 1) return;
  // Others may have the address of the client itself, and a hook may forward the port.
  if (!ofModels.test(where) || getIn(container.at, 'lifecycle') !== undefined) return;
  if (isIncomplete(pod) || isIncomplete(container.at) || asBoolean(getIn(pod, 'hostNetwork')) === true) return;
  const parts = ['command', 'args', 'ports', 'image'].map((key) => getIn(container.at, key));
  if (
    isUnseen(getIn(pod, 'hostNetwork')) ||
    [...container.command, ...container.args].some(({ at }) => isTemplated(at))
  )
    return;
  if (parts.some(isUnseen) || isUnseen(getIn(pod, 'containers'))) return;
  // The container may listen there itself, or forward the port.
  const words = [...container.command, ...container.args].map(({ value }) => value.replaceAll(`:${port}`, ''));
  const started = words.join(' ').replace('bench serve', '');
  if ([container.image?.value ?? '', started].some((text) => text.includes(port) || mayServe.test(text))) return;
  if (declaredPorts(container).includes(Number(port))) return;
  // The client may listen there itself.
  const labels = tableOf(podSet.labels.map(({ value, at }): [string, string] => [keyOf(at), value]));
  if (
    podSet.labels.length > 0 &&
    others.servicesOf(namespace, labels).some(({ facts }) => facts.targets?.includes(port) !== false)
  )
    return;
  const service = others
    .servicesLabeled(namespace, tableOf<string>([]))
    .filter(({ file, facts }) => file === null && facts.targets?.includes(port) === true)
    .find(({ facts }) =>
      serversOf(others, namespace, facts.selects).some((one) => one.facts.server?.port === Number(port)),
    );
  if (service === undefined) return;
  report({
    message: `${where} calls port ${port} of its own pod, where nothing listens: the server is behind Service ${shorten(service.name, 40)}`,
    span,
  });
}

/** Names for the address of a model server, and that of commands. */
const ofModels = either(
  /^The command line$/i,
  partOf('openai ollama llm gpt tgi sglang triton model infer embed rerank completion api_base'),
);

const mayServe = /\bserve|\.sh\b|\.\/|ollama|forward|tunnel|ssh|socat|proxy|supervisor|&/;
