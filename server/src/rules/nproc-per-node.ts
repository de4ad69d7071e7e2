import { wordSet } from '../catalog/word-patterns.ts';
import { defaultLaunch } from '../command/default-launch.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { isOneRank, pythonCode } from '../command/inline-python.ts';
import { findLocalProcesses } from '../command/processes.ts';
import { allCommands, baseName, type Word } from '../command/shell.ts';
import { formatNumber, plural } from '../cost/money.ts';
import { mayUseOtherGpus } from '../evidence/gpu-assignment.ts';
import { runsOnCpu } from '../evidence/gpu-launch.ts';
import { mayHaveVariables, processInput, scriptInput, wholeGpus } from '../evidence/launch.ts';
import { configuredLaunch } from '../evidence/launcher-config.ts';
import { idleDevices, missingCores } from '../evidence/neuron-cores.ts';
import { ownGpus, serverOfOneGpu } from '../evidence/own-gpus.ts';
import { loneScript, oneRankPerPod } from '../evidence/ranks-of-pods.ts';
import { kindOf } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { commandLineOf } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { setLastNumber } from '../rewrite/words.ts';
import { asText, type Cursor, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A launcher starts more or fewer processes than the container has GPUs.
 *
 * ## Why
 *
 * Each process uses one GPU. With more processes than GPUs, the surplus fails ("invalid device ordinal"); with fewer, some GPUs stay idle.
 * On AWS Neuron, each process has a NeuronCore, and a device has several.
 * `auto` or `gpu` starts one process per GPU. Without a number, torchrun starts one process. The number can also be in the file of settings of
 * `accelerate launch`. Some programs use one GPU, however many there are: AlphaFold, nnU-Net without `-num_gpus`, `yolo train` without `device`, and
 * any with a flag such as `--gpus 1` or `--device cuda:0`. So do ComfyUI and Stable Diffusion web UI by default, and a Python script without a launcher
 * if its job gives each pod one rank, unless it starts further processes itself (information). PyTorch in the only pod of a job does so if a script
 * is started without a launcher, and neither its arguments nor its variables show that its code uses several (information).
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: ["torchrun", "--nproc-per-node=8", "train.py"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 4
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: ["torchrun", "--nproc-per-node=4", "train.py"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 4
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a different number of GPUs may be the right change instead.
 *
 * ## When it is silent
 *
 * For `auto` and `gpu`, if the number is unknown, if several launchers or CUDA_VISIBLE_DEVICES divide the GPUs, for processes on the CPU (`--backend=gloo`), if the container may see
 * other GPUs than its own (privileged, NVIDIA_VISIBLE_DEVICES), for shared GPUs and MIG slices, for TPUs, and for fewer processes than NeuronCores, unless a single server uses less than half of them.
 *
 * ## Sources
 *
 * - [PyTorch: torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
 * - [kubeflow/trainer#1992](https://github.com/kubeflow/trainer/issues/1992)
 */
export default defineRule({
  topic: 'parallelism',
  severity: 'error',
  container(container, context) {
    const missing = missingCores(container, context);
    if (missing !== undefined) {
      const { text, needed, cores, span } = missing;
      context.report({
        message: `${shorten(text, 40)} needs ${plural(needed, 'NeuronCore')}, but the container has at most ${cores}: the program does not start`,
        span,
      });
    }
    const idle = missing === undefined && container.type === 'app' ? idleDevices(container, context) : undefined;
    if (idle !== undefined) {
      const { text, used, cores, devices, span } = idle;
      context.report({
        severity: 'warning',
        message: `${shorten(text, 32)} uses ${used} of at least ${cores} NeuronCores: at least half of the container's ${devices} devices stay idle`,
        span,
      });
    }
    const gpus = wholeGpus(container, context.podSet);
    if (gpus === null || gpus === 0 || container.type !== 'app' || dividesGpus(container)) return;
    const launch =
      inCommand(container, context, false) ??
      inScript(container) ??
      inConfig(container, context) ??
      inPython(container, context) ??
      inSpec(container, context.podSet, context.workload) ??
      inBenchmark(container, context) ??
      inCommand(container, context, true) ??
      byDefault(container, context) ??
      alone(container, gpus, context);
    if (launch === undefined) ofPod(container, gpus, context);
    if (launch === undefined || launch.count === gpus || launch.count === 0) return;
    const { count, text, span, value, verb = `starts ${processes(count)}` } = launch;
    const over = count > gpus;
    // hidden-gpus reports a list of GPUs that the container does not have.
    if (over && (mayUseOtherGpus(container) || runsOnCpu(container) || text.includes(','))) return;
    // accelerate's flag has the number of all nodes.
    const perNode = text.includes(String(count)) ? '' : ' per node';
    const mismatch = over
      ? `${verb}${perNode}, but the container has only ${plural(gpus, 'GPU')}: the launch fails`
      : `${perNode && /num.processes/.test(text) ? `(${count}${perNode}) ` : ''}uses ${count} of the container's ${gpus} GPUs: ${plural(gpus - count, 'GPU')} ${gpus - count === 1 ? 'stays' : 'stay'} idle`;
    context.report({
      severity: over ? 'error' : launch.byDefault === true ? 'info' : 'warning',
      message: `${shorten(text, 60)} ${mismatch}`,
      span,
      fixes: () => [
        launch.words === undefined
          ? value && setCount(value, gpus, context)
          : changeFlag(launch, gpus, container, context),
      ],
    });
  },
});

/** Processes that are started on one node. */
interface Launch {
  readonly count: number;
  /** The flag, variable or field with its value. */
  readonly text: string;
  readonly span: Span;
  /** The scalar that holds only the number. */
  readonly value: Cursor | undefined;
  /** An extension may use more. */
  readonly byDefault?: true;
  /** What it does with the number, if it starts no processes. */
  readonly verb?: string;
  /** The words of the command line that hold the number. */
  readonly words?: readonly [Word, Word];
}

/** @param settings whether to read a trainer's settings (`trainer.devices=8`) instead of a launcher's flags */
function inCommand(container: Container, { document }: PodSetContext, settings: boolean): Launch | undefined {
  const launches = findLocalProcesses(processInput(container)).filter(
    ({ kind, text }) => kind === 'launch' && /^[-+]*\w+\.\w/.test(text) === settings,
  );
  const [only, ...others] = launches;
  if (only === undefined || typeof only.count !== 'number' || others.length > 0) return undefined;
  if (only.words === undefined) {
    const env = container.env.find(({ name }) => only.text.startsWith(`${name}=`));
    return env?.value && { count: only.count, text: only.text, span: spanOf(env.value.at), value: undefined };
  }
  const span = spanOfWords(document, container, only.words);
  return span && { count: only.count, text: only.text, span, value: undefined, words: only.words };
}

/** A script without a launcher, in a pod that is one rank of several or the only one. */
function ofPod(container: Container, gpus: number, { podSet, workload, document, report }: PodSetContext): void {
  if (gpus < 2 || document.template) return;
  const one = oneRankPerPod(container, podSet, workload);
  const lone = one === undefined ? loneScript(container, podSet, workload) : undefined;
  const words = one?.words ?? lone?.words;
  const span = words && spanOfWords(document, container, words);
  if (span === undefined) return;
  if (lone !== undefined) {
    const idle = gpus === 2 ? '1 stays' : `${gpus - 1} stay`;
    report({
      severity: 'info',
      message: `${shorten(lone.script, 40)} starts as one process, without a launcher such as torchrun: unless its code uses all ${gpus} GPUs, ${idle} idle`,
      span,
    });
  }
  if (one === undefined) return;
  report({
    severity: 'info',
    message: `${shorten(one.script, 40)} is one of ${one.ranks} ranks, one per pod: without a launcher such as torchrun, DDP uses 1 of the container's ${gpus} GPUs`,
    span,
  });
}

/** torchrun without a number, in a pod whose controller sets none. */
function byDefault(container: Container, { workload, document }: PodSetContext): Launch | undefined {
  if (document.template || workload.partial || mayHaveVariables(container)) return undefined;
  const launch = ownEnvironment.test(groupOf(workload.apiVersion)) ? defaultLaunch(processInput(container)) : undefined;
  if (launch?.count !== 1) return undefined;
  const span = spanOfWords(document, [...container.command, ...container.args], [launch.word, launch.word]);
  return span && { count: 1, text: `${launch.name} without --nproc-per-node`, span, value: undefined };
}

/** A program that uses one GPU, whatever there is. */
function alone(container: Container, gpus: number, { document }: PodSetContext): Launch | undefined {
  const server = serverOfOneGpu(container);
  if (server !== undefined)
    return { count: 1, text: server.name, span: spanOf(server.at), value: undefined, byDefault: true };
  const found = ownGpus(container);
  // hidden-gpus reports a GPU that the container does not have.
  if (found?.index !== undefined && found.index >= gpus) return undefined;
  const span = found && spanOfWords(document, container, found.words);
  return span && { count: found.count, text: found.text, span, value: undefined };
}

/** Groups whose controllers set no variables of torchrun. */
const ownEnvironment = /^(?:|apps|batch|(?:jobset|leaderworkerset)\.x-k8s\.io|batch\.volcano\.sh)$/;

/** Only if the written number is that of one node: accelerate takes the number of all nodes. */
function changeFlag(
  { words, text, count }: Launch,
  gpus: number,
  container: Container,
  { document }: PodSetContext,
): Fix | undefined {
  if (words === undefined || /(?<!\d)\d+$/.exec(text)?.[0] !== String(count)) return undefined;
  const edits = setLastNumber(document, [...container.command, ...container.args], words, gpus);
  return fix(`Start ${processes(gpus)}, one per GPU`, 'unsafe', edits);
}

/** A script from a ConfigMap that the command runs. The finding is where the command runs it. */
function inScript(container: Container): Launch | undefined {
  const launches = container.scripts.flatMap((script) =>
    findLocalProcesses(scriptInput(script, container)).flatMap(({ kind, count, text, words }) =>
      kind === 'launch' && words !== undefined
        ? [{ count, text: `${text} in ${script.path}`, span: spanOf(script.at) }]
        : [],
    ),
  );
  const [only, ...others] = launches;
  if (only === undefined || typeof only.count !== 'number' || others.length > 0) return undefined;
  return { count: only.count, text: only.text, span: only.span, value: undefined };
}

/** The file of settings of a launcher. The finding is where the command names it. */
function inConfig(container: Container, { document }: PodSetContext): Launch | undefined {
  const launch = configuredLaunch(container);
  const span = launch && spanOfWords(document, container, launch.words);
  return launch && span && { count: launch.count, text: launch.text, span, value: undefined };
}

/** Code on the command line that joins the group of processes by itself: without a launcher, it is one process. */
function inPython(container: Container, { document }: PodSetContext): Launch | undefined {
  const { statements, complete } = commandLineOf(container);
  const [only, ...others] = allCommands(statements);
  const [first, ...rest] = only?.words ?? [];
  const code = only && pythonCode(only);
  // The program of an image may launch what its arguments name.
  const isWhole = complete && others.length === 0 && container.command.length > 0;
  if (first === undefined || code === undefined || !isWhole) return undefined;
  const span = spanOfWords(document, container, [first, first]);
  if (span === undefined || !isOneRank(code)) return undefined;
  const text = [first, rest[0]].map((word) => baseName(word?.text ?? '')).join(' ');
  return { count: 1, text: `${text} is one process and`, span, value: undefined };
}

/** The field of a kind that sets the number for the container that trains. */
function inSpec(container: Container, { name }: PodSet, { kind, manifest }: Workload): Launch | undefined {
  const field = kindOf(manifest).processesPerPod?.(manifest.root);
  const text = asText(field);
  if (field === undefined || text === undefined || !/^\d{1,4}$/.test(text)) return undefined;
  if (kind.endsWith('Runtime') && !/^(node|trainer|worker)$/i.test(name) && container.name !== 'trainer')
    return undefined;
  return { count: Number(text), text: `${String(field.step)} ${text}`, span: spanOf(field), value: field };
}

/** What a test of NCCL without mpirun uses: one process with the threads of `-t`, each with the GPUs of `-g`; both are 1 by default. */
function inBenchmark(container: Container, { document }: PodSetContext): Launch | undefined {
  const { statements, complete } = commandLineOf(container);
  const programs = allCommands(statements).filter(({ words }) => words.some(({ text }) => isTest(baseName(text))));
  const [only, ...others] = programs;
  const [first, ...rest] = only?.words ?? [];
  // Behind a launcher, each of its processes has its own GPUs.
  if (first === undefined || !complete || others.length > 0 || !isTest(baseName(first.text))) return undefined;
  const flags = readFlags([first, ...rest]);
  // Variables may hold flags, `-g8` is written without a space, and `-T` and `-G` are others than `-t` and `-g`.
  const isUnseen = rest.some((word) => word.dynamic && !flags.some(({ valueWord }) => valueWord === word));
  if (isUnseen || rest.some(({ text }) => /^(?:-[tg]\d+|-h|--help)$/.test(text))) return undefined;
  const [threads, gpus] = [/^(?:t|nthreads)$/, /^(?:g|ngpus)$/].map((name) =>
    flags.find((one) => name.test(one.written)),
  );
  const count = [threads, gpus].reduce((product, flag) => product * (flag === undefined ? 1 : numberOf(flag)), 1);
  const word = gpus?.word ?? first;
  const words = [word, gpus?.valueWord ?? word] as const;
  const span = spanOfWords(document, container, words);
  const text = `${baseName(first.text)}${gpus === undefined ? '' : ` -g ${gpus.value ?? ''}`}`;
  const verb = `needs ${plural(count, 'GPU')}`;
  return span && count > 0 ? { count, text, span, value: undefined, verb } : undefined;
}

/** https://github.com/NVIDIA/nccl-tests */
function isTest(program: string): boolean {
  const [, operation = ''] = /^(\w+)_perf(?:_mpi)?$/.exec(program) ?? [];
  return operations.has(operation);
}

const operations = wordSet(
  'all_reduce all_gather alltoall broadcast gather hypercube',
  'reduce reduce_scatter scatter sendrecv',
);

function numberOf({ value, dynamic }: Flag): number {
  return value !== undefined && !dynamic && /^\d{1,3}$/.test(value) ? Number(value) : Number.NaN;
}

/** Whether a variable assigns GPUs to processes by hand. */
function dividesGpus({ env, command, args, scripts }: Container): boolean {
  const isMask = (text: string) => /(CUDA|HIP|ROCR)_VISIBLE_DEVICES/.test(text);
  if (env.some(({ name }) => isMask(name)) || scripts.some(({ text }) => isMask(text))) return true;
  return [...command, ...args].some(({ value }) => isMask(value));
}

function processes(count: number): string {
  return count === 1 ? '1 process' : `${formatNumber(count)} processes`;
}

function setCount(value: Cursor, gpus: number, { document }: PodSetContext): Fix | undefined {
  const isNumber = value.node.kind === 'scalar' && typeof value.node.value === 'number';
  const edits = replaceScalar(document, value, isNumber ? gpus : String(gpus));
  return fix(`Set ${String(value.step)} to ${gpus}`, 'unsafe', edits);
}
