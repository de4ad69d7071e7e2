// @ts-check
// `npm run test:cluster`: tests against a real kube-apiserver and kube-scheduler. Arguments go to vitest.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { PlainError, root } from '../vscode/lab.mjs';
import { findControlPlane } from './find.mjs';

try {
  main();
} catch (error) {
  if (!(error instanceof PlainError)) throw error;
  console.error(`test:cluster failed: ${error.message}`);
  process.exitCode = 1;
}

function main() {
  const found = findControlPlane(process.env);
  if (found.kind === 'none') {
    const isRequired = process.env.GPULINT_REQUIRE_CLUSTER === '1';
    console.log(`test:cluster ${isRequired ? 'failed' : 'skipped'}: ${found.because}.`);
    console.log('Set KUBEBUILDER_ASSETS to the folder of etcd, kube-apiserver and kube-scheduler (CONTRIBUTING.md).');
    process.exitCode = isRequired ? 1 : 0;
    return;
  }
  const where = found.kind === 'assets' ? { GPULINT_CLUSTER_ASSETS: found.folder } : { GPULINT_CLUSTER: found.path };
  const { status } = spawnSync(
    process.execPath,
    [path.join('node_modules', 'vitest', 'vitest.mjs'), 'run', '--mode', 'cluster', ...process.argv.slice(2)],
    { cwd: root, env: { ...process.env, ...where }, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  process.exitCode = status ?? 1;
}
