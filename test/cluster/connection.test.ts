import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FitQuestion } from '../../server/src/fleet/fit-question.ts';
import { failure } from '../support/api-server/server.ts';
import { type ClusterLab, startClusterLab } from '../support/cluster-lab.ts';

const nodes = '/api/v1/nodes';
const pods = '/api/v1/pods';

let lab: ClusterLab;

beforeEach(async () => {
  lab = await startClusterLab();
});

afterEach(async () => {
  await lab.close();
});

const isLive = () => lab.status()?.state === 'live';
const requestsOf = (part: string) => lab.server.requests.filter((path) => path.includes(part));

describe('a connection', () => {
  test('sends nothing before the user connects', async () => {
    lab.send({ kind: 'nodes', id: 1, pool: 'a' });
    await lab.until(() => lab.messages.length === 1);
    expect(lab.server.requests).toEqual([]);
  });

  test('goes from connecting to live, and reports what it counts on the way', async () => {
    for (let number = 0; number < 700; number++) lab.server.put(pods, pod(`p${number}`));
    lab.server.put(nodes, node('n1'));
    lab.connect();
    await lab.until(isLive);
    expect(lab.states()).toEqual(['connecting', 'loading', 'live']);
    expect(lab.status()).toMatchObject({ context: 'test', message: null, listed: { nodes: 0, pods: 0 } });
    expect(lab.status()?.view).toMatchObject({ totals: { nodes: 1, devices: { total: 700 } } });
    await lab.until(() => lab.status()?.view?.serverVersion === 'v1.34.1');
  });

  test('draws the view in words, once objects are known', async () => {
    const draw = (id: number) =>
      lab.send({ kind: 'draw', id, drawing: { kind: 'tree', parent: null, sort: 'free', filter: '' } });
    const drawn = () => lab.messages.flatMap((message) => (message.kind === 'drawn' ? [message] : []));
    draw(1);
    lab.server.put(pods, pod('a'));
    lab.connect();
    await lab.until(isLive);
    draw(2);
    await lab.until(() => drawn().length === 2);
    expect(drawn()).toEqual([
      { kind: 'drawn', id: 1, drawn: null },
      { kind: 'drawn', id: 2, drawn: { nodes: [], text: '1 GPU, 0 free' } },
    ]);
  });

  test('follows what comes and goes, and says nothing if no figure changes', async () => {
    lab.server.put(pods, pod('a'));
    lab.connect();
    await lab.until(() => isLive() && lab.server.watches(pods) === 1);
    lab.server.put(pods, pod('b'));
    await lab.until(() => lab.objects()?.pods.length === 2);
    lab.server.remove(pods, 'a', 'team');
    await lab.until(() => lab.objects()?.pods.length === 1);
    const before = lab.messages.length;
    lab.server.bookmark();
    lab.server.put(pods, pod('c'));
    await lab.until(() => lab.objects()?.pods.length === 2);
    expect(lab.messages.length - before).toBeLessThanOrEqual(1);
  });

  test('a burst of changes becomes a few messages', async () => {
    lab.connect();
    await lab.until(() => isLive() && lab.server.watches(pods) === 1);
    const before = lab.messages.length;
    for (let number = 0; number < 1000; number++) lab.server.put(pods, pod(`p${number}`));
    await lab.until(() => lab.objects()?.pods.length === 1000);
    expect(lab.messages.length - before).toBeLessThan(100);
  });

  test('reads no pods that have ended, and forgets a pod that ends', async () => {
    lab.server.put(pods, pod('done', { phase: 'Succeeded' }));
    lab.server.put(pods, pod('runs', { phase: 'Running' }));
    lab.connect();
    await lab.until(() => isLive() && lab.server.watches(pods) === 1);
    expect(lab.objects()?.pods.map(({ name }) => name)).toEqual(['runs']);
    lab.server.put(pods, pod('runs', { phase: 'Failed' }));
    await lab.until(() => lab.objects()?.pods.length === 0);
  });

  test('an object that a new list repeats stays the same value', async () => {
    lab.server.put(nodes, node('n1'));
    lab.connect();
    await lab.until(() => isLive() && lab.server.watches(nodes) === 1);
    const [before] = lab.objects()?.nodes ?? [];
    lab.server.compact();
    lab.server.put(nodes, node('n2'));
    lab.server.compact();
    lab.server.drop();
    await lab.until(() => requestsOf('nodes?limit').length === 2 && lab.objects()?.nodes.length === 2);
    expect(lab.objects()?.nodes[0]).toBe(before);
  });

  test('shows the last known objects while the server is away, with their age', async () => {
    lab.server.put(nodes, node('n1'));
    lab.connect();
    await lab.until(() => isLive() && lab.server.watches(nodes) === 1 && lab.server.watches(pods) === 1);
    const last = lab.clock.now();
    lab.server.fault = (_, response) => response.destroy() !== undefined;
    lab.server.drop();
    await lab.until(() => lab.status()?.state === 'stale');
    const failed = lab.server.requests.length;
    lab.clock.advance(20_000);
    await lab.until(() => lab.server.requests.length > failed);
    expect(lab.status()).toMatchObject({
      state: 'stale',
      message: 'test: the connection to the API server was closed',
      view: { asOf: last, totals: { nodes: 1 } },
    });
    lab.server.fault = undefined;
    lab.clock.hurry();
    await lab.until(isLive);
    expect(lab.status()?.message).toBeNull();
  });

  test('says that the server does not answer, and connects when it does', async () => {
    lab.server.fault = (_, response) => response.destroy() !== undefined;
    lab.connect();
    await lab.until(() => lab.status()?.state === 'unreachable');
    expect(lab.status()).toMatchObject({ view: null, message: 'test: the connection to the API server was closed' });
    lab.server.fault = undefined;
    lab.clock.hurry();
    await lab.until(isLive);
  });

  test('closes all connections after a sleep, and continues without new lists', async () => {
    lab.connect();
    await lab.until(() => isLive() && lab.server.watches(nodes) === 1 && lab.server.watches(pods) === 1);
    // Connections that died during the sleep look open. Nobody else closes them.
    lab.clock.advance(3_600_000);
    await lab.until(
      () => requestsOf('nodes?watch').length === 2 && requestsOf('watch=1').filter(isOfPods).length === 2,
    );
    await lab.until(() => lab.server.watches(nodes) === 1);
    expect(requestsOf('nodes?limit')).toHaveLength(1);
  });

  test('waits for a slow server, and shows nothing half-read', async () => {
    let release: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    lab.server.put(nodes, node('n1'));
    lab.server.hold = (request) => (isOfPods(request.url ?? '') ? slow : undefined);
    lab.connect();
    await lab.until(() => lab.status()?.state === 'loading');
    expect(lab.status()?.view).toBeNull();
    release();
    await lab.until(isLive);
  });

  test('objects of any shape end nothing', async () => {
    const odd = [
      null,
      7,
      'pod',
      [],
      { metadata: null },
      { metadata: { name: 'x', labels: [1], uid: 'x' }, spec: 'none', status: { conditions: 3 } },
      { metadata: { name: 'y', uid: 'y' }, spec: { containers: [null, { resources: { requests: { cpu: {} } } }] } },
    ];
    lab.server.fault = (request, response) => {
      if (!/\/(?:nodes|pods|events)\?.*limit/.test(request.url ?? '')) return false;
      response.writeHead(200).end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: odd }));
      return true;
    };
    lab.connect();
    await lab.until(isLive);
    expect(lab.objects()?.pods.map(({ name }) => name)).toContain('y');
  });

  test('ends when the user disconnects', async () => {
    lab.connect();
    await lab.until(() => isLive() && lab.server.watches(nodes) === 1);
    lab.send({ kind: 'disconnect' });
    await lab.until(() => lab.server.watches(nodes) === 0 && lab.server.watches(pods) === 0);
    expect(lab.isClosed()).toBe(true);
  });

  test('another connection replaces the first', async () => {
    lab.connect();
    await lab.until(() => isLive() && lab.server.watches(nodes) === 1);
    lab.connect({ context: 'gone' });
    await lab.until(() => lab.status()?.state === 'failed' && lab.server.watches(nodes) === 0);
    expect(lab.status()?.message).toBe('The kubeconfig has no context gone; it has test');
  });
});

