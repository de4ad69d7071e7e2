import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { costRows } from '../../server/src/features/cost/cost-rows.ts';
import {
  type CostTotal,
  gpusTotal,
  hourlyTotal,
  monthTotal,
  totalOf,
} from '../../server/src/features/cost/cost-totals.ts';

// g6.xlarge costs $0.8048/h.

const spec = `
nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge}
restartPolicy: Never
containers: [{name: main, image: "registry.example.com/app:1", resources: {limits: {nvidia.com/gpu: 1}}}]`;

function object(apiVersion: string, kind: string, fields: string, depth = 6): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a}\nspec:\n${fields}${spec.replaceAll('\n', `\n${' '.repeat(depth)}`)}\n`;
}

const deployment = object(
  'apps/v1',
  'Deployment',
  '  replicas: 2\n  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: a}}\n    spec:',
).replace('restartPolicy: Never', 'restartPolicy: Always');
const job = object('batch/v1', 'Job', '  activeDeadlineSeconds: 5400\n  template:\n    spec:');
const jobWithoutEnd = object('batch/v1', 'Job', '  template:\n    spec:');
const cronJob = object(
  'batch/v1',
  'CronJob',
  '  schedule: "0 3 * * *"\n  jobTemplate:\n    spec:\n      activeDeadlineSeconds: 3600\n      template:\n        spec:',
  10,
);
const open = object(
  'serving.knative.dev/v1',
  'Service',
  '  template:\n    metadata: {annotations: {autoscaling.knative.dev/min-scale: "2"}}\n    spec:',
).replace('restartPolicy: Never', 'timeoutSeconds: 60');

function total(...texts: readonly string[]): CostTotal {
  return totalOf(costRows(new Analysis({ strict: true }).setFile('file:///a.yaml', texts.join('---\n'))));
}

function words(one: CostTotal): readonly (string | undefined)[] {
  return [gpusTotal(one), hourlyTotal(one), monthTotal(one)];
}

test('a month counts the runs of a schedule, and no job that ends', () => {
  // 2 × 0.8048 × 730 = 1,175.01; 0.8048 × 730/24 = 24.48.
  expect(words(total(deployment, job))).toEqual(['3 GPUs', '$2.41/h', '$1,175/month without 1 job']);
  expect(words(total(deployment, cronJob))).toEqual(['3 GPUs', '$2.41/h', '$1,199/month']);
  expect(words(total(deployment, job, jobWithoutEnd))[2]).toBe('$1,175/month without 2 jobs');
  expect(words(total(job))).toEqual(['1 GPU', '$0.80/h', undefined]);
});

test('a workload without an upper bound opens the total', () => {
  expect(words(total(deployment, open))).toEqual(['at least 4 GPUs', 'from $3.22/h', 'from $2,350/month']);
});

test('a row says what a run costs', () => {
  const rows = costRows(
    new Analysis({ strict: true }).setFile('file:///a.yaml', `${job}---\n${cronJob}---\n${jobWithoutEnd}`),
  );
  expect(rows.map(({ run, monthly }) => [run, monthly?.max.toFixed(2)])).toEqual([
    ['at most $1.21 in 90 min', undefined],
    ['at most $0.80 per run, $24.48 per month', '24.48'],
    [null, undefined],
  ]);
});
