import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli, temporaryFolder } from './run-cli.ts';

// Taints that Terraform states for a pool, and a pod that selects it without a toleration.

const pod = `apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  nodeSelector: {team: ml}
  containers: [{name: main, image: "registry.example/a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`;

async function missingFor(terraform: string): Promise<readonly string[]> {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, 'main.tf'), terraform);
  writeFileSync(path.join(folder, 'pod.yaml'), pod);
  const { stdout } = await runCli(['check', '--format', 'json'], { cwd: folder });
  const { files } = JSON.parse(stdout) as { files: { findings: { rule: string; message: string }[] }[] };
  const findings = files.flatMap((file) => file.findings);
  return findings.flatMap(({ rule, message }) => (rule === 'toleration-missing' ? message : []));
}

const eks = (taints: string) => `resource "aws_eks_node_group" "gpu" {
  instance_types = ["g6.xlarge"]
  labels         = { team = "ml" }
  ${taints}
}
`;

const gke = (taints: string) => `resource "google_container_node_pool" "gpu" {
  node_config {
    machine_type = "g2-standard-12"
    labels       = { team = "ml" }
    ${taints}
  }
}
`;

const block = (key: string, effect = 'NO_SCHEDULE', value = '"present"') =>
  `taint {\n    key    = ${key}\n    value  = ${value}\n    effect = "${effect}"\n  }`;

describe('are found', () => {
  test.each([
    ['in a block', eks(block('"team"')), 'team=present:NoSchedule'],
    ['in several blocks', gke(`${block('"nvidia.com/gpu"')}\n${block('"team"')}`), 'team=present:NoSchedule'],
    ['with an unknown value', eks(block('"team"', 'NO_EXECUTE', 'var.team')), 'team:NoExecute'],
    [
      'in a mapping of a module',
      `module "eks" {
  source = "terraform-aws-modules/eks/aws"
  eks_managed_node_groups = {
    gpu = {
      instance_types = ["g6.xlarge"]
      labels         = { team = "ml" }
      taints         = { own = { key = "team", value = "ml", effect = "NO_EXECUTE" } }
    }
  }
}
`,
      'team=ml:NoExecute',
    ],
    [
      'as texts',
      `resource "azurerm_kubernetes_cluster_node_pool" "gpu" {
  vm_size     = "Standard_NC24ads_A100_v4"
  node_labels = { team = "ml" }
  node_taints = ["sku=gpu:NoSchedule"]
}
`,
      'sku=gpu:NoSchedule',
    ],
    [
      'in lists by pool',
      `module "gke" {
  source            = "terraform-google-modules/kubernetes-engine/google"
  node_pools        = [{ name = "gpu", machine_type = "g2-standard-12" }]
  node_pools_labels = { gpu = { team = "ml" } }
  node_pools_taints = { all = [], gpu = [{ key = "team", value = "ml", effect = "NO_SCHEDULE" }] }
}
`,
      'team=ml:NoSchedule',
    ],
  ])('%s', async (_, terraform, taint) => {
    expect(await missingFor(terraform)).toEqual([
      expect.stringContaining(`The pod does not tolerate the taint ${taint} of Terraform `),
    ]);
  });
});

test.each([
  ['a pool without taints', eks('')],
  ['a taint that GKE tolerates for the pod', gke(block('"nvidia.com/gpu"'))],
  ['a taint that EKS tolerates for the pod', eks(block('"nvidia.com/gpu"'))],
  ['a taint that an agent removes', eks(block('"node.cilium.io/agent-not-ready"'))],
  ['a taint that only repels', eks(block('"team"', 'PREFER_NO_SCHEDULE'))],
  ['a key from a variable', eks(block('var.taint'))],
  [
    'blocks for a list',
    gke('dynamic "taint" {\n      for_each = var.taints\n      content {\n        key = taint.value\n      }\n    }'),
  ],
])('%s is not reported', async (_, terraform) => {
  expect(await missingFor(terraform)).toEqual([]);
});
