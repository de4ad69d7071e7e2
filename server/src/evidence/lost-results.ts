import { either, partOf } from '../catalog/word-patterns.ts';
import { programWords } from '../command/programs.ts';
import { allCommands, baseName } from '../command/shell.ts';
import { commandLineOf } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { getIn, isIncomplete } from '../yaml/cursor.ts';
import { mayHaveVariables } from './launch.ts';
import { volumeNamed } from './volume-lifetime.ts';

/**
 * Whether what a container leaves in its pod can never be read after its end: the pod runs once, and nothing in it can copy files elsewhere, by a
 * command, another container, or an account.
 */
export function losesResults(container: Container, podSet: PodSet, workload: Workload): boolean {
  return runsOnce(podSet, workload) && keepsNowhereElse(container, podSet);
}

/** The same, but the program has an account for what it logs or downloads, with which its code may also upload its results. */
export function mayLoseResults(container: Container, podSet: PodSet, workload: Workload): boolean {
  return runsOnce(podSet, workload) && keepsNowhereElse(container, podSet, true);
}

function runsOnce({ restartPolicy }: PodSet, { kind, retries }: Workload): boolean {
  const policy = restartPolicy?.value ?? (kind === 'JobSet' ? 'OnFailure' : '');
  if (kind === 'Pod') return policy === 'Never';
  return jobs.test(kind) && retries?.limit === 0 && /^(?:Never|OnFailure)$/.test(policy);
}

/** Jobs whose pods keep nothing for each other. */
const jobs = /^(?:Job|JobSet|(?:PyTorch|TF|JAX|Paddle)Job)$/;

/**
 * Whether nothing in a pod can copy its files elsewhere: it has one container, no account and no Secret, and the command names no other place.
 * @param withLogs whether it may have the account of a service for logs or models
 */
export function keepsNowhereElse(container: Container, podSet: PodSet, withLogs = false): boolean {
  const { pod, containers } = podSet;
  if (containers.length > 1) return false;
  if (hasAccount(podSet) || isIncomplete(pod) || mayHaveVariables(container) || container.scripts.length > 0)
    return false;
  const { command, args, env, volumeMounts, at } = container;
  const isOpen = (name: string) => connects.test(name) && !(withLogs && ofLogs.test(name) && !uploads.test(name));
  if (getIn(at, 'lifecycle') !== undefined || env.some(({ name }) => isOpen(name))) return false;
  if (volumeMounts.some(({ name }) => /^(?:secret|projected|csi)$/.test(volumeNamed(podSet, name)?.source ?? '')))
    return false;
  return ![...command, ...args].some(({ value }) => {
    const line = value.toLowerCase();
    return keeps.test(withLogs && !uploads.test(line) ? line.replaceAll('wandb', '') : line);
  });
}

/** Variables of services that receive figures and are asked for models, unless a setting or the code sends them results. */
const ofLogs = /^(?:WANDB|COMET|NEPTUNE|HF|HUGGING_?FACE)_/i;
const uploads = /log[_-]?model|artifact|push|upload|wandb[ .](?:sync|save)|repo(?!rt)/i;

/** Whether a pod has its own account, which may let it write to a bucket. */
export function hasAccount({ pod }: PodSet): boolean {
  return ['serviceAccountName', 'serviceAccount'].some((key) => getIn(pod, key) !== undefined);
}

/** The names of variables for a service that may receive the results. */
export const connects = partOf(
  'token key secret password credential',
  'wandb mlflow comet clearml neptune',
  'bucket endpoint _ur[il]',
);

/** Words of a command, in lower case, that copies files, or that keeps the pod for someone who does. */
const keeps = either(
  /upload|push|hub_|export|wandb|mlflow/,
  /sleep\s+(?:inf|\d{3})|tail\s+-f/,
  /kubectl|rclone|rsync|s5cmd|gsutil|gcloud/,
  /\b(?:scp|ssh|aws|az|hf|curl|nc|mc|oci|dvc)\b(?!-)|:\/\/(?!github\.com)/,
);

/** Links, mounts and copies: a path may lead elsewhere. */
export function redirectsPaths(container: Container): boolean {
  const lines = [...container.command, ...container.args];
  if (lines.some(({ value }) => redirects.test(value))) return true;
  if (!lines.some(({ value }) => /\b(?:rsync|cp)\b/.test(value))) return false;
  // A copy that is made again and again during the run.
  return commandLineOf(container).statements.some(
    (one) =>
      (one.background || one.kind === 'loop') &&
      allCommands([one]).some((command) => /^(?:rsync|cp)$/.test(baseName(programWords(command)[0] ?? ''))),
  );
}

const redirects = partOf('\\bln\\s+-s \\bmount\\b \\brclone\\b \\bgsutil\\b \\bs5cmd\\b \\baws\\s+s3\\b');
