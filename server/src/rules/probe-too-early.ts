import { hasAllContainers } from '../evidence/chart-pods.ts';
import { usesAccelerators } from '../evidence/launch.ts';
import { modelDirectory, mountAbove } from '../evidence/model-volume.ts';
import { probesOf } from '../evidence/probes.ts';
import { progressDeadline } from '../evidence/progress-deadline.ts';
import { leastStartSeconds, type ModelLoader, modelLoader } from '../evidence/server-start.ts';
import { volumeNamed } from '../evidence/volume-lifetime.ts';
import { lowerCount } from '../model/pod.ts';
import { isValues } from '../model/values.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { plainValue } from '../rewrite/plain-value.ts';
import { asBoolean, asText, type Cursor, getIn, isIncomplete, items, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { insertKey, replaceScalar, setKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A liveness or startup probe kills a model server before its model is loaded.
 *
 * ## Why
 *
 * A model server answers its probes only after it has loaded the weights and prepared the GPU, which takes a minute for a small model and many
 * minutes for a large one. Until then the liveness probe fails, and after `initialDelaySeconds` + `periodSeconds` × `failureThreshold` the
 * kubelet restarts the container. It never becomes ready and holds its GPU. A startup probe suspends the liveness probe until the server
 * has answered once. A shorter progress deadline makes the rollout fail. SkyServe gives up on a replica that is not ready after the `initial_delay_seconds` of its readiness probe, and rents another one.
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
 * For SkyPilot tasks whose setup downloads something. With a startup probe that waits long enough, with a postStart hook that waits, for patches and definitions, and for servers other than
 * those of language models (Triton counts as one if its image, command or environment names TensorRT-LLM or vLLM), unless a readiness probe with 10 or more attempts and the same request allows more time by a quarter and a
 * minute, which is information unless it is twice the time. The estimate is a lower bound: 1 minute (30 seconds for models of up to 2
 * billion parameters), 1 second per GiB of weights, and a download of up to 8 files at 50 MiB/s each if the server itself stores the
 * weights. If it stores them on a volume that outlives the pod, the finding is information only: the volume may already hold the model. The
 * same applies to downloads for which the probe allows up to half as much time again, to the values of a chart whose templates are unknown, and to NIM with less than a quarter of the time that NVIDIA's chart
 * gives it. A stored model of 20 GiB or more is information if its volume would have to be read at 250 MiB/s or more, twice the default of a common network disk.
 *
 * ## Sources
 *
 * - [Kubernetes: liveness, readiness and startup probes](https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/)
 * - [NVIDIA: values of the chart nim-llm](https://github.com/NVIDIA/nim-deploy/blob/main/helm/nim-llm/values.yaml)
 * - [kserve/kserve#5062](https://github.com/kserve/kserve/issues/5062)
 * - [vllm-project/aibrix#772](https://github.com/vllm-project/aibrix/issues/772)
 * - [Amazon EBS: throughput of gp3 volumes](https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html)
 * - [SkyPilot: readiness probe of a service](https://docs.skypilot.co/en/latest/reference/yaml-spec.html)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  wasteful: true,
  container(container, context) {
    const { workload, podSet, options, document, report } = context;
    const delay = replicaDelay(workload);
    if (delay !== undefined) {
      const seconds = lowerCount(delay, 0);
      const loader = modelLoader(container, podSet, workload, options);
      const found = seconds === null ? undefined : loader && slowStart(loader, seconds);
      if (found === undefined) return;
      report({
        message: `SkyServe gives up on a replica that is not ready after ${seconds} s, but ${found.what}: none may ever become ready`,
        span: keySpanOf(delay),
        fixes: () => [fix('Set initial_delay_seconds to 1200', 'unsafe', replaceScalar(document, delay, 1200))],
      });
      return;
    }
    checkDeadline(container, context);
    const isChart = hasAllContainers(workload);
    const { startup, liveness, readiness } = probesOf(container, workload);
    // A startup probe suspends the other probes until it succeeds.
    const probe = startup ?? liveness;
    // Charts pass on the probes of their values, next to the image.
    const isOther = !isChart && isValues(workload);
    const hasImage = getIn(container.at, 'image') !== undefined;
    const isRead = isChart || isOther || !workload.partial;
    if (probe?.node.kind !== 'map' || !isRead || !usesAccelerators(container, podSet)) return;
    if (isOther && asBoolean(getIn(probe, 'enabled')) === false) return;
    if (isIncomplete(container.at) || isIncomplete(probe) || startHookWaits(container.at)) return;
    // The first versions of the chart gave the container of this name a startup probe.
    if (isChart && startup === undefined && container.name === 'main') return;
    const budget = budgetOf(probe);
    const known =
      budget === undefined || (isOther && !hasImage) ? undefined : modelLoader(container, podSet, workload, options);
    if (budget === undefined) return;
    // The volumes of the chart are elsewhere in its values.
    const loader: ModelLoader | undefined =
      (isChart || isOther) && known ? { ...known, downloads: undefined, brief: undefined } : known;
    const named = isChart ? (probe.parent ?? probe) : probe;
    const killed = `${isChart ? `probes.${keyOf(named)}` : keyOf(probe)} kills the container ${budget} s after its start, but`;
    const slow = loader && slowStart(loader, budget);
    // The estimate is a lower bound: downloads often take half as much again.
    const downloads = startup === undefined ? (loader?.downloads ?? loader?.brief) : undefined;
    const isTight = slow === undefined && loader !== undefined && downloads !== undefined;
    const found = isTight ? slowStart({ ...loader, downloads }, budget / 1.5) : slow;
    const patience = found === undefined && startup === undefined ? readinessBudget(probe, readiness) : undefined;
    if (found === undefined && startup === undefined && isNimStart(loader, budget)) {
      report({
        severity: 'info',
        message: `${killed} NVIDIA's chart gives NIM ${nimSeconds.toLocaleString('en')} s to start: a longer start never completes`,
        span: keySpanOf(named),
        fixes: () => [isOther ? undefined : addStartupProbe(probe, container.at, document, isChart)],
      });
      return;
    }
    const reading = found === undefined && startup === undefined && !isOther && !isChart ? loader : undefined;
    const read =
      patience === undefined && reading !== undefined && isOnVolume(reading, container, podSet)
        ? slowVolume(reading, budget)
        : undefined;
    if (read !== undefined) {
      report({
        severity: 'info',
        message: `${keyOf(probe)} kills the container ${budget} s after its start: from a volume slower than ${read} never load; add a startupProbe`,
        span: keySpanOf(named),
        fixes: () => [addStartupProbe(probe, container.at, document, false)],
      });
      return;
    }
    if (found === undefined && (patience === undefined || patience < Math.max(1.25 * budget, budget + 60))) return;
    const isCertain =
      found === undefined ? (patience ?? 0) >= 2 * budget : slow !== undefined && slow.downloads !== 'first';
    report({
      // The templates of a chart may have a startup probe of their own.
      severity: !isCertain || loader === undefined || isOther ? 'info' : 'warning',
      message:
        found === undefined
          ? `${killed} readinessProbe gives it ${patience} s: a start that takes longer than ${budget} s never completes`
          : `${killed} ${found.what}: it may never become ready`,
      span: keySpanOf(named),
      fixes: () => [
        startup === undefined && !isOther
          ? addStartupProbe(probe, container.at, document, isChart)
          : waitLonger(probe, document),
      ],
    });
  },
});

/** Reports a deadline of a rollout that ends before the server can be ready. */
function checkDeadline(container: Container, { workload, podSet, options, report }: PodSetContext): void {
  if (workload.partial || isIncomplete(container.at) || !usesAccelerators(container, podSet)) return;
  const deadline = progressDeadline(workload, podSet);
  const loader = deadline && modelLoader(container, podSet, workload, options);
  const found = deadline && loader && slowStart(loader, deadline.seconds);
  if (deadline === undefined || found === undefined) return;
  const isKnative = deadline.by === 'Knative';
  const effect = isKnative ? 'Knative gives up on the revision and removes its pods' : 'the rollout counts as failed';
  report({
    severity: isKnative && found.downloads !== 'first' ? 'warning' : 'info',
    message: `${isKnative ? 'progress-deadline' : keyOf(deadline.at)} is ${deadline.seconds} s, but ${found.what}: ${effect}`,
    span: keySpanOf(deadline.at),
  });
}

/** The time that a replica of SkyServe has to become ready, if a text sets it and nothing downloads its model before. */
function replicaDelay({ manifest: { root }, kind }: Workload): Cursor | undefined {
  if (kind !== 'Task') return undefined;
  const delay = getIn(root, 'service', 'readiness_probe', 'initial_delay_seconds');
  const isPrepared = ['file_mounts', 'storage_mounts', 'volumes'].some((key) => getIn(root, key) !== undefined);
  return isPrepared || /download|snapshot/i.test(asText(getIn(root, 'setup')) ?? '') ? undefined : delay;
}

/** Whether a postStart hook waits, for example for the server: the kubelet does not probe a container before its hook has ended. */
function startHookWaits(container: Cursor): boolean {
  const command = items(getIn(container, 'lifecycle', 'postStart', 'exec', 'command'));
  const script = command.map((item) => asText(item) ?? '').join(' ');
  // A part that runs in the background is not waited for.
  return /\b(?:until|while|for|wait|sleep|timeout)\b|--retry/.test(script) && !/(?<!&)&\s*(?:\)|$|\n)/.test(script);
}

/** What takes a server longer than its probe allows; undefined if it may start in time. */
function slowStart(
  loader: ModelLoader,
  budget: number,
): { readonly what: string; readonly downloads: ModelLoader['downloads'] } | undefined {
  const { model, weightsGiB } = loader;
  const name = model === undefined || weightsGiB === undefined ? 'a model' : shorten(lastPart(model), 30);
  const loads = loader.downloads === 'each' ? 'downloading and loading' : 'loading';
  // Loading from a full volume is certain; downloading to it first is not.
  for (const downloads of loader.downloads === 'first' ? [undefined, 'first' as const] : [loader.downloads]) {
    // A lower bound by rules of thumb is not known to the second.
    const least = Math.floor(leastStartSeconds({ ...loader, downloads }) / 10) * 10;
    if (budget >= least) continue;
    const time = `takes ${least} s or more`;
    const what = downloads === 'first' ? `the first start downloads ${name} and ${time}` : `${loads} ${name} ${time}`;
    return { what, downloads };
  }
  return undefined;
}

/**
 * The rate at which a volume must be read so that a large stored model is loaded in time, if common volumes are slower; in words.
 * Network disks and shares have 125 MiB/s by default and often no more than twice as much.
 * https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html
 */
function slowVolume({ model, weightsGiB = 0, downloads, brief }: ModelLoader, budget: number): string | undefined {
  const seconds = budget - leastStart;
  const rate = (weightsGiB * 1024) / seconds;
  if (model === undefined || weightsGiB < largeGiB || downloads !== undefined || brief !== undefined || seconds <= 0)
    return undefined;
  if (rate < 2 * defaultRate) return undefined;
  return `${Math.floor(rate / 10) * 10} MiB/s, the ${Math.round(weightsGiB)} GiB of ${shorten(lastPart(model), 24)}`;
}

/** Whether a model is read from a volume that may be slow: what an init container has just written is still in memory. */
function isOnVolume({ model = '', program }: ModelLoader, container: Container, podSet: PodSet): boolean {
  const mount = model.startsWith('/')
    ? mountAbove(model, container)
    : modelDirectory(container, podSet, program)?.mount;
  return mount !== undefined && !/^(?:emptyDir|image)$/.test(volumeNamed(podSet, mount.name)?.source ?? '');
}

const defaultRate = 125;
const largeGiB = 20;
const leastStart = 60;

/** Whether NIM, with a model of several billion parameters, has much less time than NVIDIA gives it. */
function isNimStart(loader: ModelLoader | undefined, budget: number): boolean {
  return loader?.program === 'nim' && (loader.weightsGiB ?? 0) >= 3 && budget < nimSeconds / 4;
}

/** The startup probe of NVIDIA's chart: 40 s + 180 × 10 s. https://github.com/NVIDIA/nim-deploy/blob/main/helm/nim-llm/values.yaml */
const nimSeconds = 1840;

function lastPart(model: string): string {
  const parts = model.split('/').filter((part) => part !== '');
  return parts.at(-1) ?? '';
}

/**
 * The time in seconds that a readiness probe with the same request allows, if its many attempts are written: they only make sense for a slow
 * start, because an overloaded server should lose its traffic soon.
 */
function readinessBudget(liveness: Cursor, readiness: Cursor | undefined): number | undefined {
  if ((lowerCount(getIn(readiness, 'failureThreshold'), 3) ?? 0) < 10 || readiness === undefined) return undefined;
  const requests = [liveness, readiness].map((probe) =>
    JSON.stringify(handlers.map((key) => getIn(probe, key)).map((one) => one && plainValue(one))),
  );
  return requests[0] === requests[1] ? budgetOf(readiness) : undefined;
}

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
  const period = lowerCount(getIn(probe, 'periodSeconds'), 10) || 10;
  const enough = Math.ceil((maxMinutes * 60) / period);
  const edits = setKey(document, probe, 'failureThreshold', enough);
  return fix(`Set failureThreshold to ${enough} (waits up to ${maxMinutes} min)`, 'unsafe', edits);
}

/** A startup probe with the same handler and more time. */
function addStartupProbe(probe: Cursor, container: Cursor, document: YamlDocument, isChart: boolean): Fix | undefined {
  const handler = handlers.map((key) => getIn(probe, key)).find((one) => one !== undefined);
  const plain = handler && plainValue(handler);
  if (handler === undefined || plain === undefined) return undefined;
  const value = { [keyOf(handler)]: plain, periodSeconds: 10, failureThreshold: maxMinutes * 6 };
  const probes = getIn(container, 'probes');
  const edits =
    isChart && probes !== undefined
      ? insertKey(document, probes, 'startup', { enabled: true, custom: true, spec: value }, { after: 'liveness' })
      : insertKey(document, container, 'startupProbe', value, { after: 'livenessProbe' });
  return fix(`Add a startupProbe that waits up to ${maxMinutes} min`, 'unsafe', edits);
}
