import { describe, expect, test } from 'vitest';
import { Analysis, type FileAnalysis } from '../../server/src/analysis.ts';
import { codeActions } from '../../server/src/features/actions/code-actions.ts';
import { fractionsOf } from '../../server/src/features/actions/fractions.ts';
import { resizableIn } from '../../server/src/features/actions/resizable.ts';
import { codeLenses } from '../../server/src/features/code-lens.ts';
import { hover } from '../../server/src/features/hover/hover.ts';
import { renderPlain } from '../../server/src/features/hover/render.ts';
import type { ClusterObjects } from '../../server/src/fleet/cluster-objects.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { clusterFrom, clusterOf, documents, liveClusterOf } from '../support/cluster-objects.ts';

const onePool = clusterFrom('one-pool.yaml');

const l4Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'b',
    labels: {
      'eks.amazonaws.com/nodegroup': 'l4',
      'node.kubernetes.io/instance-type': 'g6.xlarge',
      'topology.kubernetes.io/region': 'us-east-1',
    },
  },
  status: { allocatable: { cpu: '4', memory: '15Gi', pods: '50', 'nvidia.com/gpu': '1' } },
};

function deployment({ gpus = 1, resource = 'nvidia.com/gpu', pod = '', replicas = 1 } = {}): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
${pod}      containers:
        - name: server
          image: vllm/vllm-openai:v0.10.0
          resources:
            limits: {${resource}: ${gpus}}
