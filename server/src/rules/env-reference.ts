import { wordSet } from '../catalog/word-patterns.ts';
import { baseName } from '../command/shell.ts';
import { isShell } from '../command/wrappers.ts';
import { argumentForms, readsArguments } from '../evidence/argument-forms.ts';
import { hasUser } from '../evidence/launch.ts';
import { type UnsetVariables, unsetVariables } from '../evidence/operator-variables.ts';
import { isWholePod } from '../evidence/rejection.ts';
import { type ShellForm, shellForms } from '../evidence/shell-form.ts';
import { kindOf } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import type { Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanInScalar } from '../rewrite/word-span.ts';
import {
  asText,
  type Cursor,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  type Located,
  spanOf,
} from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * `$(NAME)` names a variable that is defined later or not at all, or `$NAME` has the form of a shell without one.
 *
 * ## Why
 *
 * The kubelet replaces `$(NAME)` in `value`, `command` and `args` with the value of the variable. In `value`, this works only for variables
 * that are defined before it in the list. Anything else stays as it is written: the program gets the text `$(NAME)` as an address, a path
 * or a number. `$NAME` and `${NAME}` mean something only to a shell: in the value of a variable, and in the arguments of another program, they
 * stay as they are written. `$PATH:/opt/bin` as the value of PATH loses the path that the image sets.
 * In a script, `$(NAME)` of a variable that only the script sets is a command of that name.
 * In the path inside a volume, only `subPathExpr` is replaced; if it names a variable that the container does not define, the container never starts.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: server
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:1.4
 *       env:
 *         - name: NCCL_SOCKET_ADDRESS
 *           value: $(POD_IP):29500
 *         - name: POD_IP
 *           valueFrom:
 *             fieldRef:
 *               fieldPath: status.podIP
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: server
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:1.4
 *       env:
 *         - name: POD_IP
 *           valueFrom:
 *             fieldRef:
 *               fieldPath: status.podIP
 *         - name: NCCL_SOCKET_ADDRESS
 *           value: $(POD_IP):29500
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For `$$(NAME)`, scripts of a shell, lowercase names, names of Services (`NAME_SERVICE_HOST`) and of variables that clouds and telemetry add
 * to pods. A variable that is not defined at all is reported only in Pods, Deployments, StatefulSets and Jobs without `envFrom`, because
 * operators define their own variables. In a PyTorchJob without a Master, the variables that its operator sets only next to one are also
 * reported, and in a TrainJob for the runtime torch-distributed, MASTER_ADDR and the like, because the trainer sets `PET_MASTER_ADDR` instead.
 * `$NAME` is reported in arguments only if a known program reads it and the container or its controller (LeaderWorkerSet, JobSet, PyTorchJob, Indexed Job) defines the variable; in the value of a variable
 * only if the container defines it and the value has no spaces, or is a list of arguments that the container's script reads or that quotes
 * protect from any shell, and not in `HF_HOME` and the like, which their library expands, or in tasks of SkyPilot. For lists other than PATH
 * that extend their own value.
 *
 * ## Sources
 *
 * - [Kubernetes: dependent environment variables](https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, context) {
    const { workload, podSet } = context;
    // A pod waits for its init containers, and ends with its sidecars.
    if (workload.role === 'infrastructure') return;
    const isUser = hasUser(podSet);
    const { env } = container;
    // A base whose patches add the devices names their libraries.
    const forms =
      isUser || env.some(({ value }) => /nvidia|cuda/.test(value?.value ?? '')) ? shellForms(container) : [];
    // SkyPilot and dstack have other rules for variables.
    for (const form of kindOf(workload).sameScript === true ? [] : forms) reportForm(form, env, context);
    if (!isUser) return;
    for (const { at } of container.volumeMounts) checkSubPath(at, container, context);
    const last = new Map(env.map(({ name }, index) => [name, index]));
    const isAll = hasAllVariables(container, context);
    const before = new Set<string>();
    for (const [index, { name, value }] of env.entries()) {
      const owner = shorten(name, 40);
      if (value !== undefined)
        reportIn(value, context, (used) => {
          if (before.has(used)) return undefined;
          if ((last.get(used) ?? -1) > index)
            return `is defined after ${owner}, which keeps the literal $(${used}): move it up`;
          return isAll ? `is not defined: ${owner} keeps the literal $(${used})` : undefined;
        });
      before.add(name);
    }
    const words = [...container.command, ...container.args];
    const unset = knowsVariables(container) ? unsetVariables(workload, context.crossReferences) : undefined;
    const isSet = (name: string) => last.has(name) || words.some(({ value }) => mayDefine(value, name));
    if (unset !== undefined) reportUnset(words, unset, isSet, context);
    // A shell reads $(NAME) as a command.
    if (isShell(baseName(words[0]?.value ?? ''))) {
      if (isAll) reportAsCommand(words, (name) => last.has(name), context);
      return;
    }
    if (words.length > 0 && isWholePod(podSet, workload)) {
      reportShellForm(container, words, context);
      reportCommands(container, words, context);
    }
    if (!isAll) return;
    for (const word of words)
      reportIn(word, context, (used) =>
        last.has(used) ? undefined : `is not defined: the program gets the literal $(${used})`,
      );
  },
});

