import { expect, test } from 'vitest';
import { DidChangeWatchedFilesNotification, FileChangeType } from 'vscode-languageserver/node';
import type { WorkspaceCostsResult } from '../../server/src/lsp/cost-protocol.ts';
import { methods } from '../../server/src/lsp/protocol.ts';
import { type Editor, folder } from './editor.ts';
import { openFolder } from './served-model.ts';

// Costs follow files that they only use: variables of Terraform, and a Rollout. A g6.12xlarge is $4.6016/h.

const pod = `template {
      spec {
        node_selector = { "node.kubernetes.io/instance-type" = "g6.12xlarge", "topology.kubernetes.io/region" = "us-east-1" }
        container {
          name  = "main"
          image = "registry.example/film:1"
          resources {
            limits = { "nvidia.com/gpu" = var.cards }
          }
        }
      }
    }`;
const main = `${folder}/main.tf`;
const scaler = `${folder}/scaler.tf`;
const variables = `${folder}/terraform.tfvars`;
const rollout = `${folder}/rollout.yaml`;

const workload = `variable "cards" { default = 4 }
variable "most" { default = 1 }
resource "kubernetes_deployment" "film" {
  metadata { name = "film" }
  spec {
    replicas = 1
    ${pod}
  }
}
`;
const autoscaler = `resource "kubernetes_horizontal_pod_autoscaler_v2" "film" {
  metadata { name = "film" }
  spec {
    min_replicas = 1
    max_replicas = var.most
    scale_target_ref {
      api_version = "apps/v1"
      kind        = "Deployment"
      name        = "film"
    }
  }
}
`;

const costs = async (editor: Editor) => {
  const { rows } = await editor.connection.sendRequest<WorkspaceCostsResult>(methods.workspaceCosts, {});
  return rows.map(({ name, hourly }) => `${name} ${hourly?.min} ${hourly?.max}`);
};

async function write(editor: Editor, files: Record<string, string>, uri: string, text: string): Promise<void> {
  const type = uri in files ? FileChangeType.Changed : FileChangeType.Created;
  files[uri] = text;
  await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, { changes: [{ uri, type }] });
}

test('a change of a file of variables', async () => {
  const files: Record<string, string> = { [main]: workload, [scaler]: autoscaler };
  const editor = await openFolder(files);
  expect(await costs(editor)).toEqual(['film 4.6016 4.6016']);
  await write(editor, files, variables, 'most = 3\n');
  await expect.poll(() => costs(editor)).toEqual(['film 4.6016 13.8048']);
  await write(editor, files, variables, 'most = 2\n');
  await expect.poll(() => costs(editor)).toEqual(['film 4.6016 9.2032']);
  await write(editor, files, variables, 'most = 2\ncards = 2\n');
  await expect.poll(() => costs(editor)).toEqual(['film 2.3008 4.6016']);
});

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: film, namespace: lab}
spec:
  replicas: 0
  template:
    spec:
      nodeSelector: {node.kubernetes.io/instance-type: g6.12xlarge, topology.kubernetes.io/region: us-east-1}
      containers: [{name: main, image: 'registry.example/film:1', resources: {limits: {nvidia.com/gpu: 4}}}]
`;
const ofRollout = (replicas: number) => `apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: film, namespace: lab}
spec:
  replicas: ${replicas}
  workloadRef: {apiVersion: apps/v1, kind: Deployment, name: film}
`;

test('a Rollout of a Deployment that appears, changes and disappears', async () => {
  const files: Record<string, string> = { [`${folder}/film.yaml`]: deployment };
  const editor = await openFolder(files);
  expect(await costs(editor)).toEqual(['film 0 0']);
  await write(editor, files, rollout, ofRollout(1));
  await expect.poll(() => costs(editor)).toEqual(['film 4.6016 4.6016']);
  await write(editor, files, rollout, ofRollout(3));
  await expect.poll(() => costs(editor)).toEqual(['film 13.8048 13.8048']);
  delete files[rollout];
  await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
    changes: [{ uri: rollout, type: FileChangeType.Deleted }],
  });
  await expect.poll(() => costs(editor)).toEqual(['film 0 0']);
});

test('a Deployment whose autoscaler in Terraform has a variable', async () => {
  const film = deployment.replace('replicas: 0', 'replicas: 1').replace(', namespace: lab', '');
  const files: Record<string, string> = {
    [`${folder}/film.yaml`]: film,
    [scaler]: `${autoscaler}variable "most" { default = 1 }\n`,
  };
  const editor = await openFolder(files);
  expect(await costs(editor)).toEqual(['film 4.6016 4.6016']);
  await write(editor, files, variables, 'most = 3\n');
  await expect.poll(() => costs(editor)).toEqual(['film 4.6016 13.8048']);
});
