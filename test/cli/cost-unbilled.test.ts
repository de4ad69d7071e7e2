import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { CostJson } from '../../server/src/cli/cost/cost-schema.ts';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

// Workloads that a total cannot count: those scaled to 0, and the pods of a DaemonSet.

function object(kind: string, machine: string, spec = ''): string {
  return `apiVersion: apps/v1
kind: ${kind}
metadata: {name: chat}
spec:${spec}
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      nodeSelector: {node.kubernetes.io/instance-type: ${machine}, topology.kubernetes.io/region: us-east-1}
      containers:
        - {name: server, image: "vllm/vllm-openai:v0.11.0", resources: {limits: {nvidia.com/gpu: 1}}}
`;
}

const replicas = (count: number) => object('Deployment', 'p5.4xlarge', `\n  replicas: ${count}`);

function folderOf(text: string): string {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, 'chat.yaml'), text);
  return folder;
}

async function json<T>(cwd: string, ...args: string[]): Promise<T> {
  return JSON.parse((await runCli([...args, '--format', 'json'], { cwd })).stdout) as T;
}

/** The change from one text to another, by an earlier report. */
async function change(from: string, to: string): Promise<string> {
  const cwd = folderOf(from);
  const { stdout } = await runCli(['check', '--format', 'json'], { cwd });
  writeFileSync(path.join(cwd, 'earlier.txt'), stdout);
  writeFileSync(path.join(cwd, 'chat.yaml'), to);
  return (await runCli(['cost', '--no-color', '--compare', 'earlier.txt'], { cwd })).stdout;
}

test('a Deployment at 0 replicas has a row with the price of the next pod', async () => {
  const cwd = folderOf(replicas(0));
  const { stdout } = await runCli(['cost', '--no-color'], { cwd });
  expect(stdout).toContain('chat.yaml:1  Deployment/chat  0 GPUs  $0/h (0 pods; $6.88/h on demand per pod)\n');
  expect(stdout).toContain('1 workload, 0 GPUs: $0/h ($0/month)\n');
  const { workloads, after } = await json<CostJson>(cwd, 'cost');
  expect(workloads.map((one) => one.after)).toMatchObject([{ gpus: { min: 0, max: 0 }, hourly: { min: 0, max: 0 } }]);
  expect(after.unpriced).toBe(0);
  expect((await runCli(['check', '--no-color'], { cwd })).stdout).toContain(
    'Deployment/chat  0 × H100 80GB SXM  $0/h (0 pods; $6.88/h on demand per pod)',
  );
});

test('scaling from or to 0 is a change of one workload', async () => {
  expect(await change(replicas(0), replicas(2))).toMatch(/chat\.yaml:1 .* changed +0 → 2 GPUs .*\+\$13\.76\/h\n/);
  expect(await change(replicas(2), replicas(0))).toMatch(/chat\.yaml:1 .* changed +2 → 0 GPUs .*−\$13\.76\/h\n/);
});

test('a Pod that requests 0 devices has no row', async () => {
  const pod = `apiVersion: v1
kind: Pod
metadata: {name: idle}
spec: {containers: [{name: a, image: "example.com/a:1", resources: {limits: {nvidia.com/gpu: 0}}}]}
`;
  expect((await runCli(['cost'], { cwd: folderOf(pod) })).stdout).toBe(
    '0 workloads with accelerators: nothing to price\n',
  );
});

test('definitions alone are named, since they are something to price elsewhere', async () => {
  const profiles = `singleuser:
  profileList:
    - display_name: One T4
      kubespawner_override:
        extra_resource_limits: {nvidia.com/gpu: "1"}
        node_selector: {node.kubernetes.io/instance-type: g4dn.xlarge}
`;
  expect((await runCli(['cost'], { cwd: folderOf(profiles) })).stdout).toBe(
    '0 workloads, 1 definition: others decide how many pods run\n',
  );
});

test('a DaemonSet has its price per node in every JSON report', async () => {
  const cwd = folderOf(object('DaemonSet', 'g5.xlarge'));
  const nodeHourly = { min: 1.006, max: 1.006 };
  expect((await json<Report>(cwd, 'check')).files[0]?.workloads).toMatchObject([{ cost: null, nodeHourly }]);
  expect((await json<CostJson>(cwd, 'cost')).workloads).toMatchObject([{ after: { hourly: null, nodeHourly } }]);
  const other = await json<Report>(folderOf(replicas(1)), 'check');
  expect(other.files[0]?.workloads[0]).not.toHaveProperty('nodeHourly');
});

test('a DaemonSet on another machine is a change', async () => {
  const [small, large] = [object('DaemonSet', 'g5.xlarge'), object('DaemonSet', 'p5.4xlarge')];
  expect(await change(small, large)).toMatch(/DaemonSet\/chat +changed .*\$1\.01\/h per node → \$6\.88\/h per node/);
  expect(await change(small, small)).toContain('1 workload unchanged');
});

test('a limit names the workloads that it cannot cover', async () => {
  const cwd = folderOf(object('DaemonSet', 'g5.xlarge'));
  const { stderr, status } = await runCli(['cost', '--max-hourly', '5'], { cwd });
  expect(stderr).toContain('gpulint: the limits do not cover 1 workload without a price\n');
  expect(status).toBe(0);
  expect((await runCli(['cost'], { cwd })).stderr).not.toContain('limits');
});

test('a folder without manifests is named', async () => {
  const cwd = temporaryFolder();
  mkdirSync(path.join(cwd, 'empty'));
  const { stderr, status } = await runCli(['cost', 'empty'], { cwd });
  expect({ stderr, status }).toEqual({ stderr: 'gpulint: no YAML, JSON or Terraform files in empty\n', status: 0 });
});

test('a folder with nothing but Terraform is not called empty', async () => {
  const cwd = temporaryFolder();
  const pool = `resource "google_container_node_pool" "cards" {
  location   = "us-central1-a"
  node_count = 1
  node_config { machine_type = "g2-standard-4" }
}
`;
  writeFileSync(path.join(cwd, 'main.tf'), pool);
  const { stdout, stderr } = await runCli(['cost'], { cwd });
  expect(stdout).toContain('cards · g2-standard-4');
  expect(stderr).not.toContain('no YAML');
});
