import type { ProjectConfig } from '../../config.ts';
import type { Word } from './completion-item.ts';
import { words } from './plain-words.ts';

/** Where fields belong: the kinds (empty: any) and the end of the path to them, `-` for an item. */
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
 * Keys that decide how GPUs are queued, claimed, scaled and shared. Most editors have no schema for an operator's kinds; for all other kinds
 * another extension has one.
 * @param path the keys from the root, `-` for an item
 */
export function fieldKeys(kind: string, path: readonly string[]): readonly Word[] {
  return fields.filter((place) => fits(place, kind, path)).flatMap(({ keys }) => ranked(keys));
}

/** The usual values of such a key. */
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

function ranked(inOrder: readonly Word[]): readonly Word[] {
  return inOrder.map((word, rank) => ({ ...word, rank }));
}

const claimKinds = ['ResourceClaim', 'ResourceClaimTemplate'];

/** The newest version that the cluster serves comes first. */
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
  name: 'name of the request, for pods and selectors',
  exactly: ['devices of one class (v1 and v1beta2)', '\n  $1'],
  firstAvailable: ['the first available of several alternatives (v1 and v1beta2)', '\n  - $1'],
  deviceClassName: 'device class (v1beta1)',
});

const claimedDevice = words({
  deviceClassName: 'device class',
  count: ['number of devices; default 1', '1'],
  allocationMode: 'ExactCount or All',
  selectors: ['devices of the class to choose from, in CEL', '\n  - cel:\n      expression: $1'],
  adminAccess: 'monitoring access to devices that are in use',
});

