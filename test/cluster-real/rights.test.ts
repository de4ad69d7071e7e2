import { afterAll, describe, expect, test } from 'vitest';
import { copyOf } from '../support/collection-copy.ts';
import { administrator, narrowUser, throwawayNamespaces, unique } from './cluster.ts';

const admin = administrator();
const namespaces = throwawayNamespaces(admin);
const pods = [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }];
afterAll(() => namespaces.remove());

describe('a ServiceAccount with narrow rights', () => {
  test('follows the pods of its namespace, and is forbidden the rest', async () => {
    const namespace = await namespaces.create(unique('narrow'));
    const user = await narrowUser(admin, namespace, pods);
    const reader = admin.reader(user.token);
    const own = copyOf(reader, `/api/v1/namespaces/${namespace}/pods`);
    const all = copyOf(reader, '/api/v1/pods');
    const nodes = copyOf(reader, '/api/v1/nodes');
    await own.until(() => own.states.includes('current'));
    await all.until(() => all.states.length > 0);
    await nodes.until(() => nodes.states.length > 0);
    expect([all.states[0], nodes.states[0]]).toEqual(['forbidden', 'forbidden']);
    await admin.create(`/api/v1/namespaces/${namespace}/pods`, pod('seen'));
    await own.until(() => own.objects.has(`${namespace}/seen`));
    await Promise.all([own.stop(), all.stop(), nodes.stop()]);
  });

  test('may list without watching: it sees the objects, and then that it may not watch', async () => {
    const namespace = await namespaces.create(unique('list-only'));
    const rule = { apiGroups: [''], resources: ['pods'], verbs: ['list'] };
    const user = await narrowUser(admin, namespace, [rule]);
    await admin.create(`/api/v1/namespaces/${namespace}/pods`, pod('seen'));
    const copy = copyOf(admin.reader(user.token), `/api/v1/namespaces/${namespace}/pods`);
    await copy.until(() => copy.states.includes('forbidden'));
    expect(copy.objects.size).toBe(1);
    await copy.stop();
  });

  test('gets 401 when its token ends, and 200 with the next one', async () => {
    const namespace = await namespaces.create(unique('ended'));
    const first = await narrowUser(admin, namespace, pods);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const status = async (token: string) => {
      const response = await admin.reader(token).get(path, new AbortController().signal);
      await response.text();
      return response.status;
    };
    expect(await status(first.token)).toBe(200);
    // Its account is gone, as after its 10 minutes. The server remembers a token for some seconds.
    await first.remove();
    await admin.until(async () => (await status(first.token)) === 401);
    const second = await narrowUser(admin, namespace, pods);
    let token = first.token;
    const copy = copyOf({ get: (sent, signal) => admin.reader(token).get(sent, signal), reset: () => undefined }, path);
    await copy.until(() => copy.states.includes('unauthorized'));
    token = second.token;
    await copy.until(() => copy.states.at(-1) === 'current');
    await copy.stop();
  });
});

function pod(name: string) {
  return {
    metadata: { name },
    spec: {
      automountServiceAccountToken: false,
      containers: [{ name: 'x', image: 'x', resources: { limits: { 'nvidia.com/gpu': '1000' } } }],
    },
  };
}
