import type { Cursor } from '../../yaml/cursor.ts';
import { asText, entries, getIn, isIncomplete, isTemplated, items } from '../../yaml/cursor.ts';
import type { YamlNode } from '../../yaml/node.ts';
import { countIn, product } from '../count.ts';
import type { PodCount } from './kind.ts';
import { exactly } from './pod-sets.ts';
import { heaviestOf, inBranches, podsOf, type Runs, sumOf, type Use } from './workflow-branches.ts';

// How many pods of each template of an Argo workflow run at once, by its steps and tasks, their loops and `parallelism`.
// https://argo-workflows.readthedocs.io/en/latest/fields/#template

const nothing: Use = new Map();

export interface RunsFrom {
  /** The template that starts, if it is not the spec's entrypoint. */
  readonly entry?: string;
  /** What steps with templates of other objects use, by step. */
  readonly others?: ReadonlyMap<YamlNode, Use>;
}

/**
 * The pods of each template at once, in the order of the weights.
 * @param weights devices of a pod of each template, and of others that steps use: steps without devices do not matter
 */
export function concurrentRuns(
  spec: Cursor | undefined,
  weights: readonly number[],
  { entry, others }: RunsFrom = {},
): readonly PodCount[] {
  const templates = items(getIn(spec, 'templates'));
  const indexes = new Map(templates.map((template, index) => [asText(getIn(template, 'name')), index]));
  const known = new Map<number, Use | undefined>();
  let isHooked = getIn(spec, 'hooks') !== undefined;
  const usesOf = (name: string | undefined): Use => {
    const index = name === undefined ? undefined : indexes.get(name);
    const template = index === undefined ? undefined : templates[index];
    if (index === undefined || template === undefined) return nothing;
    if (known.has(index)) return known.get(index) ?? unknownUse(weights);
    known.set(index, undefined);
    const use = capped(useOf(template, index), getIn(template, 'parallelism'));
    known.set(index, use);
    return use;
  };
  const useOf = (template: Cursor, index: number): Use => {
    const groups = items(getIn(template, 'steps')).map((group) => items(group).map(runOf));
    if (groups.length > 0) return inSequence(groups.map(atOnce), weights);
    const tasks = items(getIn(template, 'dag', 'tasks'));
    if (tasks.length > 0) return ofTasks(tasks);
    return new Map([[index, { busiest: 1, most: 1 }]]);
  };
  const runOf = (step: Cursor): Use => {
    isHooked ||= getIn(step, 'hooks') !== undefined;
    const use = repeated(others?.get(step.node) ?? usesOf(asText(getIn(step, 'template'))), itemsOfStep(step));
    return getIn(step, 'when') === undefined ? use : maybe(use);
  };
  const ofTasks = (tasks: readonly Cursor[]): Use => inOrder(tasks.map(runOf), dependenciesOf(tasks), weights);
  const entrypoint = getIn(spec, 'entrypoint');
  const start = entry ?? (isTemplated(entrypoint) ? undefined : asText(entrypoint));
  const isOpen = start === undefined || isIncomplete(getIn(spec, 'templates'));
  if (isOpen || templates.length > maxTemplates) return weights.map(() => exactly(null));
  const exit = repeated(usesOf(asText(getIn(spec, 'onExit'))), 1);
  const limit = limitAt(getIn(spec, 'parallelism'));
  const all = limitedTo(inSequence([usesOf(start), exit], weights), limit);
  const found = limit ? mapped(all, (runs) => ({ ...runs, together: limit })) : all;
  const heaviest = heaviestOf(found, weights);
  return weights.map((_, index) => {
    const runs = found.get(index);
    // Hooks may start templates that no step does.
    return runs === undefined ? exactly(isHooked ? null : 0) : podsOf(runs, index === heaviest);
  });
}

/** A limit on how often a use runs at once. */
export function limitedTo(use: Use, limit: number | null): Use {
  return limit === null || limit === 0 ? use : cappedAt(use, limit);
}

/** Tasks that wait for others: exact if those with devices run in stages, each after all tasks of the one before. */
export function inOrder(uses: readonly Use[], direct: readonly (readonly number[])[], weights: readonly number[]): Use {
  const heavy = uses.flatMap((use, index) => (holdsDevices(use, weights) ? [index] : []));
  if (heavy.length > maxTasks) return unknown(atOnce(uses));
  const before = new Map(heavy.map((index) => [index, ancestors(index, direct)]));
  const isOrdered = (a: number, b: number) => before.get(a)?.has(b) === true || before.get(b)?.has(a) === true;
  const together = (index: number) => heavy.filter((other) => other === index || !isOrdered(index, other));
  const stages = heavy.map(together);
  const isStaged = stages.every((stage) => stage.every((index) => `${together(index)}` === `${stage}`));
  if (!isStaged) return inBranches(uses, heavy, isOrdered, unknown(atOnce(uses)));
  const first = stages.filter(([start], at) => start === heavy[at]);
  if (first.length === heavy.length) return inSequence(uses, weights);
  if (first.length === 1) return atOnce(uses);
  const others = uses.filter((_, index) => !heavy.includes(index));
  return inSequence([...first.map((stage) => atOnce(stage.flatMap((index) => uses[index] ?? []))), ...others], weights);
}

