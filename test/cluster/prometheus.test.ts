import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type http from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { measureUsage, type PrometheusSource, type PrometheusToken } from '../../server/src/cluster/prometheus.ts';
import { devicePods } from '../../server/src/fleet/usage-labels.ts';
import { authority, startApiServer } from '../support/api-server/server.ts';
import { adminOf } from '../support/control-plane/admin.ts';
import {
  dcgmDevice,
  dcgmLabels,
  startPrometheus,
  success,
  type TestPrometheus,
  vectorOf,
} from '../support/prometheus-server.ts';

const never = new AbortController().signal;
const labels = dcgmLabels('ml', 'train-0', 'GPU-1');
const device = dcgmDevice(labels, { busy: 0.02, used: 11 });
const pods = devicePods([{ namespace: 'ml', name: 'train-0', node: 'n1' }]);
const measured = {
  kind: 'measured',
  pods: [
    {
      namespace: 'ml',
      pod: 'train-0',
      devices: 1,
      busy: { mean: 0.02, p95: 0.02 },
      memory: { used: 11 * 2 ** 30, total: 80 * 2 ** 30 },
      allMemory: { used: 11 * 2 ** 30, total: 80 * 2 ** 30 },
      watts: 90,
      profile: null,
      isWhole: true,
      seconds: 21_600,
      isShared: false,
    },
  ],
};

function addressed(url: string, token: PrometheusToken = null): PrometheusSource {
  return { kind: 'url', url, token };
}

/** A Service behind an API server. */
function serviceOf(server: string): PrometheusSource {
  const config = new KubeConfig();
  const cluster = { name: 'test', server, caData: authority.toString('base64'), skipTLSVerify: false };
  config.loadFromClusterAndUser(cluster, { name: 'test' });
  const api = adminOf(config).reader();
  return { kind: 'service', api, namespace: 'monitoring', name: 'prometheus', port: 'web' };
}

async function serve(): Promise<TestPrometheus> {
  const server = await startPrometheus([device]);
  onTestFinished(() => server.close());
  return server;
}

