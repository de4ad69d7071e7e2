import { installsPython3 } from '../catalog/image-programs.ts';
import { hasDash, lacksPackageLists, ownsPython, takesNewestPackages } from '../catalog/image-shells.ts';
import { type FailingCommand, failingCommands, unlistedInstall } from '../command/failing-commands.ts';
import { goneFromClient } from '../command/hub-client.ts';
import { mistyped } from '../command/mistyped.ts';
import { emptyInstalls, managedInstall, missingPython } from '../command/pip-installs.ts';
import { pythonProblem } from '../command/python-syntax.ts';
import { baseName } from '../command/shell.ts';
import { isShell } from '../command/wrappers.ts';
import { wrongSubcommand } from '../command/wrong-subcommand.ts';
import { certainFailures, mayFailCertainly } from '../evidence/certain-failures.ts';
import { dashProblem, wordsOfFailure } from '../evidence/failing-words.ts';
import { readOnlyWrite } from '../evidence/read-only-writes.ts';
import { repeatedClone } from '../evidence/repeated-clone.ts';
import { runsAsWritten } from '../evidence/sole-server.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { commandLineOf, commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { rewriteWord } from '../rewrite/words.ts';
import { asBoolean, type Cursor, getIn, isIncomplete, isTemplated, isUnseen, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A command of a script fails wherever it runs: it asks a question, its shell or its program does not know it, or an earlier run has already done its work.
 *
 * ## Why
 *
 * A container has no terminal, so `apt-get install` without `-y` and `huggingface-cli login` without a token stop at their question. `conda activate` is a function that only
 * interactive shells load. The images of CUDA, PyTorch and Python contain no package lists, so nothing can be installed before `apt-get update`. In images of Debian and
 * Ubuntu, `sh` is dash, which does not know `source`, `[[` or `pipefail`, runs a command with `&>` in the background, and stops with a syntax error at arrays and `<<<`. `git
 * clone` fails if the folder exists, as it does on a volume after the first run. vLLM has no `server` command, and the newest `huggingface_hub` has replaced `huggingface-cli`
 * with `hf`. From Ubuntu 23.04 and Debian 12, pip does not change the system's Python. Volumes of ConfigMaps and Secrets are read-only, even for `chmod`. `apt-get` needs
 * root, and Jupyter exits if it runs as root without `--allow-root`. `mount` and driver settings need a privileged container, and no container runs systemd. pip finds no
 * `sklearn`, and `torch==2.4.1+cu124` only in PyTorch's own index. `git clone` over SSH and `kaggle` need a key, which public images do not have. Where only `python3` is
 * installed, `python` is not found, and `[-f` and `X = 1` are not valid commands. The program after such a command never starts, or starts without its environment.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   restartPolicy: Never
 *   containers:
 *     - name: main
 *       image: nvidia/cuda:12.8.1-runtime-ubuntu24.04
 *       command: [bash, -c, "apt-get update && apt-get install python3-pip && python3 /data/train.py"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   restartPolicy: Never
 *   containers:
 *     - name: main
 *       image: nvidia/cuda:12.8.1-runtime-ubuntu24.04
 *       command: [bash, -c, "apt-get update && apt-get install -y python3-pip && python3 /data/train.py"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the script goes on for the first time.
 *
 * ## When it is silent
 *
 * For Python code that a shell or a file passes on. For containers with `stdin`, commands with an alternative after `||` or an answer on their input, shells that read a profile, scripts in files, images whose
 * shell is unknown, shells in other shells, clones under a condition, and pods without accelerators.
 *
 * ## Sources
 *
 * - [apt-get](https://manpages.debian.org/stable/apt/apt-get.8.en.html)
 * - [conda activate](https://docs.conda.io/projects/conda/en/stable/dev-guide/deep-dives/activation.html)
 * - [Debian: the default shell](https://wiki.debian.org/Shell)
 * - [git clone](https://git-scm.com/docs/git-clone)
 * - [PyTorch: installation](https://pytorch.org/get-started/locally/)
 * - [PyPI: sklearn](https://pypi.org/project/sklearn/)
 * - [PEP 668: externally managed environments](https://peps.python.org/pep-0668/)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, context) {
    const { podSet, workload, document, report } = context;
    const lines = [...container.command, ...container.args];
    checkPython(lines, context);
    checkSubcommands(container, context);
    checkClient(container, context);
    checkCertain(container, context);
    checkShell(lines, container.at, context);
    if (!lines.some(({ value }) => hints.test(value)) || workload.role === 'infrastructure') return;
    if (!requestsAccelerators(podSet) || lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent))) return;
    if (asBoolean(getIn(container.at, 'stdin')) === true || isUnseen(container.at)) return;
    const { statements, script, complete } = commandLineOf(container);
    if (!script || !complete) return;
    const text = [...lines.map(({ value }) => value), ...container.env.map(({ name }) => name)].join('\n');
    const shell = shellOf(container);
    const stops = shell !== undefined && (/^-[a-z]*e/.test(shell.option) || /(?:^|[\s;])set -[a-z]*e/.test(text));
    const isDash = shell?.name === 'sh' && container.image !== undefined && hasDash(container.image.value);
    const isBare = container.image !== undefined && lacksPackageLists(container.image.value);
    const install =
      isBare && container.volumeMounts.every(({ mountPath }) => !/^\/(?:var|$)/.test(mountPath))
        ? unlistedInstall(statements, text)
        : undefined;
    const failing = failingCommands(statements, text, isDash, mayHaveToken(container, text));
    for (const found of [...failing, ...(install === undefined ? [] : [install])]) {
      if (found.reason === 'hook' && (shell === undefined || mayLoadHook(shell.option, container))) continue;
      const { words } = found.command;
      const [first] = words;
      const last = found.reason === 'shell' && found.word === first ? first : found.word;
      const span = first && spanOfWords(document, lines, [first, last]);
      if (span === undefined) continue;
      report({ message: wordsOfFailure(found), span, fixes: () => [fixOf(found, lines, context)] });
    }
    const other = isDash && !failing.some(({ reason }) => reason === 'shell') ? dashProblem(lines, text) : undefined;
    const unknown = other && spanOfWords(document, lines, [other.word, other.word]);
    if (other !== undefined && unknown !== undefined) report({ message: other.message, span: unknown });
    checkInstalls(container, statements, text, context);
    const typo = mistyped(statements);
    const at = typo && spanOfWords(document, lines, [typo.word, typo.word]);
    if (typo !== undefined && at !== undefined) report({ message: typo.problem, span: at });
    const write = readOnlyWrite(statements, stops, container, podSet);
    const place = write && spanOfWords(document, lines, [write.word, write.word]);
    if (write !== undefined && place !== undefined) {
      const volume =
        write.source === 'readOnly' ? 'mounted read-only' : `in a ${write.source} volume, which is read-only`;
      const remedy = write.program === 'chmod' && write.source !== 'readOnly' ? '; set defaultMode instead' : '';
      report({
        message: `${write.program} fails, because ${shorten(write.path, 40)} is ${volume}: the script stops here${remedy}`,
        span: place,
      });
    }
    const clone = runsAsWritten(workload) ? repeatedClone(statements, stops, container, podSet) : undefined;
    const span = clone && spanOfWords(document, lines, [clone.word, clone.word]);
    if (clone === undefined || span === undefined || !runsAgain(context)) return;
    report({
      message: `git clone fails if ${shorten(clone.folder, 40)} exists, and its volume outlives the pod: the next run stops here`,
      span,
    });
  },
});

function hidesPrograms({ mountPath }: Container['volumeMounts'][number]): boolean {
  return /^\/(?:$|usr|bin|opt|root)/.test(mountPath);
}

/** Reports installations that fail with pip, and programs that are missing after an installation. */
function checkInstalls(
  container: Container,
  statements: ReturnType<typeof commandLineOf>['statements'],
  text: string,
  { document, report }: PodSetContext,
): void {
  const lines = [...container.command, ...container.args];
  const { image, volumeMounts } = container;
  const isOwned =
    image !== undefined &&
    !isTemplated(image.at) &&
    ownsPython(image.value) &&
    getIn(container.at, 'envFrom') === undefined &&
    volumeMounts.every(({ mountPath }) => !/^\/(?:usr|etc|root|$)/.test(mountPath));
  const python =
    image !== undefined && !isTemplated(image.at) && installsPython3(image.value) && !volumeMounts.some(hidesPrograms)
      ? missingPython(statements, text)
      : undefined;
  const missing = python && spanOfWords(document, lines, [python, python]);
  if (python !== undefined && missing !== undefined)
    report({
      message: `${shorten(image?.value ?? '', 50)} has no python, and apt installs only python3: the command fails`,
      span: missing,
      fixes: () => [
        python.derived === true
          ? undefined
          : fix('Use python3', 'unsafe', rewriteWord(document, lines, python, 'python3')),
      ],
    });
  const managed = isOwned ? managedInstall(statements, text) : undefined;
  for (const { command, reason, word } of [...emptyInstalls(statements), ...(managed ? [managed] : [])]) {
    const name = command.words.slice(0, command.words.indexOf(word) + 1).map((one) => one.text);
    const span = command.words[0] && spanOfWords(document, lines, [command.words[0], word]);
    if (span === undefined) continue;
    report({
      message:
        reason === 'nothing'
          ? `${name.join(' ')} names no package: it fails`
          : `${name.join(' ')} fails: ${shorten(image?.value ?? '', 40)} has an externally managed Python; use a virtual environment or --break-system-packages`,
      span,
      fixes: () =>
        reason === 'nothing' || word.derived === true
          ? []
          : [
              fix(
                'Add --break-system-packages',
                'unsafe',
                rewriteWord(document, lines, word, 'install --break-system-packages'),
              ),
            ],
    });
  }
}

/** Reports code of `python -c` that Python cannot read. A shell would change it first. */
function checkPython([program, option, code]: Container['args'], { podSet, report }: PodSetContext): void {
  if (option?.value !== '-c' || code === undefined || !/^python[\d.]*$/.test(baseName(program?.value ?? ''))) return;
  if (!requestsAccelerators(podSet) || isTemplated(code.at) || isIncomplete(code.at.parent)) return;
  const problem = pythonProblem(code.value);
  if (problem === undefined) return;
  report({
    message: `The code has ${problem}: Python exits with a SyntaxError before it runs a line`,
    span: spanOf(code.at),
  });
}

/** Reports a shell whose script is missing. */
function checkShell(lines: Container['args'], at: Cursor, { workload, podSet, report }: PodSetContext): void {
  const [shell, option] = lines;
  // A template may write the arguments as a whole.
  if (getIn(at, 'args')?.node.kind === 'scalar') return;
  if (lines.length !== 2 || shell === undefined || option === undefined || !/^-[a-z]*c$/.test(option.value)) return;
  if (!isShell(baseName(shell.value)) || workload.partial || !requestsAccelerators(podSet)) return;
  if (lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent) || isIncomplete(at.parent?.parent))) return;
  report({
    severity: 'error',
    message: `${baseName(shell.value)} ${option.value} has no script: it fails, and the container never does its work`,
    span: spanOf(option.at),
  });
}

/** Reports commands that their program does not have. */
function checkSubcommands(container: Container, { document, podSet, report }: PodSetContext): void {
  const lines = [...container.command, ...container.args];
  if (!lines.some(({ value }) => /vllm|ollama/.test(value)) || !requestsAccelerators(podSet)) return;
  if (lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent))) return;
  for (const found of commandsIn(container).map(wrongSubcommand)) {
    const span = found && spanOfWords(document, lines, [found.word, found.word]);
    if (found === undefined || span === undefined) continue;
    const { program, word, meant } = found;
    report({
      severity: 'error',
      message: `${program} has no command ${word.text}; did you mean ${meant}? The container exits`,
      span,
      fixes: () =>
        word.derived === true ? [] : [fix(`Use ${meant}`, 'unsafe', rewriteWord(document, lines, word, meant))],
    });
  }
}

/** Reports what the newest client of Hugging Face does not know. */
function checkClient(container: Container, { document, report }: PodSetContext): void {
  const lines = [...container.command, ...container.args];
  // Jobs that download models often request no GPUs.
  if (!lines.some(({ value }) => /\bhuggingface-cli\b|\bhf download\b/.test(value))) return;
  const image = container.image;
  if (
    image === undefined ||
    isTemplated(image.at) ||
    lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent))
  )
    return;
  const isNew = takesNewestPackages(image.value);
  if (!isNew && !/(?:^|\/)vllm\/vllm-openai:/.test(image.value)) return;
  for (const { word, isProgram, hasSuccessor } of goneFromClient(commandsIn(container), isNew)) {
    const span = spanOfWords(document, lines, [word, word]);
    if (span === undefined) continue;
    report({
      message: isProgram
        ? 'huggingface-cli no longer works in the release of huggingface_hub that pip installs here: it fails; use hf'
        : `hf has no flag ${shorten(word.text.split('=', 1)[0] ?? '', 30)} in the release that pip installs here: it fails`,
      span,
      fixes: () =>
        hasSuccessor && word.derived !== true
          ? [fix('Use hf', 'unsafe', rewriteWord(document, lines, word, 'hf'))]
          : [],
    });
  }
}

