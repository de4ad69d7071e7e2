import { findLocalProcesses } from '../command/processes.ts';
import { allCommands, baseName, type Word } from '../command/shell.ts';
import { fromConfigMap } from '../evidence/config-variables.ts';
import { type DeviceList, deviceLists } from '../evidence/device-lists.ts';
import { mayUseOtherGpus } from '../evidence/gpu-assignment.ts';
import { wholeGpus } from '../evidence/launch.ts';
import { expectedGpus } from '../evidence/program-devices.ts';
import { isExempt } from '../evidence/requested-accelerators.ts';
import { isHarmless } from '../evidence/sole-server.ts';
import { placesAt } from '../evidence/written.ts';
import { isRequested } from '../model/accelerators.ts';
import { commandLineOf, commandsIn, imageUseOf, processInput } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { getIn, isIncomplete, isTemplated, isUnseen, spanOf } from '../yaml/cursor.ts';
import { removeItem, removeKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * CUDA_VISIBLE_DEVICES hides GPUs that the container requests.
 *
 * ## Why
 *
 * A container sees only its own GPUs, numbered from 0, whichever of the node's GPUs they are. CUDA uses the numbers of the list up to the
 * first that does not exist: with one GPU, `CUDA_VISIBLE_DEVICES=1` leaves none, and the program fails or continues on the CPU. GPUs that
 * the list does not name stay idle but cost money. Flags that name a GPU or expect more GPUs than the container has fail in the same way: `--device cuda:1`,
 * `--num_gpus 4`, `-gpu_id 01` of GROMACS, `-k on g 2` of LAMMPS, `--tensor-split` of llama.cpp. `all` is a word of NVIDIA_VISIBLE_DEVICES: for CUDA it names no GPU. A UUID names one GPU of one node, but the device plugin assigns any. Without the
 * variable, a program sees all of its GPUs.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: embed
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/embed:1.4
 *       env:
 *         - name: PORT
 *           value: "8080"
 *         - name: CUDA_VISIBLE_DEVICES
 *           value: "1"
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: embed
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/embed:1.4
 *       env:
 *         - name: PORT
 *           value: "8080"
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the program then uses all GPUs of the container.
 *
 * ## When it is silent
 *
 * For a number of GPUs that may be that of several pods. For a list in one of several commands that names only GPUs of the container, because other commands may use the rest. For a variable of the container if a
 * command or a script sets or reads it, if the number of whole GPUs is unknown, if the container may see other GPUs than its own
 * (privileged, NVIDIA_VISIBLE_DEVICES) and the list is not `all`, for GPUs named by UUID in pods that name their node, and for infrastructure. The severity is error if the list of a
 * variable names no GPU of the container by mistake, warning if it is empty, -1 or in a command, and info if it names all GPUs of the container and more.
 *
 * ## Sources
 *
 * - [CUDA programming guide: environment variables](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables)
 * - [ROCm: GPU isolation](https://rocm.docs.amd.com/en/latest/conceptual/gpu-isolation.html)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, context) {
    const { workload, podSet, document, report } = context;
    reportCommands(container, context);
    reportFlags(container, context);
    const own = container.env.find(({ name, value }) => lists.test(name) && value !== undefined);
    const env = own ?? fromConfigMap(container, (name) => lists.test(name));
    const value = env?.value;
    if (env === undefined || value === undefined || isTemplated(value.at) || isIncomplete(container.at)) return;
    if (isExempt(workload) || isMentioned(env.name, container)) return;
    const namesNone = isWord(value.value) && container.accelerators.some(isRequested);
    if (mayUseOtherGpus(container) && !namesNone) return;
    // Chart values may map names to values.
    const remove = typeof own?.at.step === 'number' ? removeItem : removeKey;
    const fixes = () => (own === undefined ? [] : [fix(`Remove ${own.name}`, 'unsafe', remove(document, own.at))]);
    const span = spanOf(value.at);
    if (uuid.test(value.value) && container.accelerators.some(isRequested) && !isPinned(podSet)) {
      const message = `${env.name}=${shorten(value.value, 24)} names a GPU of one node: a pod that is assigned another GPU sees none`;
      report({ message, span, fixes });
      return;
    }
    const count = wholeGpus(container, podSet) ?? (namesNone ? 1 : null);
    const seen = count === null ? undefined : visible(value.value, count);
    if (count === null || count === 0 || seen === undefined) return;
    if (seen >= count) {
      // A list in a ConfigMap may be there for larger pods.
      const last = own === undefined ? 0 : Math.max(...value.value.split(',').map(Number));
      // A program that starts as many processes as there are GPUs needs no others.
      const isEnough = findLocalProcesses(processInput(container)).some((one) => one.count === count);
      if (last >= count && !isEnough)
        report({
          severity: 'info',
          message: missingOf({ text: `${env.name}=${value.value}`, last }, count),
          span,
          fixes,
          oncePerFile: true,
        });
      return;
    }
    const text = `${env.name}=${shorten(value.value, 24) || '""'}`;
    const hidesAll = /^(?:-1|none|void)?$/.test(value.value.trim());
    report({
      severity: seen === 0 && !hidesAll ? 'error' : 'warning',
      message: hidesAll ? `${text} hides the container's GPUs from the program` : effectOf(text, seen, count),
      span,
      fixes,
    });
  },
});

