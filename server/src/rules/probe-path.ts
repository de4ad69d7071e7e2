import { imageParts } from '../catalog/images.ts';
import { probesOf } from '../evidence/probes.ts';
import { isAlone, soleServer } from '../evidence/sole-server.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, getIn, isIncomplete, isTemplated, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A probe requests a path that the model server does not have.
 *
 * ## Why
 *
 * The server answers such requests with 404, and a probe counts that as a failure. The kubelet restarts the container again and again, and each
 * start loads the model anew; with a readiness probe, the pod holds its GPUs but never gets a request. Paths such as `/healthz` and `/readyz`
 * are common elsewhere, but model servers have few of them.
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
 *           path: /readyz
 *           port: 8000
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
 * Unsafe: the probe takes effect.
 *
 * ## When it is silent
 *
 * For paths that are not usual names of health checks, for images that may have other paths, if another container of the pod may answer, on the
 * network of the node, with a prefix for all paths, and for templates.
 *
 * ## Sources
 *
 * - [vllm-project/vllm#1245](https://github.com/vllm-project/vllm/issues/1245), [vllm-project/vllm#7078](https://github.com/vllm-project/vllm/pull/7078)
 * - [SGLang: HTTP server](https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/http_server.py)
 * - [Ollama: routes](https://github.com/ollama/ollama/blob/main/server/routes.go)
 */
export default defineRule({
  topic: 'network',
  severity: 'warning',
  container(container, { podSet, workload, document, report }) {
    if (container.type !== 'app' || !requestsAccelerators(podSet) || !isAlone(container, podSet, workload)) return;
    const probes = Object.entries(probesOf(container, workload));
    if (probes.every(([, probe]) => probe === undefined)) return;
    const server = soleServer(container);
    const known = servers.get(server?.program ?? '');
    if (server === undefined || known === undefined) return;
    if (server.byImage && !known.images.test(imageParts(container.image?.value ?? '').repository)) return;
    if ([...container.command, ...container.args].some(({ value, at }) => isTemplated(at) || /root-path/.test(value)))
      return;
    for (const [type, probe] of probes) {
      const request = getIn(probe, 'httpGet');
      const path = getIn(request, 'path');
      const text = (asText(path) ?? '').replace(/\/$/, '');
      if (path === undefined || isTemplated(path) || isIncomplete(request) || getIn(request, 'host') !== undefined)
        continue;
      if (!healthPaths.has(text) || known.paths.includes(text)) continue;
      const right = known.paths[0] ?? '/';
      const effect =
        type === 'readiness' ? 'the pod never becomes ready' : 'the kubelet keeps restarting the container';
      report({
        message: `${known.name} has no ${shorten(text, 30)} (404), so the ${type} probe always fails: ${effect}; use ${right}`,
        span: spanOf(path),
        fixes: () => [fix(`Use ${right}`, 'unsafe', replaceScalar(document, path, right))],
      });
    }
  },
});

/** Usual names of health checks, which servers have or do not have. */
const healthPaths: ReadonlySet<string> = new Set([
  ...['/health', '/healthz', '/healthcheck', '/health-check', '/health/live', '/health/ready', '/health/liveness'],
  ...['/health/readiness', '/livez', '/live', '/liveness', '/alive', '/readyz', '/ready', '/readiness', '/ping'],
  ...['/api/health', '/api/healthz', '/v1/health', '/v1/health/live', '/v1/health/ready', '/v2/health/live'],
  ...['/v2/health/ready', '/-/healthy', '/-/ready', '/status', '/up'],
]);

interface ServerPaths {
  readonly name: string;
  /** The health checks that it has or may get, the usual one first; none: `/` answers. */
  readonly paths: readonly string[];
  /** The repositories whose entrypoint is only the server. */
  readonly images: RegExp;
}

const servers: ReadonlyMap<string, ServerPaths> = new Map([
  [
    'vllm',
    {
      name: 'vLLM',
      paths: ['/health', '/ping', '/health/ready', '/health/live'],
      images: /(?:^|\/)vllm\/vllm-openai$/,
    },
  ],
  ['sglang', { name: 'SGLang', paths: ['/health', '/ping'], images: /^$/ }],
  ['ollama', { name: 'Ollama', paths: [], images: /(?:^|\/)ollama\/ollama$/ }],
]);
