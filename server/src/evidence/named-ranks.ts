import { meaningOf } from '../command/flag-meaning.ts';
import { readFlags } from '../command/flags.ts';
import { baseName, type Word } from '../command/shell.ts';
import { kindOf } from '../model/kinds/index.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, type Cursor, getIn, isIncomplete, isUnseen, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { fieldOf, isHostname, isRankName, rankReader, setsRanks, unindexedJob } from './pod-ranks.ts';

/** How serious a rank is that is not a number, by what reads it; a program may take the number at the end of a name. */
const severities = { launcher: 'error', program: 'warning', image: 'info' } as const;

interface NamedRank {
  readonly message: string;
  readonly severity: (typeof severities)[keyof typeof severities];
  readonly span: Span;
  /** A Job whose pods would have numbers in their names if it were Indexed. */
  readonly job?: Cursor;
}

function namedBy(text: string, what: string, reader: keyof typeof severities, span: Span): NamedRank {
  const start = `${shorten(text, 40)} is ${what}`;
  const message =
    reader === 'image'
      ? `${start}, not a number: PyTorch stops, unless the image's program takes a number from it`
      : `${start}: the launch stops, because its rank is not a number`;
  return { message, severity: severities[reader], span };
}

/** A rank that is the name or the address of the pod instead of a number, or a part of a name that has no number. */
export function namedRank(
  container: Container,
  document: YamlDocument,
  podSet: PodSet,
  workload: Workload,
): NamedRank | undefined {
  const host = hostAsRank(container, document) ?? randomRank(container, document, podSet, workload);
  if (host !== undefined) return host;
  for (const variable of container.env) {
    const path = fieldOf(variable);
    const key = asText(path) ?? '';
    const what = words.get(key) ?? missingLabel(key, workload);
    if (path === undefined || what === undefined) continue;
    const reader = rankReader(variable.name, container) ?? (isForImage(variable.name, container) ? 'image' : undefined);
    if (reader === undefined) continue;
    if (setsRanks(workload) && isRankName(variable.name)) continue;
    return namedBy(variable.name, what, reader, spanOf(path));
  }
  return undefined;
}

/** Whether the unknown program of an image gets a variable as its rank, next to the others by which PyTorch finds the first process. */
function isForImage(variable: string, { command, args, env }: Container): boolean {
  if (variable !== 'RANK' || command.length > 0 || args.length > 0) return false;
  return ['WORLD_SIZE', 'MASTER_ADDR'].every((other) => env.some(({ name }) => name === other));
}

/** An assignment to the variable, or another script that may have one. */
const setsHostname = /\bHOSTNAME=|\bread\b[^\n;|]*\bHOSTNAME\b|(?:^|[;&|\n])[ \t]*(?:source|\.)[ \t]/;

/** A launch whose rank is the pod's hostname: `--node_rank=$HOSTNAME`. */
function hostAsRank(container: Container, document: YamlDocument): NamedRank | undefined {
  if (mayNameHost(container)) return undefined;
  for (const { words: line } of commandsIn(container)) {
    const flag = readFlags(line).find(
      (one) => meaningOf(one, 'node-rank') !== undefined && isHostname.test(one.value ?? ''),
    );
    const last = flag?.valueWord ?? flag?.word;
    const span = flag && last && spanOfWords(document, container, [flag.word, last]);
    if (span === undefined) continue;
    return namedBy(`--${flag?.written ?? ''} ${flag?.value ?? ''}`, podName, 'launcher', span);
  }
  return undefined;
}

/** Whether a script may give HOSTNAME another value. */
function mayNameHost({ env, command, args }: Container): boolean {
  return (
    env.some(({ name }) => name === 'HOSTNAME') || [...command, ...args].some(({ value }) => setsHostname.test(value))
  );
}

