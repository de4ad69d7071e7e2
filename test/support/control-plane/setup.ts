// Vitest's global setup of `npm run test:cluster`: starts the control plane, or checks the one that it is given.
import process from 'node:process';
import { KubeConfig } from '@kubernetes/client-node';
import type { TestProject } from 'vitest/node';
import { at, list, text } from '../../../server/src/fleet/json.ts';
import { adminOf } from './admin.ts';
import { startControlPlane } from './start.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The file of its administrator. */
    kubeconfig: string;
    /** The address of etcd; empty for a cluster that runs elsewhere. */
    etcd: string;
    /** Whether kube-scheduler runs; unknown for a cluster that runs elsewhere. */
    hasScheduler: boolean;
    /** The minor version of the API server: 20 for v1.20.2. */
    minor: number;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { GPULINT_CLUSTER: given, GPULINT_CLUSTER_ASSETS: assets } = process.env;
  if (given === undefined && assets === undefined) throw new Error('Use npm run test:cluster.');
  const own = given === undefined ? await startControlPlane(assets ?? '') : undefined;
  try {
    const kubeconfig = own?.kubeconfig ?? given ?? '';
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const admin = adminOf(config);
    const nodes = await admin.request('GET', '/api/v1/nodes?limit=1');
    if (nodes.status !== 200) throw new Error(`The nodes cannot be listed: ${text(at(nodes.body, 'message'))}`);
    // Never a real one: the tests create and delete nodes and pods.
    if (list(at(nodes.body, 'items')).length > 0)
      throw new Error(`${config.getCurrentCluster()?.server} has nodes: the tests need a cluster without any.`);
    const version = text(at((await admin.request('GET', '/version')).body, 'gitVersion')) ?? '';
    console.log(`kube-apiserver ${version}${own?.hasScheduler === false ? ', without kube-scheduler' : ''}`);
    project.provide('kubeconfig', kubeconfig);
    project.provide('etcd', own?.etcd ?? '');
    project.provide('hasScheduler', own?.hasScheduler ?? true);
    project.provide('minor', Number(/^v1\.(\d+)/.exec(version)?.[1] ?? 0));
  } catch (error) {
    await own?.stop();
    throw error;
  }
  return async () => own?.stop();
}
