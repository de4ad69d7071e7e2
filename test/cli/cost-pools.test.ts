import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runCli, temporaryFolder } from './run-cli.ts';

function repository(files: Record<string, string>): { readonly folder: string } {
  const folder = temporaryFolder();
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' });
  git('init', '-q');
  write(folder, files);
  git('add', '-A');
  git('commit', '-qm', 'first');
  return { folder };
}

function write(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

test('a folder with nothing but Terraform shows the prices of its node pools', async () => {
  const pool =
    'resource "aws_eks_node_group" "cards" {\n  instance_types = ["g6.12xlarge"]\n  scaling_config {\n    min_size = 0\n    max_size = 3\n  }\n}\n';
  const { folder } = repository({ 'infra/nodes.tf': pool });
  const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
  // 3 × 4.6016.
  expect(stdout).toBe(
    'Node pools, not in the totals:\n' +
      '  infra/nodes.tf:1  cards · g6.12xlarge · $4.60/h on demand per node · at most $13.80/h for 3 nodes\n\n' +
      'Prices: on demand at AWS us-east-1, as of 2026-07-20; 730 h per month\n' +
      '0 workloads, 1 node pool\n',
  );
  const regional = (zones: string) =>
    `resource "google_container_node_pool" "l4" {
  name = "l4"
  location = "us-central1"
  node_locations = ${zones}
  autoscaling {
    max_node_count = 3
  }
  node_config {
    machine_type = "g2-standard-4"
  }
}
`;
  const object = `resource "kubernetes_manifest" "pool" {
  manifest = {
    apiVersion = "karpenter.sh/v1"
    kind = "NodePool"
    metadata = { name = "single" }
    spec = {
      limits = { cpu = 16 }
      template = { spec = { requirements = [
        { key = "node.kubernetes.io/instance-type", operator = "In", values = ["g6.2xlarge"] },
        { key = "karpenter.sh/capacity-type", operator = "In", values = ["on-demand"] }
      ] } }
    }
  }
}
`;
  const { folder: others } = repository({
    'a.tf': regional('["us-central1-a", "us-central1-b"]'),
    'b.tf': regional('var.zones').replaceAll('"l4"', '"open"'),
    'c.tf': object,
    'd.tf': regional('["us-central1-a", "us-central1-b"]').replace('"us-central1"', '"us-central1-a"'),
  });
  const listed = await runCli(['cost', '--no-color'], { cwd: others });
  // 3 nodes in each of two zones: 6 × 0.706832. 16 CPUs are two machines of 0.9776.
  expect(listed.stdout).toContain(
    '  a.tf:1  l4 · g2-standard-4 · $0.71/h on demand per node · at most $4.24/h for 6 nodes\n' +
      '  b.tf:1  open · g2-standard-4 · $0.71/h on demand per node · limit unknown\n' +
      '  c.tf:1  single · g6.2xlarge · $0.98/h on demand per node · at most $1.96/h for 2 nodes\n' +
      '  d.tf:1  l4 · g2-standard-4 · $0.71/h on demand per node · at most $4.24/h for 6 nodes\n',
  );
  const { folder: empty } = repository({ 'infra/network.tf': 'resource "aws_vpc" "main" {}\n' });
  expect((await runCli(['cost', '--no-color'], { cwd: empty })).stdout).toBe(
    '0 workloads with accelerators: nothing to price\n',
  );
});

test('a change shows what its amounts leave out, and the node of which they are a part', async () => {
  const task = (nodes: number, clouds: string) =>
    `num_nodes: ${nodes}\nresources: {accelerators: "L4:1", any_of: [${clouds}]}\nrun: python main.py\n`;
  const { folder } = repository({ 'task.yaml': task(1, '{cloud: aws}') });
  write(folder, { 'task.yaml': task(2, '{cloud: aws}, {cloud: vast}') });
  const { stdout } = await runCli(['cost', folder, '--base', 'HEAD', '--no-color']);
  expect(stdout).toContain('$0.80/h → $1.61/h, without L4 at Vast.ai');
  const markdown = await runCli(['cost', folder, '--base', 'HEAD', '--format', 'markdown']);
  expect(markdown.stdout).toContain('without L4 at Vast.ai');
});

test('GKE counts nodes per zone: a limit is known only with the zones', async () => {
  const pool = (name: string, place: string) =>
    `resource "google_container_node_pool" "${name}" {\n  name = "${name}"\n${place}  autoscaling {\n    max_node_count = 3\n  }\n` +
    '  node_config {\n    machine_type = "g2-standard-4"\n  }\n}\n';
  const cluster = (location: string) => `resource "google_container_cluster" "c" {\n  location = ${location}\n}\n`;
  const { folder } = repository({
    'a/main.tf': pool('unknown-place', '  location = var.place\n'),
    'b/main.tf': cluster('var.region') + pool('unknown-cluster', ''),
    'c/main.tf': cluster('"us-central1"') + pool('regional-cluster', ''),
    'd/main.tf': cluster('"us-central1-c"') + pool('zonal-cluster', ''),
    'e/main.tf': `${cluster('var.zone')}variable "zone" {\n  default = "us-central1-c"\n}\n${pool('zonal-by-default', '')}`,
  });
  const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
  const each = 'g2-standard-4 · $0.71/h on demand per node';
  // 3 × 0.706832.
  expect(stdout).toContain(
    `  a/main.tf:1  unknown-place · ${each} · limit unknown\n` +
      `  b/main.tf:1  unknown-cluster · ${each} · limit unknown\n` +
      `  c/main.tf:1  regional-cluster · ${each} · limit unknown\n` +
      `  d/main.tf:1  zonal-cluster · ${each} · at most $2.12/h for 3 nodes\n` +
      `  e/main.tf:1  zonal-by-default · ${each} · at most $2.12/h for 3 nodes\n`,
  );
});

test('pools within a cluster, of a launch template and of a mapping have their sizes', async () => {
  const { folder } = repository({
    'main.tf': `resource "google_container_cluster" "c" {
  location           = "us-central1-a"
  initial_node_count = 2
  node_config {
    machine_type = "g2-standard-4"
  }
  node_pool {
    name       = "three"
    node_count = 3
    node_config {
      machine_type = "g2-standard-8"
    }
  }
}
resource "aws_launch_template" "t" {
  instance_type = "g6.2xlarge"
}
resource "aws_eks_node_group" "by-template" {
  scaling_config {
    max_size = 2
  }
  launch_template {
    id = aws_launch_template.t.id
  }
}
variable "groups" {
  default = {
    web = { types = ["m5.large"], most = 9 }
    art = { types = ["g6.xlarge"], most = 4 }
  }
}
resource "aws_eks_node_group" "each" {
  for_each        = var.groups
  node_group_name = "each-\${each.key}"
  instance_types  = each.value.types
  scaling_config {
    max_size = each.value.most
  }
}
`,
  });
  const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
  // 3 × 0.853624, 2 × 0.706832, 2 × 0.9776, 4 × 0.8048.
  expect(stdout).toBe(
    'Node pools, not in the totals:\n' +
      '  main.tf:1  three · g2-standard-8 · $0.85/h on demand per node · at most $2.56/h for 3 nodes\n' +
      '  main.tf:1  default-pool · g2-standard-4 · $0.71/h on demand per node · at most $1.41/h for 2 nodes\n' +
      '  main.tf:1  by-template · g6.2xlarge · $0.98/h on demand per node · at most $1.96/h for 2 nodes\n' +
      '  main.tf:1  each-art · g6.xlarge · $0.80/h on demand per node · at most $3.22/h for 4 nodes\n\n' +
      'Prices: on demand at AWS us-east-1 and Google Cloud us-central1, as of 2026-07-09 to 2026-07-20; 730 h per month\n' +
      '0 workloads, 4 node pools\n',
  );
});

test('a change of what an amount leaves out is a change', async () => {
  const task = (clouds: string) => `resources: {accelerators: "L4:1", any_of: [${clouds}]}\nrun: python main.py\n`;
  const { folder } = repository({ 'task.yaml': task('{cloud: aws}') });
  write(folder, { 'task.yaml': task('{cloud: aws}, {cloud: vast}') });
  const { stdout } = await runCli(['cost', folder, '--base', 'HEAD', '--no-color']);
  expect(stdout).toContain('$0.80/h → $0.80/h, without L4 at Vast.ai');
  expect(stdout).not.toContain('unchanged');
});

test('a part of a device is a fraction, and an unknown maximum has words', async () => {
  const { folder } = repository({
    'slice.yaml': `apiVersion: v1
kind: Pod
metadata: {name: slice}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: p5.4xlarge}
  containers:
    - name: main
      image: registry.example.com/app:1
      resources: {limits: {nvidia.com/mig-1g.10gb: 1}}
`,
  });
  const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
  // 6.88 / 7.
  expect(stdout).toContain('Pod/slice  1/7 GPU  $0.98/h (node p5.4xlarge $6.88/h)\n');
  expect(stdout).toContain('1 workload, 1/7 GPU: $0.98/h');
  write(folder, {
    'slice.yaml': `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: open}
spec:
  predictor:
    minReplicas: 1
    maxReplicas: 0
    nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge}
    containers:
      - name: kserve-container
        image: registry.example.com/app:1
        resources: {limits: {nvidia.com/gpu: 1}}
`,
  });
  const open = await runCli(['cost', '--no-color'], { cwd: folder });
  expect(open.stdout).toContain('1–? GPUs  from $0.80/h, maximum number of pods unknown');
});

test('pools of a module: zones in one text, machines that the price list has only with more cards, and files of variables', async () => {
  const pools = (name: string, machine: string, card: string, zones: string) => `[{
  name              = "${name}"
  machine_type      = "${machine}"
  node_locations    = "${zones}"
  max_count         = 2
  accelerator_count = 1
  accelerator_type  = "${card}"
}]
`;
  const l4 = pools('two-zones', 'g2-standard-4', 'nvidia-l4', 'us-central1-a, us-central1-b');
  const t4 = pools('one-of-two', 'n1-standard-16', 'nvidia-tesla-t4', 'us-central1-a');
  const { folder } = repository({
    'main.tf': `module "gke" {\n  node_pools = ${l4}}\nmodule "other" {\n  node_pools = ${t4}}\n`,
    'vars/prod.tfvars': `gpu_pools = ${l4.replace('two-zones', 'of-module')}`,
  });
  const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
  // 2 in each of two zones: 4 × 0.706832. The price list has n1-standard-16 only with two T4; its parts are 4 × (0.73 − 0.54) and
  // 0.54 − (0.73 − 0.54): 0.76 + 0.35 = 1.11, and two of them 2.22.
  expect(stdout).toBe(
    'Node pools, not in the totals:\n' +
      '  main.tf:1  two-zones · g2-standard-4 · $0.71/h on demand per node · at most $2.83/h for 4 nodes\n' +
      '  main.tf:1  one-of-two · n1-standard-16 + 1 x nvidia-tesla-t4 · $1.11/h on demand per node · at most $2.22/h for 2 nodes\n\n' +
      'Prices: on demand at Google Cloud us-central1, as of 2026-07-09; 730 h per month\n' +
      '0 workloads, 2 node pools\n',
  );
  const json = await runCli(['cost', '--no-color', '--format', 'json'], { cwd: folder });
  expect(JSON.parse(json.stdout).nodePools).toMatchObject([
    { name: 'two-zones' },
    { name: 'one-of-two', problem: null },
  ]);
  const { folder: alone } = repository({ 'prod.tfvars': `gpu_pools = ${l4}` });
  expect((await runCli(['cost', '--no-color'], { cwd: alone })).stdout).toContain(
    '  prod.tfvars:1  two-zones · g2-standard-4 · $0.71/h on demand per node · at most $2.83/h for 4 nodes\n',
  );
});

test('copies of a pool of Terraform are pools, if their number is known', async () => {
  const group = (copies: string) =>
    `resource "aws_eks_node_group" "g" {\n${copies}  instance_types = ["g6.xlarge"]\n  scaling_config {\n    max_size = 3\n  }\n}\n`;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform's own template
  const named = group('  count = length(local.zones)\n  node_group_name = "g-${count.index}"\n');
  const { folder } = repository({
    'one/main.tf': group('  count = var.enabled ? 1 : 0\n'),
    'three/main.tf': group('  count = 3\n'),
    'zones/main.tf': group('  for_each = toset(["a", "b"])\n  node_group_name = each.key\n'),
    'listed/main.tf': `locals {\n  zones = ["a", "b"]\n}\n${named}`,
    'unknown/main.tf': group('  count = length(var.zones)\n'),
  });
  const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
  const rows = (name: string) => stdout.split('\n').flatMap((line) => line.split(`  ${name}/main.tf:1  `)[1] ?? []);
  const price = 'g6.xlarge · $0.80/h on demand per node';
  const known = `${price} · at most $2.41/h for 3 nodes`;
  expect(rows('one')).toEqual([`g · ${known}`]);
  expect(rows('three')).toEqual([`g · ${known}`, `g · ${known}`, `g · ${known}`]);
  expect(rows('zones')).toEqual([`a · ${known}`, `b · ${known}`]);
  expect(rows('listed')).toEqual([`g-0 · ${known}`, `g-1 · ${known}`]);
  expect(rows('unknown')).toEqual([`g · ${price} · limit unknown`]);
});

test('lists of pools reach a module from the values of its folder', async () => {
  const pools = `[
    { name = "small", machine_type = "g2-standard-8", max_count = 2 },
    { name = "cards", machine_type = "n1-standard-8", max_count = 1, gpu_type = "nvidia-tesla-t4", gpu_count = 2 },
  ]`;
  const { folder } = repository({
    'main.tf':
      'module "gke" {\n  source = "terraform-google-modules/kubernetes-engine/google"\n  region = "us-central1"\n' +
      '  zones = ["us-central1-a", "us-central1-b"]\n  node_pools = var.gpu_pools\n}\n',
    'variables.tf': 'variable "gpu_pools" {\n  default = []\n}\n',
    'terraform.tfvars': `gpu_pools = ${pools}\n`,
  });
  const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
  // Two zones: 4 × 0.853624. 8 × 0.0475 + 2 × 0.35 = 1.08 with two cards.
  expect(stdout).toContain('small · g2-standard-8 · $0.85/h on demand per node · at most $3.41/h for 4 nodes\n');
  expect(stdout).toContain(
    'cards · n1-standard-8 + 2 x nvidia-tesla-t4 · $1.08/h on demand per node · at most $2.16/h for 2 nodes\n',
  );
});

test('a pool without a price says why', async () => {
  const { folder } = repository({
    'spot.tf':
      'resource "azurerm_kubernetes_cluster_node_pool" "spot" {\n  name = "spot"\n  vm_size = "Standard_NC24ads_A100_v4"\n  priority = "Spot"\n}\n',
    'flex.yaml': `apiVersion: cloud.google.com/v1
kind: ComputeClass
metadata: {name: flex}
spec:
  priorities:
    - {machineType: a3-highgpu-8g, flexStart: {enabled: true}}
---
apiVersion: cloud.google.com/v1
kind: ComputeClass
metadata: {name: some}
spec:
  priorities:
    - {machineType: a3-highgpu-8g, reservations: {affinity: Specific, specific: [{name: h100}]}}
    - {machineType: a3-megagpu-8g, flexStart: {enabled: true}}
    - {machineType: a3-highgpu-8g, spot: true}
    - {machineType: a3-highgpu-8g}
`,
  });
  const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
  expect(stdout).toContain(
    'spot · Standard_NC24ads_A100_v4 · price unknown: the price sheet has no spot price for it (on demand: $3.67/h)\n',
  );
  expect(stdout).toContain('flex · a3-highgpu-8g · price unknown: flex-start capacity has no list price\n');
  expect(stdout).toContain(
    'some · a3-highgpu-8g · $53.09–$88.49/h spot or on demand per node · limit unknown · not priced: reserved and flex-start capacity\n',
  );
  const { nodePools } = JSON.parse((await runCli(['cost', '--format', 'json'], { cwd: folder })).stdout);
  expect(nodePools[0]).toMatchObject({
    name: 'flex',
    nodeHourly: null,
    problem: 'flex-start capacity has no list price',
  });
});

test('pools in a file of variables stay next to other pools of Terraform', async () => {
  const { folder } = repository({
    'a/main.tf': 'resource "aws_eks_node_group" "g" {\n  instance_types = ["g6.xlarge"]\n}\n',
    'b/prod.tfvars': 'groups = {\n  big = {\n    instance_types = ["p5.48xlarge"]\n  }\n}\n',
  });
  const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
  expect(stdout).toContain('  b/prod.tfvars:1  big · p5.48xlarge');
});

test('the nodes of another cluster say nothing about a pod', async () => {
  const group = 'resource "aws_eks_node_group" "g" {\n  instance_types = ["g6.xlarge"]\n}\n';
  const pod =
    'apiVersion: v1\nkind: Pod\nmetadata: {name: speech}\nspec:\n  containers:\n' +
    '    - {name: main, image: "registry.example/speech:1", resources: {limits: {nvidia.com/gpu: 1}}}\n';
  const { folder } = repository({ 'cluster1/nodes.tf': group, 'cluster2/pod.yaml': pod });
  expect((await runCli(['cost', '--no-color'], { cwd: folder })).stdout).toContain('GPU model unknown');
  const { folder: own } = repository({ 'cluster1/nodes.tf': group, 'apps/pod.yaml': pod });
  expect((await runCli(['cost', '--no-color'], { cwd: own })).stdout).toContain('Pod/speech  1 GPU  $0.80/h');
});
