import type { ProjectConfig } from '../../config.ts';
import type { Word } from './completion-item.ts';
import { words } from './plain-words.ts';

/** Where fields stand: kinds (none: any) and the end of the path to them, `-` for an item. */
interface Place {
  readonly kinds: readonly string[];
  readonly path: string;
}
interface Fields extends Place {
  readonly keys: readonly Word[];
}
interface Values extends Place {
  readonly key: string;
  readonly values: readonly Word[];
}

/**
 * Keys that decide how GPUs are queued, claimed, scaled and shared. Of kinds that come with an operator no schema is at hand in most editors;
 * of all others another extension knows the schema.
 * @param path the keys from the root, `-` for an item
 */
export function fieldKeys(kind: string, path: readonly string[]): readonly Word[] {
  return fields.filter((place) => fits(place, kind, path)).flatMap(({ keys }) => ranked(keys));
}

/** The values that people choose from for such a key. */
export function fieldValues(
  kind: string,
  path: readonly string[],
  key: string,
  config: ProjectConfig,
): readonly Word[] {
  if (key === 'apiVersion' && path.length === 0 && claimKinds.includes(kind)) return claimVersions(config);
  return values.filter((one) => one.key === key && fits(one, kind, path)).flatMap((one) => ranked(one.values));
}

function fits({ kinds, path: end }: Place, kind: string, path: readonly string[]): boolean {
  if (kinds.length > 0 && !kinds.includes(kind)) return false;
  const here = path.join(' ');
  return here === end || (kinds.length === 0 && here.endsWith(` ${end}`));
}

function ranked(given: readonly Word[]): readonly Word[] {
  return given.map((word, rank) => ({ ...word, rank }));
}

const claimKinds = ['ResourceClaim', 'ResourceClaimTemplate'];

/** The newest that the cluster serves comes first. */
function claimVersions({ kubernetesVersion }: ProjectConfig): readonly Word[] {
  const minor = Number(/^v?1\.(\d+)/.exec(kubernetesVersion ?? '')?.[1] ?? Number.POSITIVE_INFINITY);
  const known: readonly (readonly [version: string, since: number])[] = [
    ['v1', 34],
    ['v1beta2', 33],
    ['v1beta1', 32],
  ];
  return known
    .filter(([, since]) => since <= minor)
    .map(([version, since], rank) => ({
      text: `resource.k8s.io/${version}`,
      detail: `from Kubernetes 1.${since}`,
      rank,
    }));
}

const claimRequest = words({
  name: 'what pods and selectors call the request',
  exactly: ['devices of one class (v1 and v1beta2)', '\n  $1'],
  firstAvailable: ['the first of several that there is (v1 and v1beta2)', '\n  - $1'],
  deviceClassName: 'the class of the device (v1beta1)',
});

const claimedDevice = words({
  deviceClassName: 'the class of the device',
  count: ['how many; 1 where nothing is said', '1'],
  allocationMode: 'ExactCount or All',
  selectors: ['which devices of the class, in CEL', '\n  - cel:\n      expression: $1'],
  adminAccess: 'to watch devices that others hold',
});

