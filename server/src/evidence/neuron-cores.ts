import { isInstanceTypeLabel } from '../catalog/index.ts';
import { either, partOf } from '../catalog/word-patterns.ts';
import { findSharding } from '../command/parallelism.ts';
import { findLocalProcesses, type LocalProcesses } from '../command/processes.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';
import { spansPods } from './gpu-assignment.ts';
import { hasRole } from './role-confidence.ts';

/** A launch that needs more NeuronCores than the devices of its container have. */
export interface MissingCores {
  readonly text: string;
  readonly needed: number;
  readonly cores: number;
  readonly span: Span;
}

interface Subject {
  readonly podSet: PodSet;
  readonly document: YamlDocument;
  readonly workload: Workload;
}

/** Launches, servers and variables that need more NeuronCores than there can be: each process has its own. */
export function missingCores(container: Container, { podSet, document, workload }: Subject): MissingCores | undefined {
  const cores = coresOf(container, podSet);
  if (cores === null) return undefined;
  const { env, command, args } = container;
  const limit = env.find(({ name, value }) => name === 'NEURON_RT_NUM_CORES' && /^\d{1,3}$/.test(value?.value ?? ''));
  if (limit?.value !== undefined && !isTemplated(limit.value.at) && Number(limit.value.value) > cores)
    return {
      text: `NEURON_RT_NUM_CORES=${limit.value.value}`,
      needed: Number(limit.value.value),
      cores,
      span: spanOf(limit.value.at),
    };
  const input = processInput(container);
  const launches = findLocalProcesses(input).filter(({ kind }) => kind === 'launch');
  const sharding = findSharding(input);
  const server = sharding?.spansPods === true || spansPods(workload) ? undefined : sharding;
  const found: readonly (Pick<LocalProcesses, 'text' | 'words'> & { count: unknown })[] = [
    ...launches,
    ...(server === undefined ? [] : [{ text: server.text, words: server.words, count: server.tensor }]),
  ];
  for (const { text, words, count } of found) {
    const span = words && spanOfWords(document, [...command, ...args], words);
    if (span !== undefined && typeof count === 'number' && count > cores) return { text, needed: count, cores, span };
  }
  return undefined;
}

/** A server on so few NeuronCores that whole devices of its container stay idle. */
export interface IdleDevices {
  readonly text: string;
  readonly used: number;
  /** The fewest cores that the container can have. */
  readonly cores: number;
  readonly devices: number;
  readonly span: Span;
}

/**
 * The only server of a container, if at least half of its devices stay idle. Undefined for several processes, each of which has cores of its own,
 * and for copies of the model.
 */
export function idleDevices(container: Container, { podSet, document, workload }: Subject): IdleDevices | undefined {
  const range = rangeOf(container, podSet);
  const [only] = container.accelerators;
  const devices = only?.count ?? 0;
  if (range === null || devices < 2 || only?.resource === 'aws.amazon.com/neuroncore') return undefined;
  const input = processInput(container);
  const isLaunched = findLocalProcesses(input).some(({ kind }) => kind === 'launch');
  const isAlone = !isLaunched && !spansPods(workload) && !hasRole(workload, 'training');
  const server = isAlone ? findSharding(input) : undefined;
  if (server?.words === undefined || server.spansPods || server.devices === null || copies.test(wordsOf(input)))
    return undefined;
  // The number of cores is also that of each process: more of them than a model needs may serve copies.
  const reserved = input.env.find(({ name }) => name === 'NEURON_RT_NUM_CORES')?.value ?? '0';
  const taken = Math.max(server.devices, /^\d{1,3}$/.test(reserved) ? Number(reserved) : Number.POSITIVE_INFINITY);
  const span = spanOfWords(document, [...container.command, ...container.args], server.words);
  if (span === undefined || taken * 2 > range.least) return undefined;
  return { text: server.text, used: server.devices, cores: range.least, devices, span };
}

/** Settings with which a server runs copies of its model, or one process for each device. */
const copies = either(
  partOf('data.parallel dp.degree workers replicas visible.cores num.processes xargs'),
  // A loop, and programs in the background.
  /\bdo\s|(?<![&>])&(?![&>])/,
);

function wordsOf({ command, args, env }: ReturnType<typeof processInput>): string {
  return [...command, ...args, ...env.map(({ name }) => name)].join(' ').toLowerCase();
}

/** The most NeuronCores that a container can have; null without Neuron devices. */
function coresOf(container: Container, podSet: PodSet): number | null {
  return rangeOf(container, podSet)?.most ?? null;
}

/** How many NeuronCores a container can have, by the instance types that its pod selects; null without Neuron devices. */
function rangeOf(
  { accelerators }: Container,
  { selectors }: PodSet,
): { readonly least: number; readonly most: number } | null {
  const [only, ...others] = accelerators;
  if (only === undefined || only.count === null || only.count === 0 || others.length > 0) return null;
  if (only.resource === 'aws.amazon.com/neuroncore') return { least: only.count, most: only.count };
  if (!/^aws\.amazon\.com\/neuron(?:device)?$/.test(only.resource)) return null;
  const machines = selectors.filter(({ key }) => isInstanceTypeLabel(key)).flatMap(({ values }) => values);
  const families = machines.map(({ value }) => coresByFamily.get(value.slice(0, 4)));
  const [least, most] =
    families.length === 0
      ? [fewestCores, mostCores]
      : [Math.min, Math.max].map((pick, index) =>
          pick(...families.map((cores) => cores?.[index] ?? (index === 0 ? fewestCores : mostCores))),
        );
  return { least: only.count * (least ?? fewestCores), most: only.count * (most ?? mostCores) };
}

/** NeuronCores of a device, the fewest and the most: those of Trainium2 join into half as many. https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware/index.html, read 2026-11-29 */
const coresByFamily: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['inf1', [4, 4]],
  ['inf2', [2, 2]],
  ['trn1', [2, 2]],
  ['trn2', [4, 8]],
]);

/** Of Inferentia2. */
const fewestCores = 2;

/** Of Trainium2. */
const mostCores = 8;
