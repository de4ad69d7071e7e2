import { mayHaveVariables } from '../evidence/launch.ts';
import { processInput, useOf } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asBoolean, getIn, isIncomplete, isTemplated, spanOf } from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A Service named vllm, sglang or jupyter overwrites a setting of the server of that name.
 *
 * ## Why
 *
 * Kubernetes exposes each Service of the namespace to pods as environment variables, and a Service named vllm sets `VLLM_PORT` to an
 * address such as `tcp://10.0.0.7:8000`. vLLM reads a variable of this name as a port number and stops with an error. The first pod may
 * start before the Service exists; every later one fails. SGLang and Jupyter read `SGLANG_PORT` and `JUPYTER_PORT` in the same way. Another name for the Service, or `enableServiceLinks: false`, avoids it.
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
 * If the container sets the variable itself, for Jupyter with a port on its command line, if `enableServiceLinks` is false, for headless Services, and for Services in other namespaces and
 * folders.
 *
 * ## Sources
 *
 * - [vllm-project/vllm#34199](https://github.com/vllm-project/vllm/issues/34199)
 * - [opea-project/GenAIInfra#612](https://github.com/opea-project/GenAIInfra/pull/612)
 * - [jupyter/docker-stacks#2106](https://github.com/jupyter/docker-stacks/issues/2106)
 * - [SGLang: get_open_port](https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/utils/network.py)
 * - [vLLM: environment variables](https://docs.vllm.ai/en/latest/configuration/env_vars/)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  podSet(podSet, { workload, document, crossReferences, report }) {
    if (workload.partial || workload.role === 'definition' || isIncomplete(podSet.pod)) return;
    const links = getIn(podSet.pod, 'enableServiceLinks');
    if (isTemplated(links) || asBoolean(links) === false) return;
    if (getIn(podSet.pod, 'containers') === undefined) return;
    const server = podSet.containers.find((one) => one.type !== 'init' && readsPort.has(programOf(one)));
    if (server?.image === undefined) return;
    const program = programOf(server);
    const variable = `${program.toUpperCase()}_PORT`;
    const hasPort = [...server.command, ...server.args].some(
      ({ value, at }) => isTemplated(at) || /port\b|\$/.test(value),
    );
    // JupyterHub gives its servers their ports.
    const isOfHub = workload.kind === 'Notebook' || server.image.value.includes('jupyterhub/');
    if (program === 'jupyter' && (hasPort || isOfHub)) return;
    if (processInput(server).env.some(({ name }) => name === variable) || isIncomplete(server.at)) return;
    const service = crossReferences.service(workload.namespace, program);
    if (service === undefined || service.siblingFolder || !service.facts.hasAddress) return;
    const source = service.file === null ? '' : ` (${shorten(service.file)})`;
    report({
      // A ConfigMap may set the variable.
      severity: program === 'sglang' ? 'info' : mayHaveVariables(server) || program !== 'vllm' ? 'warning' : 'error',
      message: `Kubernetes sets ${variable} to the address of Service ${program}${source}: ${readsPort.get(program)} expects a port number and ${program === 'sglang' ? 'may' : 'does'} not start`,
      span: spanOf(getIn(server.at, 'name') ?? server.image.at),
      fixes: () => [
        fix('Set enableServiceLinks to false', 'unsafe', insertKey(document, podSet.pod, 'enableServiceLinks', false)),
      ],
    });
  },
});

/** Programs that read their port from a variable with their name, and their titles. */
const readsPort: ReadonlyMap<string, string> = new Map([
  ['vllm', 'vLLM'],
  ['sglang', 'SGLang'],
  ['jupyter', 'Jupyter'],
]);

function programOf(container: Container): string {
  return (useOf(container).program ?? '').replace(/^jupyter-(?:lab|notebook)$/, 'jupyter');
}
