import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { defaultConfig, parseConfig } from '../../server/src/config.ts';
import { definitions } from '../../server/src/features/navigation/definitions.ts';
import { kindsIn, namesIn } from '../../server/src/workspace/kinds.ts';
import { deferred, summarizeText } from '../../server/src/workspace/summary.ts';
import { gpuDeployment } from '../support/manifests.ts';
import { project, root } from './project.ts';

const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      taints: [{key: team/gpu, effect: NoSchedule}]
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p4d.24xlarge]}]
  limits: {nvidia.com/gpu: 8}
`;

const server = gpuDeployment('server');

const queue = (cluster: string) =>
  `apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: team}\nspec: {clusterQueue: ${cluster}}\n`;

function messages(analysis: Analysis, name: string): readonly string[] {
  const documents = analysis.file(`${root}/${name}`)?.documents ?? [];
  return documents.flatMap(({ findings }) =>
    findings.filter(({ rule }) => rule === 'toleration-missing').map(({ message }) => message),
  );
}

describe('an equal document', () => {
  test('that is pasted is a separate one', () => {
    const one = `---\n${pool}`;
    const analysis = project({ 'pools.yaml': one, 'server.yaml': server });
    expect(messages(analysis, 'server.yaml').join()).toMatch('of NodePool gpu (pools.yaml)');
    analysis.setFile(`${root}/pools.yaml`, one + one);
    expect(messages(analysis, 'server.yaml').join()).toMatch('of NodePool gpu and 1 more');
    analysis.setFile(`${root}/pools.yaml`, one);
    expect(messages(analysis, 'server.yaml').join()).toMatch('of NodePool gpu (pools.yaml)');
  });

  test('has its own position', () => {
    const job = 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, labels: {kueue.x-k8s.io/queue-name: team}}\n';
    const one = `---\n${queue('a')}`;
    const analysis = project({ 'a.yaml': one });
    const text = `${one}${one}---\n${job}`;
    const file = analysis.setFile(`${root}/a.yaml`, text);
    const places = definitions(analysis.workspace, file, text.lastIndexOf('team'));
    const second = text.indexOf('team', one.length);
    expect(places.map(({ span }) => span.start)).toEqual([text.indexOf('team'), second]);
  });
});

describe('the target of a reference to several objects of one name', () => {
  const named = (names: readonly string[]) =>
    messages(
      project(Object.fromEntries(names.map((name) => [name, name === 'server.yaml' ? server : pool]))),
      'server.yaml',
    );

  test('does not depend on the order in which files are opened', () => {
    const other = pool.replace('name: gpu', 'name: also');
    const analysis = project({ 'b.yaml': pool, 'server.yaml': server, 'a.yaml': other });
    expect(messages(analysis, 'server.yaml').join()).toMatch('NodePool also and 1 more');
    analysis.removeFile(`${root}/a.yaml`);
    analysis.setFile(`${root}/a.yaml`, other);
    analysis.setFile(`${root}/b.yaml`, `# edited\n${pool}`);
    expect(messages(analysis, 'server.yaml').join()).toMatch('NodePool also and 1 more');
    expect(named(['b.yaml', 'server.yaml', 'a.yaml'])).toEqual(named(['a.yaml', 'b.yaml', 'server.yaml']));
  });

  test('follows the order of documents in a file', () => {
    const [one, other] = [`---\n${pool}`, `---\n${pool.replace('name: gpu', 'name: also')}`];
    const analysis = project({ 'a.yaml': one + other, 'server.yaml': server });
    expect(messages(analysis, 'server.yaml').join()).toMatch('NodePool gpu and 1 more');
    analysis.setFile(`${root}/a.yaml`, other + one);
    expect(messages(analysis, 'server.yaml').join()).toMatch('NodePool also and 1 more');
  });
});

test('one file under two spellings of its URI is one file', () => {
  const analysis = new Analysis({ strict: true });
  analysis.setFile('file:///my%20project/pools.yaml', pool);
  analysis.setFile('file:///my project/pools.yaml', `${pool}---\n${pool}`);
  expect(analysis.file('file:///my%20project/pools.yaml')?.documents).toHaveLength(2);
  analysis.removeFile('file:///my%20project/pools.yaml');
  expect(analysis.file('file:///my project/pools.yaml')).toBeUndefined();
});

