import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterEach, describe, expect, test } from 'vitest';
import type { ClusterContexts } from '../../server/src/cluster/messages.ts';
import { type ClusterLab, configText, startClusterLab } from '../support/cluster-lab.ts';

let lab: ClusterLab;

afterEach(async () => {
  await lab.close();
});

const isLive = () => lab.status()?.state === 'live';

describe('tokens', () => {
  test('an expired one is a state that says what to do, and ends when the user has logged in again', async () => {
    lab = await startClusterLab();
    lab.server.tokens = new Set(['first']);
    lab.server.put('/api/v1/nodes', { metadata: { name: 'n1' } });
    lab.connect();
    await lab.until(() => isLive() && lab.server.watches('/api/v1/nodes') === 1);
    lab.server.tokens = new Set(['second']);
    lab.server.drop();
    await lab.until(() => lab.status()?.state === 'unauthorized');
    expect(lab.status()).toMatchObject({
      message: 'test: the API server rejects the credentials; log in again, and gpulint reconnects',
      view: { totals: { nodes: 1 } },
    });
    lab.writeConfig({ token: 'second' });
    lab.clock.hurry();
    await lab.until(isLive);
  });

  test('an expired one stays such a state while gpulint tries again', async () => {
    lab = await startClusterLab();
    lab.server.tokens = new Set(['second']);
    lab.connect();
    const lists = () => lab.server.requests.filter((url) => url.startsWith('/api/v1/nodes')).length;
    lab.clock.hurry();
    await lab.until(() => lists() > 8);
    expect(lab.states()).toEqual(['connecting', 'unauthorized']);
    lab.writeConfig({ token: 'second' });
    await lab.until(isLive);
    expect(lab.states().slice(0, 2)).toEqual(['connecting', 'unauthorized']);
    expect(lab.states().filter((state) => state === 'unauthorized')).toHaveLength(1);
  });

  test('a kubeconfig that disappears meanwhile is such a state', async () => {
    lab = await startClusterLab();
    lab.server.tokens = new Set(['second']);
    lab.connect();
    await lab.until(() => lab.status()?.state === 'unauthorized');
    writeFileSync(lab.kubeconfig, 'token: [');
    lab.clock.hurry();
    await lab.until(() => lab.status()?.message?.includes('is not a kubeconfig') === true);
    expect(lab.status()?.state).toBe('unauthorized');
  });
});

describe.skipIf(process.platform === 'win32')('a credential plugin', () => {
  test('runs once for all requests, and sees what the kubeconfig gives it', async () => {
    const { count } = await withPlugin('echo "$KUBERNETES_EXEC_INFO $OWN" > "$0.seen"', credential('first'));
    await lab.until(isLive);
    expect(count()).toBe(1);
    const seen = readFileSync(path.join(lab.folder, 'plugin.seen'), 'utf8');
    expect(seen).toContain('"interactive":false');
    expect(seen).toContain('own value');
  });

  test('runs again when its answer has expired', async () => {
    const { count } = await withPlugin('', credential('first', '2020-01-01T00:00:00Z'));
    await lab.until(isLive);
    const before = count();
    lab.clock.advance(61_000);
    lab.server.drop();
    await lab.until(() => count() > before);
  });

  test('runs again when the server rejects its token', async () => {
    const { count } = await withPlugin('', credential('old'));
    await lab.until(() => lab.status()?.state === 'unauthorized');
    expect(count()).toBeGreaterThan(0);
    writeFileSync(path.join(lab.folder, 'answer'), credential('first'));
    lab.clock.hurry();
    await lab.until(isLive);
  });

  test('that fails says why, in one line', async () => {
    await withPlugin('echo "Token has expired, run: corp login" >&2; echo secret; exit 3', '');
    await lab.until(() => lab.status()?.state === 'unauthorized');
    expect(lab.status()?.message).toBe(
      'test: the credential plugin ./plugin failed: Token has expired, run: corp login; log in again, and gpulint reconnects',
    );
  });

  test('whose answer is not JSON is not shown', async () => {
    await withPlugin('', 'very-secret');
    await lab.until(() => lab.status()?.state === 'unauthorized');
    expect(lab.status()?.message).toContain('./plugin returned no credentials');
    expect(JSON.stringify(lab.messages)).not.toContain('very-secret');
  });

  test('that is not installed says so', async () => {
    lab = await startClusterLab();
    lab.writeConfig({ exec: { command: 'no-such-plugin-anywhere' } });
    lab.connect();
    await lab.until(() => lab.status()?.state === 'unauthorized');
    expect(lab.status()?.message).toContain('the credential plugin no-such-plugin-anywhere is not installed');
  });

  test('does not run while contexts are listed', async () => {
    const { count } = await withPlugin('', credential('first'), false);
    expect(await contextsOf(lab.kubeconfig)).toMatchObject({ contexts: [{ name: 'test' }], problem: null });
    expect(count()).toBe(0);
  });
});

