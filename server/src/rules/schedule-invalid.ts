import { isTimeZone } from '../evidence/time-zones.ts';
import { writtenText } from '../evidence/written.ts';
import { isNever, scheduleProblem } from '../model/cron.ts';
import { groupOf } from '../model/manifest.ts';
import { fix } from '../rewrite/fix.ts';
import { type Cursor, getIn, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * The schedule of a CronJob has a syntax that Kubernetes does not know.
 *
 * ## Why
 *
 * A schedule has five fields: minute, hour, day of the month, month and day of the week, without seconds or a year. The week starts with Sunday, 0,
 * and ends with Saturday, 6. The time zone has its own field, `timeZone`. The API server rejects the CronJob otherwise, and nothing runs.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: CronJob
 * metadata:
 *   name: nightly
 * spec:
 *   schedule: "0 0 2 * * *"
 *   jobTemplate:
 *     spec:
 *       template:
 *         spec:
 *           restartPolicy: Never
 *           containers:
 *             - name: main
 *               image: registry.example/trainer:1.4
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: batch/v1
 * kind: CronJob
 * metadata:
 *   name: nightly
 * spec:
 *   schedule: "0 2 * * *"
 *   jobTemplate:
 *     spec:
 *       template:
 *         spec:
 *           restartPolicy: Never
 *           containers:
 *             - name: main
 *               image: registry.example/trainer:1.4
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the extra sixth field most likely stands for seconds, but only the author knows the time.
 *
 * ## Sources
 *
 * - [Kubernetes: schedule syntax](https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-syntax)
 * - [robfig/cron v3, which Kubernetes uses](https://github.com/robfig/cron/blob/v3.0.1/parser.go)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  manifest({ root, kind, apiVersion }, { report, document }) {
    if (kind !== 'CronJob' || groupOf(apiVersion) !== 'batch') return;
    checkZone(getIn(root, 'spec', 'timeZone'), report);
    const at = getIn(root, 'spec', 'schedule');
    const schedule = writtenSchedule(at);
    const problem = schedule === undefined ? undefined : scheduleProblem(schedule);
    if (at !== undefined && schedule !== undefined && problem === undefined && isNever(schedule))
      report({
        severity: 'warning',
        message: `Schedule "${shorten(schedule, 30)}" names only days that do not exist: the CronJob never runs`,
        span: spanOf(at),
      });
    if (at === undefined || schedule === undefined || problem === undefined) return;
    report({
      message: `Schedule "${shorten(schedule, 30)}" ${problem}: the API server rejects the CronJob`,
      span: spanOf(at),
      fixes: () => {
        const [first, ...fields] = schedule.trim().split(/\s+/);
        if (first !== '0' || scheduleProblem(fields.join(' ')) !== undefined) return [];
        return [fix('Remove the seconds', 'unsafe', replaceScalar(document, at, fields.join(' ')))];
      },
    });
  },
});

function checkZone(at: Cursor | undefined, report: RuleContext['report']): void {
  const zone = writtenText(at);
  if (at === undefined || zone === undefined) return;
  if (isTimeZone(zone)) return;
  report({
    message: `Time zone "${shorten(zone, 40)}" does not exist; use a name such as Europe/Paris: the API server rejects the CronJob`,
    span: spanOf(at),
  });
}

/** Unlike in other values, "@" begins a schedule and not a placeholder. */
function writtenSchedule(at: Cursor | undefined): string | undefined {
  const { node } = at ?? {};
  if (node?.kind !== 'scalar' || node.templated || typeof node.value !== 'string') return undefined;
  return /[${}<>%[\]]|\.\.\./.test(node.value) ? undefined : node.value;
}
