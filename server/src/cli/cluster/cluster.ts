import path from 'node:path';
import process from 'node:process';
import { createClusterClient } from '../../cluster/client.ts';
import type { ClusterStatus } from '../../cluster/messages.ts';
import { ownPricesText } from '../../cluster/own-prices.ts';
import { startClusterThread } from '../../cluster/thread.ts';
import type { ClusterView } from '../../fleet/cluster-view.ts';
import { projectConfigs } from '../project-config.ts';
import { reachOf } from '../reach.ts';
import { colorStyle, jsonText, plainStyle, wantsColor, warn } from '../terminal.ts';
import { clusterFailure } from './failure.ts';
import { renderCluster } from './table.ts';

export interface ClusterOptions {
  readonly format: 'table' | 'json';
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  /** The address of Prometheus. */
  readonly prometheus?: string;
  /** Print again whenever a figure changes, until the process is ended. */
  readonly watch?: boolean;
  readonly color?: boolean;
}

/** Arguments are visible to other users of a machine, so the token of Prometheus is not one of them. */
const tokenVariable = 'GPULINT_PROMETHEUS_TOKEN';

/** States that last until the user does something. */
export const lastingProblems: ReadonlySet<ClusterStatus['state']> = new Set([
  'failed',
  'unreachable',
  'forbidden',
  'unauthorized',
]);

/**
 * `gpulint cluster`: prints what the GPU node pools of a cluster offer.
 * @returns when it has been printed; with `watch`, never
 * @throws UsageError if there is no connection, or if the user may not read the nodes
 */
export async function cluster(options: ClusterOptions): Promise<void> {
  const { format, kubeconfig = null, context = null, namespace = null, watch = false } = options;
  const isTerminal = process.stdout.isTTY === true;
  const style = wantsColor(options.color, process.stdout) ? colorStyle : plainStyle;
  const prices = ownPricesText(await projectConfigs(reachOf(['.']), undefined).of(path.resolve('cluster.yaml')));
  const clear = '\u001b[2J\u001b[H';
  let before = watch && isTerminal ? clear : '';
  let last = '';

  async function print(status: ClusterStatus): Promise<void> {
    if (status.view === null) return;
    const drawn = await client.draw({ kind: 'json' });
    if (drawn === null) return;
    const view: ClusterView = JSON.parse(drawn.text);
    const text =
      format === 'json'
        ? // One line for each state, so that a program can read them one by one.
          `${jsonText({ version: 1, ...view }, watch ? undefined : 2)}\n`
        : [...renderCluster(view, Date.now(), style)].join('');
    process.stdout.write(`${format === 'table' ? before : ''}${text}`);
    // A terminal is cleared; in a file, an empty line separates the tables.
    if (watch) before = isTerminal ? clear : '\n';
  }

  function tell(message: string | null): void {
    if (message === null || message === last) return;
    last = message;
    warn(message);
  }

  let changed: (status: ClusterStatus) => void = () => undefined;
  const client = createClusterClient(startClusterThread, {
    statusChanged: (status) => changed(status),
    figuresChanged: () => undefined,
    answersChanged: () => undefined,
  });
  return new Promise((resolve, reject) => {
    let isPrinting = false;
    changed = (status) => {
      const { state, message } = status;
      if (lastingProblems.has(state) && (!watch || state === 'failed')) {
        changed = () => undefined;
        client.disconnect();
        reject(clusterFailure(message, 'name one with --kubeconfig, or set KUBECONFIG'));
        return;
      }
      tell(message);
      if (state !== 'live' || isPrinting || (!watch && status.view?.usage?.state === 'asking')) return;
      isPrinting = !watch;
      void print(status).then(() => {
        if (watch) return;
        client.disconnect();
        resolve();
      }, reject);
    };
    const { [tokenVariable]: value = '' } = process.env;
    const prometheus = { url: options.prometheus ?? null, token: value === '' ? null : { value } };
    client.connect({ kubeconfig, context, namespace, prices, prometheus });
  });
}
