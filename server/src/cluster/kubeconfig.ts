import fs from 'node:fs';
import path from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { CredentialError } from './connection-words.ts';
import { useExecPlugin } from './exec-plugin.ts';
import type { ClusterContext } from './messages.ts';
import { isUsual, ownPath } from './own-file.ts';

// What a kubeconfig says. Its content never occurs in a message: it has tokens and keys.
// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/

/** Where the kubeconfig is, and what to use of it. */
export interface KubeconfigChoice {
  /** A file; null: the files of KUBECONFIG, else the default one, else the account of the pod in which gpulint runs. */
  readonly kubeconfig: string | null;
  /** null: the current context. */
  readonly context: string | null;
}

/** The machine, which tests replace. */
export interface Machine {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly home: string;
}

const accountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * The chosen context, ready to connect.
 * @param signal ends a credential plugin that runs
 * @throws {CredentialError} with a clause that says what is wrong with the kubeconfig
 */
export function loadContext(choice: KubeconfigChoice, machine: Machine, signal: AbortSignal): KubeConfig {
  const { config, folder } = load(choice, machine);
  const name = choice.context ?? config.getCurrentContext();
  if (!name) throw new CredentialError('the kubeconfig has no current context; choose one');
  config.setCurrentContext(name);
  if (config.getContextObject(name) === null)
    throw new CredentialError(`the kubeconfig has no context ${name}${namesOf(config)}`);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new CredentialError(`the kubeconfig does not define the cluster of the context ${name}`);
  if (config.getCurrentUser() === null)
    throw new CredentialError(`the kubeconfig does not define the user of the context ${name}`);
  if (cluster.server.startsWith('http:') && !cluster.skipTLSVerify)
    throw new CredentialError(`the server of the context ${name} must be an https address`);
  useExecPlugin(config, folder, signal);
  return config;
}

/** `; it has prod, test and 2 more`. */
function namesOf(config: KubeConfig): string {
  const names = config.getContexts().map(({ name }) => name);
  const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
  return names.length === 0 ? '' : `; it has ${names.slice(0, 3).join(', ')}${more}`;
}

/** @throws {CredentialError} as `loadContext` */
export function listContexts(file: string | null, machine: Machine): readonly ClusterContext[] {
  const { config } = load({ kubeconfig: file, context: null }, machine);
  return config.getContexts().map(({ name, cluster, namespace = null }) => ({
    name,
    cluster,
    namespace,
    isCurrent: name === config.getCurrentContext(),
  }));
}

/** A kubeconfig, and the folder of the first file that it is from. */
interface Loaded {
  readonly config: KubeConfig;
  readonly folder: string;
}

function load({ kubeconfig: file }: KubeconfigChoice, { env, home }: Machine): Loaded {
  if (file !== null) return read(ownPath(file, home));
  const named = (env.KUBECONFIG ?? '').split(path.delimiter).filter((name) => name !== '');
  const files = named.length > 0 ? named : [path.join(home, '.kube', 'config')];
  const present = files.filter((name) => fs.existsSync(name));
  const [first, ...others] = present.map(read);
  if (first !== undefined) {
    for (const other of others) merge(first.config, other.config);
    return first;
  }
  if (named.length > 0) throw new CredentialError('none of the files in KUBECONFIG exist');
  if (env.KUBERNETES_SERVICE_HOST && fs.existsSync(accountToken)) {
    const config = new KubeConfig();
    config.loadFromCluster();
    config.contexts = config.contexts.map((context) => ({ ...context, name: 'in-cluster' }));
    config.setCurrentContext('in-cluster');
    return { config, folder: home };
  }
  throw new CredentialError(`no kubeconfig: KUBECONFIG is not set, and ${files[0]} does not exist`);
}

function read(file: string): Loaded {
  let content: string;
  try {
    // Opening a pipe would never end.
    if (!isUsual(fs.statSync(file))) throw new CredentialError(`${file} is not a kubeconfig`);
    content = fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof CredentialError) throw error;
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new CredentialError(code === 'ENOENT' ? `${file} does not exist` : `${file} cannot be read (${code})`);
  }
  const config = new KubeConfig();
  const folder = path.dirname(path.resolve(file));
  try {
    config.loadFromString(content, { onInvalidEntry: 'filter' });
    config.makePathsAbsolute(folder);
  } catch {
    throw new CredentialError(`${file} is not a kubeconfig`);
  }
  return { config, folder };
}

/** As kubectl: the first file that names something decides. */
function merge(config: KubeConfig, other: KubeConfig): void {
  const isNew =
    <T extends { readonly name: string }>(known: readonly T[]) =>
    ({ name }: T) =>
      known.every((one) => one.name !== name);
  config.clusters = [...config.clusters, ...other.clusters.filter(isNew(config.clusters))];
  config.users = [...config.users, ...other.users.filter(isNew(config.users))];
  config.contexts = [...config.contexts, ...other.contexts.filter(isNew(config.contexts))];
  if (!config.getCurrentContext() && other.getCurrentContext()) config.setCurrentContext(other.getCurrentContext());
}
