import { meaningOf } from '../command/flag-meaning.ts';
import { readFlags } from '../command/flags.ts';
import { asBoolean, asText, type Cursor, getIn, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { countIn, plus } from './count.ts';
import { runsPerMonth } from './cron.ts';
import { kindOf } from './kinds/index.ts';
import { lookUp } from './manifest.ts';
import { commandsIn } from './process-input.ts';
import { durationIn, type PodSeconds, podSecondsOf } from './step-deadlines.ts';
import type { Workload } from './workload.ts';

/** How long one run of a workload takes, as far as its object or the config says. */
export interface RunLength {
  /** Hours; null: unknown. */
  readonly hours: number | null;
  /** `deadline`: the run is stopped then. `steps`: steps × their duration. */
  readonly from: 'deadline' | 'steps' | null;
  /** The field or label with the deadline. */
  readonly field?: string;
  /** The deadline is that of each pod, and so many pods run one after the other at most: the hours are those of all. */
  readonly podsInTurn?: number;
  /** The deadlines of the steps, if nothing bounds the run as a whole. */
  readonly podSeconds?: PodSeconds;
  /** Runs in 730 hours, for scheduled workloads; null: unknown. */
  readonly perMonth?: number | null;
  /** A run that is due while another one is under way does not start, or ends that one. */
  readonly oneAtATime?: true;
  /** The schedule or the job is suspended: no run starts. */
  readonly suspended?: true;
}

/**
 * The length of a run of a workload that ends: the time after which it is stopped, or the steps of its training. Undefined for a workload that
 * stays up.
 * @param stepSeconds duration of a training step, from the config
 */
export function runLength(workload: Workload, stepSeconds: number | null): RunLength | undefined {
  const { manifest, role } = workload;
  const { root } = manifest;
  const kind = kindOf(manifest);
  const job = kind.job?.(root);
  const schedules = schedulesOf(root);
  const ends =
    kind.runsSteps || ((role === 'training' || role === 'batch') && kind.staysUp !== true && !keepsCluster(workload));
  if ((job === undefined && !ends) || kind.repeatsJobs) return undefined;
  const deadline = deadlineOf(workload, job);
  const steps = deadline === null && stepSeconds !== null ? stepsOf(workload) : null;
  const seconds = deadline?.seconds ?? (steps === null || stepSeconds === null ? null : steps * stepSeconds);
  const run = {
    hours: seconds === null ? null : seconds / 3600,
    from: deadline !== null ? ('deadline' as const) : seconds === null ? null : ('steps' as const),
    ...(deadline !== null && { field: deadline.field }),
    ...(deadline?.podsInTurn !== undefined && { podsInTurn: deadline.podsInTurn }),
    ...stepDeadlines(workload, seconds),
  };
  const switches = [getIn(root, 'spec', 'suspend'), getIn(root, 'spec', 'runPolicy', 'suspend')];
  const isSuspended = manifest.isHeld === true || switches.some((at) => asBoolean(at) === true);
  // Kueue resumes the jobs of its queues.
  const isQueued = [...manifest.labels, ...(manifest.outerLabels ?? [])].some(({ at }) => keyOf(at) === queueLabel);
  if (schedules.length === 0) return isSuspended && !isQueued ? { ...run, suspended: true } : run;
  const policy = asText(getIn(root, 'spec', 'concurrencyPolicy'));
  return {
    ...run,
    perMonth: isSuspended ? 0 : schedules.map(runsOf).reduce(plus, 0),
    ...(isSuspended ? { suspended: true } : {}),
    ...(policy === 'Forbid' || policy === 'Replace' ? { oneAtATime: true } : {}),
  };
}

function stepDeadlines(workload: Workload, known: number | null): Pick<RunLength, 'from' | 'podSeconds'> | undefined {
  const podSeconds = known === null && kindOf(workload.manifest).runsSteps ? podSecondsOf(workload) : undefined;
  return podSeconds && { from: 'deadline', podSeconds };
}

const queueLabel = 'kueue.x-k8s.io/queue-name';

/** A CronWorkflow may have several. */
function schedulesOf(root: Cursor): readonly Cursor[] {
  const spec = getIn(root, 'spec');
  const several = items(getIn(spec, 'schedules'));
  return several.length > 0 ? several : [getIn(spec, 'schedule') ?? []].flat();
}

function runsOf(schedule: Cursor): number | null {
  return isTemplated(schedule) ? null : runsPerMonth(asText(schedule) ?? '');
}

interface Deadline {
  readonly seconds: number;
  readonly field: string;
  readonly podsInTurn?: number;
}

/** The earliest deadline of the object, its job and its pods, also that of Tekton or Kueue. That of a step does not end the others. */
function deadlineOf(workload: Workload, job: Cursor | undefined): Deadline | null {
  const { root, labels, apiVersion } = workload.manifest;
  const spec = getIn(root, 'spec');
  const found = (field: string, seconds: number | null | undefined) => (seconds == null ? [] : [{ field, seconds }]);
  // Without its limit, Tekton's config decides.
  const timeout = getIn(spec, 'timeouts', 'pipeline') ?? getIn(spec, 'timeout');
  const all: readonly Deadline[] = [
    ...found(activeDeadlineSeconds, activeDeadline(workload, job)),
    ...deadlinesOfPods(workload, job),
    ...(apiVersion.startsWith('tekton.dev/') ? found('timeout', durationIn(asText(timeout))) : []),
    ...found(maxExecTime, countIn(lookUp(labels, maxExecTime)?.value)),
  ];
  const [first = null] = [...all].sort((a, b) => a.seconds - b.seconds);
  return first;
}

/** Kueue stops a job after this many seconds. https://kueue.sigs.k8s.io/docs/concepts/workload/#maximum-execution-time */
const maxExecTime = 'kueue.x-k8s.io/max-exec-time-seconds';

function activeDeadline({ manifest, podSets }: Workload, job: Cursor | undefined): number | null {
  const spec = getIn(manifest.root, 'spec');
  const jobs = items(getIn(spec, 'replicatedJobs'));
  if (jobs.length > 0) return deadlineOfJobs(jobs, podSets, getIn(spec, 'failurePolicy', 'maxRestarts'));
  const secondsIn = (owner: Cursor | undefined) => countIn(asText(getIn(owner, activeDeadlineSeconds))) ?? [];
  const { runsSteps } = kindOf(manifest);
  const owners = [job, spec, getIn(spec, 'runPolicy'), getIn(spec, 'jobTemplate')];
  const written = [...owners, ...(runsSteps ? [getIn(spec, 'workflowSpec')] : [])].flatMap(secondsIn);
  return written.length === 0 ? null : Math.min(...written);
}

/** Each pod has its own. */
function deadlinesOfPods({ manifest, podSets }: Workload, job: Cursor | undefined): readonly Deadline[] {
  const pods = podsInTurn(job);
  if (kindOf(manifest).runsSteps || pods === null || getIn(manifest.root, 'spec', 'replicatedJobs') !== undefined)
    return [];
  const each = podSets.flatMap(({ pod }) => countIn(asText(getIn(pod, activeDeadlineSeconds))) ?? []);
  const shared = { field: activeDeadlineSeconds, ...(pods > 1 && { podsInTurn: pods }) };
  return each.map((seconds) => ({ ...shared, seconds: seconds * pods }));
}

const activeDeadlineSeconds = 'activeDeadlineSeconds';

/**
 * How many pods run one after the other at most, each with its own deadline: those of a Job's completions, and those that replace failed ones, as a
 * pod has failed at its deadline. null: unknown. https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy
 */
function podsInTurn(job: Cursor | undefined): number | null {
  if (job === undefined) return 1;
  const [completions, parallelism] = ['completions', 'parallelism'].map((key) => countIn(asText(getIn(job, key))));
  const rounds = Math.max(1, Math.ceil((completions ?? 1) / Math.max(1, parallelism ?? 1)));
  const perIndex = getIn(job, 'backoffLimitPerIndex');
  const limit = perIndex ?? getIn(job, 'backoffLimit');
  const failures = limit === undefined ? defaultBackoffLimit : countIn(asText(limit));
  if (failures == null) return null;
  return perIndex === undefined ? rounds + failures : rounds * (1 + failures);
}

const defaultBackoffLimit = 6;

/** The longest deadline of the jobs of a JobSet with devices, if all of them have one, and none starts again or waits for another. */
function deadlineOfJobs(
  jobs: readonly Cursor[],
  podSets: Workload['podSets'],
  restarts: Cursor | undefined,
): number | null {
  if (restarts !== undefined && countIn(asText(restarts)) !== 0) return null;
  if (jobs.some((job) => getIn(job, 'dependsOn') !== undefined)) return null;
  const heavy = new Set(podSets.flatMap(({ name, accelerators }) => (accelerators.length > 0 ? name : [])));
  const each = jobs
    .filter((job) => heavy.has(asText(getIn(job, 'name')) ?? ''))
    .map((job) => countIn(asText(getIn(job, 'template', 'spec', activeDeadlineSeconds))));
  const known = each.flatMap((seconds) => seconds ?? []);
  return known.length === 0 || known.length < each.length ? null : Math.max(...known);
}

/** The cluster of a RayJob outlives the job, unless it is shut down. */
function keepsCluster({ kind, manifest: { root } }: Workload): boolean {
  return kind === 'RayJob' && asBoolean(getIn(root, 'spec', 'shutdownAfterJobFinishes')) !== true;
}

/** The steps after which training ends, if all containers that name a number agree. */
function stepsOf({ podSets }: Workload): number | null {
  const found = new Set<number | null>();
  for (const { containers } of podSets) {
    for (const container of containers) {
      for (const { words } of commandsIn(container))
        for (const flag of readFlags(words))
          if (meaningOf(flag, 'total-steps') !== undefined) found.add(flag.dynamic ? null : countIn(flag.value));
    }
  }
  const [steps = null, ...others] = found;
  return others.length === 0 ? steps : null;
}
