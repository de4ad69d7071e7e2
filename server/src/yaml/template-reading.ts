import { countWhere } from './document-marks.ts';
import { emptyScalar } from './draft.ts';
import type { YamlNode } from './node.ts';
import type { Span } from './span.ts';
import { findActions, isControl, type TemplateAction, wordsOf } from './template-action.ts';
import { evaluate, type Scope } from './template-expression.ts';
import { type Evaluated, isTrue } from './template-functions.ts';

/** What a chart's values make of the actions of a template. */
export interface TemplateReading {
  /** The output of each action. Missing: the values do not determine it. */
  readonly results: ReadonlyMap<TemplateAction, Evaluated>;
  /** Parts of the text that the values disable, in text order, none inside of another. */
  readonly dead: readonly Span[];
  /** The loops whose number of rounds is known, without those inside of them. */
  readonly loops: readonly Loop[];
  /** The actions that fail because the values lack something, with the path of what is missing. Those in loops are left out. */
  readonly failed: readonly Failure[];
  /** The actions that print nothing because the values lack something, with its path. Those in loops are left out. */
  readonly unset: readonly Failure[];
  /** Whether a condition or a loop is unknown, so that other parts of the text may be disabled or repeated. */
  readonly isUnsure: boolean;
}

export interface Failure {
  readonly action: TemplateAction;
  readonly path: string;
}

/** A `range` over known values. */
export interface Loop {
  /** The text that is repeated. */
  readonly body: Span;
  /** The body as each round reads it. */
  readonly rounds: readonly TemplateReading[];
}

/**
 * Reads the actions of a template, in order, with the values of its chart.
 * @param opened the actions of earlier documents that apply in this one
 * @param known the chart's named templates, and what Helm's own objects hold
 */
export function readTemplate(
  actions: readonly TemplateAction[],
  values: YamlNode,
  opened = '',
  known: Pick<Scope, 'include' | 'names'> = {},
): TemplateReading {
  const before = findActions(opened).map(({ text }): TemplateAction => ({ text, span: { start: 0, end: 0 } }));
  const read = [...before, ...actions].map((action) => ({ action, ...wordsOf(action) }));
  const assigned = read.flatMap(({ expression }, index) => {
    const name = assignment.exec(expression)?.[1];
    return name === undefined ? [] : [{ index, name }];
  });
  const template = { actions: read, ends: endsOfLoops(read), assigned, left: maxEvaluated };
  return readPart(
    template,
    { from: 0, to: read.length, depth: 0 },
    { dot: 'root', values, variables: new Map(), ...known },
  );
}

/** Nested loops over long lists would otherwise be evaluated millions of times. */
const maxEvaluated = 20_000;

/** No chart nests its loops deeper. */
const maxDepth = 20;

interface ReadAction {
  readonly action: TemplateAction;
  readonly expression: string;
  /** Of a control action: the keyword and what follows. */
  readonly word: string;
  readonly rest: string;
}

interface Template {
  readonly actions: readonly ReadAction[];
  /** The index of the action that ends each loop, by that of the loop. */
  readonly ends: ReadonlyMap<number, number>;
  /** The assignments, with their indexes. */
  readonly assigned: readonly { readonly index: number; readonly name: string }[];
  /** How many more actions may be evaluated, and variables copied. */
  left: number;
}

interface Part {
  readonly from: number;
  readonly to: number;
  readonly depth: number;
}

function readPart(template: Template, { from, to, depth }: Part, scope: Scope): TemplateReading {
  const { actions } = template;
  const results = new Map<TemplateAction, Evaluated>();
  const dead: Span[] = [];
  const loops: Loop[] = [];
  const variables = new Map(scope.variables);
  const blocks: Block[] = [];
  const failed: Failure[] = [];
  const unset: Failure[] = [];
  let { dot } = scope;
  let isUnsure = false;
  for (let index = from; index < to && template.left > 0; index += 1) {
    const read = actions[index];
    if (read === undefined) break;
    template.left -= 1;
    const { action, word, rest, expression } = read;
    const isReached = depth === 0 && blocks.every(({ truth }) => truth === true);
    const onMissing = isReached ? (path: string) => void failed.push({ action, path }) : undefined;
    const here: Scope = { ...scope, dot, variables, onMissing };
    if (!isControl(action)) {
      const value = evaluate(expression, here);
      if (value !== undefined) results.set(action, value);
      const path = isReached && value?.kind !== 'scalar' ? printed.exec(expression)?.[1] : undefined;
      if (path !== undefined && lacks(scope.values, path.split('.'))) unset.push({ action, path });
      continue;
    }
    const assigned = assignment.exec(expression);
    const block = blocks.at(-1);
    if (assigned?.[1] !== undefined) {
      // An assignment in a branch holds only if that runs.
      if (blocks.some(({ truth }) => truth === false)) continue;
      const isSure = blocks.every(({ truth }) => truth === true);
      if (assigned[2] === ':') block?.declared.push([assigned[1], variables.get(assigned[1])]);
      variables.set(assigned[1], isSure ? evaluate(assigned[3] ?? '', here) : undefined);
    } else if (word === 'if' || word === 'with') {
      const value = evaluate(rest, here);
      const truth = isTrue(value);
      isUnsure ||= truth === undefined;
      blocks.push({ before: dot, truth, from: action.span.end, declared: [] });
      if (word === 'with') dot = value;
    } else if (word === 'range' || word === 'define' || word === 'block') {
      const end = depth < maxDepth ? template.ends.get(index) : undefined;
      const rounds = end === undefined ? undefined : roundsOf(rest, here, template);
      if (end !== undefined && rounds !== undefined) {
        const part = { from: index + 1, to: end, depth: depth + 1 };
        loops.push({
          body: { start: action.span.end, end: actions[end]?.action.span.start ?? Number.POSITIVE_INFINITY },
          rounds: rounds.map((round) => readPart(template, part, round)),
        });
        // An assignment in a loop holds only if that runs.
        const { assigned } = template;
        for (let at = countWhere(assigned, (one) => one.index <= index); (assigned[at]?.index ?? end) < end; at += 1) {
          variables.set(assigned[at]?.name ?? '', undefined);
          template.left -= 1;
        }
        index = end;
        continue;
      }
      blocks.push({ before: dot, truth: undefined, from: action.span.end, declared: [] });
      isUnsure = true;
      dot = undefined;
    } else if (word === 'else' && block !== undefined) {
      if (block.truth === false) dead.push({ start: block.from, end: action.span.start });
      leave(block, variables);
      dot = block.before;
      // In a chain, the first branch that is taken disables the others.
      const next = rest === '' ? true : rest.startsWith('if ') ? isTrue(evaluate(rest.slice(3), here)) : undefined;
      const taken = block.taken === true || block.truth === true;
      const unsure = block.unsure === true || block.truth === undefined;
      block.truth = taken ? false : unsure && next !== false ? undefined : next;
      isUnsure ||= block.truth === undefined;
      block.taken = taken;
      block.unsure = unsure;
      block.from = action.span.end;
    } else if (word === 'end' && block !== undefined) {
      if (block.truth === false) dead.push({ start: block.from, end: action.span.start });
      leave(block, variables);
      dot = block.before;
      blocks.pop();
    }
  }
  // A block that a later document closes.
  for (const { truth, from } of blocks) if (truth === false) dead.push({ start: from, end: Number.POSITIVE_INFINITY });
  return { results, dead: outermost(dead), loops, failed, unset, isUnsure: isUnsure || template.left <= 0 };
}