/**
 * The pods of a Tekton pipeline at once, in the order of its tasks. Tasks wait for those in `runAfter` and those whose results they use.
 * https://tekton.dev/docs/pipelines/pipelines/#configuring-the-task-execution-order
 * @param last the tasks under `finally`, which start after all others
 */
export function concurrentTasks(
  tasks: readonly Cursor[],
  last: readonly Cursor[],
  weights: readonly number[],
): readonly PodCount[] {
  const indexes = new Map(tasks.map((task, index) => [asText(getIn(task, 'name')), index]));
  const direct = tasks.map((task) => {
    const names = [...items(getIn(task, 'runAfter')).map(asText), ...resultsIn(task)];
    return names.flatMap((name) => indexes.get(name) ?? []);
  });
  const all = [...tasks, ...last];
  const uses = all.map((task, index): Use => {
    const most = combinations(getIn(task, 'matrix'));
    const isOpen = getIn(task, 'when') !== undefined;
    return weights[index] ? new Map([[index, { busiest: isOpen ? null : most, most }]]) : nothing;
  });
  const found = inOrder(uses, [...direct, ...last.map(() => tasks.map((_, index) => index))], weights);
  const heaviest = heaviestOf(found, weights);
  return all.map((_, index) => {
    const runs = found.get(index);
    return runs === undefined ? exactly(1) : podsOf(runs, index === heaviest);
  });
}

/** How many pods a matrix makes of a task; null if parameters decide. https://tekton.dev/docs/pipelines/matrix/ */
function combinations(matrix: Cursor | undefined): number | null {
  if (matrix === undefined) return 1;
  const [params, include] = ['params', 'include'].map((key) => items(getIn(matrix, key)));
  if (isIncomplete(matrix) || params === undefined || include === undefined) return null;
  // What is included may change combinations or add to them.
  if (params.length === 0) return include.length === 0 ? null : include.length;
  if (include.length > 0) return null;
  return params.reduce<number | null>((all, param) => {
    const value = getIn(param, 'value');
    return product(all, value?.node.kind === 'seq' && !isIncomplete(value) ? items(value).length : null);
  }, 1);
}

/** The tasks whose results a task names: `$(tasks.build.results.url)`. */
function resultsIn(cursor: Cursor, depth = 0): readonly string[] {
  if (depth > 5) return [];
  return [...entries(cursor), ...items(cursor)].flatMap((child) => {
    if (child.node.kind !== 'scalar') return resultsIn(child, depth + 1);
    return [...(asText(child) ?? '').matchAll(/\$\(tasks\.([\w-]{1,63})\.results/g)].map(([, name = '']) => name);
  });
}

/** More tasks with devices are not compared in pairs. */
const maxTasks = 40;

/** Templates may start each other: their number also limits the depth. */
const maxTemplates = 200;

/** A template that starts itself again. */
function unknownUse(weights: readonly number[]): Use {
  return new Map(weights.flatMap((weight, index) => (weight ? [[index, { busiest: null, most: null }]] : [])));
}

/** A use that a condition may skip. */
export function maybe(use: Use): Use {
  return mapped(use, ({ runs: _, ...rest }) => ({ ...rest, busiest: rest.most === 0 ? 0 : null }));
}

/** How often a step runs at once, if its condition holds; null if a parameter decides. */
export function itemsOfStep(step: Cursor): number | null {
  const [list, sequence, parameter] = ['withItems', 'withSequence', 'withParam'].map((key) => getIn(step, key));
  if (list !== undefined) return list.node.kind === 'seq' && !isIncomplete(list) ? items(list).length : null;
  if (sequence !== undefined) return sequenceLength(sequence);
  return parameter === undefined ? 1 : listLength(parameter);
}

/** The length of a list in a JSON string; null if it is unknown. */
export function listLength(json: Cursor | undefined): number | null {
  const text = asText(json);
  if (text === undefined || text.length > maxList || isTemplated(json)) return null;
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.length : null;
  } catch {
    return null;
  }
}

/** Longer lists are data. */
const maxList = 20_000;

function sequenceLength(sequence: Cursor): number | null {
  const number = (key: string, unset: number | null) => {
    const at = getIn(sequence, key);
    return at === undefined ? unset : isTemplated(at) ? null : countIn(asText(at));
  };
  if (getIn(sequence, 'count') !== undefined) return number('count', null);
  const [start, end] = [number('start', 0), number('end', null)];
  return start === null || end === null ? null : Math.abs(end - start) + 1;
}

/** A use several times at once; null: an unknown number of times. */
export function repeated(use: Use, times: number | null): Use {
  return mapped(use, ({ runs, ...rest }) => ({
    ...rest,
    // A loop may have no items.
    ...(runs && times && { runs }),
    busiest: product(rest.busiest, times),
    most: product(rest.most, times),
  }));
}

