import { emptyScalar } from './draft.ts';
import type { YamlNode } from './node.ts';
import type { Span } from './span.ts';
import { isControl, type TemplateAction } from './template-action.ts';
import { type Evaluated, evaluate, isTrue, type Scope } from './template-expression.ts';

/** What a chart's values make of the actions of a template. */
export interface TemplateReading {
  /** The output of each action. Missing: the values do not determine it. */
  readonly results: ReadonlyMap<TemplateAction, Evaluated>;
  /** Parts of the text that the values disable, in text order, none inside of another. */
  readonly dead: readonly Span[];
  /** The loops whose number of rounds is known, without those inside of them. */
  readonly loops: readonly Loop[];
}

/** A `range` over known values. */
export interface Loop {
  /** The text that is repeated. */
  readonly body: Span;
  /** The body as each round reads it. */
  readonly rounds: readonly TemplateReading[];
}

/** Reads the actions of a template, in order, with the values of its chart. */
export function readTemplate(actions: readonly TemplateAction[], values: YamlNode): TemplateReading {
  return readActions(actions, { dot: 'root', values, variables: new Map() }, { left: maxEvaluated });
}

/** Nested loops over long lists would otherwise be evaluated millions of times. */
const maxEvaluated = 20_000;

function readActions(actions: readonly TemplateAction[], scope: Scope, budget: { left: number }): TemplateReading {
  const results = new Map<TemplateAction, Evaluated>();
  const dead: Span[] = [];
  const loops: Loop[] = [];
  const variables = new Map(scope.variables);
  const blocks: Block[] = [];
  let { dot } = scope;
  for (let index = 0; index < actions.length && budget.left > 0; index += 1) {
    const action = actions[index];
    if (action === undefined) break;
    budget.left -= 1;
    const { word, rest, expression } = wordsOf(action);
    const here: Scope = { dot, values: scope.values, variables };
    if (!isControl(action)) {
      const value = evaluate(expression, here);
      if (value !== undefined) results.set(action, value);
      continue;
    }
    const assigned = assignment.exec(expression);
    const block = blocks.at(-1);
    if (assigned?.[1] !== undefined) {
      // An assignment in a branch holds only if that runs.
      variables.set(assigned[1], blocks.length === 0 ? evaluate(assigned[2] ?? '', here) : undefined);
    } else if (word === 'if' || word === 'with') {
      const value = evaluate(rest, here);
      blocks.push({ before: dot, truth: isTrue(value), from: action.span.end });
      if (word === 'with') dot = value;
    } else if (word === 'range' || word === 'define' || word === 'block') {
      const end = word === 'range' ? endOfLoop(actions, index) : undefined;
      const rounds = end === undefined ? undefined : roundsOf(rest, here);
      if (end !== undefined && rounds !== undefined) {
        const body = actions.slice(index + 1, end);
        loops.push({
          body: { start: action.span.end, end: actions[end]?.span.start ?? Number.POSITIVE_INFINITY },
          rounds: rounds.map((round) => readActions(body, round, budget)),
        });
        for (const name of body.map((one) => assignment.exec(wordsOf(one).expression)?.[1])) {
          if (name !== undefined) variables.set(name, undefined);
        }
        index = end;
        continue;
      }
      blocks.push({ before: dot, truth: undefined, from: action.span.end });
      dot = undefined;
    } else if (word === 'else' && block !== undefined) {
      if (block.truth === false) dead.push({ start: block.from, end: action.span.start });
      dot = block.before;
      // In a chain, the first branch that is taken disables the others.
      const next = rest === '' ? true : rest.startsWith('if ') ? isTrue(evaluate(rest.slice(3), here)) : undefined;
      const taken = block.taken === true || block.truth === true;
      const unsure = block.unsure === true || block.truth === undefined;
      block.truth = taken ? false : unsure && next !== false ? undefined : next;
      block.taken = taken;
      block.unsure = unsure;
      block.from = action.span.end;
    } else if (word === 'end' && block !== undefined) {
      if (block.truth === false) dead.push({ start: block.from, end: action.span.start });
      dot = block.before;
      blocks.pop();
    }
  }
  return { results, dead: outermost(dead), loops };
}

interface Block {
  readonly before: Scope['dot'];
  /** Whether the branch is taken. */
  truth: boolean | undefined;
  from: number;
  /** An earlier branch is certainly taken (`taken`) or may be (`unsure`). */
  taken?: boolean;
  unsure?: boolean;
}

const assignment = /^(\$\w+)\s*:?=\s*([\s\S]*)$/;

function wordsOf(action: TemplateAction) {
  const [, inner = ''] = /^\{\{[-~]?([\s\S]*?)[-~]?\}\}$/.exec(action.text) ?? [];
  const expression = inner.trim();
  const [, word = '', rest = ''] = /^(\w+)\b\s*([\s\S]*)$/.exec(expression) ?? [];
  return { expression, word, rest };
}

/** The index of the action that ends a loop, or the number of actions if it goes on in the next document; undefined if it has an `else`. */
function endOfLoop(actions: readonly TemplateAction[], from: number): number | undefined {
  let depth = 0;
  for (let index = from; index < actions.length; index += 1) {
    const action = actions[index];
    if (action === undefined || !isControl(action)) continue;
    const { word } = wordsOf(action);
    if (/^(?:if|with|range|define|block)$/.test(word)) depth += 1;
    else if (word === 'else' && depth === 1) return undefined;
    else if (word === 'end') {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return actions.length;
}

/** The scope of each round of a loop; undefined if it is unknown over what it runs. */
function roundsOf(over: string, scope: Scope): readonly Scope[] | undefined {
  const [, first, second, list = over] = /^(\$\w+)\s*(?:,\s*(\$\w+)\s*)?:=\s*([\s\S]*)$/.exec(over) ?? [];
  const value = evaluate(list, scope);
  if (value === null) return [];
  if (value === undefined || value.kind === 'scalar' || value.incomplete) return undefined;
  const elements =
    value.kind === 'seq'
      ? value.items.map((item, index) => ({ key: String(index), value: item.value }))
      : [...value.entries].sort((a, b) => (a.key < b.key ? -1 : 1));
  if (elements.length > maxRounds) return undefined;
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