/** Reports `$(NAME)` for a variable that only the shell has: Kubernetes leaves it, and the shell runs a command of that name. */
function reportAsCommand(
  words: readonly Located<string>[],
  isSet: (name: string) => boolean,
  context: PodSetContext,
): void {
  for (const word of words) {
    if (word.value.includes('<<') || word.value.includes(' -c ')) continue;
    const assigned = (name: string) => new RegExp(`(?:^|[\\s;&])${name}=`).test(word.value);
    // Behind a single quote or a #, it may be a part of a text or a comment.
    const isRead = (index: number) => !/'|(?:^|\s)#[^\n]*$/.test(word.value.slice(0, index));
    reportIn(word, context, (used, index) =>
      !isSet(used) && (ofShell.has(used) || assigned(used)) && isRead(index)
        ? `is a variable of the shell, which runs $(${used}) as a command and finds none: write $${used}`
        : undefined,
    );
  }
}

const ofShell = wordSet('HOSTNAME HOME PWD USER RANDOM');

/** Reports a variable in the path inside a volume that the container does not define, or that the kubelet does not replace. */
function checkSubPath(mount: Cursor, container: Container, context: PodSetContext): void {
  const { report, workload } = context;
  const [plain, expression] = [getIn(mount, 'subPath'), getIn(mount, 'subPathExpr')];
  const used = /\$\(([A-Z_][A-Z0-9_]*)\)/.exec(asText(expression ?? plain) ?? '')?.[1];
  if (used === undefined || isTemplated(expression ?? plain) || workload.partial) return;
  if (expression === undefined && plain !== undefined) {
    report({
      message: `subPath keeps the literal $(${shorten(used, 40)}), so all pods share one folder: only subPathExpr expands it`,
      span: spanOf(plain),
    });
    return;
  }
  if (expression === undefined || container.env.some(({ name }) => name === used)) return;
  if (comesFromElsewhere(used) || !hasAllVariables(container, context)) return;
  report({
    severity: 'error',
    message: `subPathExpr uses $(${shorten(used, 40)}), which the container does not define: the container never starts`,
    span: spanOf(expression),
  });
}

/** Whether a script may set a variable, or asks whether it is set. */
function mayDefine(script: string, name: string): boolean {
  const sets = `\\b${name}:?=|\\b(?:read|for|printf)\\b[^;|&\\n]{0,80}\\b${name}\\b|-[nzv] ["']?\\$?\\{?${name}\\b`;
  return new RegExp(sets).test(script) || /(?:^|[\s;&])(?:source|eval|\.) /.test(script);
}

/** Reports the form of a shell in the value of a variable. */
function reportForm(
  { means, name, value, written, start, isQuoted }: ShellForm,
  env: Container['env'],
  { document, report }: PodSetContext,
): void {
  if (isTemplated(value.at) && document.template && isQuoted !== true) return;
  const used = written.replace(/[${}]/g, '');
  const index = (one: string) => env.findIndex((other) => other.name === one);
  const isBefore = index(used) < index(name);
  const ways = {
    itself: 'only a shell expands it, and programs in /usr/bin are not found',
    other: `only a shell expands it${isBefore ? `; write $(${used})` : ''}`,
    command: 'Kubernetes runs no commands here',
  };
  const span = spanInScalar(document, value, { start, end: start + written.length });
  report({
    message: `${shorten(name, 40)} keeps the literal ${shorten(written, 40)}: ${ways[means]}`,
    span,
    fixes: () => {
      if (means !== 'other' || !isBefore) return [];
      const text = `${value.value.slice(0, start)}$(${used})${value.value.slice(start + written.length)}`;
      return [fix(`Change to $(${used})`, 'safe', replaceScalar(document, value.at, text))];
    },
  });
}

/** Reports `$NAME`, the form of shells, for a variable of the container, if a known program reads it. */
function reportShellForm(container: Container, words: readonly Located<string>[], context: PodSetContext): void {
  const { document, report, workload } = context;
  for (const { word, written, name, start, isWhole } of argumentForms(container, words, workload)) {
    const [before, after] = [word.value.slice(0, start), word.value.slice(start + written.length)];
    const part = { start, end: start + written.length };
    report({
      message: `Only a shell expands ${shorten(written, 50)}: the program gets this literal text`,
      span: isWhole ? spanOf(word.at) : spanInScalar(document, word, part),
      fixes: () => [
        fix(`Change to $(${name})`, 'safe', replaceScalar(document, word.at, `${before}$(${name})${after}`)),
      ],
    });
  }
}

