import type { Container, Workload } from '../model/workload.ts';
import { spanInScalar } from '../rewrite/word-span.ts';
import { asText, type Cursor, getIn, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Rank, rankReader, unindexedJob } from './pod-ranks.ts';

/** A completion index that no pod has. */
export interface MissingIndex extends Rank {
  readonly job: Cursor;
  /** A program certainly reads it as the rank of a process or node. */
  readonly isRank: boolean;
  /** The variable that the Job controller would set, not another one that is empty. */
  readonly isOwn: boolean;
}

/** Where the container reads the completion index of a Job that gives its pods none. */
export function missingIndex(
  container: Container,
  document: YamlDocument,
  workload: Workload,
): MissingIndex | undefined {
  const job = unindexedJob(workload);
  if (job === undefined) return undefined;
  for (const { name, at } of container.env) {
    const path = getIn(at, 'valueFrom', 'fieldRef', 'fieldPath');
    if (path === undefined || !indexPath.test(asText(path) ?? '')) continue;
    const isRank = rankReader(name, container) !== undefined;
    return { text: name, span: spanOf(path), job, isRank, isOwn: name === indexVariable };
  }
  if (container.env.some(({ name }) => name === indexVariable)) return undefined;
  const lines = [...container.command, ...container.args];
  if (lines.some(({ value }) => isHandled.test(value))) return undefined;
  for (const line of lines) {
    const found = indexUse.exec(line.value.replace(onlyNamed, (text) => ' '.repeat(text.length)));
    if (found === null) continue;
    const part = { start: found.index, end: found.index + found[0].length };
    const isRank = rankReader(indexVariable, container) !== undefined;
    return { text: indexVariable, span: spanInScalar(document, line, part), job, isRank, isOwn: true };
  }
  return undefined;
}

const indexVariable = 'JOB_COMPLETION_INDEX';
const indexPath = /^metadata\.(?:labels|annotations)\['batch\.kubernetes\.io\/job-completion-index'\]$/;
/** A script that sets the variable, gives it a default or asks whether it is set, as for Jobs of both modes. */
const isHandled =
  /(?<![\w$])JOB_COMPLETION_INDEX=|\$\{JOB_COMPLETION_INDEX:?[-=+?]|-[nzv]\s+["']?\$?\{?JOB_COMPLETION_INDEX\b/;
/** Comments, and what a script only prints. */
const onlyNamed = /(?<=^|\s)#.*|(?<=(?:^|[;&\n])[ \t]{0,20})(?:echo|printf)\b[^;&|>\n]*(?=[;&\n]|$)/g;
const indexUse = /\$(?:JOB_COMPLETION_INDEX\b|\{JOB_COMPLETION_INDEX\}|\(JOB_COMPLETION_INDEX\))/;
