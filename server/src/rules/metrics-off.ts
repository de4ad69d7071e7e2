import { titleOf } from '../catalog/program-records.ts';
import { type ListeningPort, listeningPort, portNumber } from '../evidence/listening-port.ts';
import { isMeshed } from '../evidence/metrics-port.ts';
import { type Monitor, monitorOf } from '../evidence/monitors.ts';
import { lacksMetricsAt, missingMetrics } from '../evidence/served-metrics.ts';
import { isAlone } from '../evidence/sole-server.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { Referenced } from '../model/cross-references.ts';
import { groupOf, lookUp } from '../model/manifest.ts';
import type { Container } from '../model/workload.ts';
import type { WorkloadFacts } from '../model/workload-facts.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asText,
  type Cursor,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { tableOf } from '../yaml/table.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * Prometheus should scrape a model server that exports no metrics or has them at another path, or its annotations are on an object that Prometheus ignores.
 *
 * ## Why
 *
 * SGLang has metrics only with `--enable-metrics`, llama.cpp's server only with `--metrics`, and Ollama has none. Every scrape fails:
 * dashboards stay empty, alerts never fire, and what scales on these metrics does not scale. The annotations `prometheus.io/scrape` and
 * `prometheus.io/port` belong on pods or Services: Prometheus looks for no Deployments, so those on a Deployment itself have no effect.
 * vLLM, SGLang, Triton and Hugging Face's servers have their metrics at `/metrics` and answer 404 at `/v1/metrics`.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 *   annotations: {prometheus.io/scrape: "true", prometheus.io/port: "30000"}
 * spec:
 *   containers:
 *     - name: main
 *       image: lmsysorg/sglang:v0.5.4
 *       command: [python3, -m, sglang.launch_server, --model-path=Qwen/Qwen3-4B, --host=0.0.0.0]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 *   annotations: {prometheus.io/scrape: "true", prometheus.io/port: "30000"}
 * spec:
 *   containers:
 *     - name: main
 *       image: lmsysorg/sglang:v0.5.4
 *       command: [python3, -m, sglang.launch_server, --model-path=Qwen/Qwen3-4B, --host=0.0.0.0, --enable-metrics]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: Prometheus stores metrics for the first time.
 *
 * ## When it is silent
 *
 * For the flag of servers that have metrics by default, such as vLLM; if a settings file, a variable or a template may hold the flag; next to other containers,
 * which may have metrics; for annotations of a Deployment next to those of its pods or Service; for annotations with another port, which server-port reports; and for monitors of objects in other files.
 *
 * ## Sources
 *
 * - [SGLang: production metrics](https://docs.sglang.io/references/production_metrics.html)
 * - [ollama/ollama#3144](https://github.com/ollama/ollama/issues/3144)
 * - [llama.cpp: server](https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md)
 */
export default defineRule({
  topic: 'network',
  severity: 'warning',
  manifest(manifest, context) {
    const monitor = monitorOf(manifest, context.crossReferences);
    const metadata = getIn(manifest.root, 'metadata');
    if (monitor === undefined || isIncomplete(metadata) || isUnseen(getIn(metadata, 'namespace'))) return;
    const [first, ...others] = selectedBy(monitor, context);
    const server = first?.file === null && others.length === 0 ? first.facts.server : null;
    if (first === undefined || server === null) return;
    for (const endpoint of monitor.endpoints) checkPath(getIn(endpoint, 'path'), server.program, endpoint, context);
    if (server.lacksMetrics === null) return;
    context.report({
      message: `${first.kind} ${shorten(first.name, 40)} runs ${titleOf(server.program)}, which exports no metrics ${server.lacksMetrics}: Prometheus gets none`,
      span: keySpanOf(monitor.selector),
    });
  },
  workload(workload, { crossReferences, report }) {
    const [podSet, ...others] = workload.podSets;
    const metadata = getIn(workload.manifest.root, 'metadata');
    const scrape = getIn(metadata, 'annotations', 'prometheus.io/scrape');
    if (scrape === undefined || isTemplated(scrape) || asText(scrape) !== 'true' || workload.partial) return;
    // Operators may pass the annotations of their objects on to pods.
    if (groupOf(workload.apiVersion) !== 'apps' || podSet === undefined || others.length > 0) return;
    if (!requestsAccelerators(podSet) || isUnseen(getIn(podSet.pod?.parent, 'metadata', 'annotations'))) return;
    const labels = podSet.labels.map(({ value, at }): [string, string] => [keyOf(at), value]);
    const services = crossReferences.servicesOf(workload.namespace, tableOf(labels));
    if (lookUp(podSet.annotations, 'prometheus.io/scrape') !== undefined) return;
    if (services.some(({ facts }) => facts.scraped !== null)) return;
    report({
      message: `prometheus.io/scrape on the ${workload.kind} has no effect: Prometheus reads the annotations of its pods, under spec.template`,
      span: keySpanOf(scrape),
    });
  },
  container(container, context) {
    const { podSet, workload } = context;
    if (container.type !== 'app' || !requestsAccelerators(podSet) || !isAlone(container, podSet, workload)) return;
    const server = listeningPort(container);
    if (server === undefined) return;
    const [scrape, path] = ['scrape', 'path'].map((key) => lookUp(podSet.annotations, `prometheus.io/${key}`));
    if (scrape?.value === 'true' && !isMeshed(podSet)) checkPath(path?.at, server.program, undefined, context);
    const lack = missingMetrics(container);
    if (lack !== undefined) checkAnnotations(lack, server, container, context);
  },
});

/** Reports a path for metrics that the server does not have. The proxies of meshes have other paths. */
function checkPath(
  at: Cursor | undefined,
  program: string,
  endpoint: Cursor | undefined,
  { document, report }: Pick<RuleContext, 'document' | 'report'>,
): void {
  const path = isUnseen(at) ? undefined : asText(at);
  if (at === undefined || path === undefined || isIncomplete(endpoint) || !lacksMetricsAt(path, program)) return;
  if (/stats|envoy/.test(`${path} ${asText(getIn(endpoint, 'port')) ?? ''}`)) return;
  report({
    message: `Prometheus scrapes ${shorten(path, 40)}, but ${titleOf(program)} serves its metrics at /metrics: Prometheus gets none`,
    span: spanOf(at),
    fixes: () => [fix('Use /metrics', 'unsafe', replaceScalar(document, at, '/metrics'))],
  });
}

/** The workloads whose pods a monitor reads. */
function selectedBy(
  { ofPods, namespace, wanted }: Monitor,
  { crossReferences }: RuleContext,
): readonly Referenced<WorkloadFacts>[] {
  if (ofPods) return crossReferences.keptRunning(namespace, wanted);
  const [service, ...others] = crossReferences.servicesLabeled(namespace, wanted);
  const selects = others.length > 0 ? undefined : service?.facts.selects;
  return selects ? crossReferences.keptRunning(namespace, selects) : [];
}

function checkAnnotations(
  lack: string,
  server: ListeningPort,
  container: Container,
  { podSet, workload, crossReferences, report }: PodSetContext,
): void {
  const isOwn = (port: string | undefined) => portNumber(port, container) === server.port;
  const has = `${titleOf(server.program)} exports no metrics ${lack}: Prometheus gets none`;
  const [scrape, port] = ['scrape', 'port'].map((key) => lookUp(podSet.annotations, `prometheus.io/${key}`));
  if (scrape?.value === 'true' && port !== undefined && !isTemplated(port.at) && isOwn(asText(port.at))) {
    report({ message: `The annotations tell Prometheus to scrape this pod, but ${has}`, span: spanOf(scrape.at) });
    return;
  }
  const labels = podSet.labels.map(({ value, at }): [string, string] => [keyOf(at), value]);
  const services = labels.length === 0 ? [] : crossReferences.servicesOf(workload.namespace, tableOf(labels));
  const service = services.find(({ siblingFolder, facts }) => !siblingFolder && isOwn(facts.scraped ?? undefined));
  const place = getIn(container.at, 'name') ?? container.image?.at;
  if (service === undefined || place === undefined) return;
  report({
    message: `The annotations of Service ${shorten(service.name, 30)} tell Prometheus to scrape it, but ${has}`,
    span: spanOf(place),
  });
}