/** Reports `$(date +%F)`, the output of a command in shells, among the arguments of a program. */
function reportCommands({ command, env }: Container, words: readonly Located<string>[], context: PodSetContext): void {
  const program = baseName(command[0]?.value ?? '').replace(/^(python)[\d.]+$/, '$1');
  // The entrypoint of an image may be a script that evaluates its arguments.
  if (program === '' || runsCommands.has(program)) return;
  // Code may hand it to a shell.
  if (words.some(({ value }) => value === '-c')) return;
  for (const word of words) {
    const [written] =
      /(?<!\$)\$\((?:date|hostname|nproc|whoami|pwd|uuidgen|nvidia-smi|cat) ?[^()]*\)/.exec(word.value) ?? [];
    // `%Y%m%d` looks like a placeholder.
    const isDate = written?.startsWith('$(date') === true;
    if (written === undefined || (!isDate && isTemplated(word.at)) || /\n/.test(word.value)) continue;
    if (env.some(({ name }) => written === `$(${name})`)) continue;
    // Other programs may hand their arguments to a shell, mostly as a whole command line.
    const isKnown = readsArguments.has(program);
    if (!isKnown && /\s|["'`]/.test(word.value.replace(written, ''))) continue;
    const start = word.value.indexOf(written);
    const span = spanInScalar(context.document, word, { start, end: start + written.length });
    const message = `Only a shell runs ${shorten(written, 50)}: the program gets this literal text`;
    context.report({ ...(!isKnown && { severity: 'info' }), message, span });
  }
}

/** Programs that run their arguments, possibly with a shell. */
const runsCommands = wordSet(
  'env xargs ssh su sudo chroot watch script parallel gosu nsenter unshare flock mpirun mpiexec srun docker podman kubectl',
);

/** Reports the first variable, in any form, that the job's operator does not set. */
function reportUnset(
  words: readonly Located<string>[],
  { names, reason }: UnsetVariables,
  isSet: (name: string) => boolean,
  { document, report }: PodSetContext,
): void {
  // torchrun sets them for what it starts, also for scripts.
  if (words.some(({ value }) => /--no[-_]python\b/.test(value))) return;
  for (const word of words) {
    if (isTemplated(word.at) || word.value.includes('<<')) continue;
    for (const found of word.value.matchAll(variable)) {
      const name = found[1] ?? found[2] ?? found[3] ?? '';
      if (!names.has(name) || isSet(name)) continue;
      const span = spanInScalar(document, word, { start: found.index, end: found.index + found[0].length });
      report({ message: `${name} is not set: ${reason}`, span });
      return;
    }
  }
}

/** A variable of Kubernetes or of a shell, without a default. */
const variable = /(?<![$\\])\$(?:\(([A-Z_]{4,11})\)|\{([A-Z_]{4,11})\}|([A-Z_]{4,11})(?!\w))/g;

/** Reports each reference for which there is a problem. */
function reportIn(
  text: Located<string>,
  { document, report }: PodSetContext,
  problemOf: (name: string, index: number) => string | undefined,
): void {
  if (isTemplated(text.at)) return;
  const { value } = text;
  for (const { 0: written, 1: name = '', index } of value.matchAll(/(?<!\$)(?:\$\$)*\$\(([A-Z_][A-Z0-9_]{0,60})\)/g)) {
    const problem = comesFromElsewhere(name) ? undefined : problemOf(name, index);
    if (problem === undefined) continue;
    const span = spanInScalar(document, text, { start: index, end: index + written.length });
    report({ message: `${name} ${problem}`, span });
  }
}

/** Names of Services, and what clouds and telemetry add to the pods of service accounts. */
function comesFromElsewhere(name: string): boolean {
  const isOfService = /_SERVICE_(?:HOST|PORT)|_PORT_\d+_/.test(name);
  return isOfService || addedPrefixes.has(name.replace(/_.*/, '')) || name === 'JOB_COMPLETION_INDEX';
}

/** The first words of variables that webhooks, clouds and Kubernetes add. */
const addedPrefixes = wordSet('KUBERNETES AWS AZURE GOOGLE OTEL ISTIO VAULT');

/** Whether the pod has only the variables that are written: no operator adds others, and none come from a ConfigMap. */
function hasAllVariables(container: Container, { podSet, workload }: PodSetContext): boolean {
  const isPlain = /^(?:|apps|batch)$/.test(groupOf(workload.apiVersion));
  return isPlain && isWholePod(podSet, workload) && knowsVariables(container);
}

/** Whether the container names all variables that do not come from an operator. */
function knowsVariables({ at, env }: Container): boolean {
  if (isIncomplete(at)) return false;
  const list = getIn(at, 'env');
  if (getIn(at, 'envFrom') !== undefined || (list !== undefined && (isTemplated(list) || isIncomplete(list))))
    return false;
  const isKnown = ({ name, at: one }: Container['env'][number]) =>
    name !== '' && !isTemplated(one) && !isUnseen(getIn(one, 'name'));
  return items(list).length === env.length && env.every(isKnown);
}
