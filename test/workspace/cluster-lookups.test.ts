import { describe, expect, test } from 'vitest';
import { Analysis, type DocumentAnalysis } from '../../server/src/analysis.ts';
import { createClusterClient, type ThreadListener } from '../../server/src/cluster/client.ts';
import { type ClusterStatus, off, type ToCluster } from '../../server/src/cluster/messages.ts';
import type { ClusterView } from '../../server/src/fleet/cluster-view.ts';
import type { FitAnswer, FitQuestion } from '../../server/src/fleet/fit-question.ts';

const uri = 'file:///a/pod.yaml';
const question: FitQuestion = { namespace: 'team', groups: [], together: true, queue: null, claims: [] };
const otherQuestion: FitQuestion = { ...question, namespace: 'other' };

const money = { hourly: null, idle: null, unpricedNodes: 0, basis: [], because: [] };
const devices = { total: 8, free: 8, used: 0, unavailable: 0, uncountedNodes: 0 };
const view: ClusterView = {
  context: 'test',
  serverVersion: null,
  state: { kind: 'current' },
  asOf: 1,
  pools: [],
  totals: { nodes: 1, devices, cost: money },
  owners: [],
  pending: [],
  coverage: [],
  leaked: [],
  problems: [],
};
const answer: FitAnswer = {
  context: 'test',
  asOf: 1,
  outcome: 'fits',
  fitting: 1,
  pods: 1,
  groups: [],
  growth: [],
  preempted: [],
  quotas: [],
  gaps: [],
};

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
  client.connect({ kubeconfig: null, context: 'test', namespace: null });
  const show = (changed: Partial<ClusterView>) => {
    const status: ClusterStatus = { ...off, state: 'live', context: 'test', view: { ...view, ...changed } };
    thread?.received({ kind: 'changed', status });
  };
  const reply = (asked: FitQuestion, given: Partial<FitAnswer> = {}) =>
    thread?.received({
      kind: 'answered',
      answers: [{ key: JSON.stringify(asked), answer: { ...answer, ...given } }],
    });
  return {
    analysis,
    client,
    show,
    reply,
    asked: () => sent.flatMap((one) => (one.kind === 'ask' ? one.question : [])),
  };
}

function documentOf(analysis: Analysis): DocumentAnalysis {
  const [document] = analysis.setFile(uri, 'kind: Pod\n').documents;
  if (document === undefined) throw new Error('no document');
  return document;
}

describe('would it run?', () => {
  test('without a cluster, there is no answer and no question', () => {
    const { analysis, asked } = connected();
    expect(documentOf(analysis).cluster.fit(question)).toBeUndefined();
    expect(asked()).toEqual([]);
  });

  test('who asked before the cluster was known is analyzed again when it is', () => {
    const { analysis, show } = connected();
    const document = documentOf(analysis);
    document.cluster.lookUp(['nodes'], ({ totals }) => totals.nodes);
    show({});
    expect(document.isCurrent()).toBe(false);
  });

  test('a question is sent once, and its answer makes only those stale who asked', () => {
    const { analysis, client, show, reply, asked } = connected();
    show({});
    const [first, second] = [documentOf(analysis), documentOf(new Analysis())];
    const other = analysis.setFile('file:///a/other.yaml', 'kind: Pod\n').documents[0];
    expect(first.cluster.fit(question)).toBeUndefined();
    expect(other?.cluster.fit(otherQuestion)).toBeUndefined();
    expect(first.cluster.fit(question)).toBeUndefined();
    expect(asked()).toEqual([question, otherQuestion]);
    expect(client.isAnswered()).toBe(false);
    reply(question);
    expect(first.isCurrent()).toBe(false);
    expect(other?.isCurrent()).toBe(true);
    expect(second.isCurrent()).toBe(true);
    expect(documentOf(analysis).cluster.fit(question)?.outcome).toBe('fits');
    reply(otherQuestion);
    expect(client.isAnswered()).toBe(true);
  });

  test('an answer that stays the same keeps the analysis, whatever else changes', () => {
    const { analysis, show, reply } = connected();
    show({});
    documentOf(analysis).cluster.fit(question);
    reply(question);
    const document = documentOf(analysis);
    document.cluster.fit(question);
    show({ totals: { nodes: 2, devices, cost: money } });
    reply(question);
    expect(document.isCurrent()).toBe(true);
    reply(question, { outcome: 'waits' });
    expect(document.isCurrent()).toBe(false);
  });

  test('a part of the view is compared by value', () => {
    const { analysis, show } = connected();
    show({});
    const document = documentOf(analysis);
    expect(document.cluster.lookUp(['free'], ({ totals }) => totals.devices)).toEqual(devices);
    show({ asOf: 2, totals: { nodes: 9, devices: { ...devices }, cost: money } });
    expect(document.isCurrent()).toBe(true);
    show({ totals: { nodes: 9, devices: { ...devices, free: 7 }, cost: money } });
    expect(document.isCurrent()).toBe(false);
  });

  test('after disconnecting, live facts are gone', () => {
    const { analysis, client, show } = connected();
    show({});
    const document = documentOf(analysis);
    document.cluster.lookUp(['nodes'], ({ totals }) => totals.nodes);
    client.disconnect();
    expect(document.isCurrent()).toBe(false);
    expect(documentOf(analysis).cluster.fit(question)).toBeUndefined();
  });

  test('an answer for the cluster before does not count', () => {
    const { analysis, client, show, reply } = connected();
    show({});
    documentOf(analysis).cluster.fit(question);
    client.connect({ kubeconfig: null, context: 'second', namespace: null });
    reply(question);
    expect(client.live()).toBeUndefined();
    expect(documentOf(analysis).cluster.fit(question)).toBeUndefined();
  });
});
