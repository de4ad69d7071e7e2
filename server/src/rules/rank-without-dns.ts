import { readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { allCommands, readCommandLine, type Word } from '../command/shell.ts';
import { processInput } from '../evidence/launch.ts';
import type { Container, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, getIn, isIncomplete, spanOf } from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The pods of a Job address each other by a DNS name that does not exist.
 *
 * ## Why
 *
 * A pod of an Indexed Job has the hostname `<job>-<index>`, but the cluster's DNS has a record of it only if the pod template has a
 * `subdomain` and a headless Service of that name exists. Without them all ranks wait for the first until they time out, with all their
 * accelerators.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   completions: 2
 *   parallelism: 2
 *   completionMode: Indexed
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: [torchrun, --nnodes=2, --master-addr=train-0.workers, train.py]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   completions: 2
 *   parallelism: 2
 *   completionMode: Indexed
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: [torchrun, --nnodes=2, --master-addr=train-0.workers, train.py]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 *       subdomain: workers
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a headless Service of that name must also exist.
 *
 * ## When it is silent
 *
 * For kinds whose controller creates the Service (JobSet, PyTorchJob, MPIJob, LeaderWorkerSet), with `hostNetwork`, and for names that
 * contain a template or a variable without a known value.
 *
 * ## Sources
 *
 * - [Kubernetes: Job with Pod-to-Pod Communication](https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/)
 */
export default defineRule({
  topic: 'training',
  severity: 'warning',
  container(container, context) {
    const { workload, podSet, document } = context;
    if (workload.kind !== 'Job' || workload.apiVersion !== 'batch/v1' || workload.partial) return;
    if (
      container.accelerators.length === 0 ||
      isIncomplete(podSet.pod) ||
      asText(getIn(podSet.pod, 'hostNetwork')) === 'true'
    )
      return;
    const found = addressOf(container, workload, context);
    if (found === undefined) return;
    const { host, label, span } = found;
    const written = getIn(podSet.pod, 'subdomain');
    const subdomain = asText(written);
    if (
      written !== undefined &&
      (subdomain === undefined || label === undefined || subdomain === label || /[{$]/.test(subdomain))
    )
      return;
    context.report({
      message:
        subdomain === undefined
          ? `${shorten(host, 60)} has no DNS record without a subdomain and a headless Service: the ranks never find each other`
          : `${shorten(host, 60)} has no DNS record: the subdomain of its pod is ${shorten(subdomain)}`,
      span,
      fixes: () => [
        label === undefined || subdomain !== undefined
          ? undefined
          : fix(`Set subdomain to ${label}`, 'unsafe', insertKey(document, podSet.pod, 'subdomain', label)),
      ],
    });
  },
});

interface Address {
  readonly host: string;
  /** The second label of the name: the subdomain. */
  readonly label: string | undefined;
  readonly span: Span;
}

/** The first address of one of the Job's own pods, in a flag or variable that names a host. */
function addressOf(container: Container, { name }: Workload, { document }: PodSetContext): Address | undefined {
  if (name === null || name.length > 63) return undefined;
  for (const { name: variable, value } of container.env) {
    const host = isHostName(variable) ? hostIn(value?.value, name) : undefined;
    if (host !== undefined && value !== undefined) return { ...host, span: spanOf(value.at) };
  }
  const { command, args, env } = processInput(container);
  const lines = [...container.command, ...container.args];
  for (const { words, assignments } of allCommands(readCommandLine(command, args, env).statements)) {
    const named = readFlags(words).filter(({ written }) => isHostName(written));
    const values: readonly (readonly [string | undefined, Word])[] = [
      ...assignments
        .filter(({ text }) => isHostName(text.split('=', 1)[0] ?? ''))
        .map((word) => [word.text, word] as const),
      ...named.flatMap(({ value, valueWord }) => (valueWord ? [[value, valueWord] as const] : [])),
    ];
    for (const [value, word] of values) {
      const host = hostIn(value, name);
      const span = host && spanOfWords(document, lines, [word, word]);
      if (host !== undefined && span !== undefined) return { ...host, span };
    }
  }
  return undefined;
}

const hostWords: ReadonlySet<string> = new Set([
  ...[
    'addr',
    'address',
    'host',
    'hosts',
    'master',
    'coordinator',
    'endpoint',
    'rdzv',
    'server',
    'servers',
    'leader',
    'ip',
  ],
]);

function isHostName(name: string): boolean {
  return wordsOf(name).some((word) => hostWords.has(word));
}

/** A pod's hostname in a value such as `train-0.workers.default.svc:29500`. */
function hostIn(value: string | undefined, job: string): Omit<Address, 'span'> | undefined {
  if (value === undefined || value.length > 1000) return undefined;
  for (let at = value.indexOf(`${job}-`); at !== -1; at = value.indexOf(`${job}-`, at + 1)) {
    const before = value.slice(Math.max(0, at - 2), at);
    const [host, label] =
      /^-\d+(?:\.([a-z0-9-]+)(?:\.[a-z0-9.-]+)?)?(?=[:/,\s"']|$)/.exec(value.slice(at + job.length)) ?? [];
    if (host !== undefined && /^$|[=,\s"']$|\/\/$/.test(before)) return { host: `${job}${host}`, label };
  }
  return undefined;
}
