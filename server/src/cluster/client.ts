import type { ClusterDrawing, ClusterDrawn } from '../features/cluster/drawn.ts';
import type { LiveNode } from '../fleet/cluster-view.ts';
import type { FitAnswer, FitQuestion, LiveCluster } from '../fleet/fit-question.ts';
import {
  type ClusterContexts,
  type ClusterSettings,
  type ClusterStatus,
  type FromCluster,
  off,
  type ToCluster,
} from './messages.ts';

/** A thread that follows a cluster. */
export interface ClusterThread {
  readonly post: (message: ToCluster) => void;
}

export interface ThreadListener {
  readonly received: (message: FromCluster) => void;
  /** The thread has ended. @param problem why, as a clause; null if it was to end */
  readonly ended: (problem: string | null) => void;
}

export type StartThread = (listener: ThreadListener) => ClusterThread;

export interface ClusterListener {
  /** At most four times per second. */
  readonly statusChanged: (status: ClusterStatus) => void;
  /** What `live` returns has changed. */
  readonly figuresChanged: () => void;
  /** Answers have arrived or changed. */
  readonly answersChanged: () => void;
}

/** The rest of gpulint's access to a cluster. */
export interface ClusterClient {
  readonly status: () => ClusterStatus;
  readonly connect: (settings: ClusterSettings) => void;
  readonly disconnect: () => void;
  readonly contexts: (kubeconfig: string | null) => Promise<ClusterContexts>;
  readonly nodes: (pool: string) => Promise<readonly LiveNode[]>;
  /** In words; null if no objects are known. */
  readonly draw: (drawing: ClusterDrawing) => Promise<ClusterDrawn | null>;
  /** What analyses see: undefined unless objects of a cluster are known. */
  readonly live: () => LiveCluster | undefined;
  /** Whether all questions have an answer. */
  readonly isAnswered: () => boolean;
}

/** More questions than the open files and a check of a large folder have; the one that was not asked for the longest time is forgotten. */
const maxQuestions = 2000;

/** @param start starts the thread, when it is first needed */
export function createClusterClient(start: StartThread, listener: ClusterListener): ClusterClient {
  let thread: ClusterThread | undefined;
  let status: ClusterStatus = off;
  let last = 0;
  const waiting = new Map<number, (message: FromCluster | undefined) => void>();
  const answers = new Map<string, { readonly answer: FitAnswer | undefined }>();

  function changed(next: ClusterStatus): void {
    const before = status;
    status = next;
    listener.statusChanged(next);
    if (before.view !== null || next.view !== null) listener.figuresChanged();
  }

  function started(): ClusterThread {
    if (thread !== undefined) return thread;
    const own: ClusterThread = start({
      received: (message) => {
        if (thread === own) receive(message);
      },
      ended(problem) {
        if (thread !== own) return;
        end();
        const message = `Connection to the cluster lost: ${problem ?? 'the thread was stopped'}; connect again`;
        changed({ ...status, state: 'failed', message });
      },
    });
    thread = own;
    return own;
  }

  function end(): void {
    thread = undefined;
    answers.clear();
    for (const settle of waiting.values()) settle(undefined);
    waiting.clear();
  }

  function receive(message: FromCluster): void {
    switch (message.kind) {
      case 'changed':
        changed(message.status);
        return;
      case 'answered':
        for (const { key, answer } of message.answers) {
          // Answers of the cluster before may still arrive.
          if (answers.has(key) && answer.context === status.context) answers.set(key, { answer });
        }
        listener.answersChanged();
        return;
      default:
        waiting.get(message.id)?.(message);
        waiting.delete(message.id);
    }
  }

  function request(make: (id: number) => ToCluster): Promise<FromCluster | undefined> {
    last += 1;
    const id = last;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      started().post(make(id));
    });
  }

  function answer(question: FitQuestion): FitAnswer | undefined {
    const key = JSON.stringify(question);
    const known = answers.get(key);
    // The last one asked is the last one in the map.
    answers.delete(key);
    answers.set(key, known ?? { answer: undefined });
    if (known !== undefined) return known.answer;
    thread?.post({ kind: 'ask', key, question });
    if (answers.size <= maxQuestions) return undefined;
    const [oldest] = answers.keys();
    if (oldest !== undefined) {
      answers.delete(oldest);
      thread?.post({ kind: 'forget', key: oldest });
    }
    return undefined;
  }

  return {
    status: () => status,
    connect(settings) {
      answers.clear();
      started().post({ kind: 'connect', settings });
      changed({ ...off, state: 'connecting', context: settings.context });
    },
    disconnect() {
      thread?.post({ kind: 'disconnect' });
      end();
      changed(off);
    },
    async contexts(kubeconfig) {
      const message = await request((id) => ({ kind: 'contexts', id, kubeconfig }));
      return message?.kind === 'contexts'
        ? message.result
        : { contexts: [], problem: 'The kubeconfig could not be read' };
    },
    async nodes(pool) {
      if (thread === undefined) return [];
      const message = await request((id) => ({ kind: 'nodes', id, pool }));
      return message?.kind === 'nodes' ? message.nodes : [];
    },
    async draw(drawing) {
      if (thread === undefined) return null;
      const message = await request((id) => ({ kind: 'draw', id, drawing }));
      return message?.kind === 'drawn' ? message.drawn : null;
    },
    live: () => (status.view === null ? undefined : { view: status.view, answer }),
    isAnswered: () => [...answers.values()].every((known) => known.answer !== undefined),
  };
}
