import { allCommands, baseName, type SimpleCommand, type Statement, type Word } from '../command/shell.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { commandLineOf } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { ownLabels } from './pod-records.ts';
import { isHere } from './shared-master.ts';

/** A loop of an init container that ends when a Service has a ready pod, although the Service selects only pods that are ready after it. */
export interface OwnServiceWait {
  readonly service: string;
  readonly words: readonly [Word, Word];
}

/** The wait of an init container for the Service of its own pods. */
export function ownServiceWait(
  container: Container,
  podSet: PodSet,
  workload: Workload,
  references: CrossReferences,
): OwnServiceWait | undefined {
  const labels = ownLabels(podSet, workload);
  if (labels === undefined || references.mayBePatch()) return undefined;
  const { statements } = commandLineOf(container);
  const end = statements.findIndex(mayEnd);
  for (const command of statements.slice(0, end === -1 ? undefined : end).flatMap(waitIn)) {
    const word = hostIn(command);
    const [host = '', ...domain] = addressOf(word?.text ?? '').split('.');
    if (word === undefined || host === '') continue;
    // A pod of a StatefulSet has its own record below the Service: `train-0.workers`.
    const isPod = host.startsWith(`${workload.name}-`) && domain[0] !== undefined;
    const rest = isPod ? domain.slice(1) : domain;
    const service = isPod ? (domain[0] ?? '') : host;
    const found = references.service(workload.namespace, service);
    if (found === undefined || found.siblingFolder || !isHere(rest, workload.namespace)) continue;
    const { hasAddress, selects, type, waits } = found.facts;
    const selected = Object.entries(selects ?? {});
    // The name of a Service with an address resolves without pods.
    const needsPod = !hasAddress || connects.has(baseName(command.words[0]?.text ?? ''));
    if (!waits || type !== 'ClusterIP' || !needsPod || selected.length === 0) continue;
    if (selected.some(([key, value]) => labels[key] !== value)) continue;
    const others =
      references.keptRunning(workload.namespace, labels).length > (workload.kind === 'StatefulSet' ? 1 : 0);
    if (!others) return { service, words: [word, word] };
  }
  return undefined;
}

/** Whether a script may end here before it waits: the first pod, which the others wait for. */
function mayEnd(statement: Statement): boolean {
  return [...allCommands([statement])].some(({ words: [first] }) => ends.has(first?.text ?? ''));
}

const ends: ReadonlySet<string> = new Set(['exit', 'return', 'exec', 'eval', 'source', '.', 'trap']);

/** The command whose success ends a loop, if nothing else does. */
function waitIn(statement: Statement): readonly SimpleCommand[] {
  if (statement.kind !== 'loop' || statement.keyword === 'for' || statement.background || statement.after !== null)
    return [];
  const [first, ...filters] = statement.condition;
  const isEndless = statement.body.every(
    (one) => one.kind === 'command' && /^(?:echo|printf|sleep|date|:|true)$/.test(baseName(one.words[0]?.text ?? '')),
  );
  return isEndless && first?.kind === 'command' && filters.every(({ after }) => after === '|') ? [first] : [];
}

const lookups: ReadonlySet<string> = new Set(['nslookup', 'host', 'getent', 'ping']);
const connects: ReadonlySet<string> = new Set(['nc', 'ncat', 'curl', 'wget', 'telnet']);

/** The argument with the host, the only one that may be a name. */
function hostIn({ words: [program, ...args] }: SimpleCommand): Word | undefined {
  const name = baseName(program?.text ?? '');
  if (!lookups.has(name) && !connects.has(name)) return undefined;
  const named = args.filter(({ text, dynamic }, at) => {
    const isDatabase = name === 'getent' && at === 0;
    return !dynamic && !isDatabase && !text.startsWith('-') && /^[a-z]/.test(addressOf(text));
  });
  return named.length === 1 && !args.some(({ dynamic }) => dynamic) ? named[0] : undefined;
}

function addressOf(text: string): string {
  return text.replace(/^https?:\/\//, '').replace(/[:/].*$/s, '');
}
