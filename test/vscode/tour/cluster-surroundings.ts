// A cluster next to the editor: two API servers and a kubeconfig with a context for each state.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { authority, startApiServer, type TestApiServer } from '../../support/api-server/server.ts';
import { fillSample, sampleCollections } from '../../support/sample-cluster.ts';
import type { Surroundings } from './run.ts';

/** The server behind the context `prod`. */
export let prod: TestApiServer;

/** Where a credential plugin of the context `plugin` would leave a trace. */
export let trace: string;

export async function startClusters(workspace: string): Promise<Surroundings> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gpulint-kubeconfig-'));
  trace = path.join(folder, 'trace');
  prod = await startApiServer(...sampleCollections);
  prod.tokens = new Set(['valid']);
  fillSample(prod, Date.now());
  const limited = await startApiServer(...sampleCollections);
  limited.rights = {};
  const contexts = {
    prod: { server: prod.url, user: { token: 'valid' } },
    '$(flame) eu': { server: prod.url, user: { token: 'valid' } },
    expired: { server: prod.url, user: { token: 'old' } },
    limited: { server: limited.url, user: { token: 'valid' } },
    gone: { server: 'https://localhost:1', user: { token: 'valid' } },
    plugin: {
      server: prod.url,
      user: {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: '/bin/sh',
          args: ['-c', `touch '${trace}'`],
          interactiveMode: 'Never',
        },
      },
    },
  };
  const kubeconfig = path.join(folder, 'config');
  fs.writeFileSync(kubeconfig, configOf(contexts));
  fs.writeFileSync(path.join(workspace, 'waiting.yaml'), waiting);
  return {
    env: { KUBECONFIG: kubeconfig },
    async stop() {
      await Promise.all([prod.close(), limited.close()]);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The first context is the current one. */
function configOf(contexts: Readonly<Record<string, { readonly server: string; readonly user: object }>>): string {
  const entries = Object.entries(contexts);
  const ca = { 'certificate-authority-data': authority.toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': entries[0]?.[0],
    clusters: entries.map(([name, { server }]) => ({ name, cluster: { server, ...ca } })),
    users: entries.map(([name, { user }]) => ({ name, user })),
    contexts: entries.map(([name]) => ({ name, context: { cluster: name, user: name } })),
  });
}

const waiting = `# Where would this run?
apiVersion: batch/v1
kind: Job
metadata:
  name: ablation
  namespace: team-b
spec:
  backoffLimit: 2
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.example.com/ablation:1.4.0
          resources:
            limits:
              nvidia.com/gpu: 4
`;
