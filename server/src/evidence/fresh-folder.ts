import { type CheckpointSign, signOfFlag } from '../command/checkpoint.ts';
import { meaningOf } from '../command/flag-meaning.ts';
import { readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import type { Word } from '../command/shell.ts';
import { kindOf } from '../model/kinds/index.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn } from '../yaml/cursor.ts';
import { checkpointSigns } from './launch.ts';

/** A directory for progress that has another name at each start. */
export interface FreshFolder {
  /** As written: `/ckpt/run-$(date +%s)`. */
  readonly text: string;
  readonly words: readonly [Word, Word];
}

/**
 * The directory for progress that has the time or a random number in its name, or the name of a pod that its controller replaces; undefined if
 * training may resume from elsewhere.
 */
export function freshFolder(container: Container, podSet: PodSet, workload: Workload): FreshFolder | undefined {
  const lines = [...container.command, ...container.args];
  const ofPod = referenceToPod(container, podSet, workload);
  const isFresh = (text: string) => changes.test(text) || ofPod?.test(text) === true;
  if (!lines.some(({ value }) => isFresh(value)) || container.scripts.length > 0) return undefined;
  const signs = checkpointSigns(container);
  if (signs.some(resumes)) return undefined;
  const commands = commandsIn(container);
  const named = namesOf(container);
  const fill = (text: string) => text.replace(/\$\{?(\w+)\}?/g, (whole, name: string) => named.get(name) ?? whole);
  // Another place for progress stays, and this one may only be a name.
  if (signs.some(({ flag }) => flag?.value?.includes('/') && !isFresh(fill(flag.value)))) return undefined;
  for (const { words } of commands) {
    for (const flag of readFlags(words)) {
      const { valueWord, word, written, isVariable } = flag;
      if (valueWord === undefined || isVariable || !isOfProgress(wordsOf(written)) || signOfFlag(flag).length === 0)
        continue;
      const text = valueWord === word ? word.text.slice(word.text.indexOf('=') + 1) : valueWord.text;
      if (looksNextTo(fill(text), lines)) return undefined;
      if (ofPod?.test(fill(text)) === true) return { text, words: [word, valueWord] };
      // Without a shell, `$(date)` is the name itself.
      if (lines[valueWord.item]?.value === valueWord.text) continue;
      if (changes.test(fill(text))) return { text, words: [word, valueWord] };
    }
  }
  return undefined;
}

/** Whether a script finds or copies what an earlier start has saved next to a directory: `cp -r /ckpt/last /ckpt/$HOSTNAME`. */
function looksNextTo(folder: string, lines: Container['command']): boolean {
  const [, parent] = /^((?:\/[\w.-]+)+)\/[^/]*[$`]/.exec(folder) ?? [];
  if (parent === undefined) return false;
  return lines.some(({ value }) =>
    value
      .replaceAll(folder, '')
      .split(/[\n;&|]/)
      .some((part) => part.includes(parent) && /(?:^|[\s(`"'])(?:ls|find|cp|ln|mv|rsync)\s/.test(part)),
  );
}

/** The part of a volume, by the name of the pod, in which a path for progress is: another pod has another one. */
export function freshPart(container: Container, podSet: PodSet, workload: Workload): Cursor | undefined {
  const ofPod = referenceToPod(container, podSet, workload);
  const signs = ofPod === undefined ? [] : checkpointSigns(container);
  if (signs.some(resumes)) return undefined;
  const folders = new Set(signs.flatMap(({ kind, text }) => (kind === 'path' ? foldersOf(text) : [])));
  const { volumeMounts } = container;
  // The program may look for the parts of other pods in a second mount.
  const whole = new Set(volumeMounts.filter(({ at }) => isWhole(at)).map(({ name }) => name));
  return volumeMounts.flatMap(({ at, name, mountPath }) => {
    const part = getIn(at, 'subPathExpr');
    if (
      part === undefined ||
      whole.has(name) ||
      !folders.has(mountPath.replace(/(?<=.)\/$/, '')) ||
      ofPod?.test(asText(part) ?? '') !== true
    )
      return [];
    return [part];
  })[0];
}

/** A path and the directories above it. */
function foldersOf(path: string): readonly string[] {
  const names = path.replace(/\/$/, '').split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

function isWhole(mount: Cursor): boolean {
  return getIn(mount, 'subPath') === undefined && getIn(mount, 'subPathExpr') === undefined;
}

/** What stands for the name of a pod of a Job, if each restart has another pod. */
function referenceToPod(
  { env }: Container,
  podSet: PodSet,
  { kind, apiVersion, manifest }: Workload,
): RegExp | undefined {
  if (!/^(?:Job|CronJob|JobSet)$/.test(kind) || !/^(?:batch|jobset\.x-k8s\.io)\//.test(apiVersion)) return undefined;
  if (podSet.restartPolicy?.value !== 'Never') return undefined;
  const named = env
    .filter(({ at }) => /^metadata\.(?:name|uid)$/.test(asText(getIn(at, 'valueFrom', 'fieldRef', 'fieldPath')) ?? ''))
    .map(({ name }) => name)
    .filter((name) => /^\w+$/.test(name));
  // The hostnames of an Indexed Job have no random part.
  const job = kindOf(manifest).job?.(manifest.root);
  if (kind === 'Job' && asText(getIn(job, 'completionMode')) !== 'Indexed') named.push('HOSTNAME');
  if (named.length === 0) return undefined;
  const one = `(?:${named.join('|')})`;
  return new RegExp(`\\$(?:\\(${one}\\)|\\{${one}\\}|${one}(?!\\w))`);
}

/** The variables that a script certainly sets, and sets once. One in a branch, or with a default, may come from an earlier start. */
function namesOf({ command, args, env }: Container): ReadonlyMap<string, string> {
  const text = [...command, ...args].map(({ value }) => value).join('\n');
  const named = new Map<string, string>();
  if (/\b(?:if|case|source)\b|\|\||&&[ \t]*\w+=|\$\{\w+:?[-=]/.test(text)) return named;
  const again = new Set(env.map(({ name }) => name));
  for (const [, name = '', value = ''] of text.matchAll(/(?:^|[;&\n]|\bexport)[ \t]*([A-Za-z_]\w*)=([^\n;]*)/g)) {
    if (named.has(name)) again.add(name);
    named.set(name, value);
  }
  for (const name of again) named.delete(name);
  return named;
}

/** The output of a command, or a variable, that differs from start to start. A date without the time does not. */
const changes = new RegExp(
  [
    `(?:\\$\\(|\`)\\s*(?:uuidgen|mktemp|openssl rand)\\b`,
    `(?:\\$\\(|\`)\\s*date\\s*(?:-u\\s*)?(?:[)\`]|-Is|-Ins|[^)\`]{0,60}%[MSsTNcX])`,
    `\\$\\{?(?:RANDOM|EPOCHSECONDS|SRANDOM)\\b`,
  ].join('|'),
);

/** A place to resume from, or the file of settings, which may name one. */
function resumes({ kind, flag }: CheckpointSign): boolean {
  if (kind === 'resume') return true;
  return flag !== undefined && (meaningOf(flag, 'settings-file') !== undefined || wordsOf(flag.written).some(isLoad));
}

function isLoad(word: string): boolean {
  return /^(?:resume|restore|load|init|from|pretrained|latest)$/.test(word);
}

/** Flags for logs may be new each time. */
function isOfProgress(words: readonly string[]): boolean {
  return (
    words.some((word) => progress.test(word)) &&
    !words.some((word) => /^(?:log|logs|logging|result|results|eval)$/.test(word))
  );
}

const progress = /^(?:output|out|save|checkpoints?|ckpts?|work|exp|run|workdir|outdir)$/;
