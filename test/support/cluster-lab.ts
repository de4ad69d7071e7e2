import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Engine } from '../../server/src/cluster/engine.ts';
import type { ClusterSettings, ClusterStatus, FromCluster, ToCluster } from '../../server/src/cluster/messages.ts';
import { serve } from '../../server/src/cluster/serve.ts';
import type { ClusterObjects } from '../../server/src/fleet/cluster-objects.ts';
import { authority, startApiServer, type TestApiServer } from './api-server/server.ts';
import { createConditions } from './conditions.ts';
import { emptyAnswer, noMoney } from './empty-fleet.ts';

// The thread that follows a cluster, in this process: driven by its messages, against the substitute API server.

export interface ClusterLab {
  readonly server: TestApiServer;
  /** A folder for kubeconfigs and plugins. */
  readonly folder: string;
  /** The kubeconfig that names the server; `user` is its user. */
  readonly kubeconfig: string;
  readonly clock: TestClock;
  /** All messages of the thread. */
  readonly messages: readonly FromCluster[];
  readonly status: () => ClusterStatus | undefined;
  /** The states so far, without repetitions. */
  readonly states: () => readonly string[];
  /** What the engine was given last. */
  readonly objects: () => ClusterObjects | undefined;
  readonly send: (message: ToCluster) => void;
  readonly connect: (settings?: Partial<ClusterSettings>) => void;
  readonly writeConfig: (user: object) => void;
  /** Resolves when a message, or something at the server, makes the condition true. */
  readonly until: (condition: () => boolean) => Promise<void>;
  readonly isClosed: () => boolean;
  readonly close: () => Promise<void>;
}

/** Short waits end at once; long ones (checks for sleep, rights, installed groups) end when the test moves the time. */
export interface TestClock {
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly now: () => number;
  readonly wake: () => void;
  readonly advance: (milliseconds: number) => void;
  /** Ends all waits for a retry, also those that begin later. */
  readonly hurry: () => void;
}

const core = ['nodes', 'pods', 'namespaces', 'resourcequotas', 'events', 'configmaps'].map((name) => `/api/v1/${name}`);

export async function startClusterLab(
  options: { readonly env?: NodeJS.ProcessEnv; readonly engine?: Engine } = {},
): Promise<ClusterLab> {
  const server = await startApiServer(...core);
  const folder = mkdtempSync(path.join(tmpdir(), 'gpulint-cluster-'));
  const kubeconfig = path.join(folder, 'config');
  const clock = testClock();
  const messages: FromCluster[] = [];
  const conditions = createConditions(() => server);
  let objects: ClusterObjects | undefined;
  let handle: (message: ToCluster) => void = () => undefined;
  let closed = false;

  const writeConfig = (user: object) => writeFileSync(kubeconfig, configText(server.url, user));
  writeConfig({ token: 'first' });
  const port = {
    post(message: FromCluster) {
      messages.push(structuredClone(message));
      conditions.check();
    },
    receive(receiver: typeof handle) {
      handle = receiver;
    },
    close() {
      closed = true;
    },
  };
  const engine: Engine =
    options.engine ??
    countingEngine((next) => {
      objects = next;
    });
  serve(port, { machine: { env: options.env ?? {}, home: folder }, clock, engine: () => engine });

  const statuses = () => messages.flatMap((message) => (message.kind === 'changed' ? [message.status] : []));
  return {
    server,
    folder,
    kubeconfig,
    clock,
    messages,
    status: () => statuses().at(-1),
    states: () => {
      const all = statuses().map(({ state }) => state);
      return all.filter((state, index) => state !== all[index - 1]);
    },
    objects: () => objects,
    send: (message) => handle(structuredClone(message)),
    connect(settings) {
      handle({
        kind: 'connect',
        settings: { kubeconfig, context: null, namespace: null, prices: '', prometheus: null, ...settings },
      });
    },
    writeConfig,
    until: conditions.until,
    isClosed: () => closed,
    async close() {
      handle({ kind: 'disconnect' });
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A kubeconfig with one context, `test`. */
export function configText(server: string, user: object): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'lab', cluster: { server, 'certificate-authority-data': authority.toString('base64') } }],
    users: [{ name: 'someone', user }],
    contexts: [{ name: 'test', context: { cluster: 'lab', user: 'someone', namespace: 'team' } }],
  });
}

function testClock(): TestClock {
  let now = Date.UTC(2026, 7, 1);
  let short = 5000;
  const waiting = new Set<{ readonly due: number; readonly end: () => void }>();
  const end = (isDue: (due: number) => boolean) => {
    for (const one of waiting) if (isDue(one.due)) one.end();
  };
  return {
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (milliseconds < short || signal.aborted) {
          setImmediate(resolve);
          return;
        }
        const one = {
          due: now + milliseconds,
          end() {
            waiting.delete(one);
            resolve();
          },
        };
        waiting.add(one);
        signal.addEventListener('abort', one.end, { once: true });
      }),
    random: () => 0.5,
    now: () => now,
    wake: () => end(() => true),
    advance(milliseconds) {
      now += milliseconds;
      end((due) => due <= now);
    },
    hurry() {
      short = 60_000;
      end((due) => due < now + short);
    },
  };
}

/** An engine whose view has nothing but counts. Its answers have the number of pods. */
function countingEngine(updated: (objects: ClusterObjects) => void): Engine {
  let pods = 0;
  return {
    compute(objects, moment) {
      updated(objects);
      pods = objects.pods.length;
      const devices = { total: pods, free: 0, used: 0, unavailable: 0, uncountedNodes: 0 };
      const totals = { nodes: objects.nodes.length, devices, cost: noMoney };
      const view = {
        ...moment,
        pools: [],
        totals,
        owners: [],
        pending: [],
        deviceClasses: [],
        leaked: [],
        problems: [],
        usage: null,
        idlePods: [],
      };
      return { view, nodesOf: () => [] };
    },
    answer: (_, { context, asOf }) => ({ ...emptyAnswer, context, asOf, pods }),
  };
}
