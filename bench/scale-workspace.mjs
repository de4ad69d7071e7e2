// @ts-check
// Projects that grow in what their objects say of each other: whatever an analysis asks of the workspace, many ask it, and many may be meant.

/**
 * @typedef {{ readonly name: string, readonly text: string }} ScaleFile
 * @typedef {object} ScaleCase
 * @property {string} name
 * @property {number} size the n of the table in docs/performance.md
 * @property {(n: number) => { files: readonly ScaleFile[], edit: (round: number) => ScaleFile }} make `edit`: one object is another than it was,
 *   as somebody types it
 */

/** @param {string} metadata @param {string} spec @param {string} [pod] */
const deployment = (metadata, spec = '', pod = '') => `apiVersion: apps/v1
kind: Deployment
metadata: {${metadata}}
spec:
${spec}  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
${pod}      containers: [{name: main, image: "registry.example/a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`;

/** @param {string} name @param {string} target @param {number} most */
const autoscaler = (name, target, most) => `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: ${name}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: ${target}}
  minReplicas: 1
  maxReplicas: ${most}
`;

/** @param {string} name @param {string} taint */
const pool = (name, taint) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: ${name}}
spec:
  template:
    spec:
      taints: [{key: ${taint}, effect: NoSchedule}]
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p4d.24xlarge]}]
  limits: {nvidia.com/gpu: 8}
`;

/** @param {string} kind @param {string} name @param {string} spec */
const queue = (kind, name, spec) => `apiVersion: kueue.x-k8s.io/v1beta1
kind: ${kind}
metadata: {name: ${name}}
spec: {${spec}}
`;

/** @param {string} name @param {string} queueName @param {string} [pod] */
const job = (name, queueName, pod = '') => `apiVersion: batch/v1
kind: Job
metadata: {name: ${name}, labels: {kueue.x-k8s.io/queue-name: ${queueName}}}
spec:
  template:
    spec:
      restartPolicy: Never
${pod}      containers: [{name: main, image: "registry.example/a:1", command: [sh, /scripts/run.sh], resources: {limits: {nvidia.com/gpu: 1}}}]
`;

/** @param {number} n @param {number} count */
const claim = (n, count) => `apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: claim-${n}}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: ${count}}}]}}
`;

/** @param {string} name @param {string} claimName */
const user = (name, claimName) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  resourceClaims: [{name: gpu, resourceClaimName: ${claimName}}]
  containers: [{name: main, image: "registry.example/a:1"}]
`;

/** @param {number} n @param {(index: number) => string} make */
const times = (n, make) => Array.from({ length: n }, (_, index) => make(index));

/**
 * All in one file; an edit makes one document in the middle another.
 * @param {string} name @param {number} size @param {(n: number) => string[]} documents @param {(round: number, n: number) => string} edited
 * @returns {ScaleCase[]} the same also as a file for each document
 */
function ofDocuments(name, size, documents, edited) {
  return [
    {
      name: `${name}, one file`,
      size,
      make(n) {
        const made = documents(n);
        /** @param {string[]} parts */
        const file = (parts) => ({ name: 'all.yaml', text: parts.join('---\n') });
        return { files: [file(made)], edit: (round) => file(made.with(made.length >> 1, edited(round, n))) };
      },
    },
    {
      name: `${name}, many files`,
      size,
      make(n) {
        const files = documents(n).map((text, index) => ({ name: `${index % 40}/${index}.yaml`, text }));
        const middle = files[files.length >> 1];
        return { files, edit: (round) => ({ name: middle?.name ?? '', text: edited(round, n) }) };
      },
    },
  ];
}

