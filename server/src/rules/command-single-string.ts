import { startsShell } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { isDash, notHyphen } from '../command/mistyped.ts';
import { findFilesAsModules } from '../command/module-files.ts';
import { baseName } from '../command/shell.ts';
import { isShell } from '../command/wrappers.ts';
import { mayBeCompleted } from '../evidence/chart-pods.ts';
import { usesGpus } from '../evidence/gpu-users.ts';
import { processInput, serverOfImage } from '../evidence/launch.ts';
import { isPodSpec } from '../evidence/rejection.ts';
import { lackingStart } from '../evidence/repeated-entrypoint.ts';
import { homePath, joinedScript } from '../evidence/script-arguments.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { isValues } from '../model/values.ts';
import type { Container, Workload } from '../model/workload.ts';
import { type Edits, type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { rewriteWord } from '../rewrite/words.ts';
import {
  asString,
  type Cursor,
  getIn,
  isIncomplete,
  isTemplated,
  keyOf,
  type Located,
  spanOf,
} from '../yaml/cursor.ts';
import { appendItem, renameKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A whole command line is one item of `command`, a flag and its value are one item of `args`, or `command` has words that only a shell understands.
 *
 * ## Why
 *
 * Each item of `command` is one word of the command line, and no shell splits it. With `["python train.py"]` the runtime looks for a file
 * of exactly that name, including the space, and the container never starts. With `["python", "train.py --epochs 3"]`, Python does. Write each word as its own item, or call a shell.
 * In the same way, `["--port 8000"]` is one word, which no program knows as a flag; the severity is warning if the program is unknown. `command` replaces the entrypoint of the image, so its first
 * item is the program: flags for the entrypoint belong in `args`, and `while`, `source`, `&&` or `~` work only in a script for a shell.
 * Images such as `pytorch/pytorch` and `vllm/vllm-tpu` start no program of their own: the first item of `args` is the program.
 * Behind `-m`, Python and torchrun read the name of a module: `python -m train.py` does not start.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       command:
 *         - python train.py --epochs 3
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       command:
 *         - python
 *         - train.py
 *         - "--epochs"
 *         - "3"
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Safe for joined words. Unsafe for a command that starts with a flag: the entrypoint of the image may not be the program that the flags are for.
 *
 * ## When it is silent
 *
 * If the item may be a file name (it does not start with a known program). For arguments that a shell or a script may split. For templates, chart values (except those of app-template), unknown
 * kinds, and objects without accelerators.
 *
 * ## Sources
 *
 * - [Kubernetes: define a command and arguments](https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  container(container, context) {
    const { command } = container;
    const { workload } = context;
    const [first] = command;
    const list = first?.at.parent;
    reportFiles(container, context);
    const dash = [...command, ...container.args].find(({ value, at }) => isDash(value) && !isTemplated(at));
    if (dash !== undefined && usesGpus(workload))
      context.report({ message: notHyphen(dash.value), span: spanOf(dash.at) });
    if (first === undefined && reportNoProgram(container, context)) return;
    if (first === undefined) reportFlags(container, context);
    if (first === undefined || list?.node.kind !== 'seq' || isTemplated(first.at) || isIncomplete(list)) return;
    // Charts and unknown kinds may join the items or pass them to a shell.
    if (!usesGpus(workload) || mayJoin(context) || (isValues(workload) && mayBeCompleted(workload))) return;
    if (usesShell(workload)) return;
    if (/^--?[A-Za-z]/.test(first.value)) {
      context.report({
        message: `"${shorten(first.value, 40)}" is the first item of command, which replaces the image's entrypoint: no program has that name, and the container never starts`,
        span: spanOf(first.at),
        fixes: () => [fix('Rename command to args', 'unsafe', renameKey(context.document, list, 'args'))],
      });
      return;
    }
    if (isOwnSubcommand(container)) {
      context.report({
        message: `"${first.value}" is an argument of ollama, but command replaces the image's entrypoint: the container never starts; write it in args`,
        span: spanOf(first.at),
        fixes: () =>
          container.args.length === 0
            ? [fix('Rename command to args', 'unsafe', renameKey(context.document, list, 'args'))]
            : [],
      });
      return;
    }
    const words = [...command, ...container.args];
    const operator = words.find(
      ({ value }, index) => operators.has(value) && !words[index - 1]?.value.startsWith('-') && !isScript(first.value),
    );
    // A wrapper may start a shell.
    if (operator !== undefined && isPlainName(first.value) && !words.some(({ value }) => isShell(baseName(value)))) {
      context.report({
        message: `"${operator.value}" is an argument of ${shorten(first.value, 30)} without a shell: ${operator.value.includes('>') ? 'the redirection is ignored' : 'what follows never runs'}; use ["sh", "-c", "…"]`,
        span: spanOf(operator.at),
      });
      return;
    }
    if (shellWords.has(first.value)) {
      context.report({
        message: `"${first.value}" is a word of the shell, not a program: the container never starts; use ["sh", "-c", "…"]`,
        span: spanOf(first.at),
      });
      return;
    }
    const home = homePath(words);
    if (home !== undefined) {
      context.report({
        message: `Only a shell expands ~: ${baseName(first.value)} finds no file "${shorten(home.value, 40)}"; write the absolute path`,
        span: spanOf(home.at),
      });
      return;
    }
    const parts = first.value.trim().split(/\s+/);
    const program = parts[0] ?? '';
    const script = joinedScript(words);
    if (script !== undefined) {
      context.report({
        message: `"${shorten(script.value, 50)}" is one argument: ${baseName(first.value)} finds no file of that name and exits`,
        span: spanOf(script.at),
        fixes: () =>
          words.at(-1) === script ? [split(context.document, script.at, script.value.trim().split(/\s+/))] : [],
      });
      return;
    }
    if (parts.length === 1 && isProgram(program)) reportFlags(container, context);
    if (parts.length < 2 || !isProgram(program)) return;
    context.report({
      message: `"${shorten(first.value.trim(), 50)}" is one item of command: no program has that name, and the container never starts`,
      span: spanOf(first.at),
      fixes: () => [command.length === 1 ? split(context.document, first.at, parts) : undefined],
    });
  },
});

/** Whether an operator of an unknown kind may join the words or pass them to a shell, because its pods are no pod specs. */
function mayJoin({ workload, podSet }: Pick<PodSetContext, 'workload' | 'podSet'>): boolean {
  return workload.byShape && !isPodSpec(podSet, workload);
}

/** Files behind `-m`, in scripts as well. */
function reportFiles(container: Container, { workload, podSet, document, report }: PodSetContext): void {
  const lines = [...container.command, ...container.args];
  if (!requestsAccelerators(podSet) || lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent))) return;
  if (mayJoin({ workload, podSet })) return;
  for (const { program, word, module } of findFilesAsModules(processInput(container))) {
    const span = spanOfWords(document, lines, [word, word]);
    if (span === undefined) continue;
    report({
      message: `${program} -m takes the name of a module, but ${shorten(word.text, 40)} is a file: the program does not start`,
      span,
      fixes: () => [fix(`Use the module ${shorten(module, 40)}`, 'unsafe', rewriteWord(document, lines, word, module))],
    });
  }
}

