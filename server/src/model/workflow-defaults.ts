import { asText, type Cursor, getIn, isTemplated, items, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument, YamlMap, YamlNode, YamlScalar, YamlSeq } from '../yaml/node.ts';
import { resolvePlain } from '../yaml/scalar.ts';

// Argo's workflows use parameters as text. A default applies unless whoever submits the workflow sets another value.
// https://argo-workflows.readthedocs.io/en/latest/walk-through/parameters/

/** Where the values come from, in words. */
export const parameterDefaults = 'its default parameters';

/** Whether a text may use parameters of an Argo workflow. */
export function usesParameters(text: string): boolean {
  return text.includes('workflow.parameters.') || text.includes('inputs.parameters.');
}

/** The tree of an Argo workflow with the defaults of its parameters; undefined for other documents, and if nothing changes. */
export function withParameterDefaults({ root, text }: YamlDocument): YamlNode | undefined {
  if (root?.kind !== 'map' || !usesParameters(text)) return undefined;
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
  const state = { inputs, changed: false };
  const filled = fill(root, global, state, 0);
  return state.changed ? filled : undefined;
}

/** What stands for the text of a reference. */
type Known = ReadonlyMap<string, string>;

const maxDepth = 60;
const maxLength = 100_000;
/** Numbers, models and machines are shorter; many references to a long value would make a large tree. */
const maxValue = 200;

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
  const filled = resolve(text, known);
  return filled.includes('{{') ? undefined : filled;
}

function resolve(text: string, known: Lookup): string {
  if (text.length > maxLength) return text;
  return text.replace(/\{\{\s{0,9}([\w.-]{1,200})\s{0,9}\}\}/g, (written, name: string) => known.get(name) ?? written);
}

/** Values of a template, and those of the workflow; without a copy, because a workflow may have many of both. */
function joined(own: Known, outer: Lookup): Lookup {
  return { get: (name) => own.get(name) ?? outer.get(name) };
}

type Lookup = Pick<Known, 'get'>;

interface State {
  readonly inputs: ReadonlyMap<YamlNode, Known>;
  changed: boolean;
}

function fill(node: YamlNode, outer: Lookup, state: State, depth: number): YamlNode {
  if (depth > maxDepth) return node;
  if (node.kind === 'scalar') return node.templated ? fillScalar(node, outer, state) : node;
  const own = state.inputs.get(node);
  const known = own === undefined || own.size === 0 ? outer : joined(own, outer);
  return node.kind === 'map' ? fillMap(node, known, state, depth) : fillSeq(node, known, state, depth);
}

function fillMap(node: YamlMap, known: Lookup, state: State, depth: number): YamlMap {
  const filled = node.entries.map((entry) => {
    const value = fill(entry.value, known, state, depth + 1);
    return value === entry.value ? entry : { ...entry, value, shared: entry.shared || value.kind === 'scalar' };
  });
  return filled.every((entry, index) => entry === node.entries[index]) ? node : { ...node, entries: filled };
}

function fillSeq(node: YamlSeq, known: Lookup, state: State, depth: number): YamlSeq {
  const filled = node.items.map((item) => {
    const value = fill(item.value, known, state, depth + 1);
    return value === item.value ? item : { ...item, value, shared: item.shared || value.kind === 'scalar' };
  });
  return filled.every((item, index) => item === node.items[index]) ? node : { ...node, items: filled };
}

function fillScalar(node: YamlScalar, known: Lookup, state: State): YamlScalar {
  const source = resolve(node.source, known);
  if (source === node.source) return node;
  state.changed = true;
  const templated = source.includes('{{');
  const value = node.style === 'plain' && !templated ? resolvePlain(source) : source;
  return { ...node, source, value, templated };
}
