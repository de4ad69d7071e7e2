import { expect, test } from 'vitest';
import { listed } from './listed-pools.ts';

// Pools of the tools that describe nodes, with amounts computed by hand from the price list.

const region = 'provider "aws" {\n  region = "us-west-2"\n}\n';

const group = (distribution: string, overrides: string) => `resource "aws_launch_template" "paint" {
  instance_type = "g4dn.xlarge"
}
resource "aws_autoscaling_group" "paint" {
  name     = "paint"
  max_size = 4
  mixed_instances_policy {
    instances_distribution {
${distribution}
    }
    launch_template {
      launch_template_specification {
        launch_template_id = aws_launch_template.paint.id
      }
${overrides}
    }
  }
}
`;

const two = 'override {\n instance_type = "g6.4xlarge"\n}\noverride {\n instance_type = "g5.4xlarge"\n}';

test.each([
  // g6.4xlarge 1.3232, g5.4xlarge 1.624; 4 × 1.624.
  ['', two, 'g6.4xlarge or g5.4xlarge · $1.32–$1.62/h on demand per node · at most $6.50/h for 4 nodes'],
  // On spot, g5.4xlarge 0.5505, g6.4xlarge 0.58185; 4 × 0.58185.
  [
    'on_demand_percentage_above_base_capacity = 0',
    two,
    'g5.4xlarge or g6.4xlarge · $0.55–$0.58/h spot per node · at most $2.33/h for 4 nodes',
  ],
  // One on demand and three on spot: 1.624 + 3 × 0.58185.
  [
    'on_demand_base_capacity = 1\non_demand_percentage_above_base_capacity = 0',
    two,
    'g5.4xlarge or g6.4xlarge · $0.55–$1.62/h spot or on demand per node · at most $3.37/h for 4 nodes',
  ],
  // Without overrides, the machine of the launch template: 4 × 0.526.
  ['', '', 'g4dn.xlarge · $0.53/h on demand per node · at most $2.10/h for 4 nodes'],
])('a mixed group with %j', async (distribution, overrides, row) => {
  const stdout = await listed({ 'a.tf': region + group(distribution, overrides) });
  expect(stdout).toContain(`paint · ${row}\n`);
  expect(stdout).toContain('1 node pool\n');
});

test('overrides that a variable lists, and those of a module', async () => {
  const dynamic = 'dynamic "override" {\n for_each = var.types\n content {\n instance_type = override.value\n}\n}';
  const types = 'variable "types" {\n  default = ["g6.4xlarge", "g5.4xlarge"]\n}\n';
  expect(await listed({ 'a.tf': region + types + group('', dynamic) })).toContain('$1.32–$1.62/h on demand per node');
  // An override by requirements, and a list that is computed, leave the machine unknown.
  expect(await listed({ 'a.tf': region + group('', dynamic) })).not.toContain('$');
  const open = 'override {\n instance_requirements {\n accelerator_count {\n min = 1\n}\n}\n}';
  expect(await listed({ 'a.tf': region + group('', open) })).not.toContain('$');
  const module = (isUsed: string) => `${region}module "eks" {
  source = "terraform-aws-modules/eks/aws"
  self_managed_node_groups = {
    paint = {
      max_size      = 2
      instance_type = "g4dn.xlarge"
      use_mixed_instances_policy = ${isUsed}
      mixed_instances_policy = {
        override = [{ instance_type = "g6.4xlarge" }, { instance_type = "g5.4xlarge" }]
      }
    }
  }
}
`;
  // 2 × 1.624, or 2 × 0.526 where the policy is not used.
  expect(await listed({ 'a.tf': module('true') })).toContain('at most $3.25/h for 2 nodes');
  expect(await listed({ 'a.tf': module('false') })).toContain('g4dn.xlarge · $0.53/h on demand per node');
});

const modulePool = `variable "machine" {}
variable "most" {}
variable "name" {
  default = "pool"
}
resource "google_container_node_pool" "this" {
  name     = var.name
  location = "us-central1-a"
  autoscaling {
    max_node_count = var.most
  }
  node_config {
    machine_type = var.machine
  }
}
`;

test('Terragrunt passes inputs to its module', async () => {
  const unit = (source: string, inputs: string) =>
    `locals {\n  machine = "g2-standard-8"\n}\nterraform {\n  source = "${source}"\n}\ninputs = {\n${inputs}\n}\n`;
  const inputs = '  machine = local.machine\n  most = 3';
  // 3 × 0.853624.
  const row = 'pool · g2-standard-8 · $0.85/h on demand per node · at most $2.56/h for 3 nodes';
  const files = { 'modules/pool/main.tf': modulePool };
  expect(await listed({ ...files, 'live/gpu/terragrunt.hcl': unit('../../modules//pool', inputs) })).toContain(row);
  // The module is elsewhere, so its pools are unknown; a map of pools in the inputs is not.
  const away = unit('git::https://git.example.com/m.git//pool', inputs);
  expect(await listed({ ...files, 'live/gpu/terragrunt.hcl': away })).not.toContain('$');
  const groups = '  eks_managed_node_groups = { speech = { instance_types = ["g6.xlarge"], max_size = 2 } }';
  const registry = unit('tfr:///terraform-aws-modules/eks/aws?version=20.8.5', groups);
  // 2 × 0.8048.
  expect(await listed({ 'live/gpu/terragrunt.hcl': registry })).toContain(
    'speech · g6.xlarge · $0.80/h on demand per node · at most $1.61/h for 2 nodes',
  );
});