/** `0 and 1`, `0 to 7`. */
function indexes(count: number): string {
  return `0 ${count === 2 ? 'and' : 'to'} ${count - 1}`;
}

function effectOf(text: string, seen: number, count: number): string {
  const own = count === 1 ? "the container's only GPU is 0" : `the container's GPUs are ${indexes(count)}`;
  return seen > 0
    ? `${text} uses only ${seen} of the container's ${count} GPUs: the others stay idle`
    : `${text} names no GPU that exists (${own}): the program gets no GPU`;
}

/** Lists in command lines that name GPUs of the node. Other commands may use those that a list omits. */
function reportCommands(container: Container, { workload, podSet, document, report }: PodSetContext): void {
  const lines = [...container.command, ...container.args];
  if (!lines.some(({ value }) => value.includes('_VISIBLE_DEVICES='))) return;
  const count = wholeGpus(container, podSet) ?? (container.accelerators.some(isRequested) ? 1 : 0);
  if (!count || isExempt(workload) || lines.some(({ at }) => isTemplated(at))) return;
  const seesOthers = wholeGpus(container, podSet) === null || mayUseOtherGpus(container);
  const { statements, complete } = commandLineOf(container);
  const commands = allCommands(statements);
  const isOnly = complete && commands.filter((one) => !isHarmless(one)).length === 1;
  for (const { words, assignments } of commands) {
    const exported = baseName(words[0]?.text ?? '') === 'export' ? words.slice(1) : [];
    for (const word of [...assignments, ...exported]) {
      const [name = '', list = ''] = textOf(word, container).split('=');
      const seen: number | undefined = lists.test(name) ? visible(list, count) : undefined;
      const span = spanOfWords(document, lines, [word, word]);
      const isOutside = !seesOthers && list.split(',').some((number) => Number(number) >= count);
      if (seen === undefined || seen === count || span === undefined) continue;
      const isKept =
        assignments.includes(word) || lines.filter(({ value }) => value.split(`${name}=`).length > 1).length === 1;
      const isShort = isOnly && !seesOthers && seen > 0 && isKept;
      if (!isOutside && !isShort && !isWord(list)) continue;
      report({ message: effectOf(shorten(`${name}=${list}`, 50), seen, count), span });
    }
  }
}

/** The text of a word; empty if it is unknown. A variable that nothing sets has its default: `${DEVICE:-0}`. */
function textOf({ text, dynamic }: Word, { at, env, command, args }: Container): string {
  if (!dynamic) return text;
  const [, name, variable, fallback] = /^(\w+)=\$\{([A-Z_a-z]\w*):-([\w,]+)\}$/.exec(text) ?? [];
  const isSet =
    getIn(at, 'envFrom') !== undefined || isUnseen(getIn(at, 'env')) || env.some((one) => one.name === variable);
  // A loop or an assignment may set it.
  const others = [...command, ...args].map(({ value }) => value.replace(text, '')).join(' ');
  return fallback === undefined || isSet || others.includes(variable ?? '') ? '' : `${name}=${fallback}`;
}

