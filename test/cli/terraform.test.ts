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

  test('are no failure if their costs are asked for, with the values that other files of the folder set', async () => {
    const cwd = folder();
    const variables = 'provider "aws" {\n  region = var.region\n}\nvariable "region" {\n  default = "eu-west-1"\n}\n';
    writeFileSync(path.join(cwd, 'pool.tf'), `${pool}${variables}`);
    writeFileSync(path.join(cwd, 'terraform.tfvars'), 'region = "eu-central-1"\n');
    const { stdout, stderr, status } = await runCli(['cost', '--no-color', 'pool.tf'], { cwd });
    // A g5.12xlarge costs 7.09282 in Frankfurt.
    expect(stdout).toContain('g5.12xlarge · $7.09/h on demand per node');
    expect(stderr).not.toContain(reason);
    expect(status).toBe(0);
  });

  test('with an error of syntax are read around it, and it is reported at its place', async () => {
    const cwd = folder();
    const broken = pool.replace('"cards"', '"other"').replace('"]', ']');
    writeFileSync(path.join(cwd, 'pool.tf'), `${broken}${pool}`);
    writeFileSync(path.join(cwd, 'notes.tf'), 'x = "\n');
    const { stdout, stderr } = await runCli(['cost', '--no-color', '.'], { cwd });
    expect(stdout).toContain('cards · g5.12xlarge');
    expect(stderr).toContain('gpulint: pool.tf:2:21: Unclosed quote; add the closing quote');
    expect(stderr).not.toContain('notes.tf');
  });

  test('with variables in broken JSON are read, and the error is reported', async () => {
    const cwd = folder();
    writeFileSync(path.join(cwd, 'terraform.tfvars.json'), '{\n  "size": 2,\n}\n');
    const { stderr } = await runCli(['cost', '--no-color', '.'], { cwd });
    expect(stderr).toContain('gpulint: terraform.tfvars.json:2:12: JSON has no trailing commas; remove this one');
  });

  test('are not all that a folder needs', async () => {
    const { stdout, stderr, status } = await runCli(['check', '.'], { cwd: folder() });
    expect(stderr).toContain(reason);
    expect(stdout).toContain('no YAML or JSON files');
    expect(status).toBe(0);
  });
});
