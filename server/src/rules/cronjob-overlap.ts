import { formatDuration } from '../cost/money.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { isNever } from '../model/cron.ts';
import { runLength } from '../model/run-length.ts';
import { fix } from '../rewrite/fix.ts';
import { asBoolean, asText, type Cursor, getIn, isIncomplete, isTemplated, items, spanOf } from '../yaml/cursor.ts';
import { replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * The runs of a CronJob or CronWorkflow pile up while its GPUs are busy.
 *
 * ## Why
 *
 * By default (`concurrencyPolicy: Allow`), a CronJob starts each run whether or not the last one has ended. A run that takes longer than usual, or
 * that waits for a GPU, is joined by the next one: both hold GPUs, write to the same place, and slow each other down. With `Forbid`, a run that
 * is due meanwhile is skipped. A schedule such as `* 2 * * *` starts a run in every minute of the hour; `0 2 * * *` starts one.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: CronJob
 * metadata: {name: embed}
 * spec:
 *   schedule: "0 * * * *"
 *   jobTemplate:
 *     spec:
 *       activeDeadlineSeconds: 7200
 *       template:
 *         spec:
 *           restartPolicy: Never
 *           containers:
 *             - name: main
 *               image: registry.example/embed:1.4
 *               resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ```yaml fixed
 * apiVersion: batch/v1
 * kind: CronJob
 * metadata: {name: embed}
 * spec:
 *   schedule: "0 * * * *"
 *   jobTemplate:
 *     spec:
 *       activeDeadlineSeconds: 7200
 *       template:
 *         spec:
 *           restartPolicy: Never
 *           containers:
 *             - name: main
 *               image: registry.example/embed:1.4
 *               resources: {limits: {nvidia.com/gpu: 1}}
 *   concurrencyPolicy: Forbid
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: runs that are due during another one are skipped.
 *
 * ## When it is silent
 *
 * For fewer than six runs a day without a deadline, for deadlines that end each run before the next one, for suspended CronJobs and an explicit
 * `Allow`. The finding is information only, unless a deadline lies beyond the next run.
 *
 * ## Sources
 *
 * - [Kubernetes: concurrency policy of a CronJob](https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#concurrency-policy)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  workload(workload, { document, report }) {
    const { kind, manifest, partial, podSets } = workload;
    if ((kind !== 'CronJob' && kind !== 'CronWorkflow') || partial || !podSets.some(requestsAccelerators)) return;
    const spec = getIn(manifest.root, 'spec');
    const schedule = getIn(spec, 'schedule');
    // The schedule of a suspended one may be a placeholder.
    const isSuspended = asBoolean(getIn(spec, 'suspend')) === true;
    for (const one of [schedule, ...items(getIn(spec, 'schedules'))]) {
      const once = one && onceFor(one);
      if (isSuspended || one === undefined || once === undefined || isNever(once)) continue;
      report({
        severity: 'warning',
        message: `"${shorten(asText(one) ?? '', 20)}" starts a run every minute of each matching hour; "${shorten(once, 20)}" starts one`,
        span: spanOf(one),
        fixes: () => [fix(`Set the schedule to ${once}`, 'unsafe', replaceScalar(document, one, once))],
      });
      return;
    }
    const policy = getIn(spec, 'concurrencyPolicy');
    const run = runLength(workload, null);
    if (schedule === undefined || isTemplated(policy) || isIncomplete(spec) || run?.oneAtATime === true) return;
    if (!run?.perMonth) return;
    const between = 730 / run.perMonth;
    // Retries are not the rule.
    const hours = run.hours === null ? null : run.hours / (run.podsInTurn ?? 1);
    const isLonger = hours !== null && hours > between;
    // An explicit `Allow` is a choice, unless the runs certainly have time to overlap.
    if (!isLonger && (hours !== null || policy !== undefined || between > leastHours)) return;
    const text = shorten(asText(schedule) ?? '', 20);
    const every = `${isEven(asText(schedule) ?? '') ? '' : 'on average '}every ${formatDuration(between * 3600)}`;
    report({
      severity: isLonger ? 'warning' : 'info',
      message: isLonger
        ? `A run may take ${formatDuration((hours ?? 0) * 3600)}, but one starts ${every} ("${text}"): runs overlap and each holds its own GPUs`
        : `A run starts ${every} ("${text}") even if the last one still holds or waits for its GPUs; concurrencyPolicy is Allow by default`,
      span: spanOf(policy ?? schedule),
      fixes: () => [
        fix(
          'Set concurrencyPolicy to Forbid',
          'unsafe',
          policy === undefined
            ? setKey(document, spec, 'concurrencyPolicy', 'Forbid')
            : replaceScalar(document, policy, 'Forbid'),
        ),
      ],
    });
  },
});

/** The schedule with one run where a time of day or a day is named, but any minute of it: `* 2 * * *`. */
function onceFor(schedule: Cursor): string | undefined {
  const fields = isTemplated(schedule) ? [] : (asText(schedule) ?? '').trim().split(/\s+/);
  const [minute, hour = '', ...days] = fields;
  if (fields.length !== 5 || minute !== '*') return undefined;
  if (/^(?:\d{1,2}|\*\/\d{1,2})$/.test(hour) && hour !== '*/1') return ['0', ...fields.slice(1)].join(' ');
  return hour === '*' && days.some((day) => /^(?:\d{1,2}|[A-Za-z]{3})$/.test(day))
    ? ['0', '0', ...days].join(' ')
    : undefined;
}

/** Whether the same time is between all runs: a fixed minute of every hour, every few minutes of an hour or hours of a day, or a time of day. */
function isEven(schedule: string): boolean {
  if (/^@(?:hourly|daily|midnight|weekly|every\b.*)$/.test(schedule)) return true;
  const [minute = '', hour = '', ...days] = schedule.trim().split(/\s+/);
  if (days.some((day) => day !== '*') || days.length !== 3) return false;
  if (hour === '*') return minute === '*' || /^\d+$/.test(minute) || divides(minute, 60);
  return /^\d+$/.test(minute) && (/^\d+$/.test(hour) || divides(hour, 24));
}

function divides(step: string, whole: number): boolean {
  const [, count] = /^\*\/(\d+)$/.exec(step) ?? [];
  return count !== undefined && whole % Number(count) === 0;
}

/** Hours between runs that are so few that one rarely meets the next. */
const leastHours = 4;
