import { wordSet } from '../catalog/word-patterns.ts';
import { baseName } from '../command/shell.ts';
import { isShell } from '../command/wrappers.ts';
import { hasUser } from '../evidence/launch.ts';
import { isWholePod } from '../evidence/rejection.ts';
import { type ShellPart, shellPart } from '../evidence/shell-value.ts';
import { kindOf } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import type { Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanInScalar } from '../rewrite/word-span.ts';
import { getIn, isIncomplete, isTemplated, isUnseen, items, type Located, spanOf } from '../yaml/cursor.ts';
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
 * or a number. `$NAME`, `${NAME}` and `$(hostname -i)` mean something only to a shell: in values, and in the arguments of another program, they
 * stay as they are written. `LD_LIBRARY_PATH: /opt/lib:$LD_LIBRARY_PATH` therefore replaces the value of the image.
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
 * For `$$(NAME)`, scripts of a shell, names in lower case, names of Services (`NAME_SERVICE_HOST`) and of variables that clouds and telemetry
 * add to pods. A variable that is not defined at all is reported only in Pods, Deployments, StatefulSets and Jobs without `envFrom`,
 * because operators define variables of their own. `$NAME` in an argument is reported only if a known program reads it and the container defines the
 * variable itself; in a value, only if it is the variable's own name in a list of paths, or that of another variable of a container whose
 * values no tool fills in. Values that may be code or arguments are never reported.
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
    if (workload.role === 'infrastructure' || !hasUser(podSet)) return;
    const { env } = container;
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
    if (!workload.partial && kindOf(workload).sameScript !== true)
      for (const variable of env) {
        const part = shellPart(variable, container, isAll);
        if (part !== undefined) reportShellPart(part, variable.name, context);
      }
    const words = [...container.command, ...container.args];
    // A shell reads $(NAME) as a command.
    if (isShell(baseName(words[0]?.value ?? ''))) return;
    if (container.command.length > 0 && isWholePod(podSet, workload)) reportShellForm(container, words, context);
    if (!isAll) return;
    for (const word of words)
      reportIn(word, context, (used) =>
        last.has(used) ? undefined : `is not defined: the program gets the literal $(${used})`,
      );
  },
});

/** Reports `$NAME`, the form of shells, for a variable of the container, if a known program reads it. */
function reportShellForm({ env }: Container, words: readonly Located<string>[], context: PodSetContext): void {
  const { document, report } = context;
  // Scripts and wrappers may expand their arguments.
  if (!/^(?:python[\d.]*|torchrun|accelerate|deepspeed|vllm)$/.test(baseName(words[0]?.value ?? ''))) return;
  for (const { value, at } of words) {
    const [, flag = '', plain, braced = plain] =
      /^(--?[\w-]+=)?\$(?:([A-Z_][A-Z0-9_]*)|\{([A-Z_][A-Z0-9_]*)\})$/.exec(value) ?? [];
    const owner = env.find(({ name }) => name === braced);
    // A tool that fills in variables fills in all of them.
    if (braced === undefined || owner === undefined || isTemplated(owner.value?.at)) continue;
    report({
      message: `Only a shell expands ${shorten(value.slice(flag.length), 50)}: the program gets this literal text`,
      span: spanOf(at),
      fixes: () => [fix(`Change to $(${braced})`, 'safe', replaceScalar(document, at, `${flag}$(${braced})`))],
    });
  }
}

/** Reports a part of a variable's value that Kubernetes does not expand, as only a shell would. */
function reportShellPart({ text, kind, name, value, kept }: ShellPart, owner: string, context: PodSetContext): void {
  const { document, report } = context;
  const start = value.value.indexOf(text);
  const [shown, variable] = [shorten(text, 40), shorten(owner, 40)];
  const span = spanInScalar(document, value, { start, end: start + text.length });
  if (kind === 'own') {
    const isLost = owner === 'PATH' && !kept.some((path) => /^\/(?:usr\/)?bin\/?$/.test(path));
    report({
      severity: isLost ? 'warning' : 'info',
      message: `Kubernetes does not expand ${shown}: this value replaces the ${variable} of the image${isLost ? ', and programs in /usr/bin are not found' : '; write the whole list'}`,
      span,
    });
  } else if (kind === 'command') {
    report({ message: `Kubernetes runs no command for a value: ${variable} is the literal text ${shown}`, span });
  } else {
    report({
      message: `Only a shell expands ${shown}: ${variable} keeps this literal text`,
      span,
      fixes: () => [
        fix(
          `Change to $(${name})`,
          'safe',
          replaceScalar(
            document,
            value.at,
            value.value.replace(text, () => `$(${name})`),
          ),
        ),
      ],
    });
  }
}

/** Reports each reference for which there is a problem. */
function reportIn(
  text: Located<string>,
  { document, report }: PodSetContext,
  problemOf: (name: string) => string | undefined,
): void {
  if (isTemplated(text.at)) return;
  const { value } = text;
  for (const { 0: written, 1: name = '', index } of value.matchAll(/(?<!\$)(?:\$\$)*\$\(([A-Z_][A-Z0-9_]{0,60})\)/g)) {
    const problem = comesFromElsewhere(name) ? undefined : problemOf(name);
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
function hasAllVariables({ at, env }: Container, { podSet, workload }: PodSetContext): boolean {
  if (!isWholePod(podSet, workload) || !/^(?:|apps|batch)$/.test(groupOf(workload.apiVersion)) || isIncomplete(at))
    return false;
  const list = getIn(at, 'env');
  if (getIn(at, 'envFrom') !== undefined || (list !== undefined && (isTemplated(list) || isIncomplete(list))))
    return false;
  const isKnown = ({ name, at: one }: Container['env'][number]) =>
    name !== '' && !isTemplated(one) && !isUnseen(getIn(one, 'name'));
  return items(list).length === env.length && env.every(isKnown);
}