test('each copy of a module is a pool of its own', async () => {
  const use = `locals {
  crews = {
    film = { kind = "g2-standard-24", most = 2 }
    web  = { kind = "e2-standard-4", most = 9 }
    pen  = { kind = "g2-standard-4", most = 5 }
  }
}
module "pools" {
  source   = "./pool"
  for_each = local.crews
  name     = each.key
  machine  = each.value.kind
  most     = each.value.most
}
`;
  const stdout = await listed({ 'main.tf': use, 'pool/main.tf': modulePool });
  // 2 × 2.0008, 5 × 0.706832.
  expect(stdout).toContain('film · g2-standard-24 · $2.00/h on demand per node · at most $4.00/h for 2 nodes');
  expect(stdout).toContain('pen · g2-standard-4 · $0.71/h on demand per node · at most $3.53/h for 5 nodes');
  expect(stdout).toContain('2 node pools\n');
  const set = `module "pools" {
  source   = "./pool"
  for_each = toset(["film", "pen"])
  name     = each.key
  machine  = "g2-standard-4"
  most     = 3
}
`;
  const copies = await listed({ 'main.tf': set, 'pool/main.tf': modulePool });
  // 3 × 0.706832.
  expect(copies).toContain('film · g2-standard-4 · $0.71/h on demand per node · at most $2.12/h for 3 nodes');
  expect(copies).toContain('pen · g2-standard-4 · $0.71/h on demand per node · at most $2.12/h for 3 nodes');
  // A set that is computed has an unknown number of copies.
  const computed = set.replace('toset(["film", "pen"])', 'data.crews.all.names');
  expect(await listed({ 'main.tf': computed, 'pool/main.tf': modulePool })).toContain('limit unknown');
});

test('a compute environment of AWS Batch on spot has spot prices', async () => {
  const batch = (type: string) => `${region}resource "aws_batch_compute_environment" "b" {
  type = "MANAGED"
  compute_resources {
    type          = "${type}"
    instance_type = ["g6.xlarge"]
    max_vcpus     = 64
  }
}
`;
  expect(await listed({ 'a.tf': batch('SPOT') })).toContain('$0.42/h spot per node');
  expect(await listed({ 'a.tf': batch('EC2') })).toContain('$0.80/h on demand per node');
});

test('pools of Cluster API with their template, and of CoreWeave', async () => {
  const machines = (extra: string) => `apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata:
  name: speech
${extra}spec:
  replicas: 2
  template:
    spec:
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: AWSMachineTemplate, name: cards}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: cards}
spec: {template: {spec: {instanceType: g6.12xlarge}}}
`;
  const most = '  annotations: {cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: "3"}\n';
  // 2 × 4.6016, 3 × 4.6016.
  expect(await listed({ 'a.yaml': machines('') })).toContain('at most $9.20/h for 2 nodes');
  expect(await listed({ 'a.yaml': machines(most) })).toContain('at most $13.80/h for 3 nodes');
  const coreweave = (size: string) =>
    `apiVersion: compute.coreweave.com/v1alpha1\nkind: NodePool\nmetadata: {name: render}\nspec: {instanceType: gd-8xl40-i128, ${size}}\n`;
  // 3 × 10.
  expect(await listed({ 'a.yaml': coreweave('targetNodes: 3') })).toContain(
    'render · gd-8xl40-i128 · $10.00/h on demand per node · at most $30.00/h for 3 nodes',
  );
  expect(await listed({ 'a.yaml': coreweave('targetNodes: "{{ .Values.nodes }}"') })).toContain('limit unknown');
});