describe('rights', () => {
  const readers = (resources: readonly string[]) => ({ apiGroups: [''], resources, verbs: ['list', 'watch'] });

  test('without pods of all namespaces, those of the context are read', async () => {
    lab.server.rights = { '*': [readers(['nodes'])], team: [readers(['pods'])] };
    lab.server.put(pods, pod('ours'));
    lab.server.put(pods, pod('theirs', {}, 'other'));
    lab.connect();
    await lab.until(isLive);
    expect(lab.objects()?.pods.map(({ name }) => name)).toEqual(['ours']);
    expect(lab.status()?.message).toMatch(/^Only pods in the namespace team are readable/);
    const coverage = new Map(lab.status()?.view?.coverage.map((each) => [each.resource, each]));
    expect(coverage.get('pods')).toMatchObject({ state: 'namespaces', namespaces: ['team'] });
    expect(coverage.get('nodes')).toMatchObject({ state: 'read', namespaces: [] });
    expect(coverage.get('namespaces')).toMatchObject({ state: 'forbidden' });
  });

  test('the setting limits what is read to one namespace', async () => {
    lab.connect({ namespace: 'other' });
    lab.server.put(pods, pod('theirs', {}, 'other'));
    await lab.until(() => isLive() && lab.objects()?.pods.length === 1);
    expect(requestsOf('/api/v1/pods')).toEqual([]);
  });

  test('with nodes only, there are pools, and a sentence about the pods', async () => {
    lab.server.rights = { '*': [readers(['nodes'])] };
    lab.server.put(nodes, node('n1'));
    lab.connect();
    await lab.until(isLive);
    expect(lab.status()).toMatchObject({ view: { totals: { nodes: 1 } } });
    expect(lab.status()?.message).toMatch(/^No permission to list pods/);
  });

  test('without nodes, it says which rights are missing', async () => {
    lab.server.rights = {};
    lab.connect();
    await lab.until(() => lab.status()?.state === 'forbidden');
    expect(lab.status()?.message).toMatch(/may not list nodes: bind the ClusterRole in docs\/cluster\.md$/);
  });
});

