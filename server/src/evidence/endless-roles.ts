import { waitOf } from '../command/effects.ts';
import { recognizeProgram } from '../command/programs.ts';
import { baseName, type Word } from '../command/shell.ts';
import { programWords } from '../command/wrappers.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { once } from '../model/once.ts';
import { commandLineOf } from '../model/process-input.ts';
import type { Container, Manifest, PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated, isUnseen, items } from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import { isDriven } from './mpi-tasks.ts';

/** Pods with accelerators that run until somebody stops them, in an object that nobody tells that its work is done. */
export interface EndlessRole {
  readonly container: Container;
  /** What never ends; undefined for the image's own SSH server. */
  readonly words: readonly [Word, Word] | undefined;
  /** The role that ends. */
  readonly work: PodSet;
  /** Why the object then goes on, in words. */
  readonly reason: string;
  readonly fix: () => Fix | undefined;
}

/** The role of a Volcano Job or a JobSet that keeps the object running when its work has ended. */
export const endlessRole = once((workload: Workload): EndlessRole | undefined => {
  const { podSets, partial, apiVersion, kind, manifest } = workload;
  const isVolcano = kind === 'Job' && groupOf(apiVersion) === 'batch.volcano.sh';
  if (partial || podSets.length < 2 || !(isVolcano || kind === 'JobSet')) return undefined;
  const spec = getIn(manifest.root, 'spec');
  const waitsFor = isVolcano ? volcanoWaits(spec) : jobSetWaits(spec);
  if (waitsFor === undefined || podSets.some(isOpen)) return undefined;
  const work = podSets.find(isWork);
  if (work === undefined) return undefined;
  for (const podSet of podSets) {
    if (podSet.pods.max === 0 || !requestsAccelerators(podSet) || !waitsFor(podSet.name)) continue;
    for (const container of podSet.containers) {
      const words = endlessWords(container);
      const isServer = container.type === 'app' && !hasCommand(container) && isDriven(podSet, workload);
      const reason = isVolcano ? 'no policy completes the job' : 'the JobSet waits for it';
      const fix = () => (isVolcano ? completeWith(work, spec, manifest) : succeedWith(work, spec, manifest));
      if (words !== undefined || isServer) return { container, words, work, reason, fix };
    }
  }
  return undefined;
});

/** Whether a job waits for the task of a name; undefined if something may end the job. https://volcano.sh/en/docs/vcjob/ */
function volcanoWaits(spec: Cursor | undefined): ((name: string) => boolean) | undefined {
  const tasks = items(getIn(spec, 'tasks'));
  const parts = [spec, getIn(spec, 'policies'), getIn(spec, 'tasks'), ...tasks];
  const policies = tasks.map((task) => getIn(task, 'policies'));
  if ([...parts, ...policies].some((part) => isUnseen(part) || isIncomplete(part))) return undefined;
  if (getIn(spec, 'minSuccess') !== undefined || items(getIn(spec, 'policies')).some(ends)) return undefined;
  // A policy of a task that never ends has no effect.
  const ending = tasks.filter((_, index) => items(policies[index]).some(ends));
  return (name) => ending.every((task) => asText(getIn(task, 'name')) === name);
}

/** Whether a policy ends the job when a task has completed. */
function ends(policy: Cursor): boolean {
  const [action, event, events] = ['action', 'event', 'events'].map((key) => getIn(policy, key));
  if ([policy, action, event, events, ...items(events)].some((one) => isUnseen(one) || isTemplated(one))) return true;
  const names = [event, ...items(events)].map((one) => asText(one));
  const isEnd = /^(?:Complete|Abort|Terminate)Job$/.test(asText(action) ?? '');
  return isEnd && names.some((name) => name === 'TaskCompleted' || name === '*');
}