const fields: readonly Fields[] = [
  {
    kinds: ['ScaledObject'],
    path: 'spec',
    keys: words({
      scaleTargetRef: ['workload to scale', '\n  name: $1'],
      minReplicaCount: ['minimum replicas; 0 (the default) allows scale to zero', '0'],
      maxReplicaCount: ['maximum replicas; default 100', '1'],
      idleReplicaCount: ['replicas while no trigger is active; must be 0 and below minReplicaCount', '0'],
      cooldownPeriod: ['seconds from the last active trigger to scale to zero; default 300', '300'],
      pollingInterval: ['seconds between checks of the triggers; default 30', '30'],
      fallback: ['replicas if a trigger fails', '\n  failureThreshold: 3\n  replicas: $1'],
      triggers: ['sources that drive scaling', '\n  - type: $1'],
    }),
  },
  {
    kinds: ['ScaledJob'],
    path: 'spec',
    keys: words({
      jobTargetRef: ['Job to create', '\n  template:\n    $1'],
      minReplicaCount: ['minimum Jobs', '0'],
      maxReplicaCount: ['maximum Jobs; default 100', '1'],
      pollingInterval: ['seconds between checks of the triggers', '30'],
      triggers: ['sources that create Jobs', '\n  - type: $1'],
    }),
  },
  {
    kinds: ['ScaledObject', 'ScaledJob'],
    path: 'spec triggers -',
    keys: words({
      type: 'scaler',
      metadata: ["scaler's own fields", '\n  $1'],
      metricType: 'AverageValue, Value or Utilization',
      name: 'name of the trigger',
      authenticationRef: ['credentials of the scaler', '\n  name: $1'],
    }),
  },
  {
    kinds: ['ScaledObject', 'ScaledJob'],
    path: 'spec triggers - metadata',
    keys: words({
      serverAddress: 'address of Prometheus',
      query: 'PromQL query to measure',
      threshold: ['target per replica', '"$1"'],
      activationThreshold: ['value above which the workload scales from zero', '"$1"'],
    }),
  },
  {
    kinds: ['ClusterQueue'],
    path: 'spec',
    keys: words({
      resourceGroups: ['resources with their quota', '\n  - coveredResources: [$1]'],
      namespaceSelector: ['namespaces that may use the queue; {} allows all', '{}'],
      cohort: 'group of queues that share unused quota (cohortName in v1beta2)',
      queueingStrategy: 'StrictFIFO or BestEffortFIFO',
      preemption: ['workloads that can be preempted', '\n  withinClusterQueue: LowerPriority'],
      flavorFungibility: [
        'when to try the next flavor instead of waiting or preempting',
        '\n  whenCanPreempt: TryNextFlavor',
      ],
    }),
  },
  {
    kinds: ['ClusterQueue'],
    path: 'spec resourceGroups -',
    keys: words({
      coveredResources: ['resources of the group', '[$1]'],
      flavors: ['ResourceFlavors in the order of preference', '\n  - name: $1'],
    }),
  },
  {
    kinds: ['ClusterQueue'],
    path: 'spec resourceGroups - flavors -',
    keys: words({ name: 'ResourceFlavor', resources: ['quota per resource', '\n  - name: $1'] }),
  },
  {
    kinds: ['ClusterQueue'],
    path: 'spec resourceGroups - flavors - resources -',
    keys: words({
      name: 'covered resource',
      nominalQuota: "the queue's own quota",
      borrowingLimit: 'maximum quota to borrow from the cohort',
      lendingLimit: 'maximum quota that others may borrow',
    }),
  },
  {
    kinds: ['ResourceFlavor'],
    path: 'spec',
    keys: words({
      nodeLabels: ['labels of the nodes', '\n  $1'],
      nodeTaints: ['taints of the nodes; its pods must tolerate them', '\n  - key: $1'],
      tolerations: ['tolerations to add to its pods', '\n  - key: $1'],
      topologyName: 'Topology for pods that must run close together',
    }),
  },
  { kinds: ['LocalQueue'], path: 'spec', keys: words({ clusterQueue: 'ClusterQueue that admits its workloads' }) },
  { kinds: [], path: 'devices requests -', keys: claimRequest },
  { kinds: [], path: 'devices requests - exactly', keys: claimedDevice },
  {
    kinds: [],
    path: 'devices requests - firstAvailable -',
    keys: [...words({ name: 'name of the alternative' }), ...claimedDevice],
  },
  {
    kinds: [],
    path: 'resourceClaims -',
    keys: words({
      name: 'name for resources.claims in containers',
      resourceClaimTemplateName: 'each pod gets its own claim',
      resourceClaimName: 'all pods share this claim',
    }),
  },
  {
    kinds: [],
    path: 'sharing',
    keys: words({
      timeSlicing: ['pods take turns on one GPU', '\n  resources:\n    - name: nvidia.com/gpu\n      replicas: 4'],
      mps: [
        'pods run concurrently, each with a share of the memory',
        '\n  resources:\n    - name: nvidia.com/gpu\n      replicas: 4',
      ],
    }),
  },
  ...['sharing timeSlicing', 'sharing mps'].map((path) => ({
    kinds: [],
    path,
    keys: words({
      renameByDefault: ['advertise shared GPUs as nvidia.com/gpu.shared', 'true'],
      failRequestsGreaterThanOne: ['reject pods that request several replicas: all are shares of one GPU', 'true'],
      resources: ['resources to share', '\n  - name: nvidia.com/gpu\n    replicas: 4'],
    }),
  })),
  ...['sharing timeSlicing resources -', 'sharing mps resources -'].map((path) => ({
    kinds: [],
    path,
    keys: words({
      name: ['resource to share', 'nvidia.com/gpu'],
      replicas: ['pods per GPU', '4'],
      rename: 'resource name of the shares',
    }),
  })),
];

const values: readonly Values[] = [
  {
    kinds: ['ScaledObject', 'ScaledJob'],
    path: 'spec triggers -',
    key: 'type',
    values: words({
      prometheus: 'PromQL query: queued requests, tokens per second',
      'kubernetes-workload': 'number of pods with a label',
      cron: 'schedule',
      kafka: 'consumer lag',
      rabbitmq: 'queue length',
      'aws-sqs-queue': 'queue length',
      'gcp-pubsub': 'queue length',
      redis: 'length of a list',
      cpu: 'CPU usage; cannot scale to zero on its own',
      memory: 'memory usage; cannot scale to zero on its own',
    }),
  },
  {
    kinds: ['ScaledObject', 'ScaledJob'],
    path: 'spec triggers -',
    key: 'metricType',
    values: words({
      AverageValue: 'average per replica',
      Value: 'total',
      Utilization: 'percentage of the request, for cpu and memory',
    }),
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
      values: words({ ExactCount: 'exactly count devices', All: 'all matching devices of the node' }),
    },
  ];
}