`;
}

const tolerating = '      tolerations: [{key: team/gpu, operator: Exists}]\n';

function open(text: string, objects: ClusterObjects | undefined = onePool): FileAnalysis {
  const analysis = new Analysis({ strict: true });
  if (objects !== undefined) analysis.workspace.setCluster(liveClusterOf(objects));
  return analysis.setFile('file:///chat.yaml', text);
}

function messages(file: FileAnalysis, rule: string): readonly string[] {
  const findings = file.documents.flatMap((document) => document.findings);
  return findings.filter((finding) => finding.rule === rule).map(({ severity, message }) => `${severity}: ${message}`);
}

describe('the connected cluster knows the card', () => {
  test('so a workload that names none has a price', () => {
    const unconnected = new Analysis({ strict: true }).setFile('file:///chat.yaml', deployment({ pod: tolerating }));
    expect(codeLenses(unconnected).map(({ title }) => title)).toEqual([expect.stringMatching(/^1 GPU · /)]);
    const lenses = codeLenses(open(deployment({ pod: tolerating })));
    const [cost, fit, pods] = lenses.map(({ title }) => title);
    // An eighth of p4d.24xlarge at $21.957642.
    expect(cost).toContain('1 × A100 40GB SXM · $2.74/h on demand');
    expect(fit).toBe('fits now in pool a100 (6 free)');
    expect(pods).toBe('pods in prod');
    expect(lenses[2]?.owner).toMatchObject({ kind: 'Deployment', name: expect.any(String) });
  });

  test('its pods are counted, with those that wait', () => {
    const pod = (name: string, nodeName?: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: 'default',
        labels: { 'pod-template-hash': '7d9f' },
        ownerReferences: [{ kind: 'ReplicaSet', name: 'chat-7d9f', controller: true }],
      },
      spec: { nodeName, containers: [{ name: 'server', resources: { limits: { 'nvidia.com/gpu': 1 } } }] },
      status: { phase: nodeName === undefined ? 'Pending' : 'Running' },
    });
    const named = deployment({ pod: tolerating }).replace('name: chat}', 'name: chat, namespace: default}');
    const link = (text: string, ...pods: readonly object[]) =>
      codeLenses(open(text, clusterOf([...documents('one-pool.yaml'), ...pods]))).find(
        ({ action }) => action === 'show-pods',
      )?.title;
    const [first, second, third] = [pod('a', 'ip-10-0-1-1'), pod('b', 'ip-10-0-1-1'), pod('c')];
    expect(link(named, first)).toBe('1 pod in prod');
    expect(link(named, first, second, third)).toBe('3 pods in prod, 1 pending');
    // Without pods, there is nothing to show.
    expect(link(named)).toBeUndefined();
  });

  test('and says so', () => {
    const file = open(deployment({ pod: tolerating }));
    const shown = hover(file, file.text.indexOf('Deployment'));
    const text = renderPlain(shown?.blocks ?? []);
    expect(text).toContain('Machine p4d.24xlarge from pool a100 in cluster prod, as of 14:02');
    expect(text).toContain('Cluster prod, as of 14:02: fits now in pool a100 (6 free)');
  });

  test('of the pools whose taints the pods tolerate', () => {
    const two = documents('one-pool.yaml').flatMap((object, index) => (index === 0 ? [object, l4Node] : [object]));
    expect(codeLenses(open(deployment(), clusterOf(two)))[0]?.title).toContain('1 × L4 · ');
    expect(codeLenses(open(deployment({ pod: tolerating }), clusterOf(two)))[0]?.title).toMatch(
      /A100 40GB SXM.* L4|L4.*A100/,
    );
  });

  test('but not of a resource that no pool offers', () => {
    expect(codeLenses(open(deployment({ resource: 'amd.com/gpu' })))[0]?.title).not.toContain('A100');
  });
});

describe('rules use what the cluster has', () => {
  test('taints that the pod does not tolerate', () => {
    expect(messages(open(deployment()), 'toleration-missing')).toEqual([
      'warning: The pod does not tolerate the taint team/gpu=present:NoSchedule of pool a100 (cluster prod, as of 14:02): it cannot run there',
    ]);
    expect(messages(open(deployment({ pod: tolerating })), 'toleration-missing')).toEqual([]);
  });

  test('no taint is missing if one pool has none', () => {
    const untainted = documents('one-pool.yaml').flatMap((object, index) =>
      index === 0
        ? [
            object,
            { ...Object(object), metadata: { ...Object(object).metadata, name: 'b', labels: { pool: 'b' } }, spec: {} },
          ]
        : [object],
    );
    expect(messages(open(deployment(), clusterOf(untainted)), 'toleration-missing')).toEqual([]);
  });

  test('labels that no node has', () => {
    const pod = `      nodeSelector: {gpu-type: A100-SXM}\n${tolerating}`;
    const file = open(deployment({ pod }));
    expect(messages(file, 'selector-value')).toEqual([
      'warning: No node is labeled gpu-type A100-SXM (cluster prod, as of 14:02); did you mean a100-sxm? The pod stays Pending',
    ]);
    const other = `      nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}\n${tolerating}`;
    expect(messages(open(deployment({ pod: other })), 'selector-value')).toEqual([
      'info: No node is labeled nvidia.com/gpu.product NVIDIA-H100-80GB-HBM3 (cluster prod, as of 14:02); it has NVIDIA-A100-SXM4-40GB. The pod stays Pending',
    ]);
  });

  test('more devices than a node has', () => {
    const pod = `      nodeSelector: {eks.amazonaws.com/nodegroup: a100}\n${tolerating}`;
    expect(messages(open(deployment({ gpus: 16, pod })), 'gpus-exceed-node')).toEqual([
      'warning: The pod requests 16 nvidia.com/gpu, but no node for it has more than 8 (cluster prod, as of 14:02): the pod stays Pending',
    ]);
  });

  test('device classes', () => {
    const deviceClass = {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'DeviceClass',
      metadata: { name: 'gpu.nvidia.com' },
      spec: {},
    };
    const text = (name: string) =>
      `apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: a}\nspec:\n  devices:\n    requests:\n      - name: gpu\n        exactly: {deviceClassName: ${name}}\n`;
    const live = clusterOf([...documents('one-pool.yaml'), deviceClass]);
    expect(messages(open(text('gpu.nvidia.com'), live), 'dra-shape')).toEqual([]);
    expect(messages(open(text('gpu.nvidia.co'), live), 'dra-shape')).toEqual([
      'warning: No DeviceClass gpu.nvidia.co (cluster prod, as of 14:02); did you mean gpu.nvidia.com? The pod stays Pending',
    ]);
    expect(messages(open(text('gpu.amd.com'), live), 'dra-shape')).toEqual([
      'info: No DeviceClass gpu.amd.com (cluster prod, as of 14:02): the pod stays Pending',
    ]);
    expect(messages(open(text('gpu.amd.com')), 'dra-shape')).toEqual([]);
  });

  test('slices that no node offers', () => {
    expect(messages(open(deployment({ resource: 'nvidia.com/mig-1g.5gb' })), 'mig-strategy-mismatch')).toEqual([
      'info: No node offers nvidia.com/mig-1g.5gb (cluster prod, as of 14:02): the pod stays Pending',
    ]);
  });
});

describe('would it run', () => {
  test('the hover lists the pools, and why not', () => {
    const file = open(deployment({ gpus: 8, pod: tolerating }));
    const shown = hover(file, file.text.indexOf('Deployment'));
    expect(shown?.blocks).toContainEqual({
      kind: 'table',
      head: ['Pool', 'Fits now', 'Free', 'Why not'],
      rows: [['a100', 'no', '6', '1 Insufficient nvidia.com/gpu (free 6, requests 8)']],
    });
    expect(codeLenses(file)[1]?.title).toBe(
      'waits: 0/2 nodes: 1 Insufficient nvidia.com/gpu (free 6, requests 8), 1 without nvidia.com/gpu',
    );
  });

  test('an action selects and tolerates the best pool', () => {
    const file = open(deployment());
    const at = file.text.indexOf('nvidia.com/gpu: 1');
    const query = { span: { start: at, end: at }, only: ['refactor.rewrite'], shown: [], picker: false };
    const action = codeActions(file, query).find(({ title }) => title.startsWith('Use pool'));
    expect(action?.title).toBe('Use pool a100 (6 free): add its selector and toleration');
    const changed = open(applyEdits(file.text, action?.edits ?? []));
    expect(changed.text).toContain('nodeSelector:\n        eks.amazonaws.com/nodegroup: a100\n');
    expect(codeLenses(changed)[1]?.title).toBe('fits now in pool a100 (6 free)');
    expect(messages(changed, 'toleration-missing')).toEqual([]);
  });

  test('is not asked of templates, definitions and pods without devices', () => {
    const template = deployment({ pod: '      nodeSelector: {pool: "{{ .Values.pool }}"}\n' });
    expect(
      codeLenses(open(template))
        .map(({ title }) => title)
        .join(),
    ).not.toMatch(/fits|waits|cannot run/);
  });
});

describe('only what asked is analyzed again', () => {
  const analysis = new Analysis({ strict: true });
  analysis.workspace.setCluster(liveClusterOf(onePool));
  const uris = ['file:///chat.yaml', 'file:///cpu.yaml'];
  const read = () =>
    [deployment({ pod: tolerating }), 'apiVersion: v1\nkind: Service\nmetadata: {name: a}\n'].map((text, at) =>
      analysis.setFile(uris[at] ?? '', text),
    );
  const without = (name: string) => ({ ...onePool, pods: onePool.pods.filter((pod) => pod.name !== name) });

  test('when a pod goes, the workload whose answer changes', () => {
    const before = read();
    for (const file of before) codeLenses(file);
    analysis.workspace.setCluster(liveClusterOf(without('other'), Date.parse('2026-11-22T14:03:00')));
    expect(before.map((file) => file.isCurrent())).toEqual([false, true]);
    expect(codeLenses(read()[0] ?? open(''))[1]?.title).toBe('fits now in pool a100 (8 free)');
  });

  test('when nothing changes but the time, nothing', () => {
    const before = read();
    for (const file of before) codeLenses(file);
    analysis.workspace.setCluster(liveClusterOf(without('other'), Date.parse('2026-11-22T14:04:00')));
    expect(before.map((file) => file.isCurrent())).toEqual([true, true]);
  });

  test('when the cluster is disconnected, everything that used it', () => {
    const before = read();
    for (const file of before) codeLenses(file);
    analysis.workspace.setCluster(undefined);
    expect(before.map((file) => file.isCurrent())).toEqual([false, true]);
    expect(codeLenses(read()[0] ?? open(''))).toHaveLength(1);
  });
});

describe('pieces of a GPU', () => {
  const l4 = {
    ...l4Node,
    status: { allocatable: { ...l4Node.status.allocatable, 'nvidia.com/gpu.shared': '4' } },
  };
  const chat = deployment({
    pod: `${tolerating}      nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge}\n`,
  }).replace(
    '          resources:',
    '          args: [--model=Qwen/Qwen2.5-0.5B-Instruct, --max-model-len=4096]\n          resources:',
  );

  function pieces(objects: ClusterObjects | undefined) {
    const file = open(chat, objects);
    const at = chat.indexOf('nvidia.com/gpu:');
    const place = resizableIn(file, { start: at, end: at });
    return place === undefined ? [] : fractionsOf(place).map(({ id, needs }) => [id, needs]);
  }

  test('those that the cluster offers come first, and the others say that it lacks them', () => {
    const sharing = pieces(clusterOf([l4]));
    expect(sharing[0]).toEqual(['time slice', null]);
    expect(sharing).toContainEqual(['volcano', "Volcano's device plugin on the nodes, which prod does not have"]);
    const plain = pieces(clusterOf([l4Node]));
    expect(plain).toContainEqual(['time slice', 'nodes that offer nvidia.com/gpu.shared, which prod does not have']);
  });
});