const fields: readonly Fields[] = [
  {
    kinds: ['ScaledObject'],
    path: 'spec',
    keys: words({
      scaleTargetRef: ['what is scaled', '\n  name: $1'],
      minReplicaCount: ['replicas while there is something to do; 0 (the default) lets it scale to zero', '0'],
      maxReplicaCount: ['replicas at most; 100 where nothing is said', '1'],
      idleReplicaCount: ['replicas while no trigger is active: 0 only, below minReplicaCount', '0'],
      cooldownPeriod: [
        'seconds after the last active trigger until it scales to zero; 300 where nothing is said',
        '300',
      ],
      pollingInterval: ['seconds between two looks at the triggers; 30 where nothing is said', '30'],
      fallback: ['replicas while a trigger cannot be read', '\n  failureThreshold: 3\n  replicas: $1'],
      triggers: ['what it is scaled by', '\n  - type: $1'],
    }),
  },
  {
    kinds: ['ScaledJob'],
    path: 'spec',
    keys: words({
      jobTargetRef: ['the Job that is made', '\n  template:\n    $1'],
      minReplicaCount: ['Jobs while there is nothing to do', '0'],
      maxReplicaCount: ['Jobs at most; 100 where nothing is said', '1'],
      pollingInterval: ['seconds between two looks at the triggers', '30'],
      triggers: ['what Jobs are made by', '\n  - type: $1'],
    }),
  },
  {
    kinds: ['ScaledObject', 'ScaledJob'],
    path: 'spec triggers -',
    keys: words({
      type: 'the scaler',
      metadata: ["the scaler's own fields", '\n  $1'],
      metricType: 'AverageValue, Value or Utilization',
      name: 'what the trigger is called',
      authenticationRef: ['how the scaler signs in', '\n  name: $1'],
    }),
  },
  {
    kinds: ['ScaledObject', 'ScaledJob'],
    path: 'spec triggers - metadata',
    keys: words({
      serverAddress: 'of Prometheus: where it answers',
      query: 'of Prometheus: what is measured',
      threshold: ['how much one replica takes', '"$1"'],
      activationThreshold: ['above it the trigger is active, and zero replicas become one', '"$1"'],
    }),
  },
  {
    kinds: ['ClusterQueue'],
    path: 'spec',
    keys: words({
      resourceGroups: ['what is shared out', '\n  - coveredResources: [$1]'],
      namespaceSelector: ['the namespaces whose queues may use it; {} is all', '{}'],
      cohort: 'queues that lend each other what they do not use (cohortName in v1beta2)',
      queueingStrategy: 'StrictFIFO or BestEffortFIFO',
      preemption: ['who has to give way', '\n  withinClusterQueue: LowerPriority'],
      flavorFungibility: ['whether to take the next flavor or to make room', '\n  whenCanPreempt: TryNextFlavor'],
    }),
  },
  {
    kinds: ['ClusterQueue'],
    path: 'spec resourceGroups -',
    keys: words({
      coveredResources: ['the resources of the group', '[$1]'],
      flavors: ['kinds of nodes, in the order in which they are tried', '\n  - name: $1'],
    }),
  },
  {
    kinds: ['ClusterQueue'],
    path: 'spec resourceGroups - flavors -',
    keys: words({ name: 'a ResourceFlavor', resources: ['how much of each', '\n  - name: $1'] }),
  },
  {
    kinds: ['ClusterQueue'],
    path: 'spec resourceGroups - flavors - resources -',
    keys: words({
      name: 'one of the covered resources',
      nominalQuota: 'what the queue has of its own',
      borrowingLimit: 'what it may take of others of its cohort',
      lendingLimit: 'what others may take of it',
    }),
  },
  {
    kinds: ['ResourceFlavor'],
    path: 'spec',
    keys: words({
      nodeLabels: ['the nodes that are meant', '\n  $1'],
      nodeTaints: ['their taints, which its pods must tolerate', '\n  - key: $1'],
      tolerations: ['what its pods are given', '\n  - key: $1'],
      topologyName: 'a Topology, for pods that must be near each other',
    }),
  },
  { kinds: ['LocalQueue'], path: 'spec', keys: words({ clusterQueue: 'the ClusterQueue that it leads to' }) },
  { kinds: [], path: 'devices requests -', keys: claimRequest },
  { kinds: [], path: 'devices requests - exactly', keys: claimedDevice },
  {
    kinds: [],
    path: 'devices requests - firstAvailable -',
    keys: [...words({ name: 'of the alternative' }), ...claimedDevice],
  },
  {
    kinds: [],
    path: 'resourceClaims -',
    keys: words({
      name: 'what containers call it in resources.claims',
      resourceClaimTemplateName: 'each pod gets a claim of its own',
      resourceClaimName: 'all pods share this claim',
    }),
  },
  {
    kinds: [],
    path: 'sharing',
    keys: words({
      timeSlicing: ['pods take turns on a GPU', '\n  resources:\n    - name: nvidia.com/gpu\n      replicas: 4'],
      mps: [
        'pods run side by side, each with a share of memory',
        '\n  resources:\n    - name: nvidia.com/gpu\n      replicas: 4',
      ],
    }),
  },
  ...['sharing timeSlicing', 'sharing mps'].map((path) => ({
    kinds: [],
    path,
    keys: words({
      renameByDefault: ['call shared GPUs nvidia.com/gpu.shared', 'true'],
      failRequestsGreaterThanOne: ['refuse pods that ask for several shares: they are of the same card', 'true'],
      resources: ['what is shared', '\n  - name: nvidia.com/gpu\n    replicas: 4'],
    }),
  })),
  ...['sharing timeSlicing resources -', 'sharing mps resources -'].map((path) => ({
    kinds: [],
    path,
    keys: words({
      name: ['what is shared', 'nvidia.com/gpu'],
      replicas: ['pods to a GPU', '4'],
      rename: 'what its shares are called',
    }),
  })),
];

const values: readonly Values[] = [
  {
    kinds: ['ScaledObject', 'ScaledJob'],
    path: 'spec triggers -',
    key: 'type',
    values: words({
      prometheus: 'a query: requests waiting, tokens a second',
      'kubernetes-workload': 'how many pods of a kind there are',
      cron: 'by the clock',
      kafka: 'messages that wait',
      rabbitmq: 'messages that wait',
      'aws-sqs-queue': 'messages that wait',
      'gcp-pubsub': 'messages that wait',
      redis: 'entries of a list',
      cpu: 'use of CPU; cannot scale to zero by itself',
      memory: 'use of memory; cannot scale to zero by itself',
    }),
  },
  {
    kinds: ['ScaledObject', 'ScaledJob'],
    path: 'spec triggers -',
    key: 'metricType',
    values: words({ AverageValue: 'a replica', Value: 'in all', Utilization: 'of cpu and memory' }),
  },
  ...['exactly', 'firstAvailable -'].map((end) => ({ kinds: [], path: `devices requests - ${end}` })).flatMap(ofDevice),
  ...ofDevice({ kinds: [], path: 'devices requests -' }),
];

function ofDevice(place: Place): readonly Values[] {
  return [
    {
      ...place,
      key: 'deviceClassName',
      values: words({
        'gpu.nvidia.com': 'whole NVIDIA GPUs',
        'mig.nvidia.com': 'MIG slices',
        'gpu.amd.com': 'AMD GPUs',
        'gpu.intel.com': 'Intel GPUs',
      }),
    },
    {
      ...place,
      key: 'allocationMode',
      values: words({ ExactCount: 'as many as count says', All: 'all that the node has' }),
    },
  ];
}
