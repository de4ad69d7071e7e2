import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, getIn, isIncomplete, items, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { placesAt, writtenText } from './written.ts';

/** A reference between the templates of an Argo workflow that its controller cannot resolve. */
export interface LostExpression {
  readonly problem: string;
  readonly span: Span;
}

/** The parts of a template to which its expressions refer: `{{inputs.parameters.rate}}`, `{{tasks.fit.outputs.result}}`. */
const parts = [
  { prefix: 'inputs.parameters', what: 'input parameter', paths: ['inputs.parameters.*'] },
  { prefix: 'inputs.artifacts', what: 'input artifact', paths: ['inputs.artifacts.*'] },
  { prefix: 'tasks', what: 'task', paths: ['dag.tasks.*'] },
  { prefix: 'steps', what: 'step', paths: ['steps.*.*', 'steps.*.steps.*'] },
] as const;

const expressions = /\{\{\s*(inputs\.parameters|inputs\.artifacts|tasks|steps)\.([\w-]+)(?=[.\s}])[^{}\n]{0,200}\}\}/g;

/** The names in expressions, and the inputs, that Argo cannot resolve, so that it rejects the workflow. Each template has its own inputs, tasks and steps. */
export function lostExpressions({ root, apiVersion, kind, document }: Manifest): readonly LostExpression[] {
  if (groupOf(apiVersion) !== 'argoproj.io' || !/Workflow/.test(kind)) return [];
  // Templates inherit its inputs.
  if (['spec', 'spec.workflowSpec'].some((path) => placesAt(root, `${path}.templateDefaults`).length > 0)) return [];
  const templates = ['spec.templates.*', 'spec.workflowSpec.templates.*'].flatMap((path) => placesAt(root, path));
  const byName = new Map(templates.map((one) => [asText(getIn(one, 'name')) ?? '', one]));
  return templates.flatMap((template) => {
    const { start, end } = spanOf(template);
    const text = document.text.slice(start, end);
    // A template inside another one has inputs of its own.
    if (/\binline\s*:/.test(text) || isIncomplete(template)) return [];
    const found = missingArguments(template, byName);
    const namesByPart = new Map<string, readonly string[] | undefined>();
    for (const { 0: written, 1: prefix = '', 2: name = '', index } of text.matchAll(expressions)) {
      const part = parts.find((one) => one.prefix === prefix);
      if (part === undefined) continue;
      if (!namesByPart.has(prefix)) namesByPart.set(prefix, namesOf(template, part.paths));
      const names = namesByPart.get(prefix);
      if (names === undefined || names.includes(name) || isComment(text, index)) continue;
      // Tasks and steps are named in templates of theirs, and in texts for others.
      if (names.length === 0 && (prefix === 'tasks' || prefix === 'steps')) continue;
      const shown = names.slice(0, 2).map((one) => shorten(one, 20));
      const only = shown.length === 0 ? '' : `, only ${shown.join(names.length > 2 ? ', ' : ' and ')}`;
      const more = names.length > 2 ? ` and ${names.length - 2} more` : '';
      found.push({
        problem: `No ${part.what} is named ${shorten(name, 30)}${only}${more}`,
        span: { start: start + index, end: start + index + written.length },
      });
    }
    return found;
  });
}

/** Tasks and steps that leave out an input without a default. */
function missingArguments(template: Cursor, byName: ReadonlyMap<string, Cursor>): LostExpression[] {
  const calls = ['dag.tasks.*', 'steps.*.*'].flatMap((path) => placesAt(template, path));
  return calls.flatMap((call) => {
    const [at, passed] = [getIn(call, 'template'), getIn(call, 'arguments', 'parameters')];
    const called = byName.get(writtenText(at) ?? '');
    if (at === undefined || called === undefined || isIncomplete(call) || isIncomplete(called)) return [];
    if ([getIn(call, 'arguments'), passed, getIn(called, 'inputs', 'parameters')].some(isIncomplete)) return [];
    const names = items(passed).map((one) => asText(getIn(one, 'name')));
    if (names.includes(undefined)) return [];
    const missing = placesAt(called, 'inputs.parameters.*').find((one) => {
      const isFilled = ['value', 'default', 'valueFrom'].some((key) => getIn(one, key) !== undefined);
      return !isFilled && !isIncomplete(one) && !names.includes(writtenText(getIn(one, 'name')) ?? names[0]);
    });
    const name = writtenText(getIn(missing, 'name'));
    if (name === undefined) return [];
    const caller = shorten(asText(getIn(call, 'name')) ?? 'A step', 30);
    const problem = `${caller} passes no ${shorten(name, 30)}, which template ${shorten(asText(at) ?? '', 30)} requires`;
    return [{ problem, span: spanOf(at) }];
  });
}

/** Whether a comment may begin before an offset of the same line. */
function isComment(text: string, at: number): boolean {
  const line = text.slice(Math.max(0, at - 1000), at);
  return /(?:^|\s)#/.test(line.slice(line.lastIndexOf('\n') + 1));
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
