import { findLocalProcesses } from '../command/processes.ts';
import type { Word } from '../command/shell.ts';
import { plural } from '../cost/format.ts';
import { processInput, scriptInput, wholeGpus } from '../evidence/processes.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { setLastNumber } from '../rewrite/words.ts';
import { asText, type Cursor, getIn, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A launcher starts another number of processes than the container has GPUs.
 *
 * ## Why
 *
 * Each process takes one GPU. With more processes than GPUs the surplus fails ("invalid device ordinal"); with fewer, GPUs are held
 * and paid for that nothing uses. `auto` or `gpu` starts one for each.
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
 * Unsafe: asking for another number of GPUs is as good an answer.
 *
 * ## When it is silent
 *
 * For `auto` and `gpu`, where the number is not known, where several launchers or CUDA_VISIBLE_DEVICES divide the GPUs, for shared and
 * cut cards, and for TPUs and Neuron devices, which hold several cores.
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
    const gpus = wholeGpus(container, context.podSet);
    if (gpus === null || gpus === 0 || container.type !== 'app' || dividesGpus(container)) return;
    const told =
      inCommand(container, context) ?? inScript(container) ?? inSpec(container, context.podSet, context.workload);
    if (told === undefined || told.count === gpus || told.count === 0) return;
    const { count, text, span, value } = told;
    const over = count > gpus;
    const consequence = over
      ? `${plural(count - gpus, 'process').replace('processs', 'processes')} without one, and the start fails`
      : `${plural(gpus - count, 'GPU')} ${gpus - count === 1 ? 'is' : 'are'} held and not used`;
    context.report({
      severity: over ? 'error' : 'warning',
      message: `${shorten(text)} with ${plural(gpus, 'GPU')} in the container: ${consequence}`,
      span,
      fixes: () => [
        told.words === undefined ? value && setCount(value, gpus, context) : inWords(told, gpus, container, context),
      ],
    });
  },
});

interface Told {
  readonly count: number;
  readonly text: string;
  readonly span: Span;
  /** The scalar that holds the number, where it stands alone. */
  readonly value: Cursor | undefined;
  /** The words of a command line that hold it. */
  readonly words?: readonly [Word, Word];
}

function inCommand(container: Container, { document }: PodSetContext): Told | undefined {
  const launches = findLocalProcesses(processInput(container)).filter(({ kind }) => kind === 'launch');
  const [only, ...others] = launches;
  if (only === undefined || typeof only.count !== 'number' || others.length > 0) return undefined;
  if (only.words === undefined) {
    const env = container.env.find(({ name }) => only.text.startsWith(`${name}=`));
    return env?.value && { count: only.count, text: only.text, span: spanOf(env.value.at), value: undefined };
  }
  const span = spanOfWords(document, [...container.command, ...container.args], only.words);
  return span && { count: only.count, text: only.text, span, value: undefined, words: only.words };
}

/** Where the number written is the number of a node: accelerate is told that of all nodes. */
function inWords(
  { words, text, count }: Told,
  gpus: number,
  container: Container,
  { document }: PodSetContext,
): Fix | undefined {
  if (words === undefined || /(?<!\d)\d+$/.exec(text)?.[0] !== String(count)) return undefined;
  const edits = setLastNumber(document, [...container.command, ...container.args], words, gpus);
  return fix(`Start ${plural(gpus, 'process').replace('processs', 'processes')}, one for each GPU`, 'unsafe', edits);
}

/** A script that the command runs from a ConfigMap: it is told where it is run. */
function inScript(container: Container): Told | undefined {
  const launches = container.scripts.flatMap((script) =>
    findLocalProcesses(scriptInput(script)).flatMap(({ kind, count, text }) =>
      kind === 'launch' ? [{ count, text: `${text} in ${script.path}`, span: spanOf(script.at) }] : [],
    ),
  );
  const [only, ...others] = launches;
  if (only === undefined || typeof only.count !== 'number' || others.length > 0) return undefined;
  return { count: only.count, text: only.text, span: only.span, value: undefined };
}

/** The fields in which kinds say it; they hold for the container that trains. */
function inSpec(container: Container, { name }: PodSet, { kind, manifest }: Workload): Told | undefined {
  const spec = getIn(manifest.root, 'spec');
  const field =
    kind === 'PyTorchJob'
      ? getIn(spec, 'nprocPerNode')
      : kind === 'TrainJob'
        ? getIn(spec, 'trainer', 'numProcPerNode')
        : kind === 'TrainingRuntime' || kind === 'ClusterTrainingRuntime'
          ? getIn(spec, 'mlPolicy', 'torch', 'numProcPerNode')
          : undefined;
  const text = asText(field);
  if (field === undefined || text === undefined || !/^\d{1,4}$/.test(text)) return undefined;
  if (kind.endsWith('Runtime') && !/^(node|trainer|worker)$/i.test(name) && container.name !== 'trainer')
    return undefined;
  return { count: Number(text), text: `${String(field.step)} ${text}`, span: spanOf(field), value: field };
}

/** Somebody has dealt the GPUs out by hand. */
function dividesGpus({ env, command, args, scripts }: Container): boolean {
  const isMask = (text: string) => /(CUDA|HIP|ROCR)_VISIBLE_DEVICES/.test(text);
  if (env.some(({ name }) => isMask(name)) || scripts.some(({ text }) => isMask(text))) return true;
  return [...command, ...args].some(({ value }) => isMask(value));
}

function setCount(value: Cursor, gpus: number, { document }: PodSetContext): Fix | undefined {
  const isNumber = value.node.kind === 'scalar' && typeof value.node.value === 'number';
  const edits = replaceScalar(document, value, isNumber ? gpus : String(gpus));
  return fix(`Set ${String(value.step)} to ${gpus}`, 'unsafe', edits);
}
