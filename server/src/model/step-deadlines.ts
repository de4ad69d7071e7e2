import { sleepSeconds } from '../command/durations.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated, items } from '../yaml/cursor.ts';
import { countIn, plus, product } from './count.ts';
import { itemsOfStep } from './kinds/workflow-runs.ts';
import type { Workload } from './workload.ts';

// How long the pods of a workflow run in all, by the deadlines of its steps.

/** The seconds of the pods with devices together, by pod set: at most, since a step that a condition skips takes none. */
export type PodSeconds = ReadonlyMap<string, number>;

/** The pod seconds of a run; undefined if a step with devices has no deadline, or runs an unknown number of times. */
export function podSecondsOf({ manifest, podSets }: Workload): PodSeconds | undefined {
  const spec = getIn(manifest.root, 'spec', 'workflowSpec') ?? getIn(manifest.root, 'spec');
  const heavy = podSets.filter(({ accelerators }) => accelerators.length > 0).map(({ name }) => name);
  const secondsOf = manifest.apiVersion.startsWith('tekton.dev/') ? ofTasks(spec) : ofTemplates(spec);
  const found = heavy.map((name) => [name, secondsOf(name)] as const);
  const known = found.flatMap(([name, seconds]): [string, number][] => (seconds ? [[name, seconds]] : []));
  return heavy.length === 0 || known.length < found.length ? undefined : new Map(known);
}

/** Argo's deadline of a template is that of each pod. https://argo-workflows.readthedocs.io/en/latest/fields/#template */
function ofTemplates(spec: Cursor | undefined): (name: string) => number | null {
  const runs = runsOf(spec);
  const templates = templatesIn(spec);
  const defaults = getIn(spec, 'templateDefaults');
  return (name) => {
    const template = templates.get(name);
    const deadline = getIn(template, 'activeDeadlineSeconds') ?? getIn(defaults, 'activeDeadlineSeconds');
    return product(numberAt(deadline), product(runs.get(name) ?? null, attemptsOf(template, defaults)));
  };
}

function templatesIn(spec: Cursor | undefined): ReadonlyMap<string, Cursor> {
  const templates = items(getIn(spec, 'templates')).slice(0, maxTemplates);
  return new Map(templates.map((template) => [asText(getIn(template, 'name')) ?? '', template]));
}

/** How often a run starts each template with pods; empty if that depends on other objects or on what is unknown. */
function runsOf(spec: Cursor | undefined): ReadonlyMap<string, number | null> {
  const templates = templatesIn(spec);
  const defaults = getIn(spec, 'templateDefaults');
  const known = new Map<string, Runs | undefined>();
  const runsIn = (name: string): Runs | undefined => {
    const template = templates.get(name);
    if (template === undefined || known.has(name)) return known.get(name);
    known.set(name, undefined);
    const steps = [
      ...items(getIn(template, 'steps')).flatMap((group) => items(group)),
      ...items(getIn(template, 'dag', 'tasks')),
    ];
    const isLeaf = getIn(template, 'steps') === undefined && getIn(template, 'dag') === undefined;
    const found = isLeaf ? new Map([[name, 1]]) : sumOf(steps.map(runsOfStep), attemptsOf(template, defaults));
    known.set(name, found);
    return found;
  };
  const runsOfStep = (step: Cursor): Runs | undefined => {
    if (getIn(step, 'hooks') !== undefined) return undefined;
    const found = runsIn(asText(getIn(step, 'template')) ?? '');
    return found && sumOf([found], itemsOfStep(step));
  };
  const [start, exit] = [getIn(spec, 'entrypoint'), getIn(spec, 'onExit')];
  const isOpen = isTemplated(start) || getIn(spec, 'hooks') !== undefined || isIncomplete(getIn(spec, 'templates'));
  const starts = [start, exit].flatMap((at) => asText(at) ?? []);
  return (isOpen ? undefined : sumOf(starts.map(runsIn), 1)) ?? new Map();
}

/** How often templates run; null: unknown. */
type Runs = ReadonlyMap<string, number | null>;

const maxTemplates = 200;

/** Undefined if one of them is unknown. */
function sumOf(all: readonly (Runs | undefined)[], times: number | null): Runs | undefined {
  const found = new Map<string, number | null>();
  for (const runs of all) {
    if (runs === undefined) return undefined;
    for (const [name, count] of runs) found.set(name, plus(found.get(name) ?? 0, product(count, times)));
  }
  return found;
}

/** Without a limit, retries have none. */
function attemptsOf(template: Cursor | undefined, defaults: Cursor | undefined): number | null {
  const strategy = getIn(template, 'retryStrategy') ?? getIn(defaults, 'retryStrategy');
  return strategy === undefined ? 1 : plus(numberAt(getIn(strategy, 'limit')), 1);
}

function numberAt(at: Cursor | undefined): number | null {
  return at === undefined || isTemplated(at) ? null : countIn(asText(at));
}

/** Tekton's timeout of a task is that of each attempt. https://tekton.dev/docs/pipelines/pipelines/#configuring-the-failure-timeout */
function ofTasks(run: Cursor | undefined): (name: string) => number | null {
  const spec = getIn(run, 'pipelineSpec');
  const tasks = [getIn(spec, 'tasks'), getIn(spec, 'finally')].flatMap((list) => items(list));
  const byName = new Map(tasks.map((task) => [asText(getIn(task, 'name')) ?? '', task]));
  return (name) => {
    const task = byName.get(name);
    const timeout = getIn(task, 'timeout');
    if (task === undefined || timeout === undefined || isTemplated(timeout)) return null;
    if (getIn(task, 'matrix') !== undefined) return null;
    const retries = getIn(task, 'retries');
    return product(durationIn(asText(timeout)) ?? null, retries === undefined ? 1 : plus(numberAt(retries), 1));
  };
}

/** Seconds for `1h30m0s`; undefined for 0, which means no limit. */
export function durationIn(duration: string | undefined): number | undefined {
  const parts = duration !== undefined && /^(?:[\d.]+[hms])+$/.test(duration) ? duration.match(/[\d.]+[hms]/g) : null;
  return sleepSeconds(parts ?? []) || undefined;
}
