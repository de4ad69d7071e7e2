import { spawn } from 'node:child_process';
import type { RequestOptions } from 'node:https';
import path from 'node:path';
import process from 'node:process';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { at, list, text } from '../fleet/json.ts';
import { tableOf } from '../yaml/table.ts';
import { CredentialError, oneLine } from './connection-words.ts';
import { parsedJson } from './parsed-json.ts';

// Credential plugins: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
// The library's own way runs a plugin again for each request if its answer does not expire, leaves it without the environment that some need, and
// never ends it.

interface Credential {
  readonly token: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** In milliseconds since the epoch; infinite if the plugin names no time. */
  readonly expires: number;
}

/** A plugin may open a browser and wait for the user. */
const pluginMilliseconds = 120_000;
const maxOutput = 1_000_000;

/**
 * Makes the plugin of the current user a way to authenticate that runs once for all requests, and again only when its answer has expired.
 * @param folder of the kubeconfig, to which a relative command belongs
 */
export function useExecPlugin(config: KubeConfig, folder: string, signal: AbortSignal): void {
  const user = config.getCurrentUser();
  const exec: unknown = user?.exec;
  if (user == null || typeof exec !== 'object' || exec === null) return;
  // Without the field, the library does not find its own plugin, and so asks this one.
  const own = { ...user, exec: undefined };
  config.users = config.users.map((one) => (one === user ? own : one));
  let credential: Promise<Credential> | undefined;
  config.addAuthenticator({
    isAuthProvider: ({ name }: User) => name === user.name,
    async applyAuthentication(_: User, options: RequestOptions) {
      const known = await credential;
      if (known === undefined || known.expires - 10_000 < Date.now())
        credential = run(exec, folder, config.getCurrentCluster(), signal);
      const { token, certificate, key } = (await credential) ?? {};
      if (token !== undefined) options.headers = { ...options.headers, Authorization: `Bearer ${token}` };
      if (certificate !== undefined) options.cert = certificate;
      if (key !== undefined) options.key = key;
    },
  });
}

async function run(exec: object, folder: string, cluster: Cluster | null, signal: AbortSignal): Promise<Credential> {
  const named = text(at(exec, 'command')) ?? '';
  if (named === '') throw new CredentialError('the kubeconfig names a credential plugin without a command');
  const command = /[/\\]/.test(named) ? path.resolve(folder, named) : named;
  const args = list(at(exec, 'args')).map(String);
  const output = await outputOf(named, command, args, environment(exec, cluster), signal);
  // Output that is not JSON may be a secret, so it is not shown.
  const status = at(parsedJson(output), 'status');
  const token = text(at(status, 'token'));
  const certificate = text(at(status, 'clientCertificateData'));
  if (token === undefined && certificate === undefined)
    throw new CredentialError(`the credential plugin ${named} returned no credentials`);
  const expires = Date.parse(text(at(status, 'expirationTimestamp')) ?? '');
  return {
    token,
    certificate,
    key: text(at(status, 'clientKeyData')),
    expires: Number.isNaN(expires) ? Number.POSITIVE_INFINITY : expires,
  };
}

function environment(exec: object, cluster: Cluster | null): NodeJS.ProcessEnv {
  const variables = list(at(exec, 'env')).flatMap((variable): [string, string][] => {
    const name = text(at(variable, 'name'));
    return name === undefined ? [] : [[name, text(at(variable, 'value')) ?? '']];
  });
  const info = {
    apiVersion: text(at(exec, 'apiVersion')) ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: false, ...(at(exec, 'provideClusterInfo') === true && { cluster: clusterInfo(cluster) }) },
  };
  return { ...process.env, ...tableOf(variables), KUBERNETES_EXEC_INFO: JSON.stringify(info) };
}

function clusterInfo(cluster: Cluster | null): object {
  return {
    server: cluster?.server,
    'tls-server-name': cluster?.tlsServerName,
    'insecure-skip-tls-verify': cluster?.skipTLSVerify,
    'certificate-authority-data': cluster?.caData,
    'proxy-url': cluster?.proxyUrl,
  };
}

function outputOf(
  name: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env,
      signal,
      // A plugin that wants to ask something gets an end of file instead of waiting forever.
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: pluginMilliseconds,
      windowsHide: true,
    });
    let [output, problem] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      output += part;
      if (output.length > maxOutput) child.kill();
    });
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      if (problem.length < 10_000) problem += part;
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ENOENT' ? 'is not installed' : `cannot be started (${error.code ?? 'unknown'})`;
      reject(new CredentialError(`the credential plugin ${name} ${reason}`));
    });
    child.on('close', (code, killed) => {
      if (code === 0) resolve(output);
      else if (killed !== null) reject(new CredentialError(`the credential plugin ${name} did not answer`));
      else reject(new CredentialError(`the credential plugin ${name} failed: ${oneLine(problem) || `status ${code}`}`));
    });
  });
}