/** @type {readonly ScaleCase[]} */
export const workspaceCases = [
  ...ofDocuments(
    'autoscalers of one name',
    2300,
    (n) => times(n, () => autoscaler('same', 'same', 4)),
    (round) => autoscaler('same', 'same', 5 + round),
  ),
  ...ofDocuments(
    'deployments and autoscalers of one name',
    1500,
    (n) => times(n, (index) => (index % 2 ? autoscaler('same', 'same', 4) : deployment('name: same'))),
    (round) => autoscaler('same', 'same', 5 + round),
  ),
  ...ofDocuments(
    'deployments with an autoscaler each',
    1500,
    (n) => times(n, (index) => (index % 2 ? autoscaler('a', `a-${index - 1}`, 4) : deployment(`name: a-${index}`))),
    (round, n) => autoscaler('a', `a-${n >> 1}`, 5 + round),
  ),
  ...ofDocuments(
    'node pools with pods',
    1800,
    (n) =>
      times(n, (index) =>
        index % 2
          ? pool(`pool-${index}`, 'nvidia.com/gpu')
          : deployment(
              `name: a-${index}`,
              '',
              index % 4 ? '' : `      nodeSelector: {karpenter.sh/nodepool: pool-${index + 1}}\n`,
            ),
      ),
    (round) => pool('pool-edited', `example.com/taint-${round}`),
  ),
  ...ofDocuments(
    'claims with a pod each',
    2500,
    (n) => times(n, (index) => (index % 2 ? user(`u-${index}`, `claim-${index - 1}`) : claim(index, 1))),
    (round, n) => claim(n >> 1, 1 + (round % 7)),
  ),
  ...ofDocuments(
    'pods that share a claim',
    2500,
    (n) => [claim(0, 8), ...times(n - 1, (index) => user(`u-${index}`, 'claim-0'))],
    (round) => user(`edited-${round}`, 'claim-0'),
  ),
  ...ofDocuments(
    'pods in folders with a claim each',
    2500,
    (n) => times(n, (index) => (index < 40 ? claim(0, 8) : user(`u-${index}`, 'claim-0'))),
    (round) => user(`edited-${round}`, 'claim-0'),
  ),
  ...ofDocuments(
    'local queues, cluster queues and jobs',
    1800,
    (n) =>
      times(n, (index) => {
        const group = Math.floor(index / 3);
        if (index % 3 === 0) return queue('LocalQueue', `local-${group}x`, `clusterQueue: cluster-${group}`);
        if (index % 3 === 1)
          return queue('ClusterQueue', `cluster-${group}`, 'resourceGroups: [{coveredResources: [cpu]}]');
        return job(`job-${index}`, `local-${group}x`);
      }),
    (round) => queue('LocalQueue', 'local-edited', `clusterQueue: cluster-${round}`),
  ),
  ...ofDocuments(
    'names that are one slip away',
    1800,
    (n) =>
      times(n, (index) => {
        const word = wordOf(index >> 1);
        return index % 2
          ? queue('LocalQueue', `${word}-queue`, 'clusterQueue: c')
          : job(`job-${index}`, `${word}-quuee`);
      }),
    (round) => queue('LocalQueue', `${wordOf(round)}-queues`, 'clusterQueue: c'),
  ),
  ...ofDocuments(
    'config maps with jobs, and budgets',
    1800,
    (n) =>
      times(n, (index) => {
        const named = Math.floor(index / 3);
        if (index % 3 === 0)
          return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: scripts-${named}}\ndata: {run.sh: "python train.py"}\n`;
        if (index % 3 === 1)
          return `apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b-${named}}\nspec: {minAvailable: 1, selector: {matchLabels: {app: a}}}\n`;
        return job(`job-${index}`, 'q', `      volumes: [{name: s, configMap: {name: scripts-${named}}}]\n`);
      }),
    (round) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: scripts-0}\ndata: {run.sh: "python train.py ${round}"}\n`,
  ),
];

/** Letters alone: names that differ in a number are those of several things. @param {number} index */
function wordOf(index) {
  let word = '';
  for (let rest = index + 27 * 27; rest > 0; rest = Math.floor(rest / 26))
    word += String.fromCharCode(97 + (rest % 26));
  return word;
}
