import path from 'node:path';
import { expect, test } from 'vitest';
import { root, runCli } from './run-cli.ts';

test("a chart's templates are priced with its values, which are counted once", async () => {
  const cwd = path.join(root, 'test/fixtures/charts');
  const { status, stdout } = await runCli(['check', 'serve'], { cwd });
  expect(status).toBe(0);
  expect(stdout).toMatch(/templates\/deployment\.yaml:1:1 .* 6 × H100 80GB SXM with values\.yaml +\$/);
  expect(stdout).toMatch(/values\.yaml:1:1 +Values +6 × H100 80GB SXM +\$/);
  expect(stdout).toMatch(/\b14 GPUs, /);
});

test('devices other than GPUs have their own names', async () => {
  const pod =
    'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n    - name: a\n      image: r.example/a:1\n';
  const run = (resource: string) =>
    runCli(['check', '-'], { input: `${pod}      resources: {limits: {${resource}: 4}}\n` });
  expect((await run('google.com/tpu')).stdout).toContain(', 4 TPU chips');
  expect((await run('aws.amazon.com/neuron')).stdout).toContain(', 4 Neuron devices');
  expect((await run('habana.ai/gaudi')).stdout).toContain(', 4 accelerators');
  expect((await run('amd.com/gpu')).stdout).toContain(', 4 GPUs');
});
