import { mayHaveVariables } from '../evidence/launch.ts';
import { processInput, useOf } from '../model/process-input.ts';
import { fix } from '../rewrite/fix.ts';
import { asBoolean, getIn, isIncomplete, isTemplated, spanOf } from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A Service named vllm overwrites a setting of vLLM.
 *
 * ## Why
 *
 * Kubernetes exposes each Service of the namespace to pods as environment variables, and a Service named vllm sets `VLLM_PORT` to an
 * address such as `tcp://10.0.0.7:8000`. vLLM reads a variable of this name as a port number and stops with an error. The first pod may
 * start before the Service exists; every later one fails. Another name for the Service, or `enableServiceLinks: false`, avoids it.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Service
 * metadata: {name: vllm}
 * spec:
 *   selector: {app: chat}
 *   ports: [{port: 8000}]
 * ---
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 *   labels: {app: chat}
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Service
 * metadata: {name: vllm}
 * spec:
 *   selector: {app: chat}
 *   ports: [{port: 8000}]
 * ---
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 *   labels: {app: chat}
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *   enableServiceLinks: false
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the pod also loses the variables of other Services.
 *
 * ## When it is silent
 *
 * If the container sets `VLLM_PORT` itself, if `enableServiceLinks` is false, for headless Services, and for Services in other namespaces and
 * folders.
 *
 * ## Sources
 *
 * - [vllm-project/vllm#34199](https://github.com/vllm-project/vllm/issues/34199)
 * - [opea-project/GenAIInfra#612](https://github.com/opea-project/GenAIInfra/pull/612)
 * - [vLLM: environment variables](https://docs.vllm.ai/en/latest/configuration/env_vars/)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  podSet(podSet, { workload, document, crossReferences, report }) {
    if (workload.partial || workload.role === 'definition' || isIncomplete(podSet.pod)) return;
    const links = getIn(podSet.pod, 'enableServiceLinks');
    if (isTemplated(links) || asBoolean(links) === false) return;
    const server = podSet.containers.find((one) => one.type !== 'init' && useOf(one).program === 'vllm');
    if (server?.image === undefined || getIn(podSet.pod, 'containers') === undefined) return;
    if (processInput(server).env.some(({ name }) => name === 'VLLM_PORT') || isIncomplete(server.at)) return;
    const service = crossReferences.service(workload.namespace, 'vllm');
    if (service === undefined || service.siblingFolder || !service.facts.hasAddress) return;
    const source = service.file === null ? '' : ` (${shorten(service.file)})`;
    report({
      // A ConfigMap may set the variable.
      severity: mayHaveVariables(server) ? 'warning' : 'error',
      message: `Service vllm${source} sets VLLM_PORT to an address in this pod: vLLM expects a port number and does not start`,
      span: spanOf(getIn(server.at, 'name') ?? server.image.at),
      fixes: () => [
        fix('Set enableServiceLinks to false', 'unsafe', insertKey(document, podSet.pod, 'enableServiceLinks', false)),
      ],
    });
  },
});
