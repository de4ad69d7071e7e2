import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli, temporaryFolder } from './run-cli.ts';

const reason =
  'Terraform is not checked: gpulint reads node pools, regions, charts and workloads from it when it checks the YAML of its folder';

const pool = 'resource "aws_eks_node_group" "cards" {\n  instance_types = ["g5.12xlarge"]\n}\n';

describe('files of Terraform', () => {
  function folder(): string {
    const cwd = temporaryFolder();
    writeFileSync(path.join(cwd, 'pool.tf'), pool);
    return cwd;
  }

  test('are refused if they are named', async () => {
    const { stdout, status } = await runCli(['check', 'pool.tf'], { cwd: folder() });
    expect(stdout).toContain(`pool.tf  skipped  ${reason}`);
    expect(status).toBe(2);
  });

  test('are not all that a folder needs', async () => {
    const { stdout, stderr, status } = await runCli(['check', '.'], { cwd: folder() });
    expect(stderr).toContain(reason);
    expect(stdout).toContain('no YAML or JSON files');
    expect(status).toBe(0);
  });
});
