import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { measureUsage } from '../../server/src/cluster/prometheus.ts';
import { authority, startApiServer } from '../support/api-server/server.ts';
import { adminOf } from '../support/control-plane/admin.ts';

const never = new AbortController().signal;
const labels = 'UUID="GPU-1",exported_namespace="ml",exported_pod="train-0",namespace="monitoring",pod="dcgm-x"';
const measured = {
  kind: 'measured',
  hours: 6,
  pods: [
    {
      namespace: 'ml',
      pod: 'train-0',
      devices: 1,
      busy: { p50: 0.02, p95: 0.02, max: 0.4 },
      memory: { used: 11 * 2 ** 30, total: 80 * 2 ** 30 },
      watts: null,
      profile: null,
      isWhole: true,
    },
  ],
};

describe('a server that answers as Prometheus', () => {
  test('is asked only about metrics that it has', async () => {
    const { url, queries } = await serve((query) => vectorOf(query));
    expect(await measureUsage({ kind: 'url', url: `${url}/behind/a/proxy/` }, 6, never)).toEqual(measured);
    expect(queries.slice(1).every((query) => /DCGM_FI_(PROF_GR_ENGINE_ACTIVE|DEV_FB_)/.test(query))).toBe(true);
    expect(queries).toHaveLength(1 + 4 + 2);
  });

  test('without metrics of accelerators, nothing is asked about them', async () => {
    const { url, queries } = await serve(() => []);
    expect(await measureUsage({ kind: 'url', url }, 6, never)).toEqual({ kind: 'no-metrics' });
    expect(queries).toHaveLength(1);
  });

  test('is reached through the API server', async () => {
    const api = await startApiServer();
    onTestFinished(() => api.close());
    api.fault = (request, response) => {
      const address = new URL(request.url ?? '', 'https://localhost');
      if (!address.pathname.startsWith('/api/v1/namespaces/monitoring/services/prometheus:web/proxy/api/v1/query'))
        return false;
      response.end(success(vectorOf(address.searchParams.get('query') ?? '')));
      return true;
    };
    const config = new KubeConfig();
    const cluster = { name: 'test', server: api.url, caData: authority.toString('base64'), skipTLSVerify: false };
    config.loadFromClusterAndUser(cluster, { name: 'test' });
    const place = { namespace: 'monitoring', name: 'prometheus', port: 'web' };
    expect(await measureUsage({ kind: 'service', api: adminOf(config).reader(), ...place }, 6, never)).toEqual(
      measured,
    );
  });

  test.each<readonly [string, http.RequestListener, RegExp]>([
    [
      'redirects',
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      /302 \(redirects are not followed\)/,
    ],
    ['has another page', (_, response) => response.end('<html>'), /status 200/],
    [
      'rejects the query',
      (_, response) => response.writeHead(400).end('{"status":"error","error":"parse error"}'),
      /parse error/,
    ],
    ['breaks off', (_, response) => response.destroy(), /closed|hang up/],
  ])('a server that %s is a problem in words', async (_, listener, message) => {
    const url = await listen(http.createServer(listener));
    const result = await measureUsage({ kind: 'url', url }, 6, never);
    expect(result.kind === 'problem' && result.message).toMatch(message);
  });

  test('an answer that does not end is cut off', async () => {
    const chunk = ' '.repeat(2 ** 20);
    const url = await listen(
      http.createServer((_, response) => {
        const more = () => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', more);
        more();
      }),
    );
    expect(await measureUsage({ kind: 'url', url }, 6, never)).toEqual({
      kind: 'problem',
      message: 'Prometheus: the answer is too long',
    });
  });

  test('a password in the address is sent, and never shown', async () => {
    let sent: string | undefined;
    const url = await listen(
      http.createServer((request, response) => {
        sent = request.headers.authorization;
        response.writeHead(401).end('no');
      }),
    );
    const result = await measureUsage({ kind: 'url', url: url.replace('//', '//me:secret@') }, 6, never);
    expect(sent).toBe(`Basic ${btoa('me:secret')}`);
    expect(JSON.stringify(result)).not.toContain('secret');
  });
});

