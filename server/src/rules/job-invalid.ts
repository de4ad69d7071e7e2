import { isSet, isUnknown, placesAt, writtenNumber, writtenText } from '../evidence/written.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { insertKey, replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * Job fields that cannot be combined.
 *
 * ## Why
 *
 * The per-index fields of a Job, `backoffLimitPerIndex`, `maxFailedIndexes` and `successPolicy`, require `completionMode: Indexed`, and that
 * requires `completions`. A `podFailurePolicy` requires pods that never restart in place, because it decides what happens to failed pods. The
 * API server rejects the Job otherwise.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: sweep
 * spec:
 *   completions: 8
 *   parallelism: 8
 *   backoffLimitPerIndex: 2
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: sweep
 * spec:
 *   completions: 8
 *   completionMode: Indexed
 *   parallelism: 8
 *   backoffLimitPerIndex: 2
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: an indexed Job starts other pods.
 *
 * ## When it is silent
 *
 * In patches and for templates.
 *
 * ## Sources
 *
 * - [Kubernetes: Job](https://kubernetes.io/docs/concepts/workloads/controllers/job/)
 * - [Kubernetes: validation of Jobs](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/batch/validation/validation.go)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  manifest(manifest, context) {
    for (const spec of jobsIn(manifest)) {
      if (isIncomplete(spec)) continue;
      checkIndexed(spec, context);
      checkFailurePolicy(spec, context);
      const manager = getIn(spec, 'managedBy');
      if (manager === undefined || writtenText(manager)?.includes('/') !== false) continue;
      context.report({
        message: `managedBy needs a domain, such as kueue.x-k8s.io/multikueue: ${rejection}`,
        span: spanOf(manager),
      });
    }
    const cronJob = getIn(manifest.root, 'spec', 'jobTemplate', 'spec', 'manualSelector');
    if (manifest.kind === 'CronJob' && asBoolean(cronJob) === true && cronJob !== undefined) {
      context.report({
        message: 'The Jobs of a CronJob must not have manualSelector: the API server rejects the CronJob',
        span: keySpanOf(cronJob),
      });
    }
  },
});

/** The specs of the Jobs that an object is or creates. */
function jobsIn({ root, kind, apiVersion }: Manifest): readonly Cursor[] {
  switch (`${groupOf(apiVersion)}/${kind}`) {
    case 'batch/Job':
      return placesAt(root, 'spec');
    case 'batch/CronJob':
      return placesAt(root, 'spec.jobTemplate.spec');
    case 'jobset.x-k8s.io/JobSet':
      return placesAt(root, 'spec.replicatedJobs.*.template.spec');
    default:
      return [];
  }
}

const rejection = 'the API server rejects the Job';

function checkIndexed(spec: Cursor, { report, document }: RuleContext): void {
  const mode = getIn(spec, 'completionMode');
  const completions = getIn(spec, 'completions');
  // A patch says little of the Job.
  if (getIn(spec, 'template') === undefined || isUnknown(mode)) return;
  if (writtenText(mode) === 'Indexed') {
    const perIndex = getIn(spec, 'backoffLimitPerIndex');
    const failed = getIn(spec, 'maxFailedIndexes');
    if (isSet(failed) && !isSet(perIndex)) {
      report({ message: `maxFailedIndexes requires backoffLimitPerIndex: ${rejection}`, span: keySpanOf(failed) });
    }
    if (isSet(completions) || mode === undefined) return;
    const pods = asNumber(getIn(spec, 'parallelism')) ?? 1;
    report({
      message: `completionMode Indexed requires completions: ${rejection}`,
      span: spanOf(mode),
      fixes: () => [
        fix(
          `Set completions to ${pods}`,
          'unsafe',
          insertKey(document, spec, 'completions', pods, { after: 'completionMode' }),
        ),
      ],
    });
    return;
  }
  const fields = ['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy']
    .map((key) => getIn(spec, key))
    .filter(isSet);
  for (const field of fields) {
    report({
      message: `${keyOf(field)} requires completionMode Indexed: ${rejection}`,
      span: keySpanOf(field),
      fixes: () => [
        fix(
          'Set completionMode to Indexed',
          'unsafe',
          setKey(document, spec, 'completionMode', 'Indexed', { after: 'completions' }),
          isSet(completions) || completions !== undefined
            ? []
            : insertKey(document, spec, 'completions', asNumber(getIn(spec, 'parallelism')) ?? 1),
        ),
      ],
    });
  }
}

