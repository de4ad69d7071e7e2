import { asText, type Cursor, entries, getIn, items, keyOf } from '../../yaml/cursor.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { lowerContainer, lowerCount, text } from '../pod.ts';
import { slotsKey } from '../undeclared-objects.ts';
import type { Container } from '../workload.ts';
import type { KindEntry, KindLowering, PodCount } from './kind.ts';
import { between, exactly, retriesAt } from './pod-sets.ts';

/**
 * Determined's experiments, which have no apiVersion. The platform stores checkpoints and sizes /dev/shm, and divides a trial among as many
 * nodes as its slots need.
 * https://docs.determined.ai/latest/reference/training/experiment-config-reference.html
 */
export const determinedKinds: readonly KindEntry[] = [
  {
    group: 'determined',
    kinds: ['Experiment'],
    likelyRole: 'training',
    words: [slotsKey],
    mountsShm: true,
    keepsState: true,
    spansPodsIf: () => true,
    lower: ({ root }) => lowerExperiment(root),
  },
];

function lowerExperiment(root: Cursor): KindLowering {
  const slots = getIn(root, 'resources', slotsKey);
  const environment = getIn(root, 'environment');
  const pod = getIn(environment, 'pod_spec', 'spec') ?? root;
  const count = lowerCount(slots, 1);
  const devices: ImplicitDevices = {
    // How many of them each node has is decided when they start.
    requested: { kind: 'field', system: count === 1 ? 'field' : 'nodes', name: slotsKey },
    ...{ at: slots, form: 'whole', vendor: null, perPod: count, each: 1 },
  };
  return {
    podSets: [
      {
        ...{ name: 'trial', pod, metadata: getIn(environment, 'pod_spec', 'metadata'), replicas: undefined },
        pods: trialsOf(getIn(root, 'searcher')),
        containers: [containerOf(root, environment)],
        // Without slots, a trial runs on a CPU.
        ...(count !== 0 && { implicitDevices: [devices] }),
      },
    ],
    retries: retriesAt(getIn(root, 'max_restarts'), 5),
    scaling: null,
    partial: true,
  };
}

/** A single trial, or those of a search: at most 16 at a time, unless the file says otherwise. */
function trialsOf(searcher: Cursor | undefined): PodCount {
  const name = asText(getIn(searcher, 'name'));
  if (name === undefined || name === 'single') return exactly(1);
  const atOnce = lowerCount(getIn(searcher, 'max_concurrent_trials'), 16);
  const trials = lowerCount(getIn(searcher, 'max_trials'), Number.POSITIVE_INFINITY);
  // Zero means no limit.
  const most = [atOnce === 0 ? null : atOnce, trials].filter((limit) => limit !== null && Number.isFinite(limit));
  return between(1, most.length === 0 ? null : Math.min(...most.map(Number)));
}

/** What the trial runs. Its image may differ by the kind of device. */
function containerOf(root: Cursor, environment: Cursor | undefined): Container {
  const entrypoint = getIn(root, 'entrypoint');
  const image = getIn(environment, 'image');
  const command = text(entrypoint);
  const shell = ['bash', '-c'].map((value) => ({ value, at: entrypoint ?? root }));
  const listed = items(entrypoint).flatMap((item) => text(item) ?? []);
  return {
    ...lowerContainer(entrypoint ?? root, 'app', 'trial', undefined),
    image: text(getIn(image, 'cuda') ?? getIn(image, 'gpu') ?? image),
    command: command === undefined ? listed : shell,
    args: command === undefined ? [] : [command],
    env: envOf(getIn(environment, 'environment_variables')),
  };
}

/** `KEY=value` in a list, or in the list of one kind of device. */
function envOf(env: Cursor | undefined): Container['env'] {
  const listed = [...items(env), ...entries(env).flatMap((entry) => (keyOf(entry) === 'cpu' ? [] : items(entry)))];
  return listed.flatMap((item) => {
    const [, name, value] = /^(\w+)=([\s\S]*)$/.exec(asText(item) ?? '') ?? [];
    return name === undefined || value === undefined ? [] : [{ name, value: { value, at: item }, at: item }];
  });
}