describe('groups', () => {
  const slices = '/apis/resource.k8s.io/v1beta1/resourceslices';

  test('a version that gpulint can read is followed, and others are not requested', async () => {
    lab.server.put(slices, { metadata: { name: 's1' }, spec: { driver: 'gpu.example.com', nodeName: 'n1' } });
    lab.connect();
    await lab.until(() => isLive() && lab.objects()?.devices?.supply.slices.length === 1);
    expect(requestsOf('resource.k8s.io/v1/')).toEqual([]);
    expect(requestsOf('kueue')).toEqual([]);
    const coverage = new Map(lab.status()?.view?.coverage.map((each) => [each.resource, each.state]));
    expect(coverage.get('clusterqueues.kueue.x-k8s.io')).toBe('not-served');
    expect(coverage.get('resourceslices.resource.k8s.io')).toBe('read');
  });

  test('a group that is installed later is found', async () => {
    lab.connect();
    await lab.until(isLive);
    lab.server.put('/apis/karpenter.sh/v1/nodepools', { metadata: { name: 'gpu' }, spec: {} });
    lab.clock.advance(600_000);
    await lab.until(() => lab.objects()?.growing.length === 1);
  });

  test('events say why a pod waits if its condition does not', async () => {
    lab.server.put(pods, pod('waits', { phase: 'Pending' }));
    const event = { reason: 'FailedScheduling', involvedObject: { kind: 'Pod', name: 'waits' }, message: '0/3 nodes' };
    lab.server.put('/api/v1/events', { metadata: { name: 'e', namespace: 'team' }, ...event });
    lab.server.put('/api/v1/events', { metadata: { name: 'f', namespace: 'team' }, ...event, reason: 'Pulled' });
    lab.connect();
    await lab.until(() => isLive() && lab.objects()?.pods[0]?.words === '0/3 nodes');
    expect(requestsOf('/events?').every((path) => path.includes('FailedScheduling'))).toBe(true);
  });
});

describe('questions', () => {
  const question: FitQuestion = { namespace: 'team', groups: [], together: true, queue: null, claims: [] };
  const answers = () => lab.messages.flatMap((message) => (message.kind === 'answered' ? message.answers : []));

  test('are answered once the cluster is known, and again when the answer changes', async () => {
    lab.connect();
    lab.send({ kind: 'ask', key: 'q', question });
    await lab.until(() => answers().length === 1 && lab.server.watches(pods) === 1);
    expect(answers()[0]).toMatchObject({ key: 'q', answer: { context: 'test', pods: 0 } });
    // Nothing in the answer depends on it.
    lab.server.put(nodes, node('n1'));
    await lab.until(() => lab.objects()?.nodes.length === 1);
    lab.server.put(pods, pod('a'));
    await lab.until(() => answers().length === 2);
    expect(answers()[1]?.answer.pods).toBe(1);
    lab.send({ kind: 'forget', key: 'q' });
    lab.server.put(pods, pod('b'));
    await lab.until(() => lab.objects()?.pods.length === 2);
    expect(answers()).toHaveLength(2);
  });
});

test('a server that is overloaded is asked again later', async () => {
  let rejected = 0;
  lab.server.fault = (request, response) => {
    if (!isOfPods(request.url ?? '') || rejected++ > 2) return false;
    response.writeHead(429).end(JSON.stringify(failure(429, 'TooManyRequests', 'too many requests').body));
    return true;
  };
  lab.connect();
  await lab.until(isLive);
});

function isOfPods(path: string): boolean {
  return path.startsWith(pods);
}

function node(name: string) {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { allocatable: { 'nvidia.com/gpu': '8' } } };
}

function pod(name: string, status: object = {}, namespace = 'team') {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: {}, status };
}
