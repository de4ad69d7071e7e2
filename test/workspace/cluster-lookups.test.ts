import { describe, expect, test } from 'vitest';
import { Analysis, type DocumentAnalysis } from '../../server/src/analysis.ts';
import { createClusterClient, type ThreadListener } from '../../server/src/cluster/client.ts';
import { type ClusterStatus, off, type ToCluster } from '../../server/src/cluster/messages.ts';
import type { PublishedView } from '../../server/src/fleet/cluster-view.ts';
import type { FitAnswer, FitFacts, FitQuestion } from '../../server/src/fleet/fit-question.ts';
import { emptyAnswer, noMoney } from '../support/empty-fleet.ts';

/** A pod that requests a GPU in a namespace of its own. */
const podIn = (namespace: string) => `apiVersion: v1
kind: Pod
metadata: { name: train, namespace: ${namespace} }
spec:
  containers:
    - { name: main, image: train, resources: { limits: { nvidia.com/gpu: 1 } } }
`;

const devices = { total: 8, free: 8, used: 0, unavailable: 0, uncountedNodes: 0 };
const view: PublishedView = {
  context: 'test',
  serverVersion: null,
  state: { kind: 'current' },
  asOf: 1,
  pools: [],
  totals: { nodes: 1, devices, cost: noMoney },
  coverage: [{ resource: 'nodes', state: 'read', namespaces: [] }],
  deviceClasses: [],
  usage: null,
};
const answer: FitAnswer = { ...emptyAnswer, outcome: 'fits', fitting: 1, pods: 1 };

/** An analysis connected to a thread that the test plays. */
function connected() {
  const analysis = new Analysis();
  const sent: ToCluster[] = [];
  let thread: ThreadListener | undefined;
  const client = createClusterClient(
    (listener) => {
      thread = listener;
      return { post: (message) => void sent.push(message) };
    },
    {
      statusChanged: () => undefined,
      figuresChanged: () => analysis.workspace.setCluster(client.live()),
      answersChanged: () => analysis.workspace.setCluster(client.live()),
    },
  );
  client.connect({ kubeconfig: null, context: 'test', namespace: null, prices: '', prometheus: null });
  const show = (changed: Partial<PublishedView>) => {
    const status: ClusterStatus = { ...off, state: 'live', context: 'test', view: { ...view, ...changed } };
    thread?.received({ kind: 'changed', status });
  };
  const asked = () => sent.flatMap((one) => (one.kind === 'ask' ? one.question : []));
  const reply = (namespace: string, given: Partial<FitAnswer> = {}) => {
    const question = asked().find((one) => one.namespace === namespace);
    const answers = [{ key: JSON.stringify(question), answer: { ...answer, ...given } }];
    thread?.received({ kind: 'answered', answers });
  };
  return { analysis, client, show, reply, asked };
}

function documentOf(analysis: Analysis, namespace = 'team'): DocumentAnalysis {
  const [document] = analysis.setFile(`file:///a/${namespace}.yaml`, podIn(namespace)).documents;
  if (document === undefined) throw new Error('no document');
  return document;
}

function fitOf(document: DocumentAnalysis): FitFacts | undefined {
  const [workload] = document.workloads;
  return workload && document.fitOf(workload);
}

describe('would it run?', () => {
  test('without a cluster, there is no answer and no question', () => {
    const { analysis, asked } = connected();
    expect(fitOf(documentOf(analysis))).toBeUndefined();
    expect(asked()).toEqual([]);
  });

  test('who was analyzed before the cluster was known is analyzed again when it is', () => {
    const { analysis, show } = connected();
    const document = documentOf(analysis);
    fitOf(document);
    show({});
    expect(document.isCurrent()).toBe(false);
  });

  test('a question is sent once, and its answer makes only those stale who asked', () => {
    const { analysis, client, show, reply, asked } = connected();
    show({});
    const first = documentOf(analysis);
    const other = documentOf(analysis, 'other');
    expect(fitOf(first)).toBeUndefined();
    expect(fitOf(other)).toBeUndefined();
    expect(fitOf(first)).toBeUndefined();
    expect(asked().map(({ namespace }: FitQuestion) => namespace)).toEqual(['team', 'other']);
    expect(client.isAnswered()).toBe(false);
    reply('team');
    expect(first.isCurrent()).toBe(false);
    expect(other.isCurrent()).toBe(true);
    expect(fitOf(documentOf(analysis))?.outcome).toBe('fits');
    reply('other');
    expect(other.isCurrent()).toBe(false);
    expect(client.isAnswered()).toBe(true);
  });

  test('an answer that stays the same keeps the analysis, whatever else changes', () => {
    const { analysis, show, reply } = connected();
    show({});
    fitOf(documentOf(analysis));
    reply('team');
    const document = documentOf(analysis);
    fitOf(document);
    show({ asOf: 2, totals: { nodes: 2, devices, cost: noMoney } });
    reply('team', { asOf: 2 });
    expect(document.isCurrent()).toBe(true);
    reply('team', { outcome: 'waits' });
    expect(document.isCurrent()).toBe(false);
  });

  test('facts of the pools are compared by value', () => {
    const { analysis, show } = connected();
    show({});
    const document = documentOf(analysis);
    expect(document.crossReferences.liveOffers()).toBeUndefined();
    show({ asOf: 2 });
    expect(document.isCurrent()).toBe(true);
    show({ pools: [pool('a', 1)] });
    expect(document.isCurrent()).toBe(false);
    const next = documentOf(analysis);
    expect(next.crossReferences.liveOffers()?.resources).toEqual(['nvidia.com/gpu']);
    show({ pools: [pool('a', 0)] });
    expect(next.isCurrent()).toBe(true);
  });

  test('after disconnecting, live facts are gone', () => {
    const { analysis, client, show, reply } = connected();
    show({});
    fitOf(documentOf(analysis));
    reply('team');
    const document = documentOf(analysis);
    expect(fitOf(document)?.outcome).toBe('fits');
    client.disconnect();
    expect(document.isCurrent()).toBe(false);
    expect(fitOf(documentOf(analysis))).toBeUndefined();
  });

  test('an answer for the cluster before does not count', () => {
    const { analysis, client, show, reply } = connected();
    show({});
    fitOf(documentOf(analysis));
    client.connect({ kubeconfig: null, context: 'second', namespace: null, prices: '', prometheus: null });
    reply('team');
    expect(client.live()).toBeUndefined();
    expect(fitOf(documentOf(analysis))).toBeUndefined();
  });
});

function pool(name: string, free: number): PublishedView['pools'][number] {
  const resource = 'nvidia.com/gpu';
  return {
    id: name,
    name,
    platform: 'similar-nodes',
    label: null,
    model: null,
    labels: [],
    otherLabels: [],
    taints: [],
    instanceTypes: [],
    zones: [],
    capacity: null,
    nodes: 1,
    readyNodes: 1,
    cordonedNodes: 0,
    resources: [{ resource, capacity: 8, allocatable: 8, requested: 8 - free, free, share: 1 }],
    largestNode: [{ resource, count: 8 }],
    devices: { ...devices, free },
    cost: noMoney,
    largestFit: null,
    fits: [],
    scattered: 0,
    growth: null,
    toleratesRequested: false,
    usage: null,
  };
}