describe('kubeconfigs', () => {
  test('the files of KUBECONFIG are read together, and the first that names something decides', async () => {
    const env: NodeJS.ProcessEnv = {};
    lab = await startClusterLab({ env });
    const other = path.join(lab.folder, 'other');
    writeFileSync(other, configText('https://elsewhere', {}).replaceAll('"test"', '"second"'));
    env.KUBECONFIG = [path.join(lab.folder, 'missing'), lab.kubeconfig, other].join(path.delimiter);
    const { contexts } = await contextsOf(null);
    expect(contexts).toEqual([
      { name: 'test', cluster: 'lab', namespace: 'team', isCurrent: true },
      { name: 'second', cluster: 'lab', namespace: 'team', isCurrent: false },
    ]);
    lab.connect({ kubeconfig: null, context: 'second' });
    await lab.until(isLive);
    expect(lab.status()?.context).toBe('second');
  });

  test.each([
    ['a file that does not exist', () => '/no/such/config', /^\/no\/such\/config does not exist$/],
    ['a folder', () => lab.folder, /is not a kubeconfig$/],
    ['a file with another content', () => write('secret: [token-of-mine'), /is not a kubeconfig$/],
    ['an empty file', () => write(''), /is not a kubeconfig$/],
    ['a config without contexts', () => write('contexts: []'), /^The kubeconfig has no contexts$/],
  ])('%s is a problem without its content', async (_, file, message) => {
    lab = await startClusterLab();
    const { contexts, problem } = await contextsOf(file());
    expect(contexts).toEqual([]);
    expect(problem).toMatch(message);
    expect(problem).not.toContain('token-of-mine');
  });

  test('without any, the message says where they are looked for', async () => {
    lab = await startClusterLab();
    lab.connect({ kubeconfig: null });
    await lab.until(() => lab.status()?.state === 'failed');
    expect(lab.status()?.message).toMatch(/^No kubeconfig: KUBECONFIG is not set, and .*config does not exist$/);
  });

  test('the certificate of another server is rejected', async () => {
    lab = await startClusterLab();
    const text = readFileSync(lab.kubeconfig, 'utf8').replace('certificate-authority-data', 'unused');
    writeFileSync(lab.kubeconfig, text);
    lab.connect();
    await lab.until(() => lab.status()?.state === 'unreachable');
    expect(lab.status()?.message).toContain('is not signed by a CA in the kubeconfig');
  });
});

/** A kubeconfig whose plugin prints the content of the file `answer`. */
async function withPlugin(script: string, answer: string, connects = true) {
  lab = await startClusterLab();
  lab.server.tokens = new Set(['first']);
  const plugin = path.join(lab.folder, 'plugin');
  writeFileSync(path.join(lab.folder, 'answer'), answer);
  writeFileSync(plugin, `#!/bin/sh\necho run >> "$0.runs"\n${script}\ncat "$(dirname "$0")/answer"\n`);
  chmodSync(plugin, 0o755);
  lab.writeConfig({
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: './plugin',
      env: [{ name: 'OWN', value: 'own value' }],
    },
  });
  if (connects) lab.connect();
  const runs = `${plugin}.runs`;
  return { count: () => (existsSync(runs) ? readFileSync(runs, 'utf8').split('\n').length - 1 : 0) };
}

function credential(token: string, expirationTimestamp?: string): string {
  return JSON.stringify({ kind: 'ExecCredential', status: { token, expirationTimestamp } });
}

function write(text: string): string {
  const file = path.join(lab.folder, 'written');
  writeFileSync(file, text);
  return file;
}

async function contextsOf(kubeconfig: string | null): Promise<ClusterContexts> {
  lab.send({ kind: 'contexts', id: 7, kubeconfig });
  const found = () => lab.messages.find((message) => message.kind === 'contexts');
  await lab.until(() => found() !== undefined);
  return found()?.result ?? { contexts: [], problem: 'no answer' };
}
