import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, describe } from 'vitest';
import { authority, failure, startApiServer, type TestApiServer } from '../support/api-server/server.ts';
import { adminOf } from '../support/control-plane/admin.ts';
import { testContract } from './api-contract.ts';

const collection = '/apis/test.gpulint.example/v1/probes';
let server: TestApiServer | undefined;

afterAll(() => server?.close());

describe('the substitute for kube-apiserver', () => {
  testContract(async () => {
    const api = await startApiServer(collection);
    server = api;
    api.tokens = new Set(['administrator', 'without rights']);
    api.fault = (request, response) => {
      if (request.headers.authorization !== 'Bearer without rights') return false;
      const { status, body } = failure(403, 'Forbidden', 'probes is forbidden');
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return true;
    };
    const config = new KubeConfig();
    config.loadFromClusterAndUser(
      { name: 'test', server: api.url, caData: authority.toString('base64'), skipTLSVerify: false },
      { name: 'test' },
    );
    const admin = adminOf(config);
    const put = async (namespace: string, name: string, labels: object) =>
      api.put(collection, { metadata: { name, namespace, labels }, spec: {} });
    return {
      namespace: (name) => name,
      collection: (namespace) => collection.replace('probes', `namespaces/${namespace}/probes`),
      create: (namespace, name) => put(namespace, name, {}),
      relabel: (namespace, name, value) => put(namespace, name, { test: value }),
      remove: async (namespace, name) => api.remove(collection, name, namespace),
      as: (user) => admin.reader(user),
      compact: async () => api.compact(),
      endWatches() {
        api.bookmark();
        api.endWatches();
      },
    };
  });
});
