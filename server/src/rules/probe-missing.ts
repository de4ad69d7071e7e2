import { titleOf } from '../catalog/program-records.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { isWholePod } from '../evidence/rejection.ts';
import { isAlone, runsAsWritten, soleServer } from '../evidence/sole-server.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import { useOf } from '../model/process-input.ts';
import { isValues } from '../model/values.ts';
import type { Container } from '../model/workload.ts';
import { getIn, isIncomplete, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { tableOf } from '../yaml/table.ts';
import { defineRule } from './rule.ts';

/**
 * A model server behind a Service has no readiness probe.
 *
 * ## Why
 *
 * Without a readiness probe, a pod counts as ready as soon as its container runs. A model server needs minutes until it listens, because it first
 * loads the weights. Meanwhile the Service already sends it requests, which are refused, and a rolling update stops the old pods although no
 * new one can answer yet.
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
 * metadata: {name: chat}
 * spec:
 *   selector: {app: chat}
 *   ports: [{port: 8000}]
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
 *           readinessProbe:
 *             httpGet: {path: /health, port: 8000}
 * ---
 * apiVersion: v1
 * kind: Service
 * metadata: {name: chat}
 * spec:
 *   selector: {app: chat}
 *   ports: [{port: 8000}]
 * ```
 *
 * ## When it is silent
 *
 * With a startup probe, because a pod is not ready before that has succeeded. For servers other than those of models, next to other containers, with
 * lifecycle hooks and readiness gates, if the Service is in another file, has no cluster IP or publishes addresses that are not ready, for Triton with
 * explicit model control, for patches, templates and definitions, and for operators that add probes, such as KServe, KubeRay and the NIM operator. It is
 * reported once per file.
 *
 * ## Sources
 *
 * - [Kubernetes: liveness, readiness and startup probes](https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/)
 * - [Kubernetes: pod readiness](https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-conditions)
 */
export default defineRule({
  topic: 'other',
  severity: 'info',
  container(container, { podSet, workload, document, crossReferences, report }) {
    if (container.type !== 'app' || container.image === undefined || document.template) return;
    if (isValues(workload) || !isWholePod(podSet, workload)) return;
    if (!runsAsWritten(workload) || workload.manifest.apiVersion.startsWith('serving.')) return;
    if (kindOf(workload).staysUp !== true || !requestsAccelerators(podSet)) return;
    const isProbed = probes.some((key) => getIn(container.at, key) !== undefined);
    if (isProbed || isIncomplete(container.at) || getIn(podSet.pod, 'readinessGates') !== undefined) return;
    const program = soleServer(container)?.program ?? useOf(container).program;
    if (program === null || !loadsFirst.has(program) || !isAlone(container, podSet, workload)) return;
    if (loadsOnDemand(container)) return;
    const labels = podSet.labels.map(({ value, at }): [string, string] => [keyOf(at), value]);
    const services = labels.length === 0 ? [] : crossReferences.servicesOf(workload.namespace, tableOf(labels));
    const service = services.find(({ file, facts }) => file === null && facts.hasAddress && facts.waits);
    if (service === undefined) return;
    report({
      message: `${titleOf(program)} has no readinessProbe: Service ${shorten(service.name, 30)} sends it requests while it loads its model, and a rollout stops the old pod too soon`,
      span: keySpanOf(getIn(container.at, 'ports') ?? getIn(container.at, 'name') ?? container.image.at),
      oncePerFile: true,
    });
  },
});

const probes = ['readinessProbe', 'startupProbe', 'lifecycle'];

/** Whether Triton loads no models until a client asks for them. */
function loadsOnDemand({ command, args }: Container): boolean {
  return [...command, ...args].some(({ value }) => /--model-control-mode[=\s]explicit|^explicit$/.test(value));
}

/** Servers that listen only when their models are loaded. */
const loadsFirst = wordSet(
  'vllm sglang text-generation-launcher text-generation-server text-embeddings-router tritonserver trtllm-serve lmdeploy aphrodite nim',
);
