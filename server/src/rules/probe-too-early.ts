import { leastStartSeconds, modelLoader } from '../evidence/server-start.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { lowerCount } from '../model/pod.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { plainValue } from '../rewrite/plain-value.ts';
import { type Cursor, getIn, isIncomplete, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A liveness or startup probe kills a model server before its model is loaded.
 *
 * ## Why
 *
 * A model server answers its probes only after it has loaded the weights and prepared the GPU, which takes a minute for a small model and many
 * minutes for a large one. Until then the liveness probe fails, and after `initialDelaySeconds` + `periodSeconds` × `failureThreshold` the
 * kubelet restarts the container. It never becomes ready and holds its GPU. A startup probe suspends the liveness probe until the server
 * has answered once.
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
 *       args: ["--model", "Qwen/Qwen2.5-72B-Instruct", "--tensor-parallel-size=4"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 4
 *       livenessProbe:
 *         httpGet:
 *           path: /health
 *           port: 8000
 *         initialDelaySeconds: 60
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
 *       args: ["--model", "Qwen/Qwen2.5-72B-Instruct", "--tensor-parallel-size=4"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 4
 *       livenessProbe:
 *         httpGet:
 *           path: /health
 *           port: 8000
 *         initialDelaySeconds: 60
 *       startupProbe:
 *         httpGet:
 *           path: /health
 *           port: 8000
 *         periodSeconds: 10
 *         failureThreshold: 120
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a server that hangs while it starts is restarted later.
 *
 * ## When it is silent
 *
 * With a startup probe that waits long enough, for patches and definitions, and for servers other than those of language models. The estimate
 * is a lower bound: 1 minute (30 seconds for models of up to 2 billion parameters), 1 second per GiB of weights, and a download of up to 8 files
 * at 50 MiB/s each if nothing is mounted that keeps the weights.
 *
 * ## Sources
 *
 * - [Kubernetes: liveness, readiness and startup probes](https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/)
 * - [kserve/kserve#5062](https://github.com/kserve/kserve/issues/5062)
 * - [vllm-project/aibrix#772](https://github.com/vllm-project/aibrix/issues/772)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  wasteful: true,
  container(container, { workload, podSet, options, document, report }) {
    const [startup, liveness] = ['startupProbe', 'livenessProbe'].map((key) => getIn(container.at, key));
    // A startup probe suspends the other probes until it succeeds.
    const probe = startup ?? liveness;
    if (probe?.node.kind !== 'map' || workload.partial || !requestsAccelerators(container)) return;
    if (isIncomplete(container.at) || isIncomplete(probe)) return;
    const budget = budgetOf(probe);
    const loader = budget === undefined ? undefined : modelLoader(container, podSet, workload, options);
    if (budget === undefined || loader === undefined) return;
    // A lower bound by rules of thumb is not known to the second.
    const least = Math.floor(leastStartSeconds(loader) / 10) * 10;
    if (budget >= least) return;
    const what =
      loader.model === undefined || loader.weightsGiB === undefined
        ? 'a model'
        : shorten(
            loader.model
              .split('/')
              .filter((part) => part !== '')
              .at(-1) ?? '',
            40,
          );
    report({
      message: `${keyOf(probe)} kills the container ${budget} s after its start, but ${loader.downloads ? 'downloading and loading' : 'loading'} ${what} takes ${least} s or more: it may never become ready`,
      span: keySpanOf(probe),
      fixes: () => [
        startup === undefined ? addStartupProbe(probe, container.at, document) : waitLonger(probe, document),
      ],
    });
  },
});

const maxMinutes = 20;
const handlers = ['httpGet', 'tcpSocket', 'grpc', 'exec'];

/** The time in seconds after which the probe restarts a server that never answers; undefined if unknown. Kubernetes' defaults. */
function budgetOf(probe: Cursor): number | undefined {
  // Operators have forms of their own.
  if (!handlers.some((key) => getIn(probe, key) !== undefined)) return undefined;
  const [delay, period, failures] = [
    lowerCount(getIn(probe, 'initialDelaySeconds'), 0),
    lowerCount(getIn(probe, 'periodSeconds'), 10),
    lowerCount(getIn(probe, 'failureThreshold'), 3),
  ];
  if (delay === null || period === null || failures === null) return undefined;
  // Written zeros mean the defaults.
  return delay + (period || 10) * (failures || 3);
}

/** More attempts, at the written period. */
function waitLonger(probe: Cursor, document: YamlDocument): Fix | undefined {
  const failures = getIn(probe, 'failureThreshold');
  const period = lowerCount(getIn(probe, 'periodSeconds'), 10) || 10;
  const enough = Math.ceil((maxMinutes * 60) / period);
  const edits =
    failures === undefined
      ? insertKey(document, probe, 'failureThreshold', enough)
      : replaceScalar(document, failures, enough);
  return fix(`Wait up to ${maxMinutes} min (failureThreshold ${enough})`, 'unsafe', edits);
}

/** A startup probe with the same handler and more time. */
function addStartupProbe(probe: Cursor, container: Cursor, document: YamlDocument): Fix | undefined {
  const handler = handlers.map((key) => getIn(probe, key)).find((one) => one !== undefined);
  const plain = handler && plainValue(handler);
  if (handler === undefined || plain === undefined) return undefined;
  const value = { [keyOf(handler)]: plain, periodSeconds: 10, failureThreshold: maxMinutes * 6 };
  return fix(
    `Add a startupProbe that waits up to ${maxMinutes} min`,
    'unsafe',
    insertKey(document, container, 'startupProbe', value, { after: 'livenessProbe' }),
  );
}
