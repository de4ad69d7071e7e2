import { isInstanceTypeLabel } from '../catalog/index.ts';
import { findSharding } from '../command/parallelism.ts';
import { findLocalProcesses, type LocalProcesses } from '../command/processes.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';
import { spansPods } from './gpu-assignment.ts';

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

/** The most NeuronCores that a container can have; null without Neuron devices. */
function coresOf({ accelerators }: Container, { selectors }: PodSet): number | null {
  const [only, ...others] = accelerators;
  if (only === undefined || only.count === null || only.count === 0 || others.length > 0) return null;
  if (only.resource === 'aws.amazon.com/neuroncore') return only.count;
  if (!/^aws\.amazon\.com\/neuron(?:device)?$/.test(only.resource)) return null;
  const machines = selectors.filter(({ key }) => isInstanceTypeLabel(key)).flatMap(({ values }) => values);
  const inDevice = machines.map(({ value }) => coresByFamily.get(value.slice(0, 4)) ?? mostCores);
  return only.count * (inDevice.length === 0 ? mostCores : Math.max(...inDevice));
}

/** NeuronCores of a device. https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware/index.html, read 2026-11-29 */
const coresByFamily: ReadonlyMap<string, number> = new Map([
  ['inf1', 4],
  ['inf2', 2],
  ['trn1', 2],
]);

/** Of Trainium2. */
const mostCores = 8;
