// @ts-check
// Finds the control plane that `npm run test:cluster` tests with.
import fs from 'node:fs';
import path from 'node:path';
import { PlainError } from '../vscode/lab.mjs';
import { buildFromDebian, Unavailable } from './debian.mjs';

/**
 * @typedef {{kind: 'kubeconfig', path: string}} Given A cluster that runs.
 * @typedef {{kind: 'assets', folder: string}} Assets Programs to start, as envtest's KUBEBUILDER_ASSETS.
 * @typedef {{kind: 'none', because: string}} None
 */

/**
 * In this order: GPULINT_TEST_KUBECONFIG, KUBEBUILDER_ASSETS, and a build from Debian's source package, which is made if it is not there.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Given | Assets | None}
 * @throws {PlainError} if a variable names nothing usable, or the build fails
 */
export function findControlPlane(env) {
  const { GPULINT_TEST_KUBECONFIG: kubeconfig, KUBEBUILDER_ASSETS: assets } = env;
  if (kubeconfig) {
    if (!fs.existsSync(kubeconfig)) throw new PlainError(`GPULINT_TEST_KUBECONFIG: ${kubeconfig} does not exist`);
    return { kind: 'kubeconfig', path: path.resolve(kubeconfig) };
  }
  if (assets) {
    for (const name of ['etcd', 'kube-apiserver'])
      if (!fs.existsSync(path.join(assets, name)))
        throw new PlainError(`KUBEBUILDER_ASSETS: ${assets} has no ${name}; setup-envtest installs it`);
    return { kind: 'assets', folder: path.resolve(assets) };
  }
  try {
    return { kind: 'assets', folder: buildFromDebian() };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return { kind: 'none', because: error.message };
  }
}