/** Reports arguments for a program that the image does not start: it has no entrypoint, or one that runs its arguments. */
function reportNoProgram(
  { args, image, at }: Container,
  { workload, podSet, document, report }: PodSetContext,
): boolean {
  const [first] = args;
  if (first === undefined || image === undefined || !requestsAccelerators(podSet)) return false;
  if (isTemplated(first.at) || isTemplated(image.at) || isIncomplete(at) || workload.byShape || workload.partial)
    return false;
  // A copy in another registry may have a program of its own.
  const isCopy = image.value.split('/').length > 2 && !/^(?:docker\.io|nvcr\.io|mirror\.gcr\.io)\//.test(image.value);
  const isOpen = isCopy || /(?:^|\/)bash(?:$|[:@])/.test(image.value) || usesShell(workload);
  // server-flag reports the images of servers and frameworks.
  if (
    isOpen ||
    lackingStart(
      image.value,
      args.map(({ value }) => value),
    ) !== undefined
  )
    return false;
  if (!(startsShell(image.value) || /(?:^|\/)vllm\/vllm-tpu(?=$|[:@])/.test(image.value))) return false;
  const parts = first.value.trim().split(/\s+/);
  const isLine = parts.length > 1 && isProgram(parts[0] ?? '');
  if (!isLine && !/^--?[a-zA-Z][\w-]*(?:$|=| )|^[\w-]+\.py$/.test(first.value)) return false;
  const name = shorten(image.value, isLine ? 40 : 50);
  report({
    message: isLine
      ? `"${shorten(first.value, 40)}" is one item of args: ${name} looks for a program of that name, and the container never starts`
      : `${name} starts no program of its own, so it runs "${shorten(first.value, 30)}" as one: the container never starts; set command`,
    span: spanOf(first.at),
    fixes: () => [isLine && args.length === 1 ? split(document, first.at, parts) : undefined],
  });
  return true;
}

/** KubeRay runs `command` and `args` as one line of bash before `ray start`, unless an annotation of the object keeps them. */
function usesShell({ apiVersion, manifest }: Workload): boolean {
  const kept = getIn(manifest.root, 'metadata', 'annotations', 'ray.io/overwrite-container-cmd');
  return groupOf(apiVersion) === 'ray.io' && asString(kept) !== 'true';
}