function unknown(use: Use): Use {
  return mapped(use, (runs) => ({ ...runs, busiest: null, ...(runs.busiest && { runs: true }) }));
}

/** `parallelism` limits all pods below it; which of them wait is unknown if there are several kinds. */
function capped(use: Use, parallelism: Cursor | undefined): Use {
  return limitedTo(use, limitAt(parallelism));
}

function limitAt(parallelism: Cursor | undefined): number | null {
  return parallelism === undefined || isTemplated(parallelism) ? null : countIn(asText(parallelism));
}

function cappedAt(use: Use, limit: number): Use {
  const sum = [...use.values()].reduce<number | null>(
    (all, { busiest }) => (all === null || busiest === null ? null : all + busiest),
    0,
  );
  const isAlone = [...use.values()].filter(({ busiest }) => busiest !== 0).length === 1;
  return mapped(use, ({ busiest, most, ...rest }) => {
    const exact =
      sum !== null && sum <= limit ? busiest : isAlone && busiest !== null ? Math.min(busiest, limit) : null;
    return {
      ...rest,
      busiest: exact,
      most: most === null ? limit : Math.min(most, limit),
      ...(exact === null && busiest && { runs: true as const }),
    };
  });
}

function mapped(use: Use, change: (runs: Runs) => Runs): Use {
  return new Map([...use].map(([index, runs]) => [index, change(runs)]));
}

function atOnce(uses: readonly Use[]): Use {
  const found = new Map<number, Runs>();
  // How the stages of several overlap is unknown.
  const isStaged = uses.filter((use) => [...use.values()].some(({ stages }) => stages)).length === 1;
  for (const use of uses) {
    for (const [index, { busiest, most, stages, runs }] of use) {
      const other = found.get(index);
      const isSure = runs ?? other?.runs;
      const sums = {
        ...(isSure && { runs: isSure }),
        ...{ busiest: sumOf(other ? other.busiest : 0, busiest), most: sumOf(other ? other.most : 0, most) },
      };
      found.set(index, other === undefined && isStaged && stages ? { ...sums, stages } : sums);
    }
  }
  return found;
}

/** One after the other: the busiest moment is that with most devices, and the pods of all other moments do not run then. */
function inSequence(uses: readonly Use[], weights: readonly number[]): Use {
  const load = (use: Use) =>
    [...use].reduce<number | null>(
      (all, [index, { busiest }]) => (weights[index] ? sumOf(all, product(busiest, weights[index])) : all),
      0,
    );
  const loads = uses.map(load);
  const isKnown = loads.every((one) => one !== null);
  const peak = isKnown ? loads.indexOf(Math.max(...loads.map((one) => one ?? 0))) : -1;
  const found = new Map<number, Runs>();
  uses.forEach((use, at) => {
    const everywhere = new Set([...use.values()].flatMap(({ stages }) => stages ?? []));
    for (const [index, { busiest, most, runs, stages = everywhere.size === 0 ? [''] : everywhere }] of use) {
      const other = found.get(index);
      const here = isKnown ? (at === peak ? busiest : 0) : null;
      const highest =
        other === undefined ? most : other.most === null || most === null ? null : Math.max(other.most, most);
      const isSure = runs ?? other?.runs ?? (here === null && busiest ? true : undefined);
      found.set(index, {
        ...(isSure && { runs: isSure }),
        busiest: other === undefined ? here : sumOf(other.busiest, here),
        most: highest,
        stages: [...(other?.stages ?? []), ...[...stages].map((stage) => `${at}.${stage}`)],
      });
    }
  });
  // Each level of nested steps multiplies the stages. Beyond a limit they are dropped, and the pods of all of them add up.
  const isBounded = [...found.values()].every(({ stages = [] }) => stages.length <= maxStages);
  return isBounded ? found : mapped(found, ({ stages: _, ...rest }) => rest);
}

/** The most stages that are kept for one template. */
const maxStages = 256;

function holdsDevices(use: Use | undefined, weights: readonly number[]): boolean {
  return [...(use ?? nothing).keys()].some((index) => weights[index]);
}

/** The tasks on which each task depends directly, by their indexes. */
function dependenciesOf(tasks: readonly Cursor[]): readonly (readonly number[])[] {
  const indexes = new Map(tasks.map((task, index) => [asText(getIn(task, 'name')), index]));
  return tasks.map((task) => {
    const written = (asText(getIn(task, 'depends')) ?? '').match(/[\w-]+/g) ?? [];
    const names = [...items(getIn(task, 'dependencies')).map(asText), ...written];
    return names.flatMap((name) => indexes.get(name) ?? []);
  });
}

/** The tasks that end before a task starts. */
function ancestors(task: number, direct: readonly (readonly number[])[]): ReadonlySet<number> {
  const found = new Set<number>();
  const open = [task];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const before of direct[next] ?? []) {
      if (found.has(before)) continue;
      found.add(before);
      open.push(before);
    }
  }
  return found;
}
