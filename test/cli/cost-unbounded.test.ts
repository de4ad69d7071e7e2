import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type CostJson, costSchema } from '../../server/src/cli/cost/cost-schema.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

// Services of Knative on g5.xlarge, 1.006 in us-east-1. Without max-scale, their pods have no bound.

const service = (name: string, scale: string) => `apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: ${name}}
spec:
  template:
    metadata: {annotations: {${scale}}}
    spec:
      nodeSelector: {node.kubernetes.io/instance-type: g5.xlarge}
      containers: [{image: "registry.example.com/app:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`;
const bounded = 'autoscaling.knative.dev/min-scale: "1", autoscaling.knative.dev/max-scale: "3"';
const unbounded = 'autoscaling.knative.dev/min-scale: "1"';

/** The costs of one text against those of another. */
async function compared(before: string, after: string, ...args: readonly string[]) {
  const cwd = temporaryFolder();
  writeFileSync(path.join(cwd, 'chat.yaml'), before);
  writeFileSync(path.join(cwd, 'report.txt'), (await runCli(['check', '--format', 'json'], { cwd })).stdout);
  writeFileSync(path.join(cwd, 'chat.yaml'), after);
  return runCli(['cost', '--no-color', '--compare', 'report.txt', ...args], { cwd });
}

test('a lost bound is no saving', async () => {
  const { stdout } = await compared(service('chat', bounded), service('chat', unbounded));
  expect(stdout).toMatch(/maximum number of pods unknown {2}±\$0\/h, maximum unknown\n/);
  expect(stdout).toContain('1–3 → at least 1 GPUs, $1.01–$3.02/h → from $1.01/h: ±$0/h (±$0/month), maximum unknown\n');
});

test('a new bound is no increase', async () => {
  const { stdout } = await compared(service('chat', unbounded), service('chat', bounded));
  expect(stdout).toContain(': ±$0/h (±$0/month), maximum unknown\n');
});

test('other workloads keep both ends', async () => {
  // chat loses its bound, rank comes with 2 to 4 pods: 2.012 to 4.024.
  const rank = service('rank', 'autoscaling.knative.dev/min-scale: "2", autoscaling.knative.dev/max-scale: "4"');
  const after = `${service('chat', unbounded)}---\n${rank}`;
  const { stdout } = await compared(service('chat', bounded), after);
  expect(stdout).toContain(': +$2.01/h to +$4.02/h (+$1,469/month to +$2,938/month), maximum unknown\n');
  const json = JSON.parse((await compared(service('chat', bounded), after, '--format', 'json')).stdout) as CostJson;
  expect(costSchema.parse(json)).toEqual(json);
  expect(json.increase).toEqual({ min: 2.012, max: 4.024, isOpen: true });
  expect(json.workloads.map(({ increase }) => increase)).toEqual([
    { min: 0, max: 0, isOpen: true },
    { min: 2.012, max: 4.024 },
  ]);
  const csv = (await compared(service('chat', bounded), after, '--format', 'csv')).stdout;
  expect(csv).toContain(',1.006,3.018,1.006,,0,,');
});

test('an unchanged workload without a bound leaves the increase exact', async () => {
  const chat = service('chat', unbounded);
  const { stdout } = await compared(chat, `${chat}---\n${service('rank', bounded)}`);
  expect(stdout).toContain(': +$1.01/h to +$3.02/h (+$734/month to +$2,203/month)\n');
});

test('limits say what they count only at the minimum', async () => {
  const words = 'gpulint: the limits count 1 workload without a known maximum of pods at the minimum\n';
  const increase = await compared(service('chat', bounded), service('chat', unbounded), '--max-increase', '1');
  expect([increase.stderr, increase.status]).toEqual([words, 0]);
  const input = service('chat', unbounded);
  const total = await runCli(['cost', '-', '--max-hourly', '2'], { input });
  expect([total.stderr, total.status]).toEqual([words, 0]);
  expect((await runCli(['cost', '-', '--max-hourly', '4'], { input: service('chat', bounded) })).stderr).toBe('');
});
