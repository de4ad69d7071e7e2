import { expect, inject, test } from 'vitest';
import { obstacle, traceCluster } from '../strace/cluster.mjs';

const reason = obstacle();

test.skipIf(reason !== undefined)(
  `before the user connects and without trust, no kubeconfig is read, no process started and no connection made${
    reason === undefined ? '' : ` (skipped: ${reason})`
  }`,
  async () => {
    const { apart, connected } = await traceCluster(inject('programs'));
    const nothing = { what: expect.any(String), kubeconfig: [], processes: [], connections: [] };
    expect(apart).toEqual(apart.map(() => nothing));
    // The same traces show all three once the user has connected.
    const seen = connected.map(({ kubeconfig, processes, connections }) => [kubeconfig, processes, connections]);
    expect(seen.map((lists) => lists.map(({ length }) => length > 0))).toEqual(connected.map(() => [true, true, true]));
  },
);