const program =
  spawnSync('promtool', ['--version']).status === 0 && spawnSync('prometheus', ['--version']).status === 0;

describe.skipIf(!program)(`Prometheus itself${program ? '' : ' (skipped: apt-get install prometheus)'}`, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gpulint-prometheus-'));
  let child: ChildProcess | undefined;
  let url = '';

  beforeAll(async () => {
    writeFileSync(path.join(folder, 'metrics'), history(Math.floor(Date.now() / 1000)));
    const data = path.join(folder, 'data');
    const made = spawnSync('promtool', [
      'tsdb',
      'create-blocks-from',
      'openmetrics',
      path.join(folder, 'metrics'),
      data,
    ]);
    if (made.status !== 0) throw new Error(String(made.stderr));
    writeFileSync(path.join(folder, 'config.yml'), 'scrape_configs: []\n');
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    child = spawn('prometheus', [
      `--config.file=${path.join(folder, 'config.yml')}`,
      `--storage.tsdb.path=${data}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    const log: string[] = [];
    child.stderr?.on('data', (part) => log.push(String(part)));
    const bound = Date.now() + 60_000;
    while (!(await fetch(`${url}/-/ready`).catch(() => undefined))?.ok) {
      if (child.exitCode !== null || Date.now() > bound) throw new Error(log.join('').slice(-2000));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

  afterAll(() => {
    child?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  test('measures what the exporter has said', async () => {
    expect(await measureUsage({ kind: 'url', url }, 6, never)).toEqual(measured);
  });

  test('a window that begins before the metrics is not whole', async () => {
    const result = await measureUsage({ kind: 'url', url }, 24, never);
    expect(result.kind === 'measured' && result.pods.map(({ isWhole }) => isWhole)).toEqual([false]);
  });
});

/** What dcgm-exporter has said each minute for 7 hours: busy at 2%, once at 40%. */
function history(now: number): string {
  const minutes = Array.from({ length: 421 }, (_, minute) => now - 60 * (420 - minute));
  const series = (name: string, valueAt: (index: number) => number) => [
    `# TYPE ${name} gauge`,
    ...minutes.map((time, index) => `${name}{${labels}} ${valueAt(index)} ${time}`),
  ];
  return [
    ...series('DCGM_FI_PROF_GR_ENGINE_ACTIVE', (index) => (index === 300 ? 0.4 : 0.02)),
    ...series('DCGM_FI_DEV_FB_USED', () => 11 * 1024),
    ...series('DCGM_FI_DEV_FB_FREE', () => 69 * 1024),
    '# EOF\n',
  ].join('\n');
}

/** The same as an instant vector. */
function vectorOf(query: string): readonly object[] {
  const own = Object.fromEntries(labels.split(',').map((pair) => pair.replaceAll('"', '').split('=')));
  const metric = /DCGM_FI_PROF_GR_ENGINE_ACTIVE|DCGM_FI_DEV_FB_USED|DCGM_FI_DEV_FB_FREE/;
  if (query.startsWith('count'))
    return ['DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'DCGM_FI_DEV_FB_USED', 'DCGM_FI_DEV_FB_FREE'].map((__name__) =>
      element({ __name__ }, 1),
    );
  const name = metric.exec(query)?.[0] ?? '';
  const value = name.endsWith('USED')
    ? 11 * 1024
    : name.endsWith('FREE')
      ? 69 * 1024
      : query.startsWith('max')
        ? 0.4
        : 0.02;
  return [element(own, value)];
}

function element(metric: object, value: number) {
  return { metric, value: [1_780_000_000, String(value)] };
}

function success(result: readonly object[]): string {
  return JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
}

async function serve(answer: (query: string) => readonly object[]) {
  const queries: string[] = [];
  const url = await listen(
    http.createServer((request, response) => {
      const query = new URL(request.url ?? '', 'http://localhost').searchParams.get('query') ?? '';
      queries.push(query);
      response.end(success(answer(query)));
    }),
  );
  return { url, queries };
}

async function listen(server: http.Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
