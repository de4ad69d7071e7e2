import { workloadUsageWords } from '../features/cluster/device-usage-words.ts';
import { drawCluster } from '../features/cluster/drawing.ts';
import type { ClusterDrawing, ClusterDrawn } from '../features/cluster/drawn.ts';
import type { ClusterState, ClusterView, PublishedView } from '../fleet/cluster-view.ts';
import { type MeasuredView, podsWithDevices, withUsage } from '../fleet/measured-view.ts';
import { devicePods } from '../fleet/usage-labels.ts';
import { type ApiServer, apiServerOf } from './api-server.ts';
import { type Clock, watchSleep } from './clock.ts';
import { type ClusterCopy, followCluster } from './cluster-copy.ts';
import { serverVersion } from './discovery.ts';
import type { Computed, Engine, Moment } from './engine.ts';
import { loadContext, type Machine } from './kubeconfig.ts';
import {
  type ClusterSettings,
  type ClusterStatus,
  type ConnectionState,
  type FromCluster,
  off,
  type ToCluster,
} from './messages.ts';
import { paced } from './pacer.ts';
import { stateOf } from './status.ts';
import { followUsage, noUsage, usageHours } from './usage.ts';

/** One connection to a cluster. */
export interface Connection {
  readonly nodes: (pool: string) => Extract<FromCluster, { readonly kind: 'nodes' }>['nodes'];
  /** undefined if no objects are known. */
  readonly draw: (drawing: ClusterDrawing) => ClusterDrawn | undefined;
  readonly ask: (question: Extract<ToCluster, { readonly kind: 'ask' }>) => void;
  readonly forget: (key: string) => void;
}

export interface Surroundings {
  readonly machine: Machine;
  /** `wake` ends all waits. */
  readonly clock: Clock & { readonly wake: () => void };
  /** Makes the engine of one connection. */
  readonly engine: (settings: ClusterSettings) => Engine;
}

interface Asked {
  readonly question: Extract<ToCluster, { readonly kind: 'ask' }>['question'];
  /** The last answer without its time; an empty text if there is none. */
  answered: string;
}

