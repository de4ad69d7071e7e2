import { isBareImage, lackingPrograms, lacksHub } from '../catalog/image-programs.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { allCommands, baseName, type Statement, type Word } from '../command/shell.ts';
import { hiddenScript, missingScript } from '../evidence/missing-script.ts';
import { relativeProgram } from '../evidence/relative-program.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { hubOf } from '../model/charts/notebooks.ts';
import { lowerContainer } from '../model/pod.ts';
import { commandLineOf, commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import {
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  type Located,
  spanOf,
} from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container runs a program that its image does not have.
 *
 * ## Why
 *
 * Small images have few programs: Alpine and BusyBox have no bash, Ollama's image has no curl, and CUDA's images have no Python. A container whose
 * command is such a program never starts, a probe always fails, and a loop that waits for `kubectl` in an init container never ends, while its
 * pod holds its GPUs. Images of systems and frameworks have no scripts of their users: `python train.py` and
 * `python -m src.train` need a volume, or a command that fetches it.
 * The images of NVIDIA and PyTorch also lack `jupyterhub-singleuser`, which a JupyterHub starts for each user.
 * A path without its first slash (`bin/sh`) is looked for in the working directory, which is rarely the root (information if the image's is unknown).
 * An emptyDir hides the folder of the image at which it is mounted: a script there is missing in any image, unless another container fills the volume.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: ollama/ollama:0.12.3
 *       livenessProbe:
 *         exec:
 *           command: ["curl", "-f", "http://localhost:11434"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: ollama/ollama:0.12.3
 *       livenessProbe:
 *         httpGet:
 *           path: /
 *           port: 11434
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For other images, for pods without accelerators, behind any command that may install or find the program, in probes of containers that run such a command
 * first, with `||` and another command, in containers that set PATH or mount a volume where programs are, for parts of objects, and for the files of launchers.
 *
 * ## Sources
 *
 * - [Docker: official images](https://github.com/docker-library/official-images)
 * - [Ollama: Dockerfile](https://github.com/ollama/ollama/blob/main/Dockerfile)
 * - [NVIDIA: CUDA images](https://gitlab.com/nvidia/container-images/cuda)
 * - [PyTorch: Dockerfile](https://github.com/pytorch/pytorch/blob/main/Dockerfile)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  container(container, { workload, podSet, document, report }) {
    const { image, at } = container;
    if (image === undefined || isTemplated(image.at) || !namesAccelerators(podSet)) return;
    checkHub(image, podSet.pod, report);
    // Launchers with files of their own add programs to the image, and other parts of an object may add volumes.
    if (workload.manifest.apiVersion === '' || workload.partial) return;
    checkRelative();
    const lacks = lackingPrograms(image.value);
    const isBare = isBareImage(image.value) && container.type === 'app' && podSet.accelerators.length > 0;
    // The entrypoint of an image may fill the volume.
    if (podSet.accelerators.length > 0 && container.command.length > 0 && !isIncomplete(at)) checkHidden();
    if ((lacks === undefined && !isBare) || isIncomplete(at) || mayHaveMore(container)) return;
    const isFound = check(container, 'the container never starts', 'the command fails', 'the wait never ends');
    if (isBare && !isFound) checkScript();
    if (lacks === undefined) return;
    for (const hook of mayBringMore(container) ? [] : hooks) {
      const exec = getIn(at, ...hook, 'exec');
      const isProbe = hook.length === 1;
      const fails = isProbe ? probeFails : 'the hook fails, and the container restarts';
      if (exec !== undefined && !isUnseen(exec) && !isUnseen(getIn(exec, 'command')))
        check({ ...lowerContainer(exec, 'app'), env: container.env }, fails, fails, fails, exec);
    }

    function checkRelative(): void {
      const found = relativeProgram(container.command, container);
      if (found === undefined) return;
      const { path, folder } = found;
      const place = folder === undefined ? "the image's working directory" : `working directory ${shorten(folder, 30)}`;
      const effect =
        folder === undefined ? 'unless that is /, the container never starts' : 'the container never starts';
      report({
        severity: folder === undefined ? 'info' : 'error',
        message: `${shorten(path, 24)} is looked for in ${place}: ${effect}; did you mean /${shorten(path, 24)}?`,
        span: spanOf(found.at),
      });
    }

    function check(one: Container, starts: string, runs: string, waits: string, exec?: Cursor): boolean {
      const lines = [...one.command, ...one.args];
      const [first] = one.command;
      if (lines.some((line) => isTemplated(line.at))) return true;
      if (first !== undefined && isIn(first.value)) {
        say(first.value, starts, spanOf(first.at), 'error');
        return true;
      }
      const found = firstMissing(commandLineOf(one).statements, isIn);
      if (found === undefined) return false;
      const span = spanOfWords(document, lines, [found.word, found.word]) ?? spanOf(first?.at ?? one.at);
      const isProbe = exec !== undefined && exec.parent?.step !== 'postStart';
      say(found.program, found.waits ? waits : runs, span, found.waits || isProbe ? 'error' : 'warning');
      return true;
    }

    /** In any image, if an empty volume takes the place of its folder. */
    function checkHidden(): void {
      const unseen = [at, podSet.pod].some((one) => entries(one).some(isUnseen));
      const hidden = unseen ? undefined : hiddenScript(container, podSet, workload);
      if (hidden === undefined) return;
      const { word, mountPath } = hidden;
      report({
        message: `${shorten(word.text, 40)} is not in the empty volume at ${shorten(mountPath, 30)}, which hides this folder of the image: the container exits`,
        span: spanOfWords(document, container, [word, word]) ?? spanOf(at),
      });
    }

    /** In images without scripts of their users. */
    function checkScript(): void {
      const script = missingScript(container, podSet, workload);
      if (script === undefined) return;
      const { word, isModule } = script;
      const span = spanOfWords(document, container, [word, word]) ?? spanOf(at);
      say(
        isModule ? `module ${word.text}` : word.text,
        'no volume provides it, and the container exits',
        span,
        'warning',
      );
    }

    /** What the container runs first may install what its probes need. */
    function mayBringMore(one: Container): boolean {
      const started = getIn(one.at, 'lifecycle', 'postStart', 'exec');
      return [one, ...(started === undefined ? [] : [lowerContainer(started, 'app')])].some((part) => {
        return commandsIn(part).some(({ words }) => {
          const [program, ...operands] = words[0]?.text === 'exec' ? words.slice(1) : words;
          return program !== undefined && !isIn(program.text) && mayBring(program, operands);
        });
      });
    }

    function isIn(program: string): boolean {
      return lacks?.has(baseName(program)) === true && /^(?:\/(?:usr\/)?(?:local\/)?bin\/)?[\w-]+$/.test(program);
    }

    function say(
      program: string,
      effect: string,
      span: Parameters<typeof report>[0]['span'],
      severity: 'error' | 'warning',
    ) {
      const isScript = /[. ]/.test(program);
      const name = isScript ? program : baseName(program);
      // The kubelet itself sends the requests of probes.
      const remedy =
        effect === probeFails && asksServers.has(name)
          ? 'use httpGet or tcpSocket'
          : ofOtherSystems.has(name) && !isIn('apt-get')
            ? 'use apt-get'
            : program.startsWith('module ')
              ? 'mount its code'
              : `${isScript ? 'mount it' : `install ${shorten(name, 20)}`} or use an image with it`;
      report({
        severity,
        message: `${shorten(image?.value ?? '', 50)} has no ${shorten(name, 40)}: ${effect}; ${remedy}`,
        span,
      });
    }
  },
});

/** Reports an image of a JupyterHub's users without the program that the hub starts. */
function checkHub({ value, at }: Located<string>, pod: Cursor, report: PodSetContext['report']): void {
  const hub = hubOf(pod);
  const singleuser = getIn(hub, 'singleuser');
  if (hub === undefined || !lacksHub(value) || [pod, singleuser].some((one) => one === undefined || isUnseen(one)))
    return;
  const config = ['KubeSpawner', 'Spawner'].map((name) => getIn(hub, 'hub', 'config', name));
  const hasOther = [pod, singleuser, pod.parent, ...config].some((one) => getIn(one, 'cmd') !== undefined);
  // Code of the hub may also set it.
  if (hasOther || getIn(hub, 'hub', 'extraConfig') !== undefined) return;
  report({
    severity: 'warning',
    message: `${shorten(value, 50)} has no jupyterhub-singleuser: the hub starts no server; install jupyterhub in the image, or set cmd`,
    span: spanOf(at),
  });
}

const probeFails = 'the probe always fails';

/** Package managers that images of Debian and Ubuntu do not have. */
const ofOtherSystems = wordSet('yum dnf microdnf apk');

const asksServers = wordSet('curl wget nc ncat netcat');

const hooks = [['livenessProbe'], ['readinessProbe'], ['startupProbe'], ['lifecycle', 'postStart']];

/** Whether programs may come from elsewhere than the image, or a template may say so. */
function mayHaveMore({ at, env, volumeMounts }: Container): boolean {
  return (
    ['env', 'volumeMounts', 'command', 'args'].some((key) => isUnseen(getIn(at, key))) ||
    getIn(at, 'envFrom') !== undefined ||
    env.some(({ name, at: one }) => name === 'PATH' || isUnseen(one) || isTemplated(getIn(one, 'name'))) ||
    volumeMounts.some(
      ({ mountPath, at: one }) =>
        /^\/(?:$|usr|bin|sbin|opt|lib)/.test(mountPath) || isUnseen(one) || isTemplated(getIn(one, 'mountPath')),
    )
  );
}

/** The first command whose program is missing, if nothing before it may bring the program. */
function firstMissing(
  statements: readonly Statement[],
  isIn: (program: string) => boolean,
): { readonly program: string; readonly word: Word; readonly waits: boolean } | undefined {
  for (const [at, statement] of statements.entries()) {
    if (statement.kind === 'group' && statement.keyword !== 'braces' && statement.keyword !== 'subshell')
      return undefined;
    const commands = allCommands([statement]);
    for (const [index, { words, assignments }] of commands.entries()) {
      if (assignments.some(({ text }) => text.startsWith('PATH='))) return undefined;
      const waits = statement.kind === 'loop' && statement.keyword === 'until';
      for (const word of assignments) {
        const inner = /^\w+=\$\(\s*([\w-]+)\s/.exec(word.text)?.[1] ?? '';
        if (isIn(inner)) return { program: inner, word, waits };
      }
      const [program, ...operands] = words;
      if (program === undefined) continue;
      if (!program.dynamic && isIn(program.text)) {
        const next = commands[index + 1] ?? statements[at + 1];
        const isTried = next?.after === '||' && !(next.kind === 'command' && fails.has(next.words[0]?.text ?? ''));
        return isTried ? undefined : { program: program.text, word: program, waits };
      }
      if (mayBring(program, operands)) return undefined;
    }
  }
  return undefined;
}

function mayBring(program: Word, operands: readonly Word[]): boolean {
  return (
    !bringsNothing.has(program.text) ||
    operands.some(({ text }) => /^PATH=|install|setup|bootstrap|tools|^add$/.test(text))
  );
}

const fails = wordSet('exit false return');

/** Programs that bring no others. */
const bringsNothing = wordSet(
  'cat cd date df echo env exit export false hostname id ls mkdir nvidia-smi ollama printf ps pwd python python3 rm set sleep touch true umask wait whoami',
);
