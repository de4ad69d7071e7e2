import { expect, test } from 'vitest';
import { listed } from './listed-pools.ts';

// Charts in the folder `charts` of another one, with amounts computed by hand from the price list: g6.xlarge costs 0.8048, g5.xlarge 1.006.

const template = (name: string) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      nodeSelector: {node.kubernetes.io/instance-type: {{ .Values.machine }}}
      containers:
        - {name: main, image: 'registry.example.com/app:1', resources: {limits: {nvidia.com/gpu: 1}}}
`;

function part(folder: string, name: string, values: string): Record<string, string> {
  return {
    [`${folder}/Chart.yaml`]: `apiVersion: v2\nname: ${name}\nversion: 1.0.0\n`,
    [`${folder}/values.yaml`]: values,
    [`${folder}/templates/main.yaml`]: template(name),
  };
}

const owner = (dependencies: string) =>
  `apiVersion: v2\nname: desk\nversion: 1.0.0\ndependencies:\n${dependencies.replace(/^(?=.)/gm, '  ')}`;

const usual = 'replicas: 1\nmachine: g6.xlarge\n';

test('a part has the values of the chart around it, under its name or its alias', async () => {
  const files = {
    ...part('charts/film', 'film', usual),
    ...part('charts/pen', 'pen', usual),
    'Chart.yaml': owner('- {name: film, version: 1.0.0}\n- {name: pen, version: 1.0.0, alias: ink}\n'),
    'values.yaml': 'film: {replicas: 3}\nink: {replicas: 2, machine: g5.xlarge}\npen: {replicas: 9}\n',
  };
  const stdout = await listed(files);
  expect(stdout).toMatch(/Deployment\/film +3 GPUs +\$2\.41\/h/);
  expect(stdout).toMatch(/Deployment\/pen +2 GPUs +\$2\.01\/h/);
});

test('a part that the values turn off stays as written, whichever chart has the value', async () => {
  const files = (condition: string, values: string, own = usual) => ({
    ...part('charts/film', 'film', own),
    'Chart.yaml': owner(`- {name: film, version: 1.0.0, condition: "${condition}"}\n`),
    'values.yaml': values,
  });
  const off = /Deployment\/film +\? GPUs +no price/;
  expect(await listed(files('film.enabled', 'film: {enabled: false, replicas: 3}\n'))).toMatch(off);
  expect(await listed(files('film.enabled', 'film: {replicas: 3}\n', `${usual}enabled: false\n`))).toMatch(off);
  // The first path that exists decides.
  const three = /Deployment\/film +3 GPUs +\$2\.41\/h/;
  expect(await listed(files('film.on, all', 'all: true\nfilm: {replicas: 3}\n'))).toMatch(three);
  expect(await listed(files('film.on,all', 'all: false\nfilm: {on: true, replicas: 3}\n'))).toMatch(three);
});

test('parts of parts, and a part with several aliases', async () => {
  const nested = {
    ...part('charts/outer', 'outer', 'replicas: 1\nmachine: g6.xlarge\ninner: {replicas: 2}\n'),
    ...part('charts/outer/charts/inner', 'inner', usual),
    'Chart.yaml': owner('- {name: outer, version: 1.0.0}\n'),
  };
  const within = { ...nested, 'values.yaml': 'outer: {inner: {machine: g5.xlarge}}\n' };
  expect(await listed(within)).toMatch(/Deployment\/inner +2 GPUs +\$2\.01\/h/);
  // Each copy has its own values.
  const twice = {
    ...part('charts/film', 'film', usual),
    'Chart.yaml': owner('- {name: film, version: 1.0.0, alias: a}\n- {name: film, version: 1.0.0, alias: b}\n'),
    'values.yaml': 'a: {replicas: 3}\nb: {replicas: 4}\n',
  };
  const copies = await listed(twice);
  // 3 × 0.8048 and 4 × 0.8048.
  expect(copies).toMatch(/Deployment\/film +3 GPUs +\$2\.41\/h/);
  expect(copies).toMatch(/Deployment\/film +4 GPUs +\$3\.22\/h/);
  expect(copies).toContain('2 workloads, 7 GPUs: $5.63/h');
  const prod = await listed({ ...twice, 'values-prod.yaml': 'a: {machine: g5.xlarge}\n' });
  // 3 × 1.006 and 4 × 0.8048, in the release.
  expect(prod).toContain('2 workloads, 7 GPUs: $6.24/h');
  const one = { 'Chart.yaml': twice['Chart.yaml'].replace('alias: b', 'alias: b, condition: b.on') };
  const off = await listed({ ...twice, ...one, 'values.yaml': 'a: {replicas: 3}\nb: {on: false, replicas: 4}\n' });
  expect(off).toContain('1 workload, 3 GPUs: $2.41/h');
});

test('values of a part that are pods themselves count once', async () => {
  const pods =
    'film:\n  replicas: 3\n  machine: g6.xlarge\n  image: {repository: r/x, tag: v1}\n  resources: {limits: {nvidia.com/gpu: 1}}\n  nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge}\n';
  const stdout = await listed({
    ...part('charts/film', 'film', usual),
    'Chart.yaml': owner('- {name: film, version: 1.0.0}\n'),
    'values.yaml': pods,
  });
  expect(stdout).toContain('1 workload, 3 GPUs: $2.41/h');
});

test('a release of the chart around counts its parts, without those that it turns off', async () => {
  const files = {
    ...part('charts/film', 'film', usual),
    ...part('charts/pen', 'pen', usual),
    'Chart.yaml': owner(
      '- {name: film, version: 1.0.0, condition: film.enabled}\n- {name: pen, version: 1.0.0, condition: pen.enabled}\n',
    ),
    'values.yaml': 'film: {machine: g5.xlarge}\npen: {replicas: 2}\n',
    'values-prod.yaml': 'film: {replicas: 3}\npen: {enabled: false}\n',
  };
  const prod = await listed(files);
  // 3 × 1.006.
  expect(prod).toMatch(/values-prod\.yaml:1 +Deployment\/film +3 GPUs +\$3\.02\/h/);
  expect(prod).not.toMatch(/values-prod\.yaml.*pen/);
  const two = await listed({ ...files, 'values-dev.yaml': 'pen: {replicas: 1}\n' });
  // 1.006 and 0.8048.
  expect(two).toMatch(/values-dev\.yaml:1 +Deployment\/film +1 GPU +\$1\.01\/h/);
  expect(two).toMatch(/values-dev\.yaml:1 +Deployment\/pen +1 GPU +\$0\.80\/h/);
  // Nothing for the parts.
  const { 'values-prod.yaml': _, ...others } = files;
  const plain = await listed({ ...others, 'values-web.yaml': 'ingress: {enabled: true}\n' });
  expect(plain).toMatch(/charts\/film\/templates\/main\.yaml:1 +Deployment\/film +1 GPU +\$1\.01\/h/);
  expect(plain).toContain('2 workloads, 3 GPUs: $2.62/h');
});