test('pools of Rancher with their machines, also in another file, and of k0rdent', async () => {
  const cluster = (size: string) => `apiVersion: provisioning.cattle.io/v1
kind: Cluster
metadata: {name: studio, namespace: fleet-default}
spec:
  rkeConfig:
    machinePools:
      - {name: paint, ${size}, workerRole: true, machineConfigRef: {kind: Amazonec2Config, name: paint}}
      - {name: plain, quantity: 2, workerRole: true, machineConfigRef: {kind: Amazonec2Config, name: plain}}
`;
  const machine = (name: string, type: string) => `apiVersion: rke-machine-config.cattle.io/v1
kind: Amazonec2Config
metadata: {name: ${name}, namespace: fleet-default}
instanceType: ${type}
region: us-west-2
`;
  const machines = `${machine('paint', 'g6.2xlarge')}---\n${machine('plain', 'm6i.xlarge')}`;
  // 2 × 0.9776, 5 × 0.9776.
  const fixed = await listed({ 'a.yaml': `${cluster('quantity: 2')}---\n${machines}` });
  expect(fixed).toContain('a.yaml:7  paint · g6.2xlarge · $0.98/h on demand per node · at most $1.96/h for 2 nodes\n');
  expect(fixed).not.toContain('plain');
  const scaled = { 'a.yaml': cluster('quantity: 2, autoscalingMinSize: 1, autoscalingMaxSize: 5'), 'b.yaml': machines };
  expect(await listed(scaled)).toContain('at most $4.89/h for 5 nodes\n');
  const workers = (type: string) => `apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterDeployment
metadata: {name: edge}
spec:
  template: aws-standalone-cp-1-0-20
  config: {region: us-west-2, workersNumber: 3, controlPlane: {instanceType: g6.xlarge}, worker: {instanceType: ${type}}}
`;
  // 3 × 0.9776.
  expect(await listed({ 'a.yaml': workers('g6.2xlarge') })).toContain(
    'edge · g6.2xlarge · $0.98/h on demand per node · at most $2.93/h for 3 nodes',
  );
  expect(await listed({ 'a.yaml': workers('m6i.xlarge') })).not.toContain('$');
});

test('the MachineAutoscaler of a MachineSet sets its limit, also from another file', async () => {
  const set = (name: string) => `apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
metadata: {name: ${name}, namespace: openshift-machine-api}
spec:
  replicas: 1
  template: {spec: {providerSpec: {value: {instanceType: g6.2xlarge, placement: {region: us-west-2}}}}}
`;
  const scaler = (most: string) => `apiVersion: autoscaling.openshift.io/v1beta1
kind: MachineAutoscaler
metadata: {name: paint, namespace: openshift-machine-api}
spec:
  minReplicas: 0
  maxReplicas: ${most}
  scaleTargetRef: {apiVersion: machine.openshift.io/v1beta1, kind: MachineSet, name: paint}
`;
  const stdout = await listed({ 'a.yaml': `${set('paint')}---\n${set('other')}`, 'b.yaml': scaler('4') });
  // 4 × 0.9776, and the other set has one node.
  expect(stdout).toContain('paint · g6.2xlarge · $0.98/h on demand per node · at most $3.91/h for 4 nodes\n');
  expect(stdout).toContain('other · g6.2xlarge · $0.98/h on demand per node · at most $0.98/h for 1 node\n');
  const unknown = await listed({ 'a.yaml': `${set('paint')}---\n${scaler('"{{ .Values.most }}"')}` });
  expect(unknown).toContain('paint · g6.2xlarge · $0.98/h on demand per node · limit unknown\n');
});

test('a pool that takes reserved nodes first says that these are not priced', async () => {
  const pool = (capacity: string) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: film}
spec:
  limits: {nvidia.com/gpu: 4}
  template:
    spec:
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [g6.xlarge]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [${capacity}]}
`;
  const row = 'film · g6.xlarge · $0.80/h on demand per node · at most $3.22/h for 4 nodes';
  expect(await listed({ 'a.yaml': pool('reserved, on-demand') })).toContain(`${row} · not priced: reserved capacity\n`);
  expect(await listed({ 'a.yaml': pool('on-demand') })).toContain(`${row}\n`);
  // 4 × 0.3618.
  expect(await listed({ 'a.yaml': pool('reserved, spot') })).toContain(
    '$0.36/h spot per node · at most $1.45/h for 4 nodes',
  );
  expect(await listed({ 'a.yaml': pool('reserved, spot, on-demand') })).toContain(
    '$0.36–$0.80/h spot or on demand per node',
  );
  expect(await listed({ 'a.yaml': pool('reserved') })).toContain('price unknown: reserved capacity');
});

test("a project of Pulumi's YAML", async () => {
  const project = (size: string) => `name: lab
runtime: yaml
config:
  aws:region: us-west-2
resources:
  cards:
    type: aws:eks:NodeGroup
    properties:
      nodeGroupName: cards
      subnetIds: \${subnets}
      capacityType: SPOT
      instanceTypes: [g6.4xlarge]
      scalingConfig: {minSize: 0, maxSize: ${size}}
`;
  // 3 × 0.58185.
  expect(await listed({ 'Pulumi.yaml': project('3') })).toContain(
    'cards · g6.4xlarge · $0.58/h spot per node · at most $1.75/h for 3 nodes',
  );
  expect(await listed({ 'Pulumi.yaml': project(`\${most}`) })).toContain('limit unknown');
});