/** Whether the command is one of Ollama's, in its own image, which has no such programs. */
function isOwnSubcommand({ command, image }: Container): boolean {
  const isOwn = /^(?:docker\.io\/)?ollama\/ollama(?=[:@]|$)/.test(image?.value ?? '') && !isTemplated(image?.at);
  return isOwn && /^(?:serve|pull|run|create)$/.test(command[0]?.value ?? '');
}

/** They exist only in a shell. */
const shellWords = wordSet('while until for if case exec export source set eval');

/** What only a shell understands, and no program takes as an argument. */
const operators: ReadonlySet<string> = new Set(['&&', '||', '2>&1', '>>']);

/** A program or a path, without expansions. */
function isPlainName(text: string): boolean {
  return /^[\w./-]+$/.test(text);
}

/** Flags that share an item with their values, where a known program reads them. Shells split the items of scripts, and wrappers may. */
function reportFlags(container: Container, context: PodSetContext): void {
  const { command, args } = container;
  const { workload, document } = context;
  if (!usesGpus(workload) || mayJoin(context) || workload.role === 'definition') return;
  if (usesShell(workload) || (isValues(workload) && mayBeCompleted(workload))) return;
  const list = container.at.parent;
  if (list === undefined || keyOf(list) !== 'containers') return;
  const lines = [...command, ...args];
  const isKnown =
    command.length === 0 ? readsWords.has(serverOfImage(container) ?? '') : !isShell(baseName(command[0]?.value ?? ''));
  const isRead =
    isKnown || (command.length === 0 && lines.every(({ at }) => !isTemplated(at)) && listsFlags(container));
  const joined = lines.filter(
    ({ value, at }) => (isKnown ? flagAndValue : longFlagAndValue).test(value) && !isTemplated(at),
  );
  const [first] = joined;
  if (!isRead || first === undefined || lines.some(({ value }) => mayBeSplit.test(value))) return;
  const more = joined.length > 1 ? ` (and ${joined.length - 1} more)` : '';
  context.report({
    severity: isKnown ? 'error' : 'warning',
    message: `"${shorten(first.value, 40)}"${more} is one argument: ${isKnown ? 'the program does not know this flag and does not start' : 'unless the image splits it, its program does not know this flag'}`,
    span: spanOf(first.at),
    fixes: () =>
      // llama.cpp does not read the form with =.
      serverOfImage(container) === 'llama-server'
        ? []
        : [fix('Join flags and values with =', 'safe', ...joined.map((one) => withEquals(document, one)))],
  });
}

const flagAndValue = /^--?[A-Za-z][\w.-]* +[^\s=]+$/;
const longFlagAndValue = /^--[A-Za-z][\w.-]* +[^\s="'`$]+$/;
/** Scripts, and what makes one of its arguments. */
const mayBeSplit = /[\n|;]|&&|\$[@*]|\.sh$/;

/** Whether the arguments of an unknown program are a list of words, one of them a flag of its own, and none a shell. */
function listsFlags({ image, args, accelerators }: Container): boolean {
  if (image === undefined || accelerators.length === 0 || isShell(baseName(args[0]?.value ?? ''))) return false;
  return args.some(({ value }) => /^--[A-Za-z][\w.-]*(?:=\S*)?$/.test(value));
}

/** Servers whose images pass their arguments on as they are. */
const readsWords: ReadonlySet<string> = new Set([
  'vllm',
  'sglang',
  'text-generation-launcher',
  'text-embeddings-router',
  'llama-server',
]);

function withEquals(document: YamlDocument, { value, at }: Located<string>): Edits {
  const [, flag, rest] = /^(\S+) +(\S+)$/.exec(value) ?? [];
  return flag?.startsWith('--') === true && rest !== undefined
    ? replaceScalar(document, at, `${flag}=${rest}`)
    : undefined;
}

/** Common entry programs. Anything else may be a path with spaces. */
function isProgram(word: string): boolean {
  const name = word.replace(/^(?:\/usr)?(?:\/local)?\/bin\//, '');
  return programs.has(name) || /^python[\d.]*$/.test(name);
}

const programs = wordSet(
  'bash sh sleep tail node java nvidia-smi',
  'torchrun accelerate deepspeed mpirun ray jupyter',
  'vllm sglang ollama tritonserver text-generation-launcher trtllm-serve uvicorn gunicorn',
);

/** Undefined for lines with quotes, expansions or operators, which need a shell. */
function split(document: YamlDocument, item: Cursor, words: readonly string[]): Fix | undefined {
  const [first = '', ...others] = words;
  // A dash may be that of the next item, whose line was joined to this one.
  if (words.some((word) => word === '-' || /["'`$&|;<>(){}*?~#\\]/.test(word))) return undefined;
  return fix(
    'Split into one item per word',
    'safe',
    replaceScalar(document, item, first),
    ...others.map((word) => appendItem(document, item.parent, word)),
  );
}

/** Whether a program may hand its arguments to a shell. */
function isScript(program: string): boolean {
  return /\.sh$|entry/.test(program);
}