interface Block {
  readonly before: Scope['dot'];
  /** Whether the branch is taken. */
  truth: boolean | undefined;
  from: number;
  /** The variables that the branch declares, with those of the same names around it. */
  readonly declared: [name: string, around: Evaluated][];
  /** An earlier branch is certainly taken (`taken`) or may be (`unsure`). */
  taken?: boolean;
  unsure?: boolean;
}

/** Ends a branch: what it declares is unknown after it. */
function leave({ declared }: Block, variables: Map<string, Evaluated>): void {
  for (const [name, around] of declared.splice(0).reverse()) variables.set(name, around);
}

/** Whether values have no such key. One without a value is there for a release to set. */
function lacks(values: YamlNode, steps: readonly string[]): boolean {
  let here: YamlNode | undefined = values;
  for (const step of steps) {
    if (here?.kind !== 'map' || here.incomplete) return false;
    here = here.entries.find(({ key }) => key === step)?.value;
  }
  return here === undefined;
}

/** A value that is printed as it is. Helm always sets `global`. */
const printed = /^\$?\.Values\.((?!global\b)\w+(?:\.\w+)*)(?:\s*\|\s*(?:quote|squote|int|int64|toString))?$/;

const assignment = /^(\$\w+)\s*(:?)=\s*([\s\S]*)$/;

/** The number of actions for a loop that goes on in the next document; nothing for one with an `else`, or whose rounds can end early. */
function endsOfLoops(actions: readonly ReadAction[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: { readonly index: number; readonly word: string; isUnsure: boolean }[] = [];
  const close = (end: number): void => {
    const block = open.pop();
    if (block?.word === 'range' && !block.isUnsure) ends.set(block.index, end);
  };
  for (const [index, { action, word }] of actions.entries()) {
    if (word === 'break' || word === 'continue') {
      for (const block of open) if (block.word === 'range') block.isUnsure = true;
    }
    if (!isControl(action)) continue;
    const block = open.at(-1);
    if (/^(?:if|with|range|define|block)$/.test(word)) open.push({ index, word, isUnsure: false });
    else if (word === 'else' && block !== undefined) block.isUnsure = true;
    else if (word === 'end') close(index);
  }
  while (open.length > 0) close(actions.length);
  return ends;
}

/** The scope of each round of a loop; undefined if it is unknown over what it runs. */
function roundsOf(over: string, scope: Scope, template: Template): readonly Scope[] | undefined {
  const [, first, second, list = over] = /^(\$\w+)\s*(?:,\s*(\$\w+)\s*)?:=\s*([\s\S]*)$/.exec(over) ?? [];
  const value = evaluate(list, scope);
  if (value === null) return [];
  if (value === undefined || value.kind === 'scalar' || value.incomplete) return undefined;
  const elements =
    value.kind === 'seq'
      ? value.items.map((item, index) => ({ key: String(index), value: item.value }))
      : [...value.entries].sort((a, b) => (a.key < b.key ? -1 : 1));
  template.left -= elements.length * (1 + scope.variables.size);
  if (elements.length > maxRounds || template.left < 0) return undefined;
  return elements.map(({ key, value: element }) => {
    const dot = element.kind === 'scalar' && element.templated ? undefined : element;
    const variables = new Map(scope.variables);
    if (first !== undefined) variables.set(second === undefined ? first : second, dot);
    if (first !== undefined && second !== undefined) variables.set(first, textOf(key));
    return { ...scope, dot, variables };
  });
}

const maxRounds = 100;

function textOf(source: string): YamlNode {
  return { ...emptyScalar(0), source, value: source };
}

/** Branches nested in disabled ones add nothing. */
function outermost(dead: readonly Span[]): readonly Span[] {
  const found: Span[] = [];
  for (const span of [...dead].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (span.start >= (found.at(-1)?.end ?? 0)) found.push(span);
  }
  return found;
}
