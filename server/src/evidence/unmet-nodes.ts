import { meaningOf } from '../command/flag-meaning.ts';
import { allCommands, readCommandLine } from '../command/shell.ts';
import { kindOf } from '../model/kinds/index.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, Workload } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { getIn, items } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { isNodeCount, meetsNodes, ownFlags } from './torchrun-nodes.ts';

/** A launch by torchrun on several nodes that wait at their own addresses. */
export interface UnmetNodes {
  /** The flag with the number of nodes. */
  readonly text: string;
  readonly span: Span;
  /** The launch has a rank, but nothing says where the first node is. */
  readonly ranked: boolean;
}

/** Such a launch in the pods of a kind whose controller sets no variables for torchrun. */
export function unmetNodes(container: Container, document: YamlDocument, workload: Workload): UnmetNodes | undefined {
  if (kindOf(workload).tasks !== true && !/^(?:batch|apps|jobset\.x-k8s\.io)\//.test(workload.apiVersion))
    return undefined;
  const { command, args, env } = processInput(container);
  const lines = [...container.command, ...container.args];
  const hasOthers =
    env.some(({ name }) => name.startsWith('PET_')) || lines.some(({ value }) => value.includes('PET_'));
  if (hasOthers || items(getIn(container.at, 'envFrom')).length > 0) return undefined;
  for (const launch of allCommands(readCommandLine(command, args, env).statements)) {
    const flags = ownFlags(launch);
    const nodes = flags.find(isNodeCount);
    if (nodes === undefined || !/^\d{1,5}$/.test(nodes.value ?? '') || Number(nodes.value) < 2) continue;
    const last = nodes.valueWord ?? nodes.word;
    const span = flags.some(meetsNodes) ? undefined : spanOfWords(document, lines, [nodes.word, last]);
    const ranked = flags.some((flag) => meaningOf(flag, 'node-rank') !== undefined);
    if (span !== undefined) return { text: `--${nodes.name}=${nodes.value}`, span, ranked };
  }
  return undefined;
}

export function unmetMessage({ text, ranked }: UnmetNodes, pods: number): string {
  const missing = ranked ? 'no --master-addr and does not read MASTER_ADDR' : 'no node rank and no rendezvous';
  return `torchrun ${shorten(text, 30)} has ${missing}: each of the ${pods} pods waits for the others at its own localhost`;
}