/** The same for a JobSet. https://jobset.sigs.k8s.io/docs/concepts/ (success policy) */
function jobSetWaits(spec: Cursor | undefined): ((name: string) => boolean) | undefined {
  const policy = getIn(spec, 'successPolicy');
  const [operator, targets] = [getIn(policy, 'operator'), getIn(policy, 'targetReplicatedJobs')];
  const jobs = getIn(spec, 'replicatedJobs');
  const parts = [spec, policy, operator, targets, jobs, ...items(targets), ...items(jobs)];
  if (parts.some((part) => isUnseen(part) || isTemplated(part) || isIncomplete(part))) return undefined;
  if (getIn(spec, 'managedBy') !== undefined || (policy !== undefined && asText(operator) !== 'All')) return undefined;
  const limited = items(jobs).some((job) => getIn(job, 'template', 'spec', 'activeDeadlineSeconds') !== undefined);
  const names = new Set(items(targets).map((one) => asText(one)));
  return limited ? undefined : (name) => names.size === 0 || names.has(name);
}

function completeWith({ name }: PodSet, spec: Cursor | undefined, { document }: Manifest): Fix | undefined {
  const task = items(getIn(spec, 'tasks')).find((one) => asText(getIn(one, 'name')) === name);
  if (task === undefined || getIn(task, 'policies') !== undefined) return undefined;
  const policies = [{ event: 'TaskCompleted', action: 'CompleteJob' }];
  return fix(`Complete the job when ${name} has ended`, 'unsafe', insertKey(document, task, 'policies', policies));
}

function succeedWith({ name }: PodSet, spec: Cursor | undefined, { document }: Manifest): Fix | undefined {
  if (getIn(spec, 'successPolicy') !== undefined) return undefined;
  const policy = { operator: 'All', targetReplicatedJobs: [name] };
  return fix(
    `Complete the JobSet when ${name} has ended`,
    'unsafe',
    insertKey(document, spec, 'successPolicy', policy),
  );
}

/** Whether a container of a driven role waits until it is stopped: what an image starts by itself is an SSH server. */
export function waitsForLauncher({ containers }: PodSet): boolean {
  return containers.some((one) => one.type === 'app' && (!hasCommand(one) || endlessWords(one) !== undefined));
}

/** Whether what a pod runs is unknown, or it may end others. */
function isOpen({ pod, containers }: PodSet): boolean {
  if (isUnseen(pod) || isIncomplete(pod) || getIn(pod, 'activeDeadlineSeconds') !== undefined) return true;
  if (['containers', 'initContainers'].some((key) => isUnseen(getIn(pod, key)))) return true;
  return containers.some(({ at, command, args, scripts }) => {
    const lines = [...command, ...args];
    if (isIncomplete(at) || lines.some((line) => isTemplated(line.at) || isIncomplete(line.at.parent))) return true;
    const texts = [...lines.map(({ value }) => value), ...scripts.map(({ text }) => text)];
    return texts.some((text) => /kill|kubectl|vcctl|quit|shutdown|halt|terminate|scancel/i.test(text));
  });
}

/** Whether all containers of a pod run something that ends. */
function isWork({ pods, containers }: PodSet): boolean {
  const apps = containers.filter(({ type }) => type === 'app');
  return pods.max !== 0 && apps.length > 0 && apps.every((one) => hasCommand(one) && endlessWords(one) === undefined);
}

function hasCommand({ command, args }: Container): boolean {
  return command.length + args.length > 0;
}

/** The words with which a container waits until somebody stops it: an SSH server in the foreground, a wait without an end, a model server. */
function endlessWords(container: Container): readonly [Word, Word] | undefined {
  if (container.type !== 'app' || !hasCommand(container)) return undefined;
  const { statements, complete } = commandLineOf(container);
  const last = statements.at(-1);
  if (!complete || last === undefined || last.after === '||') return undefined;
  const waiting = waitOf(last);
  if (waiting !== undefined) return waiting.seconds === Number.POSITIVE_INFINITY ? waiting.words : undefined;
  if (last.kind !== 'command' || last.background) return undefined;
  const [first, end] = [last.words[0], last.words.at(-1)];
  const [program = '', ...rest] = programWords(last);
  if (last.words.some(({ text }) => baseName(text) === 'timeout')) return undefined;
  const isSsh = baseName(program) === 'sshd' && rest.some((word) => /^-[46eiq]*D/.test(word));
  const found = recognizeProgram([last]);
  const serves = found?.confidence === 'certain' && found.use === 'serving';
  return (isSsh || serves) && first !== undefined && end !== undefined ? [first, end] : undefined;
}