/** Connects and reports until `signal` is aborted. */
export function connect(
  settings: ClusterSettings,
  { machine, clock, engine: makeEngine }: Surroundings,
  signal: AbortSignal,
  post: (message: FromCluster) => void,
): Connection {
  const engine = makeEngine(settings);
  const questions = new Map<string, Asked>();
  const unanswered = new Set<string>();
  let version: string | null = null;
  let wasLive = false;
  /** When the server was last heard. */
  let heard = clock.now();
  let computed: Computed | undefined;
  let shown: MeasuredView | undefined;
  let moment: Moment | undefined;
  let posted = '';
  let isOutdated = true;
  let isMeasured = false;

  let first: ReturnType<typeof loadContext>;
  try {
    first = loadContext(settings, machine, signal);
  } catch (error) {
    post({ kind: 'changed', status: { ...off, state: 'failed', message: sentence(error), context: settings.context } });
    return { nodes: () => [], draw: () => undefined, ask: () => undefined, forget: () => undefined };
  }
  const context = first.getCurrentContext();
  const contextNamespace = first.getContextObject(context)?.namespace ?? 'default';
  let loaded: typeof first | undefined = first;
  const api: ApiServer = apiServerOf(() => {
    // The user may have logged in since it was read last.
    const config = loaded ?? loadContext({ ...settings, context }, machine, signal);
    loaded = undefined;
    return config;
  }, clock.now);

  const publish = paced(clock, signal, () => {
    const { state, message } = stateOf(copy, context, wasLive);
    if (state === 'live') {
      wasLive = true;
      heard = clock.now();
    }
    moment = momentOf(state, message);
    if (wasLive && isOutdated) {
      isOutdated = false;
      const isFirst = computed === undefined;
      computed = engine.compute(copy.objects(), moment);
      isMeasured = true;
      if (isFirst) usage.start();
    }
    if (isMeasured && computed !== undefined) {
      isMeasured = false;
      shown = withUsage(computed, usage.current());
      answerAll();
    }
    const listed = { nodes: copy.nodes.count(), pods: copy.pods.count() };
    const whole = shown === undefined ? null : { ...shown.view, ...moment };
    const status: ClusterStatus = {
      state,
      message,
      context,
      view: whole === null ? null : published(whole),
      pending: whole?.pending.length ?? 0,
      listed: state === 'loading' ? listed : off.listed,
    };
    const text = JSON.stringify([status, whole], (key, value: unknown) =>
      key === 'asOf' && state === 'live' ? null : value,
    );
    if (text === posted) return;
    posted = text;
    post({ kind: 'changed', status });
  });

  const momentOf = (state: ConnectionState, message: string | null): Moment => ({
    context,
    serverVersion: version,
    state: clusterState(state, message ?? ''),
    asOf: heard,
    coverage: copy.coverage(),
  });

  const answerAll = paced(clock, signal, async () => {
    unanswered.clear();
    for (const key of [...questions.keys()]) {
      answer([key]);
      // Questions are many and each takes time, so messages come between them.
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) return;
    }
  });

  const answerNew = () => {
    if (computed === undefined) return;
    const keys = [...unanswered];
    unanswered.clear();
    answer(keys);
  };

  function answer(keys: readonly string[]): void {
    const answers = keys.flatMap((key) => {
      const asked = questions.get(key);
      if (asked === undefined || moment === undefined) return [];
      const { namespace, owner } = asked.question;
      const used = owner && shown?.usageOf(namespace, owner.kind, owner.name);
      const found = {
        ...engine.answer(asked.question, moment),
        usage: used === undefined ? null : workloadUsageWords(used, usageHours),
      };
      const text = JSON.stringify({ ...found, asOf: null });
      if (text === asked.answered) return [];
      asked.answered = text;
      return [{ key, answer: found }];
    });
    if (answers.length > 0) post({ kind: 'answered', answers });
  }

  const copy: ClusterCopy = followCluster(
    api,
    { namespace: settings.namespace, contextNamespace },
    clock,
    signal,
    (what) => {
      if (what === 'objects') isOutdated = true;
      publish();
    },
  );
  const pods = () => (computed === undefined ? devicePods([]) : podsWithDevices(computed));
  const usage =
    settings.prometheus === null
      ? noUsage
      : followUsage(settings.prometheus, api, clock, signal, pods, () => {
          isMeasured = true;
          publish();
        });
  publish();
  void watchSleep(clock, signal, () => {
    api.reset();
    clock.wake();
  });
  void serverVersion(api, signal).then((found) => {
    version = found;
    publish();
  });

  return {
    nodes: (pool) => shown?.nodesOf(pool) ?? [],
    draw(drawing) {
      if (shown === undefined || moment === undefined) return undefined;
      const { view, nodesOf } = shown;
      const now = clock.now();
      // Without news, what is followed is as it was.
      const asOf = moment.state.kind === 'current' ? now : moment.asOf;
      return drawCluster({ view: { ...view, ...moment, asOf }, nodesOf, now }, drawing);
    },
    ask({ key, question }) {
      if (questions.has(key)) return;
      questions.set(key, { question, answered: '' });
      unanswered.add(key);
      // Questions that arrive together are answered together.
      if (unanswered.size === 1) setImmediate(answerNew);
    },
    forget: (key) => void questions.delete(key),
  };
}

function published({
  owners: _o,
  pending: _p,
  problems: _s,
  leaked: _l,
  idlePods: _i,
  ...view
}: ClusterView): PublishedView {
  return view;
}

function clusterState(state: ConnectionState, message: string): ClusterState {
  switch (state) {
    case 'forbidden':
    case 'unauthorized':
    case 'unreachable':
      return { kind: state, message };
    case 'stale':
      return { kind: 'unreachable', message };
    default:
      return { kind: 'current' };
  }
}

/** As the start of a sentence. */
export function sentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