/** Reports commands that fail whatever the container has. */
function checkCertain(container: Container, { document, podSet, workload, report }: PodSetContext): void {
  const lines = [...container.command, ...container.args];
  if (!lines.some(({ value }) => mayFailCertainly.test(value)) || workload.role === 'infrastructure') return;
  if (workload.partial || !requestsAccelerators(podSet) || isUnseen(container.at)) return;
  if (lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent))) return;
  const { statements, complete } = commandLineOf(container);
  const text = [...lines.map(({ value }) => value), ...container.env.map(({ name }) => name)].join('\n');
  for (const { words, message, goesOn } of complete ? certainFailures(statements, text, container, podSet) : []) {
    const span = spanOfWords(document, lines, [...words]);
    if (span !== undefined) report({ ...(goesOn && { severity: 'info' }), message, span });
  }
}

/** A quick test of the text. */
const hints =
  /\b(?:apt|aptitude|yum|dnf|conda|(?:micro)?mamba)\b|pip3? (?:un)?install|source|\[\[|pipefail|pushd|shopt|declare|git clone|login|\b(?:chmod|chown|mkdir|touch|python)\b|(?:^|[\s;(])\[(?!\[)|\s=\s|[\u2013\u2014][A-Za-z]|==|[&|<>][&(]|&>|<<<|=\(|\bfunction\b|\(\(|\{\w+(?:\.\.|,)|\$\{\w+[[^,/:]/;

interface OuterShell {
  readonly name: string;
  readonly option: string;
}

/** The shell that the container starts itself. */
function shellOf({ command, args }: Container): OuterShell | undefined {
  const [program, option] = [...command, ...args];
  const name = baseName(program?.value ?? '');
  return command.length > 0 && option !== undefined && /^(?:ba|da)?sh$/.test(name)
    ? { name, option: option.value }
    : undefined;
}

/** Login shells and interactive ones read a profile, and a variable can name another one. */
function mayLoadHook(option: string, { env, at }: Container): boolean {
  return (
    /^-[a-z]*[il]|^--/.test(option) || env.some(({ name }) => name === 'BASH_ENV') || getIn(at, 'envFrom') !== undefined
  );
}

/** A token may be in a variable, a file of a volume, or something that the script does first. */
function mayHaveToken({ at, volumeMounts }: Container, text: string): boolean {
  const isOpen = ['env', 'volumeMounts'].some((key) => isUnseen(getIn(at, key))) || getIn(at, 'envFrom') !== undefined;
  const isHome = ({ mountPath }: Container['volumeMounts'][number]) =>
    /^\/(?:$|root|home)|netrc|secret|token/.test(mountPath);
  return isOpen || /TOKEN|API_KEY|netrc|\/token/.test(text) || volumeMounts.some(isHome);
}

function runsAgain({ workload }: PodSetContext): boolean {
  return workload.retries !== null && workload.retries.limit !== 0;
}

function fixOf(
  { reason, word }: FailingCommand,
  lines: Container['args'],
  { document }: PodSetContext,
): Fix | undefined {
  const to = (text: string, title: string) =>
    word.derived === true ? undefined : fix(title, 'unsafe', rewriteWord(document, lines, word, text));
  if (reason === 'asks') return to(`${word.text} -y`, 'Add -y');
  return reason === 'shell' && word.text === 'source' ? to('.', 'Change to "."') : undefined;
}