describe('a server that answers as Prometheus', () => {
  test('is asked only about metrics that it has', async () => {
    const { url, queries } = await serve();
    expect(await measureUsage(addressed(`${url}/behind/a/proxy/`), 6, pods, never)).toEqual(measured);
    expect(queries.slice(1).every((query) => /DCGM_FI_(PROF_GR_ENGINE_ACTIVE|DEV_(FB|POWER)_)/.test(query))).toBe(true);
    expect(queries).toHaveLength(1 + 4 + 2 + 1);
  });

  test('without metrics of accelerators, nothing is asked about them', async () => {
    const server = await serve();
    server.devices = [];
    const message = `Prometheus at ${server.url} has no GPU metrics; usage is not shown`;
    expect(await measureUsage(addressed(server.url), 6, pods, never)).toEqual({
      kind: 'no-metrics',
      message,
    });
    expect(server.queries).toHaveLength(1);
  });

  test('is reached through the API server', async () => {
    const api = await startApiServer();
    onTestFinished(() => api.close());
    api.fault = (request, response) => {
      const address = new URL(request.url ?? '', 'https://localhost');
      if (!address.pathname.startsWith('/api/v1/namespaces/monitoring/services/prometheus:web/proxy/api/v1/query'))
        return false;
      response.end(success(vectorOf(address.searchParams.get('query') ?? '', [device])));
      return true;
    };
    expect(await measureUsage(serviceOf(api.url), 6, pods, never)).toEqual(measured);
  });

  const chunk = ' '.repeat(2 ** 20);
  test.each<readonly [string, http.RequestListener, RegExp]>([
    [
      'redirects',
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      / answered 302 \(redirects are not followed\);/,
    ],
    ['is behind a proxy that has no server', (_, response) => response.writeHead(503).end('<html>'), / answered 503;/],
    ['has another page', (_, response) => response.end('<html>'), / answered 200: the answer is not that of a Prom/],
    [
      'rejects the query',
      (_, response) => response.writeHead(400).end('{"status":"error","error":"parse error\\nmore"}'),
      / answered 400: parse error;/,
    ],
    ['hangs up', (_, response) => response.destroy(), /: (?:the connection to the server was closed|socket hang up);/],
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{');
        setImmediate(() => response.destroy());
      },
      /: (?:the connection to the server was closed|aborted);/,
    ],
    [
      'does not end',
      (_, response) => {
        const more = () => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', more);
        more();
      },
      / sent a response that is too long;/,
    ],
  ])('a server that %s is a problem in words', async (_, listener, message) => {
    const server = await serve();
    server.fault = (request, response) => {
      listener(request, response);
      return true;
    };
    const result = await measureUsage(addressed(server.url), 6, pods, never);
    if (result.kind !== 'problem') throw new Error(result.kind);
    expect(result.message).toMatch(message);
    expect(result.message).toMatch(new RegExp(`^Prometheus at ${server.url}.*; usage is not shown$`));
  });

  test.each([
    [
      'file:///etc/passwd',
      'Prometheus at this address cannot be queried: the address must start with http:// or https://',
    ],
    ['prometheus', 'Prometheus at this address cannot be queried: the address must start with http:// or https://'],
    ['http://127.0.0.1:1', 'Prometheus at http://127.0.0.1:1: the server refuses connections'],
  ])('the address %s is a problem in words', async (url, words) => {
    const message = `${words}; usage is not shown`;
    expect(await measureUsage(addressed(url), 6, pods, never)).toEqual({ kind: 'problem', message });
  });

  test('a server that does not answer before the time is over is a problem in words', async () => {
    const server = await serve();
    const stop = new AbortController();
    server.fault = () => {
      stop.abort();
      return true;
    };
    const message = `Prometheus at ${server.url} does not answer; usage is not shown`;
    expect(await measureUsage(addressed(server.url), 6, pods, stop.signal)).toEqual({
      kind: 'problem',
      message,
    });
  });

  test('a password in the address is sent, and never shown', async () => {
    const server = await serve();
    let sent: string | undefined;
    server.fault = (request, response) => {
      sent = request.headers.authorization;
      response.writeHead(401).end('no');
      return true;
    };
    const result = await measureUsage(addressed(server.url.replace('//', '//me:secret@')), 6, pods, never);
    expect(sent).toBe(`Basic ${btoa('me:secret')}`);
    expect(JSON.stringify(result)).not.toContain('secret');
  });

  test('a token is sent, as it now stands in its file, and never shown', async () => {
    const server = await serve();
    const folder = mkdtempSync(path.join(tmpdir(), 'gpulint-token-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'token');
    const sent = new Set<string | undefined>();
    server.fault = ({ headers }) => !sent.add(headers.authorization);
    for (const token of ['secret-1', 'secret-2\n']) {
      writeFileSync(file, token);
      expect(await measureUsage(addressed(server.url, { file }), 6, pods, never)).toEqual(measured);
    }
    await measureUsage(addressed(server.url, { value: 'secret-3' }), 6, pods, never);
    expect([...sent]).toEqual(['Bearer secret-1', 'Bearer secret-2', 'Bearer secret-3']);

    server.fault = (_, response) => response.writeHead(401).end('no') !== undefined;
    const refused = await measureUsage(addressed(server.url, { file }), 6, pods, never);
    expect(refused).toMatchObject({ message: `Prometheus at ${server.url} answered 401; usage is not shown` });
  });

  test.each([
    ['http://prometheus.example', { value: 'secret' }, 'was not queried: tokens are sent only over https'],
    ['http://127.0.0.1.example', { value: 'secret' }, 'was not queried: tokens are sent only over https'],
    ['https://prometheus.example', { file: '/secret' }, 'was not queried: its token file cannot be read'],
    ['https://prometheus.example', { file: import.meta.dirname }, 'was not queried: its token file cannot be read'],
    [
      'https://prometheus.example',
      { value: 'secret\r\nx: y' },
      'was not queried: its token must be one word of ASCII characters',
    ],
  ])('%s is not queried with the token %o', async (url, token, reason) => {
    const message = `Prometheus at ${url} ${reason}; usage is not shown`;
    expect(await measureUsage(addressed(url, token), 6, pods, never)).toEqual({ kind: 'problem', message });
  });

  test('behind the API server, a port that expects TLS gets it, and no token', async () => {
    const api = await startApiServer();
    onTestFinished(() => api.close());
    const asked: string[] = [];
    api.fault = ({ url = '' }, response) => {
      const service = /\/services\/([^/]+)\/proxy\//.exec(url)?.[1];
      if (service === undefined) return false;
      asked.push(service);
      const query = new URL(url, 'https://localhost').searchParams.get('query') ?? '';
      if (service.startsWith('https:')) response.end(success(vectorOf(query, [device])));
      else response.writeHead(400).end('Client sent an HTTP request to an HTTPS server.\n');
      return true;
    };
    const source = serviceOf(api.url);
    expect(await measureUsage(source, 6, pods, never)).toEqual(measured);
    expect(asked.slice(0, 3)).toEqual(['prometheus:web', 'https:prometheus:web', 'https:prometheus:web']);
    expect(asked.filter((service) => service === 'prometheus:web')).toHaveLength(1);
  });

  test('the exporter of AMD may have a prefix', async () => {
    const server = await serve();
    const values = {
      amd_gpu_gfx_activity: { mean: 25, p95: 50, steps: 36, before: 25 },
      amd_gpu_used_vram: 64 * 1024,
      amd_gpu_total_vram: 192 * 1024,
      amd_gpu_package_power: 300,
    };
    server.devices = [{ labels: { namespace: 'ml', pod: 'train-0', hostname: 'n1', gpu_id: '0' }, values }];
    expect(await measureUsage(addressed(server.url), 6, pods, never)).toMatchObject({
      pods: [{ devices: 1, busy: { mean: 0.25, p95: 0.5 }, memory: { used: 2 ** 36, total: 3 * 2 ** 36 }, watts: 300 }],
    });
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

  test('measures what the exporter has said of the devices that the pod has now', async () => {
    const result = await measureUsage(addressed(url), 6, pods, never);
    if (result.kind !== 'measured') throw new Error(result.message);
    const [pod] = result.pods;
    expect(pod).toMatchObject({ devices: 1, busy: { p95: 0.02 }, memory: { used: 11 * 2 ** 30 }, watts: 90 });
    expect(pod?.busy?.mean).toBeCloseTo(0.021, 3);
    expect(pod?.isWhole).toBe(true);
    expect(Math.abs((pod?.seconds ?? 0) - 21_600)).toBeLessThanOrEqual(600);
  });

  test('a window with a gap, or that begins before the metrics, is not whole', async () => {
    const both = devicePods(['train-0', 'train-1'].map((name) => ({ namespace: 'ml', name, node: 'n1' })));
    const whole = async (hours: number) => {
      const result = await measureUsage(addressed(url), hours, both, never);
      return result.kind === 'measured' ? result.pods.map(({ isWhole }) => isWhole) : result.message;
    };
    expect(await whole(6)).toEqual([true, false]);
    expect(await whole(24)).toEqual([false, false]);
  });
});

/**
 * What dcgm-exporter has said each minute for 7 hours: busy at 2%, once at 40%. Until an hour ago, another device belonged to a pod of the same name,
 * and the metrics of the second pod have a gap of 4 hours.
 */
function history(now: number): string {
  const minutes = Array.from({ length: 421 }, (_, minute) => ({ time: now - 60 * (420 - minute), minute }));
  const gone = dcgmLabels('ml', 'train-0', 'GPU-9');
  const gaps = dcgmLabels('ml', 'train-1', 'GPU-2');
  const line = (name: string, of: Readonly<Record<string, string>>, value: number, time: number) =>
    `${name}{${Object.entries(of).map(([label, text]) => `${label}="${text}"`)}} ${value} ${time}`;
  const series = (name: string, valueAt: (minute: number) => number) => [
    `# TYPE ${name} gauge`,
    ...minutes.map(({ time, minute }) => line(name, labels, valueAt(minute), time)),
    ...minutes.filter(({ minute }) => minute < 360).map(({ time }) => line(name, gone, 100, time)),
    ...minutes
      .filter(({ minute }) => minute < 120 || minute > 360)
      .map(({ time, minute }) => line(name, gaps, valueAt(minute), time)),
  ];
  return [
    ...series('DCGM_FI_PROF_GR_ENGINE_ACTIVE', (minute) => (minute === 300 ? 0.4 : 0.02)),
    ...series('DCGM_FI_DEV_FB_USED', () => 11 * 1024),
    ...series('DCGM_FI_DEV_FB_FREE', () => 69 * 1024),
    ...series('DCGM_FI_DEV_POWER_USAGE', () => 90),
    '# EOF\n',
  ].join('\n');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