test('a file keeps its own config although all files once had it', () => {
  const own = parseConfig('gpu: l4\nprovider: aws\n').config;
  const analysis = new Analysis({ strict: true });
  analysis.setFile(`${root}/a.yaml`, server, 0, own);
  analysis.setConfig(own);
  analysis.setConfig(defaultConfig);
  expect(analysis.file(`${root}/a.yaml`)?.config).toBe(own);
});

test('files that are read on demand are counted like all others', () => {
  const pod = (name: string) =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  resourceClaims: [{name: gpu, resourceClaimName: shared}]\n  containers: [{name: main, image: "a:1"}]\n`;
  const claim =
    'apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: shared}\nspec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}\n';
  const analysis = new Analysis({ strict: true });
  for (const [name, text] of [
    ['claim', claim],
    ['b', pod('b')],
    ['c', pod('c')],
  ] as const) {
    const read = () => summarizeText(text, defaultConfig);
    analysis.workspace.set(`${root}/${name}.yaml`, deferred(kindsIn(text), namesIn(text), read), 'disk');
  }
  const [workload] = analysis.setFile(`${root}/a.yaml`, pod('a')).documents.flatMap(({ workloads }) => workloads);
  // Three pods share the device of the claim.
  expect(workload?.podSets[0]?.accelerators[0]?.devices).toBeCloseTo(1 / 3);
});

test('a name one typo away is found among many, and the nearest object applies', () => {
  const scaler = (name: string) =>
    `apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: s}\nspec: {scaleTargetRef: {name: ${name}}, triggers: [{type: cpu}]}\n`;
  const meant = (name: string, there: readonly string[]) => {
    const files = Object.fromEntries(
      there.map((one) => [`${one}.yaml`, server.replace('name: server', `name: ${one}`)]),
    );
    const file = project({ ...files, 'scaler.yaml': scaler(name) }).file(`${root}/scaler.yaml`);
    return file?.documents.flatMap(({ findings }) => findings.filter(({ rule }) => rule === 'reference-not-found'))
      .length;
  };
  for (const name of ['chat-servr', 'chat-serverr', 'chat-sevrer', 'chet-server', 'hcat-server', 'hat-server'])
    expect(meant(name, ['chat-server', 'queue', 'other-server']), name).toBe(1);
  for (const name of ['chat-serv', 'cht-sevrer', 'chat-server2', 'chats-erver2'])
    expect(meant(name, ['chat-server', 'queue', 'other-server']), name).toBe(0);
});

test('the search for the only object that a scaler can mean ends at the second one', () => {
  const deployment = (name: string) => `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}}\n`;
  const scaler =
    'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: scaler}\nspec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat-server}\n  maxReplicas: 2\n';
  const findingsWith = (...names: readonly string[]) => {
    const analysis = new Analysis({ strict: true });
    const reads: string[] = [];
    for (const name of names) {
      const text = deployment(name);
      const read = () => {
        reads.push(name);
        return summarizeText(text, defaultConfig);
      };
      analysis.workspace.set(`${root}/${name}.yaml`, deferred(kindsIn(text), namesIn(text), read), 'disk');
    }
    const { documents } = analysis.setFile(`${root}/scaler.yaml`, scaler);
    const rules = documents.flatMap(({ findings }) => findings.map(({ rule }) => rule));
    return { reads, isReported: rules.includes('reference-not-found') };
  };
  expect(findingsWith('chat-model')).toEqual({ reads: ['chat-model'], isReported: true });
  expect(findingsWith('chat-model', 'b', 'c', 'd')).toEqual({ reads: ['chat-model', 'b'], isReported: false });
});

test('a scaler means the only Deployment of its own file, whatever other files have', () => {
  const scaler =
    '---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: s}\nspec: {scaleTargetRef: {name: chat-app}, triggers: [{type: cpu}]}\n';
  const named = (name: string) => server.replace('name: server', `name: ${name}`);
  const messages = (own: string) =>
    project({ 'others.yaml': `${named('queue')}---\n${named('chat-front')}`, 'own.yaml': `${own}${scaler}` })
      .file(`${root}/own.yaml`)
      ?.documents.flatMap(({ findings }) => findings.filter(({ rule }) => rule === 'reference-not-found'))
      .map(({ message }) => message);
  expect(messages(named('chat-server'))).toEqual(['No Deployment "chat-app"; did you mean "chat-server"?']);
  expect(messages(`${named('chat-server')}---\n${named('chat-cache')}`)).toEqual([]);
  expect(messages('')).toEqual([]);
});
