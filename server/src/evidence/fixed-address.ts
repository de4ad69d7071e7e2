import { readFlags } from '../command/flags.ts';
import type { Word } from '../command/shell.ts';
import { once } from '../model/once.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Cursor, getIn, isIncomplete, keyOf } from '../yaml/cursor.ts';
import { leastPods } from './task-ranks.ts';

/** A literal IP address at which the pods of a job look for the first of them. */
export interface FixedAddress {
  readonly text: string;
  readonly words?: readonly [Word, Word];
  /** The value of the variable. */
  readonly at?: Cursor;
}

/**
 * The address of the first pod, if it is an IP address in the network of the pods, which is another one for each new pod. A network plugin or
 * the network of the node can make it stable.
 */
export function fixedAddress(container: Container, workload: Workload): FixedAddress | undefined {
  if (leastPods(workload) < 2 || mayKeepAddresses(workload)) return undefined;
  for (const { words } of commandsIn(container)) {
    const flag = readFlags(words).find(
      ({ name, value = '', dynamic }) => !dynamic && places.test(name) && isAddress(value),
    );
    if (flag !== undefined)
      return { text: `--${flag.written} ${flag.value}`, words: [flag.word, flag.valueWord ?? flag.word] };
  }
  const variable = container.env.find(
    ({ name, value }) => /^(?:PET_)?MASTER_ADDR$/.test(name) && isAddress(value?.value ?? ''),
  );
  return variable?.value && { text: `${variable.name} ${variable.value.value}`, at: variable.value.at };
}

const places = /^(?:master-addr|main-process-ip|rdzv-endpoint)$/;

function isAddress(value: string): boolean {
  return /^(?!127\.|0\.)(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?$/.test(value);
}

const mayKeepAddresses = once(({ podSets }: Workload) => podSets.some(mayKeepAddress));

function mayKeepAddress({ pod, annotations }: PodSet): boolean {
  if (isIncomplete(pod) || getIn(pod, 'hostNetwork') !== undefined) return true;
  return annotations.some(({ at }) => /cni|networks?\b|\bip/i.test(keyOf(at)));
}
