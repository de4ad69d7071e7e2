import { either, oneOf, wordSet } from '../catalog/word-patterns.ts';
import { findWaiting } from '../command/waiting.ts';
import { formatHourly, formatMonthly } from '../cost/money.ts';
import { isExplained } from '../evidence/deliberate.ts';
import { isExempt, knownRequests, requestSpan, requestWords } from '../evidence/requested-accelerators.ts';
import { hubOf } from '../model/charts/notebooks.ts';
import { likeKind } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { commandsIn, processInput, useOf } from '../model/process-input.ts';
import { isValues } from '../model/values.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asBoolean, asNumber, type Cursor, getIn, isUnseen, items, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { someText } from '../yaml/texts.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A notebook, an IDE, a remote desktop, an SSH server or a CI runner without a job holds its GPU around the clock.
 *
 * ## Why
 *
 * People use a notebook for a few hours a day, but a Deployment or StatefulSet keeps its pod, and with it the GPU, running at night and on
 * weekends: a working week has 40 of 168 hours. A server that shuts down when idle, a culler, or a schedule that sets the replicas to 0
 * returns the GPU to others. A Pod or a Job with a notebook keeps the GPU until somebody deletes it; `activeDeadlineSeconds` ends it. A
 * SkyPilot task without a program (`run`) only prepares a machine, which stays until somebody stops it, unless `autostop` does. JupyterHub's chart has a culler, which stops servers after an hour unless `cull.enabled` is false.
 * CI runners hold their GPUs while they wait for jobs, unless they start with each job (`minRunners: 0`).
 *
 * ```yaml invalid
 * apiVersion: apps/v1
 * kind: StatefulSet
 * metadata:
 *   name: notebook
 * spec:
 *   selector:
 *     matchLabels: {app: notebook}
 *   template:
 *     metadata:
 *       labels: {app: notebook}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/workbench:3.1
 *           command: [jupyter, lab, --ip=0.0.0.0]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: apps/v1
 * kind: StatefulSet
 * metadata:
 *   name: notebook
 * spec:
 *   selector:
 *     matchLabels: {app: notebook}
 *   template:
 *     metadata:
 *       labels: {app: notebook}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/workbench:3.1
 *           command: [jupyter, lab, --ip=0.0.0.0, --MappingKernelManager.cull_idle_timeout=3600]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For Pods and Jobs with a deadline (`activeDeadlineSeconds`, `timeout 8h jupyter lab`), and for tasks of SkyPilot and dstack that set when they end; for parts of a GPU; for flags, variables, labels and annotations about culling, idle time or a
 * schedule; and if something scales the workload. A cluster can also cull notebooks in ways that their manifests do not show (an option of Kubeflow), so
 * the finding is information only.
 *
 * ## Sources
 *
 * - [Jupyter Server: options](https://jupyter-server.readthedocs.io/en/latest/other/full-config.html)
 * - [Kubeflow: culling of idle notebooks](https://github.com/kubeflow/kubeflow/tree/master/components/notebook-controller)
 */
export default defineRule({
  topic: 'scale-to-zero',
  severity: 'info',
  podSet(podSet, context) {
    reportRunners(podSet, context);
    const rented = rentedDevices(context);
    if (rented !== undefined) {
      context.report({
        message: `The ${rented.noun} holds its machine around the clock${priceOf(context)}: nothing stops it when idle`,
        span: spanOf(rented.at),
      });
    }
    const hub = isValues(context.workload) ? hubOf(podSet.pod) : undefined;
    const culls = getIn(hub, 'cull', 'enabled');
    const requests = podSet.containers.flatMap(knownRequests).filter(({ form }) => form === 'whole');
    if (hub === undefined || culls === undefined || asBoolean(culls) !== false || requests.length === 0) return;
    // Its users' servers, or a service of its own, can stop idle ones.
    if (someText(hub.node, (text) => stopsServers.test(text))) return;
    context.report({
      message: `Without the culler, nothing stops idle servers: each holds its ${shorten(requestWords(requests), 60)} around the clock`,
      span: spanOf(culls),
      oncePerFile: true,
    });
  },
  container(container, context) {
    const { workload, podSet } = context;
    const end = container.type === 'app' ? endOf(context) : undefined;
    const noun = end === undefined ? undefined : nounOf(container, context);
    if (noun === undefined || (end === 'deleted' && !isStarted(container))) return;
    if (isExempt(workload) || workload.scaledBy !== null || podSet.pods.max === 0 || stopsWhenIdle(container, context))
      return;
    const requests = knownRequests(container).filter(({ form }) => form === 'whole');
    if (requests.length === 0) return;
    context.report({
      message: `The ${noun} holds ${shorten(requestWords(requests), 60)} ${end === 'deleted' ? 'until somebody deletes it' : 'around the clock'}${priceOf(context)}: nothing stops it when idle`,
      span: requestSpan(requests, container),
    });
  },
});

/** Reports runners of a CI service that exist without a job. */
function reportRunners(podSet: PodSet, context: PodSetContext): void {
  const { workload, document } = context;
  const { pods, containers, accelerators, pod } = podSet;
  const isOwnKind = /^actions\.(?:summerwind\.dev|github\.com)$/.test(groupOf(workload.apiVersion));
  const isRunner = isOwnKind || containers.some((one) => one.type === 'app' && runnerImages.test(repositoryOf(one)));
  const holder = pod?.parent?.parent;
  const floor = getIn(holder, 'minRunners') ?? getIn(holder, 'replicas');
  const holding = containers.find((one) => knownRequests(one).length > 0);
  if (!isRunner || pods.min === null || pods.min < 1 || workload.scaledBy !== null) return;
  if (isExempt(workload) || isUnseen(floor) || (floor !== undefined && isExplained(floor, document))) return;
  if (!isOwnKind && !isValues(workload) && endOf(context) !== 'scaled') return;
  // A HorizontalRunnerAutoscaler sets the number that is absent.
  if (isOwnKind && floor === undefined && workload.kind !== 'Runner') return;
  const held = accelerators.filter(({ form, perPod }) => form === 'whole' && perPod !== 0);
  const span = floor !== undefined ? keySpanOf(floor) : holding && requestSpan(knownRequests(holding), holding);
  if (held.length === 0 || stopsRunners(workload) || span === undefined) return;
  const isFloor = floor !== undefined && keyOf(floor) === 'minRunners';
  context.report({
    message: `${pods.min === 1 ? 'One CI runner waits for jobs and holds its GPU' : `${pods.min} CI runners wait for jobs and hold their GPUs`} around the clock${priceOf(context)}${isFloor ? '; with minRunners 0, they start with their job' : ''}`,
    span,
    fixes: () =>
      isFloor ? [fix(`Set minRunners to 0 (now ${pods.min})`, 'unsafe', replaceScalar(document, floor, 0))] : [],
  });
}

const runnerImages = new RegExp(
  `(?:^|[-_])(?:${oneOf(
    'actions-runner github-runner github-actions-runner gha-runner gitlab-runner forgejo-runner gitea-runner act-runner act_runner',
    'azure-pipelines-agent azp-agent buildkite-agent woodpecker-agent teamcity-agent inbound-agent',
  )})$`,
);

/** Something else may scale them. */
function stopsRunners({ manifest }: Workload): boolean {
  return [...manifest.annotations, ...manifest.labels].some(({ at }) => stopping.test(keyOf(at)));
}

function priceOf({ workload, costOf }: PodSetContext): string {
  const hourly = costOf(workload).cost?.hourly.min ?? 0;
  return hourly > 0 ? ` (${formatHourly(hourly)}, ${formatMonthly(hourly)})` : '';
}

/** The devices of a machine that SkyPilot or dstack rents for a notebook, an IDE or a shell, if no setting ends it. */
function rentedDevices({
  workload,
  podSet,
}: PodSetContext): { readonly noun: string; readonly at: Cursor } | undefined {
  const { apiVersion, role, manifest } = workload;
  const [device] = podSet.accelerators;
  if (!/^(?:skypilot|dstack)$/.test(groupOf(apiVersion)) || device?.at === undefined) return undefined;
  const isNotebook = role === 'interactive' || podSet.containers.some((one) => useOf(one).use === 'interactive');
  const mayStop = (text: string) => stopping.test(text) || text.includes('duration');
  const isBare = !isNotebook && groupOf(apiVersion) === 'skypilot' && runsNothing(manifest.root, podSet);
  // How a machine without a program is started is often in a comment.
  if (isBare && /autostop|autodown|--down\b|\s-i ?\d/i.test(manifest.document.text)) return undefined;
  if (!(isNotebook || isBare) || someText(manifest.root.node, mayStop)) return undefined;
  return { noun: isNotebook ? 'notebook' : 'task runs no program and', at: device.at };
}

/** Whether a task only sets up its machine, on which people then work over SSH: it has no script, or one that only prints. */
function runsNothing(root: Cursor, { containers }: PodSet): boolean {
  const parts = ['setup', 'workdir', 'file_mounts'].map((key) => getIn(root, key));
  if (parts.every((part) => part === undefined) || getIn(root, 'service') !== undefined) return false;
  const run = getIn(root, 'run');
  if (run === undefined) return true;
  const commands = containers.flatMap(commandsIn);
  return commands.length > 0 && commands.every(({ words }) => prints.has(words[0]?.text ?? ''));
}

const prints = wordSet('echo printf set source . cd export true : nvidia-smi');

/** What ends the pod: somebody scales it down or deletes it; undefined if it ends by itself, or may. */
function endOf({ workload: { apiVersion, kind, manifest, partial }, podSet: { pod } }: PodSetContext) {
  const group = groupOf(apiVersion);
  if (kind === 'Notebook' || likeKind(group, kind)?.staysUp === true) return 'scaled';
  const runsOnce = (kind === 'Pod' && group === '') || (kind === 'Job' && group === 'batch');
  if (!runsOnce || partial || isUnseen(pod)) return undefined;
  const places = [pod, getIn(manifest.root, 'spec')];
  return places.some((place) => getIn(place, 'activeDeadlineSeconds') !== undefined) ? undefined : 'deleted';
}

/** Whether the container certainly starts its notebook, without a limit of time: a Job may use the image of one for its own program. */
function isStarted(container: Container): boolean {
  const lines = [...container.command, ...container.args];
  if (lines.some(({ value }) => /(?:^|[\s;&|])(?:timeout|shutdown|pkill|kill)\s/.test(value))) return false;
  // What runs in the background ends with the program in the foreground.
  if (commandsIn(container).some(({ background }) => background) && findWaiting(processInput(container)) === undefined)
    return false;
  return (
    useOf(container).use === 'interactive' ||
    lines.some(({ value }) => startsSsh.test(value) || startsDesktop.test(value))
  );
}

const startsSsh = /(?:^|[\s/;&])(?:sshd(?:\s|$)|service\s+sshd?\s+start\b)/;

const stopsServers = /idle[-_]?cull|cull[-_]idle|no_activity|cull_inactive/i;

const ideImages = new RegExp(
  `(?:^|[-_])(?:${oneOf(
    'jupyter jupyterlab jupyterhub notebook notebooks',
    'code-server openvscode-server vscode rstudio theia marimo',
  )})(?:$|[-_])`,
);

const sshImages = /(?:^|[-_])(?:open)?sshd?(?:$|[-_])/;

/** What a container is for people: a notebook server, an IDE or a desktop in the browser, or a shell over SSH; undefined for other programs. */
function nounOf(container: Container, { podSet: { pods } }: PodSetContext): string | undefined {
  const { image, command, args } = container;
  const { use } = useOf(container);
  if (use === 'interactive') return 'notebook';
  if (use !== undefined && use !== null) return undefined;
  const repository = repositoryOf(container);
  if (ideImages.test(repository)) return 'notebook';
  // The tag may name the variant of the image that starts a notebook: `latest-gpu-jupyter`.
  const tag =
    image?.value
      .split('@', 1)[0]
      ?.slice(image.value.lastIndexOf('/') + 1)
      .split(':')[1] ?? '';
  if (command.length + args.length === 0 && ideImages.test(tag)) return 'notebook';
  // Several SSH servers are the workers of an MPI program.
  const ssh = sshImages.test(repository) || [...command, ...args].some(({ value }) => startsSsh.test(value));
  const isBare = command.length + args.length === 0;
  if ((ssh || (isBare && hasOnlyShells(container))) && pods.max === 1) return 'SSH server';
  const isDesktop =
    desktopImages.test(repository) || [...command, ...args].some(({ value }) => startsDesktop.test(value));
  return isDesktop ? 'remote desktop' : undefined;
}

/** The last part of the name of an image. */
function repositoryOf({ image }: Container): string {
  return image?.value.slice(image.value.lastIndexOf('/') + 1).split(/[:@]/, 1)[0] ?? '';
}

/** Whether a container declares port 22, and other ports only for notebooks. */
function hasOnlyShells({ at }: Container): boolean {
  const ports = items(getIn(at, 'ports')).map((one) => asNumber(getIn(one, 'containerPort')));
  return ports.includes(22) && ports.every((port) => port === 22 || port === 8888);
}

const desktopImages = new RegExp(`(?:^|[-_])(?:${oneOf('webtop desktop xfce lxde novnc vnc xrdp kasmvnc selkies')})$`);
const startsDesktop = /(?:^|[\s/;&|])(?:(?:tiger|tight|turbo)?vncserver|x11vnc|Xvnc|xrdp|startxfce4)(?:\s|$)/;

const stopping = either(
  /cull|idle|inactiv|no_activity|ttl/i,
  /auto-?(?:stop|shutdown|pause)|shut-?down|scale-?(?:down|to-?zero)|downscal/i,
  /downtime|uptime|schedule|working-?hours/i,
);

/** Whether a flag, a variable, a label or an annotation suggests that something stops the server. */
function stopsWhenIdle({ command, args, env }: Container, { workload, podSet }: PodSetContext): boolean {
  const marks = [
    ...workload.manifest.annotations,
    ...workload.manifest.labels,
    ...podSet.annotations,
    ...podSet.labels,
  ].map(({ at }) => keyOf(at));
  const words = [...command, ...args].map(({ value }) => value);
  return [...words, ...env.map(({ name }) => name), ...marks].some((text) => stopping.test(text));
}