/** The word of NVIDIA_VISIBLE_DEVICES for all GPUs. CUDA finds no such device. */
function isWord(list: string): boolean {
  return list.trim() === 'all';
}

/** Numbers of GPUs in flags: `--device 0,1`. */
function reportFlags(container: Container, { workload, podSet, document, report }: PodSetContext): void {
  const lines = [...container.command, ...container.args];
  const lists = deviceLists(container);
  const mayExpect = lines.some(({ value }) => /gpu|device|cuda:|split|^-mg$|^g$|\bg \d/i.test(value));
  if (lists.length === 0 && !mayExpect) return;
  const count = wholeGpus(container, podSet);
  if (!count || isExempt(workload) || mayUseOtherGpus(container) || lines.some(({ at }) => isTemplated(at))) return;
  for (const list of lists) {
    const span = spanOfWords(document, lines, list.words);
    if (list.last < count || span === undefined) continue;
    report({ message: missingOf(list, count), span });
  }
  if (!mayExpect || container.accelerators.every(({ resource }) => !/gpu|nvidia|amd\.com/.test(resource))) return;
  const isAlone = workload.podSets.length === 1 && podSet.pods.max === 1;
  const entrypoint = container.command.length === 0 ? (imageUseOf(container).program ?? '') : '';
  for (const { text, last = 0, count: used = 0, words, mayBeTotal } of commandsIn(container).flatMap((command) =>
    expectedGpus(command.words, entrypoint),
  )) {
    const span = spanOfWords(document, lines, words);
    if (span === undefined || (last < count && used <= count) || (mayBeTotal === true && !isAlone)) continue;
    if (used <= count) report({ message: missingOf({ text, last }, count), span });
    else
      report({
        message: `${shorten(text, 50)} expects ${used} GPUs, but the container has only ${count}: the program fails or uses fewer GPUs`,
        span,
      });
  }
}

function missingOf({ text, last }: Pick<DeviceList, 'text' | 'last'>, count: number): string {
  const own = count === 1 ? 'the container has only GPU 0' : `the container's ${count} GPUs are ${indexes(count)}`;
  return `${shorten(text, 50)} names GPU ${last}, but ${own}: the program fails or uses fewer GPUs`;
}

/** The first of a list of GPUs or MIG devices by their identifiers, which drivers print in full; before release 470, `MIG-GPU-<uuid>/7/0`. */
const uuid =
  /^\s*(?:GPU|MIG(?:-GPU)?)-[0-9a-f]{8}(?:-[0-9a-f]{4}){0,3}(?:-[0-9a-f]{12})?(?:\/\d{1,2}\/\d{1,2})?\s*(?:,|$)/i;

/** Whether the pod names its node: the GPU may be the only one there. */
function isPinned({ pod, selectors }: PodSet): boolean {
  const fields = 'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.*.matchFields';
  if (getIn(pod, 'nodeName') !== undefined || placesAt(pod, fields).length > 0) return true;
  return selectors.some(({ key }) => /(?:^|[./-])host-?name$/i.test(key));
}

const lists = /^(?:CUDA|HIP|ROCR)_VISIBLE_DEVICES$/;

/** How many of a container's GPUs a list leaves visible; undefined for names of another form. */
function visible(list: string, count: number): number | undefined {
  const parts = list.trim() === '' ? [] : list.split(',').map((part) => part.trim());
  // The words of NVIDIA_VISIBLE_DEVICES: CUDA finds no such device.
  if (/^(?:all|none|void)$/.test(parts.join())) return 0;
  if (!parts.every((part) => /^-?\d{1,4}$/.test(part))) return undefined;
  const numbers = parts.map(Number);
  const end = numbers.findIndex((number) => number < 0 || number >= count);
  const used = end < 0 ? numbers : numbers.slice(0, end);
  // CUDA rejects a list with a number twice.
  return new Set(used).size === used.length ? used.length : 0;
}

/** A program that sets the variable itself overrides the list. */
function isMentioned(name: string, { command, args, scripts }: Container): boolean {
  return (
    [...command, ...args].some(({ value }) => value.includes(name)) || scripts.some(({ text }) => text.includes(name))
  );
}
