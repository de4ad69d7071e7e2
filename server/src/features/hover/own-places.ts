import { servedModel } from '../../model/served-model.ts';
import type { Container, Workload } from '../../model/workload.ts';
import { type Cursor, getIn } from '../../yaml/cursor.ts';
import type { Span } from '../../yaml/span.ts';

// Places of a workload that have a hover of their own.

/** The name of the model that a container serves, if it is written at an offset of the document. */
export function modelNameAt(workload: Workload, container: Container, offset: number): Span | undefined {
  const name = servedModel(container, workload).model?.name;
  if (name === undefined) return undefined;
  const { text } = workload.manifest.document;
  const from = Math.max(0, offset - name.length);
  const found = text.slice(from, offset + name.length).indexOf(name);
  if (found < 0) return undefined;
  const span = { start: from + found, end: from + found + name.length };
  // Not as a part of a longer name.
  return /[\w.-]/.test(text[span.start - 1] ?? '') || /[\w./:-]/.test(text[span.end] ?? '') ? undefined : span;
}

/** The fields that set when and how long a Job or CronJob runs. */
export function runFields({ root }: Workload['manifest']): readonly Cursor[] {
  const spec = getIn(root, 'spec');
  if (spec === undefined) return [];
  return runPaths.flatMap((path) => getIn(spec, ...path) ?? []);
}

const runPaths = [
  ['schedule'],
  ['suspend'],
  ['activeDeadlineSeconds'],
  ['jobTemplate', 'spec', 'activeDeadlineSeconds'],
  ['workflowSpec', 'activeDeadlineSeconds'],
  ['runPolicy', 'activeDeadlineSeconds'],
  ['runPolicy', 'suspend'],
] as const;
