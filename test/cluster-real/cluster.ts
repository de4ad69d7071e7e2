import { KubeConfig } from '@kubernetes/client-node';
import { inject } from 'vitest';
import { at, text } from '../../server/src/fleet/json.ts';
import { type Admin, adminOf } from '../support/control-plane/admin.ts';

/** The administrator of the control plane under test. */
export function administrator(): Admin {
  const config = new KubeConfig();
  config.loadFromFile(inject('kubeconfig'));
  return adminOf(config);
}

/** Namespaces that the tests create, and remove when they end. */
export interface Namespaces {
  /** Creates a namespace, in which pods can be created, and gives its name. */
  readonly create: (name: string, labels?: Readonly<Record<string, string>>) => Promise<string>;
  /** Creates it unless this has done so before. */
  readonly ensure: (name: string) => Promise<string>;
  readonly remove: () => Promise<void>;
}

export function throwawayNamespaces(admin: Admin): Namespaces {
  const created = new Map<string, Promise<string>>();
  const create: Namespaces['create'] = (name, labels) => {
    const creation = (async () => {
      await admin.create('/api/v1/namespaces', { metadata: { name, ...(labels && { labels }) } });
      // Where no controller makes it, pods would not be admitted; where one does, it may be faster.
      const account = { metadata: { name: 'default' }, automountServiceAccountToken: false };
      await admin.request('POST', `/api/v1/namespaces/${name}/serviceaccounts`, account);
      return name;
    })();
    created.set(name, creation);
    return creation;
  };
  return {
    create,
    ensure: (name) => created.get(name) ?? create(name),
    async remove() {
      for (const name of created.keys()) {
        // Where no controller runs, the namespace stays, and with it what it has.
        await admin.remove(`/api/v1/namespaces/${name}/pods`);
        await admin.remove(`/api/v1/namespaces/${name}`);
      }
    },
  };
}

/** A rule of a Role or ClusterRole. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** A ServiceAccount that has only these rights, in its namespace or, as `cluster`, in all. */
export async function narrowUser(
  admin: Admin,
  namespace: string,
  rules: readonly Rule[],
  scope: 'namespace' | 'cluster' = 'namespace',
): Promise<{ readonly token: string; readonly remove: () => Promise<void> }> {
  narrowUsers += 1;
  const name = unique(`user-${narrowUsers}`);
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await admin.create(account, { metadata: { name } });
  const base = '/apis/rbac.authorization.k8s.io/v1';
  const place = scope === 'cluster' ? base : `${base}/namespaces/${namespace}`;
  const kind = scope === 'cluster' ? 'ClusterRole' : 'Role';
  await admin.create(`${place}/${kind.toLowerCase()}s`, { metadata: { name }, rules });
  await admin.create(`${place}/${kind.toLowerCase()}bindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } };
  const token = text(at(await admin.create(`${account}/${name}/token`, request), 'status', 'token')) ?? '';
  return {
    token,
    async remove() {
      await admin.remove(`${account}/${name}`);
      await admin.remove(`${place}/${kind.toLowerCase()}s/${name}`);
      await admin.remove(`${place}/${kind.toLowerCase()}bindings/${name}`);
    },
  };
}

let narrowUsers = 0;

/** A name that no earlier run has used: what that has left may still be on its way out. */
export function unique(name: string): string {
  return `gpulint-${run}-${name}`;
}

const run = Date.now().toString(36);
