import { asText, type Cursor, getIn, isTemplated, items, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { type Known, maxValue, type References, resolve, withParameters } from './filled-parameters.ts';

// Argo's workflows use parameters as text. A default applies unless the submitter of the workflow sets another value.
// https://argo-workflows.readthedocs.io/en/latest/walk-through/parameters/

/** Whether a text may use parameters of an Argo workflow. */
export function usesWorkflowParameters(text: string): boolean {
  return text.includes('workflow.parameters.') || text.includes('inputs.parameters.');
}

/** The tree of an Argo workflow with the defaults of its parameters; undefined for other documents, and if nothing changes. */
export function withWorkflowDefaults({ root, text }: YamlDocument): YamlNode | undefined {
  if (root?.kind !== 'map' || !usesWorkflowParameters(text)) return undefined;
  const at = rootCursor(root);
  if (asText(getIn(at, 'apiVersion'))?.startsWith('argoproj.io/') !== true) return undefined;
  const spec = getIn(at, 'spec', 'workflowSpec') ?? getIn(at, 'spec');
  const defaults = valuesIn(getIn(spec, 'arguments'), new Map());
  const global: Known = new Map([...defaults].map(([name, value]) => [`workflow.parameters.${name}`, value]));
  const templates = items(getIn(spec, 'templates'));
  const inputs = new Map<YamlNode, Known>();
  const calls = callsIn(templates, global);
  const entrypoint = asText(getIn(spec, 'entrypoint'));
  for (const template of templates) {
    const name = asText(getIn(template, 'name')) ?? '';
    const called = [...(calls.get(name) ?? []), ...(name === entrypoint ? [defaults] : [])];
    inputs.set(template.node, inputsOf(template, called, global));
  }
  return withParameters(root, global, references, inputs);
}

const references: References = { pattern: /\{\{\s{0,9}([\w.-]{1,200})\s{0,9}\}\}/g, mark: '{{' };

/** The values of `parameters`, by name, without those that are unknown. */
function valuesIn(holder: Cursor | undefined, known: Known): Known {
  return new Map(
    items(getIn(holder, 'parameters')).flatMap((one): readonly [string, string][] => {
      const value = getIn(one, 'value') ?? getIn(one, 'default');
      const name = asText(getIn(one, 'name'));
      const text = value && textOf(value, known);
      return name === undefined || text === undefined || text.length > maxValue ? [] : [[name, text]];
    }),
  );
}

/** null: unknown. */
type Arguments = ReadonlyMap<string, string | null>;

/** The arguments with which steps and tasks start each template. */
function callsIn(templates: readonly Cursor[], global: Known): ReadonlyMap<string, readonly Arguments[]> {
  const calls = new Map<string, Arguments[]>();
  for (const template of templates) {
    const steps = items(getIn(template, 'steps')).flatMap((one) => (one.node.kind === 'seq' ? items(one) : [one]));
    for (const call of [...steps, ...items(getIn(template, 'dag', 'tasks'))]) {
      const name = asText(getIn(call, 'template'));
      if (name === undefined) continue;
      const values = valuesIn(getIn(call, 'arguments'), global);
      const written = items(getIn(call, 'arguments', 'parameters')).map((one) => asText(getIn(one, 'name')) ?? '');
      const all = calls.get(name) ?? [];
      all.push(new Map(written.map((one) => [one, values.get(one) ?? null])));
      calls.set(name, all);
    }
  }
  return calls;
}

/** What the inputs of a template are in all its calls. */
function inputsOf(template: Cursor, calls: readonly Arguments[], global: Known): Known {
  const found = new Map<string, string>();
  const defaults = valuesIn(getIn(template, 'inputs'), global);
  for (const one of items(getIn(template, 'inputs', 'parameters'))) {
    const name = asText(getIn(one, 'name')) ?? '';
    const own = defaults.get(name) ?? null;
    const [first = null, ...others] =
      calls.length === 0 ? [own] : calls.map((call) => call.get(name) ?? (call.has(name) ? null : own));
    if (first !== null && others.every((other) => other === first)) found.set(`inputs.parameters.${name}`, first);
  }
  return found;
}

/** A scalar's text with all references resolved; undefined if some are unknown. */
function textOf(cursor: Cursor, known: Known): string | undefined {
  const text = cursor.node.kind === 'scalar' ? cursor.node.source : undefined;
  if (text === undefined || !isTemplated(cursor)) return text;
  const filled = resolve(text, known, references);
  return filled.includes('{{') ? undefined : filled;
}
