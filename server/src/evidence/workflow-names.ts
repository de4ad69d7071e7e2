import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, getIn, isIncomplete, items, spanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';
import { placesAt } from './written.ts';

/** A name in an expression of an Argo workflow that no part of its template has. */
export interface LostExpression {
  readonly name: string;
  readonly at: Cursor;
  readonly span: Span;
  readonly what: string;
  readonly known: readonly string[];
}

/** The parts of a template to which its expressions refer: `{{inputs.parameters.rate}}`, `{{tasks.fit.outputs.result}}`. */
const parts = [
  { prefix: 'inputs.parameters', what: 'input parameter', paths: ['inputs.parameters.*'] },
  { prefix: 'inputs.artifacts', what: 'input artifact', paths: ['inputs.artifacts.*'] },
  { prefix: 'tasks', what: 'task', paths: ['dag.tasks.*'] },
  { prefix: 'steps', what: 'step', paths: ['steps.*.*', 'steps.*.steps.*'] },
] as const;

const expressions = /\{\{\s*(inputs\.parameters|inputs\.artifacts|tasks|steps)\.([\w-]+)(?=[.\s}])[^{}\n]{0,200}\}\}/g;

/** The names in expressions that Argo cannot resolve, so that it rejects the workflow. Each template has its own inputs, tasks and steps. */
export function lostExpressions({ root, apiVersion, kind, document }: Manifest): readonly LostExpression[] {
  if (groupOf(apiVersion) !== 'argoproj.io' || !/Workflow/.test(kind)) return [];
  const templates = ['spec.templates.*', 'spec.workflowSpec.templates.*'].flatMap((path) => placesAt(root, path));
  return templates.flatMap((template) => {
    const { start, end } = spanOf(template);
    const text = document.text.slice(start, end);
    // A template inside another one has inputs of its own.
    if (!text.includes('{{') || /\binline\s*:/.test(text) || isIncomplete(template)) return [];
    const found: LostExpression[] = [];
    for (const { 0: written, 1: prefix, 2: name = '', index } of text.matchAll(expressions)) {
      const part = parts.find((one) => one.prefix === prefix);
      const names = part === undefined ? undefined : namesOf(template, part.paths);
      if (part === undefined || names === undefined || names.includes(name)) continue;
      // Tasks and steps are named in templates of theirs, and in texts for others.
      if (names.length === 0 && (prefix === 'tasks' || prefix === 'steps')) continue;
      const span = { start: start + index, end: start + index + written.length };
      found.push({ name, at: template, span, what: part.what, known: names });
    }
    return found;
  });
}

/** Undefined if a name or a list is not written. */
function namesOf(template: Cursor, paths: readonly string[]): readonly string[] | undefined {
  const holders = ['inputs', 'inputs.parameters', 'inputs.artifacts', 'dag', 'dag.tasks', 'steps'];
  if (
    holders.some((path) => placesAt(template, path).some((one) => isIncomplete(one) || items(one).some(isIncomplete)))
  )
    return undefined;
  const names = paths.flatMap((path) => placesAt(template, path)).map((one) => asText(getIn(one, 'name')));
  return names.includes(undefined) ? undefined : names.flatMap((name) => name ?? []);
}
