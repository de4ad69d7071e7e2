import type { Cursor } from '../../yaml/cursor.ts';
import { asText, entries, getIn, items, keyOf } from '../../yaml/cursor.ts';
import { lowerContainer, lowerCount } from '../pod.ts';
import type { Role } from '../workload.ts';
import type { KindEntry, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { between, exactly, times, written } from './pod-sets.ts';

/** Polyaxon's files, which have no apiVersion. A component is run by its name or directly, with `polyaxon run -f`. */
export const polyaxonKinds: readonly KindEntry[] = [
  {
    group: 'polyaxon',
    kinds: ['component', 'operation'],
    words: [],
    lower: ({ root }) => lowerPolyaxon(root),
  },
];

/** https://polyaxon.com/docs/core/specification/ */
function lowerPolyaxon(root: Cursor): KindLowering {
  const run = getIn(root, 'run') ?? getIn(root, 'component', 'run');
  const kind = asText(getIn(run, 'kind')) ?? '';
  const runs = runsOf(getIn(root, 'matrix'));
  const podSets = podsOfRun(run, kind).map((set) => ({
    ...set,
    pods: { min: times(set.pods, runs.min).min, max: times(set.pods, runs.max).max },
  }));
  const role = roleOfRun(kind);
  return { ...(role && { role }), podSets, retries: null, scaling: null, partial: true };
}

/** What the kinds of runs are for; a job may do anything. */
function roleOfRun(kind: string): Role | undefined {
  if (kind === 'service') return undefined;
  return /^(?:tf|pytorch|mpi|mx|xgb|paddle)job$/.test(kind) ? 'training' : undefined;
}

/** A matrix starts the run several times, `concurrency` at a time. */
function runsOf(matrix: Cursor | undefined): PodCount {
  if (matrix === undefined) return exactly(1);
  const concurrency = getIn(matrix, 'concurrency');
  return concurrency === undefined ? between(1, null) : between(null, lowerCount(concurrency, 1));
}

/** A job or service has one pod; a distributed run a block for each role. */
function podsOfRun(run: Cursor | undefined, kind: string): readonly PodSetSource[] {
  if (run === undefined) return [];
  if (getIn(run, 'container') !== undefined)
    return podsOf(kind, run, getIn(run, 'replicas'), getIn(run, 'environment'));
  return entries(run).flatMap((role) =>
    podsOf(keyOf(role), role, getIn(role, 'replicas'), getIn(role, 'environment') ?? getIn(run, 'environment')),
  );
}

/** The pod's own fields are in `environment`. */
function podsOf(
  name: string,
  block: Cursor,
  replicas: Cursor | undefined,
  environment: Cursor | undefined,
): readonly PodSetSource[] {
  const main = getIn(block, 'container');
  if (main === undefined) return [];
  const sidecars = items(getIn(block, 'sidecars')).map((sidecar) => lowerContainer(sidecar, 'app'));
  const containers = [lowerContainer(main, 'app', 'main'), ...sidecars];
  return [{ name, pod: environment ?? block, metadata: environment, replicas, pods: written(replicas), containers }];
}
