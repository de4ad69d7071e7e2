import { afterAll, describe, inject } from 'vitest';
import { testContract } from '../cluster/api-contract.ts';
import { compactEtcd } from '../support/control-plane/etcd.ts';
import { administrator, narrowUser, throwawayNamespaces, unique } from './cluster.ts';

const group = 'test.gpulint.example';
const admin = administrator();
const namespaces = throwawayNamespaces(admin);
const etcd = inject('etcd');

afterAll(async () => {
  await namespaces.remove();
  await admin.remove(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/probes.${group}`);
});

describe(`kube-apiserver 1.${inject('minor')}`, () => {
  testContract(async () => {
    // A kind of its own: its versions begin so late that version 1 is too old for its watch.
    await admin.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition());
    const collection = (namespace: string) => `/apis/${group}/v1/namespaces/${namespace}/probes`;
    await admin.until(async () => (await admin.request('GET', collection('default'))).status === 200);
    const narrow = await narrowUser(admin, await namespaces.create(unique('contract-users')), []);
    return {
      namespace: unique,
      collection,
      async create(namespace, name) {
        await namespaces.ensure(namespace);
        await admin.create(collection(namespace), {
          apiVersion: `${group}/v1`,
          kind: 'Probe',
          metadata: { name },
          spec: {},
        });
      },
      async relabel(namespace, name, value) {
        await admin.patch(`${collection(namespace)}/${name}`, { metadata: { labels: { test: value } } });
      },
      remove: (namespace, name) => admin.remove(`${collection(namespace)}/${name}`),
      as: (user) =>
        admin.reader({ administrator: undefined, 'without rights': narrow.token, expired: 'expired' }[user]),
      compact: etcd === '' ? undefined : () => compactEtcd(etcd),
      endWatches: () => undefined,
    };
  });
});

function definition() {
  const names = { plural: 'probes', singular: 'probe', kind: 'Probe' };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `probes.${group}` },
    spec: { group, names, scope: 'Namespaced', versions: [{ name: 'v1', served: true, storage: true, schema }] },
  };
}