function checkFailurePolicy(spec: Cursor, context: RuleContext): void {
  const { report, document } = context;
  const policy = getIn(spec, 'podFailurePolicy');
  if (!isSet(policy)) return;
  const restart = getIn(spec, 'template', 'spec', 'restartPolicy');
  const written = writtenText(restart);
  if (restart !== undefined && written === 'OnFailure') {
    report({
      message: `podFailurePolicy requires restartPolicy Never, not ${written}: ${rejection}`,
      span: spanOf(restart),
      fixes: () => [fix('Set restartPolicy to Never', 'unsafe', replaceScalar(document, restart, 'Never'))],
    });
  }
  const replacement = getIn(spec, 'podReplacementPolicy');
  if (replacement !== undefined && writtenText(replacement) === 'TerminatingOrFailed') {
    report({
      message: `podFailurePolicy requires podReplacementPolicy Failed, not TerminatingOrFailed: ${rejection}`,
      span: spanOf(replacement),
      fixes: () => [
        fix('Set podReplacementPolicy to Failed', 'unsafe', replaceScalar(document, replacement, 'Failed')),
      ],
    });
  }
  for (const rule of items(getIn(policy, 'rules'))) checkFailureRule(rule, spec, context);
}

function checkFailureRule(rule: Cursor, spec: Cursor, { report }: RuleContext): void {
  if (rule.node.kind !== 'map' || isIncomplete(rule)) return;
  const codes = getIn(rule, 'onExitCodes');
  const conditions = getIn(rule, 'onPodConditions');
  if (isSet(codes) === isSet(conditions)) {
    const wrong = isSet(codes) ? 'either onExitCodes or onPodConditions, not both' : 'onExitCodes or onPodConditions';
    report({
      message: `A rule of podFailurePolicy needs ${wrong}: ${rejection}`,
      span: keySpanOf((isSet(codes) ? conditions : entries(rule)[0]) ?? rule),
    });
  }
  const action = getIn(rule, 'action');
  if (action !== undefined && writtenText(action) === 'FailIndex' && !isSet(getIn(spec, 'backoffLimitPerIndex'))) {
    report({ message: `Action FailIndex requires backoffLimitPerIndex: ${rejection}`, span: spanOf(action) });
  }
  const values = getIn(codes, 'values');
  const operator = writtenText(getIn(codes, 'operator'));
  const written = items(values);
  const numbers = written.map((value) => writtenNumber(value));
  const zero = written.find((value) => writtenNumber(value) === 0);
  if (operator === 'In' && zero !== undefined) {
    report({
      message: `Exit code 0 is not a failure, so operator In must not list it: ${rejection}`,
      span: spanOf(zero),
    });
  }
  const unordered = written.find(
    (_, index) => index > 0 && (numbers[index] ?? Infinity) <= (numbers[index - 1] ?? -Infinity),
  );
  if (unordered !== undefined) {
    report({ message: `Exit codes must be unique and in ascending order: ${rejection}`, span: spanOf(unordered) });
  }
  const container = getIn(codes, 'containerName');
  const name = writtenText(container);
  const containers = [
    ...placesAt(spec, 'template.spec.containers.*'),
    ...placesAt(spec, 'template.spec.initContainers.*'),
  ];
  const names = containers.map((one) => getIn(one, 'name'));
  if (container === undefined || name === undefined || names.length === 0 || names.some(isUnknown)) return;
  if (names.some((one) => asText(one) === name)) return;
  report({ message: `The pod has no container named ${shorten(name, 40)}: ${rejection}`, span: spanOf(container) });
}