/** A rank that a script takes from the end of the pod's name, although its pods have random letters there. */
function randomRank(
  container: Container,
  document: YamlDocument,
  { pod }: PodSet,
  workload: Workload,
): NamedRank | undefined {
  const job = unindexedJob(workload);
  const isRandom = job !== undefined || /^(?:Deployment|ReplicaSet|ReplicationController)$/.test(workload.kind);
  if (!isRandom || isIncomplete(pod) || getIn(pod, 'hostname') !== undefined || mayNameHost(container))
    return undefined;
  const script = [...container.command, ...container.args].map(({ value }) => value).join('\n');
  const names = container.env
    .filter((one) => /^\w+$/.test(one.name) && asText(fieldOf(one)) === 'metadata.name')
    .map(({ name }) => name);
  // On the network of its node, a pod has the name of the node.
  const hosts = asText(getIn(pod, 'hostNetwork')) === 'true' ? names : ['HOSTNAME', ...names];
  const isEnd = (value: string) => value.length < 300 && hosts.some((name) => isEndOf(name, value));
  const found = (text: string, words: readonly [Word, Word], severity: NamedRank['severity']) => {
    const span = spanOfWords(document, container, words);
    const advice = `only ${job === undefined ? 'StatefulSets' : 'Jobs with completionMode Indexed'} number their pods`;
    const message = `${text} is the end of the pod's name, which is random, so the job never starts: ${advice}`;
    return span && { message, severity, span, ...(job !== undefined && { job }) };
  };
  for (const { words: line, assignments } of commandsIn(container)) {
    const flag = readFlags(line).find((one) => meaningOf(one, 'node-rank') !== undefined && isEnd(one.value ?? ''));
    if (flag !== undefined) return found(`--${flag.written}`, [flag.word, flag.valueWord ?? flag.word], 'error');
    const exported = baseName(line[0]?.text ?? '') === 'export' ? line.slice(1) : [];
    for (const word of [...assignments, ...exported]) {
      const [, name, value] = /^([A-Z_]+)=(.*)$/s.exec(word.text) ?? [];
      if (name === undefined || value === undefined || !isRankName(name) || !isEnd(value)) continue;
      if (line.length === 0 && !isPassedOn(name, script)) continue;
      // A branch may set it in another way.
      if (script.split(new RegExp(`(?<![\\w$\{])${name}=`)).length === 2) return found(name, [word, word], 'warning');
    }
  }
  return undefined;
}

/** Whether a script gives a variable of its own to programs, as one of theirs or as a rank among their arguments. */
function isPassedOn(name: string, script: string): boolean {
  return [
    `\\b(?:export|declare\\s+-x|typeset\\s+-x)\\b[^;&|\\n]*(?<![\\w$\{])${name}\\b`,
    `\\bset\\s+-(?:a|o\\s+allexport)\\b`,
    `rank[=\\s]+["']?\\$\\{?${name}\\b`,
  ].some((pattern) => new RegExp(pattern, 'i').test(script));
}

/** Programs that only cut a text. */
const cutters = /^(?:echo|printf|hostname|cat|[ef]?grep|sed|[gm]?awk|cut|rev|tr|tail|head|expr)$/;

/** Whether a value is a part of a variable or of the hostname, cut out by the shell or by programs that do nothing else: `${HOSTNAME##*-}`. */
function isEndOf(name: string, value: string): boolean {
  const quoted = value.replace(/^"(.*)"$/s, '$1');
  const [, sum = quoted] = /^\$\(\((.*)\)\)$/s.exec(quoted) ?? [];
  const text = sum
    .trim()
    .replace(/^10#/, '')
    .replace(/\s*[-+]\s*\d+$/, '');
  if (new RegExp(`^\\$\\{${name}(?:#|%|/|:(?![-=?+]))[^{}]*\\}$`).test(text)) return true;
  // `|| echo 0` is for names without a number.
  if (!/^\$\(|^`/.test(text) || text.includes('||')) return false;
  const programs = [...text.matchAll(/(?:\$\((?!\()|`(?=\w)|\|)\s*([\w./-]+)/g)].map(([, program]) => program ?? '');
  const isFed = [
    `(?:echo|printf)\\b[^|)\`]*\\$\\{?${name}\\b`,
    `<<<\\s*"?\\$\\{?${name}\\b`,
    ...(name === 'HOSTNAME' ? ['(?:\\$\\(|`)\\s*hostname(?:\\s+-s)?\\s*\\|', '/etc/hostname'] : []),
  ].some((pattern) => new RegExp(pattern).test(text));
  return isFed && programs.length > 0 && programs.every((program) => cutters.test(program));
}

/** What a variable has from a label that the pods of a Job do not have. Controllers and webhooks set labels with a domain. */
function missingLabel(path: string, { manifest }: Workload): string | undefined {
  const key = /^metadata\.labels\['([\w.-]*rank)'\]$/i.exec(path)?.[1];
  const template = getIn(kindOf(manifest).job?.(manifest.root), 'template');
  if (key === undefined || template === undefined) return undefined;
  const [metadata, labels] = [getIn(template, 'metadata'), getIn(template, 'metadata', 'labels')];
  const given = getIn(labels, key);
  if ([template, metadata, labels, given].some((one) => one !== undefined && isUnseen(one))) return undefined;
  return given === undefined ? 'a label that no pod has' : undefined;
}

const podName = 'the name of the pod';
const words: ReadonlyMap<string, string> = new Map([
  ['metadata.name', podName],
  ["metadata.labels['statefulset.kubernetes.io/pod-name']", podName],
  ['metadata.namespace', 'the namespace of the pod'],
  ['metadata.uid', 'the UID of the pod'],
  ['spec.nodeName', 'the name of the node'],
  ['status.hostIP', 'the address of the node'],
  ['status.podIP', 'the address of the pod'],
]);
