import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { KubeConfig } from '@kubernetes/client-node';
import { adminOf } from './admin.ts';

/** A control plane that runs on this machine, on loopback addresses only. */
export interface ControlPlane {
  /** The kubeconfig of its administrator. */
  readonly kubeconfig: string;
  /** The address of etcd. */
  readonly etcd: string;
  readonly hasScheduler: boolean;
  readonly stop: () => Promise<void>;
}

/**
 * Starts etcd, kube-apiserver and, if it is there, kube-scheduler.
 * @param assets the folder of the programs, as envtest's KUBEBUILDER_ASSETS
 * @throws {Error} with the end of its log, if one of them ends or is not ready within two minutes
 */
export async function startControlPlane(assets: string): Promise<ControlPlane> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gpulint-cluster-'));
  const children: ChildProcess[] = [];
  const start = (name: string, args: readonly string[]) => {
    const child = spawn(path.join(assets, name), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const log: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        log.push(String(part));
        if (log.length > 200) log.shift();
      });
    child.on('exit', () => {
      if (ready) console.error(`${name} ended:\n${log.join('').slice(-4000)}`);
    });
    children.push(child);
    return { check: () => ended(child, name, log), log: () => log.join('').slice(-4000) };
  };
  let ready = false;
  // A run that is interrupted leaves nothing behind either.
  const kill = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.on('exit', kill);
  const stop = async () => {
    ready = false;
    process.off('exit', kill);
    for (const child of [...children].reverse()) await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [etcdPort, peerPort, apiPort] = await freePorts(3);
    const etcd = `http://127.0.0.1:${etcdPort}`;
    const peer = `http://127.0.0.1:${peerPort}`;
    const database = start('etcd', [
      ...['--data-dir', path.join(folder, 'etcd'), '--listen-client-urls', etcd, '--advertise-client-urls', etcd],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
    ]);
    await until(async () => (await fetch(`${etcd}/health`)).ok, database);

    const [admin, scheduler] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
    const certificates = path.join(folder, 'certificates');
    mkdirSync(certificates);
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const file = (name: string, content: string | Buffer) => {
      writeFileSync(path.join(folder, name), content, { mode: 0o600 });
      return path.join(folder, name);
    };
    const server = start('kube-apiserver', [
      ...['--etcd-servers', etcd, '--bind-address', '127.0.0.1', '--advertise-address', '127.0.0.1'],
      ...['--secure-port', String(apiPort), '--cert-dir', certificates, '--service-cluster-ip-range', '10.0.0.0/24'],
      ...['--authorization-mode', 'RBAC', '--token-auth-file'],
      file('tokens', `${admin},admin,admin,system:masters\n${scheduler},system:kube-scheduler,scheduler\n`),
      ...['--service-account-issuer', 'https://kubernetes.default.svc', '--service-account-signing-key-file'],
      file('service-accounts.key', privateKey.export({ type: 'pkcs1', format: 'pem' })),
      '--service-account-key-file',
      file('service-accounts.pub', publicKey.export({ type: 'spki', format: 'pem' })),
      // Nothing here makes the service accounts that every pod would need.
      ...['--disable-admission-plugins', 'ServiceAccount'],
    ]);
    const certificate = path.join(certificates, 'apiserver.crt');
    await until(async () => existsSync(certificate), server);
    const kubeconfig = (name: string, token: string) =>
      file(name, kubeconfigOf(`https://127.0.0.1:${apiPort}`, readFileSync(certificate), token));
    const access = kubeconfig('admin.kubeconfig', admin);
    const config = new KubeConfig();
    config.loadFromFile(access);
    await until(async () => (await adminOf(config).request('GET', '/readyz')).status === 200, server);

    const hasScheduler = existsSync(path.join(assets, 'kube-scheduler'));
    if (hasScheduler)
      start('kube-scheduler', [
        ...['--kubeconfig', kubeconfig('scheduler.kubeconfig', scheduler), '--leader-elect=false', '--secure-port=0'],
        ...(minorOf(assets) < 23 ? ['--port=0'] : []),
      ]);
    ready = true;
    return { kubeconfig: access, etcd, hasScheduler, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The minor version of the programs: 20 for 1.20.2. Before 1.23, the scheduler opens a second port. */
function minorOf(assets: string): number {
  const { stdout } = spawnSync(path.join(assets, 'kube-scheduler'), ['--version'], { encoding: 'utf8' });
  return Number(/v\d+\.(\d+)/.exec(stdout)?.[1] ?? 0);
}

/** Ends a program, and resolves when it has ended. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exit;
}

function ended(child: ChildProcess, name: string, log: readonly string[]): void {
  if (child.exitCode !== null) throw new Error(`${name} ended:\n${log.join('').slice(-4000)}`);
}

interface Started {
  /** @throws {Error} if the program has ended */
  readonly check: () => void;
  readonly log: () => string;
}

/** Resolves when a condition is true; a failure of it is a condition that is not true yet. */
async function until(condition: () => Promise<boolean>, program: Started): Promise<void> {
  const bound = Date.now() + 120_000;
  while (!(await condition().catch(() => false))) {
    program.check();
    if (Date.now() > bound) throw new Error(`not ready after 2 minutes:\n${program.log()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Ports of the loopback address that nobody uses. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => Number(Object(server.address()).port));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function kubeconfigOf(server: string, authority: Buffer, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': authority.toString('base64') } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  });
}
