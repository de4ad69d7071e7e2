import { hasAllContainers, mayBeCompleted } from '../evidence/chart-pods.ts';
import { waitingProbe } from '../evidence/ordered-start.ts';
import { undeclaredPorts } from '../evidence/probe-ports.ts';
import { probesOf } from '../evidence/probes.ts';
import { isPodSpec, isWholePod, rejectionOf } from '../evidence/rejection.ts';
import { isForeignHealthPath, needsKey, type ServerPaths, serverPaths, statusFor } from '../evidence/server-paths.ts';
import { isAlone, soleServer } from '../evidence/sole-server.ts';
import { isSet, isUnknown, placesAt, writtenNumber, writtenText } from '../evidence/written.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { useOf } from '../model/process-input.ts';
import { isValues } from '../model/values.ts';
import type { Container, Workload } from '../model/workload.ts';
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
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { removeKey, replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A probe or a lifecycle hook that the API server rejects, or a probe that can only fail.
 *
 * ## Why
 *
 * A probe has exactly one way to check the container: `exec`, `httpGet`, `tcpSocket` or `grpc`. The `successThreshold` of a liveness or startup
 * probe must be 1, and a readiness probe, which stops nothing, has no grace period. Init containers run to completion and have
 * no probes, unless they are sidecars. A probe of a named port fails if the container declares no port with that name. Triton answers on
 * port 8000; by default, its ports 8001 and 8002 have only gRPC and metrics. vLLM answers on `/health`, but with 404 on `/` (the path in the
 * probes that `helm create` writes) and on paths of other servers; with an API key, it answers `/v1/models` with 401. Ollama answers on `/`.
 * This is also checked in the values of charts. A `preStop` hook that sleeps as long as
 * `terminationGracePeriodSeconds` (30 by default) leaves the server no time to stop, and the API server rejects a longer `sleep` action.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:1.4
 *       livenessProbe:
 *         httpGet:
 *           path: /health
 *           port: 8000
 *         successThreshold: 3
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
 *       image: registry.example/server:1.4
 *       livenessProbe:
 *         httpGet:
 *           path: /health
 *           port: 8000
 *         successThreshold: 1
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Safe: 1 is the only valid threshold, and a field that is not allowed had no effect. Another port or path is unsafe.
 *
 * ## Sources
 *
 * - [Kubernetes: probes](https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/)
 * - [Triton: the server's ports](https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/getting_started/quickstart.html)
 * - [vLLM: which paths the API key protects](https://docs.vllm.ai/en/latest/usage/security.html)
 * - [Ollama: routes](https://github.com/ollama/ollama/blob/main/server/routes.go)
 * - [NIM: health endpoints](https://docs.nvidia.com/nim/large-language-models/latest/reference/api-reference.html)
 * - [vllm-project/vllm#6194](https://github.com/vllm-project/vllm/issues/6194), [vllm-project/vllm#1245](https://github.com/vllm-project/vllm/issues/1245)
 * - [Kubernetes: validation of pods](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/validation.go)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  podSet(podSet, { report, workload }) {
    const probe = waitingProbe(podSet, workload);
    if (probe !== undefined)
      report({
        message:
          'The server waits for all pods, but the next pod starts only once this one is ready: it never becomes ready; set podManagementPolicy to Parallel',
        span: keySpanOf(probe),
      });
  },
  container(container, context) {
    const isPod = isPodSpec(context.podSet, context.workload);
    const server = isPod || isValues(context.workload) ? serverPaths(container) : undefined;
    if (server !== undefined) checkPaths(server, container, context);
    // Containers of app-template have only the written ports, not those of the Services.
    if (hasAllContainers(context.workload) && !mayBeCompleted(context.workload)) {
      for (const [type, probe] of Object.entries(probesOf(container, context.workload)))
        checkPort(probe, `The ${type} probe`, container, context);
    }
    if (!isPod) return;
    const probes = probeNames.map((name) => getIn(container.at, name)).filter(isSet);
    if (container.type === 'init') {
      refuse(probes, container, context);
      return;
    }
    for (const probe of probes) checkProbe(probe, context);
    if (isWholePod(context.podSet, context.workload)) {
      for (const probe of probes) checkPort(probe, keyOf(probe), container, context);
      if (useOf(container).program === 'tritonserver')
        for (const probe of probes) checkTriton(probe, container, context);
    }
    for (const hook of placesAt(container.at, 'lifecycle.*')) {
      if (/^(postStart|preStop)$/.test(keyOf(hook))) checkHandler(hook, hookHandlers, context);
      if (keyOf(hook) === 'preStop') checkSleep(hook, context);
    }
  },
});

const probeNames = ['livenessProbe', 'readinessProbe', 'startupProbe'];
const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'];
const hookHandlers = ['exec', 'httpGet', 'tcpSocket', 'sleep'];

function refuse(probes: readonly Cursor[], { at }: Container, context: PodSetContext): void {
  const restartPolicy = getIn(at, 'restartPolicy');
  if (context.workload.partial || isIncomplete(at) || isUnknown(restartPolicy)) return;
  for (const field of [...probes, ...[getIn(at, 'lifecycle')].filter(isSet)]) {
    context.report({
      message: `An init container must not have ${keyOf(field)} unless its restartPolicy is Always: ${rejectionOf(context.workload)}`,
      span: keySpanOf(field),
      fixes: () => [fix(`Remove ${keyOf(field)}`, 'safe', removeKey(context.document, field))],
    });
  }
}

function checkProbe(probe: Cursor, context: PodSetContext): void {
  const { report, document, workload } = context;
  const name = keyOf(probe);
  checkHandler(probe, handlers, context);
  checkHost(probe, context);
  const successes = getIn(probe, 'successThreshold');
  const wanted = writtenNumber(successes);
  if (successes !== undefined && wanted !== undefined && wanted > 1 && name !== 'readinessProbe') {
    report({
      message: `successThreshold of a ${name} must be 1, not ${wanted}: ${rejectionOf(workload)}`,
      span: spanOf(successes),
      fixes: () => [fix('Set successThreshold to 1', 'safe', replaceScalar(document, successes, 1))],
    });
  }
  const grace = getIn(probe, 'terminationGracePeriodSeconds');
  if (name === 'readinessProbe' && isSet(grace)) {
    report({
      message: `A readinessProbe must not have terminationGracePeriodSeconds: ${rejectionOf(workload)}`,
      span: keySpanOf(grace),
      fixes: () => [fix('Remove terminationGracePeriodSeconds', 'safe', removeKey(document, grace))],
    });
  } else if (grace !== undefined && (asNumber(grace) ?? 1) < 1) {
    report({
      message: `terminationGracePeriodSeconds of a probe must be at least 1: ${rejectionOf(workload)}`,
      span: spanOf(grace),
    });
  }
}

/** The loopback address in place of the pod's, which is the default: the kubelet connects from the node. */
function checkHost(probe: Cursor, { report, document, podSet }: PodSetContext): void {
  const host = getIn(probe, 'httpGet', 'host') ?? getIn(probe, 'tcpSocket', 'host');
  const written = writtenText(host) ?? '';
  if (host === undefined || !/^(?:localhost|127\.0\.0\.1|::1)$/.test(written) || !requestsAccelerators(podSet)) return;
  const network = getIn(podSet.pod, 'hostNetwork');
  // A port of the node leads to the pod.
  const isOnNode = network !== undefined && asBoolean(network) !== false;
  if (isOnNode || placesAt(podSet.pod, 'containers.*.ports.*.hostPort').length > 0) return;
  report({
    message: `host ${written} of the ${keyOf(probe)} is the node itself, not the pod: the probe never succeeds`,
    span: spanOf(host),
    fixes: () => [fix('Remove host', 'unsafe', removeKey(document, host))],
  });
}

/** A port by a name that the container does not declare: the kubelet finds no port to ask. */
function checkPort(probe: Cursor | undefined, name: string, { at }: Container, context: PodSetContext): void {
  const { report, document, workload } = context;
  for (const { place, port, known } of undeclaredPorts(probe, at)) {
    const has = known.length === 0 ? 'names no port' : `has only ${shorten(known.join(', '), 40)}`;
    report({
      severity: isValues(workload) ? 'warning' : 'error',
      message: `${name} uses port "${port}", but the container ${has}: the pod never becomes ready`,
      span: spanOf(place),
      fixes: () => known.map((name) => fix(`Use port ${name}`, 'unsafe', replaceScalar(document, place, name))),
    });
  }
}

/** A hook that sleeps longer than the pod lives after it is deleted: by default, 30 seconds. */
function checkSleep(hook: Cursor, { report, document, podSet, workload }: PodSetContext): void {
  const { pod } = podSet;
  const native = getIn(hook, 'sleep', 'seconds');
  const command = getIn(hook, 'exec', 'command');
  const words = items(command).map((word) => asText(word) ?? '$');
  const [, written] = /^(?:\S*sh -\w*c )?(?:\S*\/)?sleep (\d{1,6})s?\s*(?:$|;|&&)/.exec(words.join(' ')) ?? [];
  const slept = writtenNumber(native) ?? (written === undefined ? undefined : Number(written));
  const at = native ?? command;
  const grace = getIn(pod, 'terminationGracePeriodSeconds');
  const granted = grace === undefined ? 30 : writtenNumber(grace);
  if (at === undefined || slept === undefined || granted === undefined || slept < granted) return;
  if (grace === undefined && !isWholePod(podSet, workload)) return;
  const isRejected = native !== undefined && slept > granted;
  const seconds = slept + 30;
  report({
    severity: isRejected ? 'error' : 'warning',
    message: isRejected
      ? `preStop sleeps ${slept} s, longer than terminationGracePeriodSeconds (${granted}): ${rejectionOf(workload)}`
      : `preStop sleeps ${slept} s, but the pod is killed ${granted} s after its deletion begins: the server has no time to finish its requests`,
    span: spanOf(at),
    fixes: () => [
      fix(
        `Set terminationGracePeriodSeconds to ${seconds}`,
        'unsafe',
        setKey(document, pod, 'terminationGracePeriodSeconds', seconds),
      ),
    ],
  });
}

/** What Triton offers on its ports, unless its flags say otherwise, instead of the health of the server. */
const otherTritonPorts: ReadonlyMap<number, string> = new Map([
  [8001, 'gRPC'],
  [8002, 'metrics'],
]);

/** A probe of Triton's health on a port that does not have it. */
function checkTriton(probe: Cursor, container: Container, { report, document }: PodSetContext): void {
  const { at, command, args, env } = container;
  const words = [...command, ...args];
  const isHealth = asText(getIn(probe, 'httpGet', 'path'))?.startsWith('/v2/health') === true;
  const place = getIn(probe, 'httpGet', 'port');
  if (!isHealth || place === undefined || isIncomplete(at) || words.some((word) => isTemplated(word.at))) return;
  // Flags and variables can move each port.
  const texts = [...words.map(({ value }) => value), ...env.map(({ name }) => name)].join(' ');
  if (/[a-z][-_]port|\$/i.test(texts.replace(/--(?:http-port[ =]8000|grpc-port[ =]8001|metrics-port[ =]8002)\b/g, '')))
    return;
  const named = items(getIn(at, 'ports')).find((port) => asText(getIn(port, 'name')) === asText(place));
  const port = asNumber(getIn(named, 'containerPort')) ?? asNumber(place);
  const other = otherTritonPorts.get(port ?? 0);
  if (other === undefined) return;
  report({
    message: `${keyOf(probe)} checks Triton's health on port ${port}, which serves only ${other}: it never succeeds`,
    span: spanOf(place),
    fixes: () => [fix('Use port 8000', 'unsafe', replaceScalar(document, place, 8000))],
  });
}

/** A probe of a path that the server does not have, which `helm create` and other servers use. */
function checkPaths(server: ServerPaths, container: Container, context: PodSetContext): void {
  const { report, document, podSet, workload } = context;
  // Charts may take the probes of other containers from values without an image.
  if (isValues(workload) && getIn(container.at, 'image') === undefined) return;
  for (const [type, probe] of Object.entries(probesOf(container, workload))) {
    const request = getIn(probe, 'httpGet');
    const path = getIn(request, 'path');
    const text = path === undefined ? '/' : writtenText(path);
    if (probe === undefined || request?.node.kind !== 'map' || isIncomplete(request) || text === undefined) continue;
    // Headers may have the key, and values of a chart may leave it out.
    const lacksKey =
      !context.document.template && needsKey(text, server, container) && getIn(request, 'httpHeaders') === undefined;
    if (!(lacksKey || isForeignHealthPath(text, server)) || asBoolean(getIn(probe, 'enabled')) === false) continue;
    if (!isApiPort(getIn(request, 'port'), server, container, workload)) continue;
    const effect = type === 'readiness' ? 'the pod never becomes ready' : 'the kubelet keeps restarting the container';
    report({
      // A script or another container may answer, and a chart may use the probe elsewhere.
      severity:
        !isValues(workload) && soleServer(container) !== undefined && isAlone(container, podSet, workload)
          ? 'error'
          : 'warning',
      message: lacksKey
        ? `The ${type} probe requests ${text} without the API key, so ${server.name} answers 401: ${effect}`
        : `The ${type} probe requests ${text} from ${server.name}, which answers ${statusFor(text, server)}: ${effect}`,
      span: spanOf(path ?? request),
      fixes: () => {
        const right = type === 'liveness' ? server.health.replace(/ready$/, 'live') : server.health;
        return [fix(`Set the path to ${right}`, 'unsafe', setKey(document, request, 'path', right))];
      },
    });
  }
}

/** Whether a probe's port is the one on which the server has its API. */
function isApiPort(port: Cursor | undefined, server: ServerPaths, { at }: Container, workload: Workload): boolean {
  const name = asText(port);
  // A chart passes its server's port in its own way.
  if (isValues(workload)) return name === undefined || isTemplated(port) || !/metric|health|proxy|admin/i.test(name);
  const named = items(getIn(at, 'ports')).find((one) => asText(getIn(one, 'name')) === name);
  const asked = asNumber(getIn(named, 'containerPort')) ?? asNumber(port);
  return server.port !== undefined && asked !== undefined && String(asked) === server.port;
}

/** Exactly one of the handlers. */
function checkHandler(owner: Cursor, known: readonly string[], { report, workload, document }: PodSetContext): void {
  if (owner.node.kind !== 'map' || isIncomplete(owner)) return;
  const set = entries(owner).filter((field) => known.includes(keyOf(field)) && isSet(field));
  const [first, second] = set;
  // The branches of a template may be alternatives.
  if (first !== undefined && (second === undefined || document.template)) return;
  if (first === undefined && (workload.partial || entries(owner).some((field) => !isTiming(field)))) return;
  report({
    message:
      first === undefined
        ? `${keyOf(owner)} needs one of ${known.slice(0, -1).join(', ')} or ${known.at(-1)}: ${rejectionOf(workload)}`
        : `${keyOf(owner)} has both ${keyOf(first)} and ${second && keyOf(second)}, but only one is allowed: ${rejectionOf(workload)}`,
    span: keySpanOf(second ?? owner),
  });
}

/** Any other key is reported as an unknown field. */
function isTiming(field: Cursor): boolean {
  return /^(?:\w+Seconds|successThreshold|failureThreshold)$/.test(keyOf(field)) || !isSet(field);
}
