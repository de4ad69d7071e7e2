// @ts-check
// A workspace that tries to have files outside it read: by links, by paths in its files, by what is no file, and by sheer size.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const pod = (/** @type {string} */ name) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  containers: [{name: a, image: "busybox:1.36", resources: {limits: {nvidia.com/gpu: 1}}}]
`;

const runtime = `apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: outside}
spec:
  containers: [{name: kserve-container, image: "a:1", resources: {limits: {nvidia.com/gpu: 4}}}]
`;

const service = `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: a}
spec: {predictor: {model: {modelFormat: {name: x}, runtime: outside}}}
`;

const template = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers: [{name: a, image: "busybox:1.36", resources: {limits: {nvidia.com/gpu: {{ .Values.gpus }}}}}]
`;

/** @returns {{ top: string, workspace: string, bait: string }} `top` holds all of it, `bait` what must not be opened */
export function makeHostileWorkspace() {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'gpulint-hostile-')));
  // Opened folders lie deeper than the root of their repository, whose config is outside.
  const [workspace, bait] = [path.join(top, 'repo', 'space'), path.join(top, 'bait')];
  const write = (/** @type {string} */ name, /** @type {string} */ text) => {
    mkdirSync(path.dirname(name), { recursive: true });
    writeFileSync(name, text);
  };
  const inside = (/** @type {string} */ name, /** @type {string} */ text) => write(path.join(workspace, name), text);
  const link = (/** @type {string} */ name, /** @type {string} */ to) => {
    mkdirSync(path.dirname(path.join(workspace, name)), { recursive: true });
    symlinkSync(to, path.join(workspace, name));
  };

  write(path.join(bait, '.gpulint.yaml'), 'gpu: l4\n');
  write(path.join(bait, 'pod.yaml'), pod('bait'));
  write(path.join(bait, 'runtime.yaml'), runtime);
  write(path.join(bait, 'chart', 'Chart.yaml'), 'name: bait\n');
  write(path.join(bait, 'chart', 'values.yaml'), 'gpus: 8\n');
  write(path.join(bait, 'base', 'kustomization.yaml'), 'resources: [pod.yaml]\n');
  write(path.join(bait, 'base', 'pod.yaml'), pod('bait'));
  write(path.join(top, '.gpulint.yaml'), 'gpu: l4\n');
  write(path.join(top, 'repo', '.gpulint.yaml'), 'gpu: l4\n');
  write(path.join(top, 'repo', '.git', 'HEAD'), 'ref: refs/heads/main\n');
  write(path.join(top, 'repo', 'kustomization.yaml'), 'patches: [{path: space/top-patch.yaml}]\n');
  write(path.join(top, 'repo', 'Chart.yaml'), 'name: above\n');
  write(path.join(top, 'repo', 'values.yaml'), 'gpus: 8\n');

  inside('pod.yaml', pod('own'));
  inside('top-patch.yaml', pod('bait'));
  inside('service.yaml', service);
  inside('templates/above.yaml', template);

  // Configs and related files.
  link('config/.gpulint.yaml', path.join(bait, '.gpulint.yaml'));
  inside('config/pod.yaml', pod('config'));
  link('config-proc/.gpulint.yaml', '/proc/self/environ');
  inside('config-proc/pod.yaml', pod('config-proc'));
  link('config-folder', bait);
  inside('config-relative/pod.yaml', pod('config-relative'));
  link('config-relative/.gpulint.yaml', '../../../bait/.gpulint.yaml');
  link('git/.git', path.join(bait, 'base'));
  inside('git/pod.yaml', pod('git'));
  for (const [name, chart, values] of [
    ['chart-values', undefined, path.join(bait, 'chart', 'values.yaml')],
    ['chart-chart', path.join(bait, 'chart', 'Chart.yaml'), undefined],
    ['chart-device', undefined, '/dev/zero'],
    ['chart-environ', undefined, '/proc/self/environ'],
  ]) {
    inside(`${name}/templates/pod.yaml`, template);
    for (const [file, to] of /** @type {const} */ ([
      ['Chart.yaml', chart],
      ['values.yaml', values],
    ])) {
      if (to === undefined) inside(`${name}/${file}`, 'name: own\ngpus: 1\n');
      else link(`${name}/${file}`, to);
    }
  }
  link('chart-folder', path.join(bait, 'chart'));

  // Kustomizations that name what is outside, in every list and in every way.
  const names = [
    '../../../bait/pod.yaml',
    '../../../bait/base',
    '../../../../../../../../etc/passwd',
    path.join(bait, 'pod.yaml'),
    `file://${bait}/pod.yaml`,
    'https://example.com/base',
    'github.com/example/repository//base?ref=main',
    'git@example.com:example/repository.git',
    '//server/share/pod.yaml',
    '%2e%2e/%2e%2e/%2e%2e/bait/pod.yaml',
    '..%2f..%2f..%2fbait%2fpod.yaml',
    '..\\..\\..\\bait\\pod.yaml',
    './link.yaml',
    './linked',
    './linked/pod.yaml',
    './pipe.yaml',
    '/dev/zero',
    '/proc/self/environ',
    './proc.yaml',
  ];
  const list = JSON.stringify(names);
  const paths = JSON.stringify(names.map((name) => ({ path: name, target: { kind: 'Pod' } })));
  for (const name of ['kustomization.yaml', 'kustomization.yml', 'Kustomization']) {
    const folder = `kustomize-${name.replace('.', '-')}`;
    inside(
      `${folder}/${name}`,
      `resources: ${list}
bases: ${list}
components: ${list}
crds: ${list}
configurations: ${list}
generators: ${list}
transformers: ${list}
validators: ${list}
patches: ${paths}
patchesStrategicMerge: ${list}
patchesJson6902: ${paths}
openapi: {path: "../../../bait/pod.yaml"}
replacements: [{path: "../../../bait/pod.yaml"}]
configMapGenerator: [{name: a, files: ${list}, envs: ${list}}]
secretGenerator: [{name: a, files: ${list}, envs: ${list}}]
helmCharts: [{name: a, repo: "https://example.com", valuesFile: "../../../bait/chart/values.yaml"}]
helmGlobals: {chartHome: ../../../bait}
`,
    );
    inside(`${folder}/patch.yaml`, pod('bait'));
    link(`${folder}/link.yaml`, path.join(bait, 'pod.yaml'));
    link(`${folder}/linked`, path.join(bait, 'base'));
    link(`${folder}/proc.yaml`, '/proc/self/environ');
    pipe(path.join(workspace, folder, 'pipe.yaml'));
  }
  link('kustomize-link/kustomization.yaml', path.join(bait, 'base', 'kustomization.yaml'));
  inside('kustomize-link/patch.yaml', pod('bait'));

  // Files and folders that are something else.
  link('links/pod.yaml', path.join(bait, 'pod.yaml'));
  link('links/runtime.yaml', path.join(bait, 'runtime.yaml'));
  link('links/up', '../../..');
  link('links/top', '/');
  link('links/proc', '/proc');
  link('links/passwd.yaml', '/etc/passwd');
  link('links/circle.yaml', 'circle.yaml');
  link('links/dangling.yaml', path.join(bait, 'none.yaml'));
  link('links/twice', 'up/bait');
  pipe(path.join(workspace, 'pipe.yaml'));
  mkdirSync(path.join(workspace, 'pipes'));
  pipe(path.join(workspace, 'pipes', '.gpulint.yaml'));
  inside('pipes/pod.yaml', pod('pipes'));
  mkdirSync(path.join(workspace, 'folder.yaml'));
  inside('huge.yaml', '');
  truncateSync(path.join(workspace, 'huge.yaml'), 2 ** 31);
  inside('huge/.gpulint.yaml', '');
  truncateSync(path.join(workspace, 'huge', '.gpulint.yaml'), 2 ** 31);
  inside('huge/pod.yaml', pod('huge'));
  return { top, workspace, bait };
}

function pipe(/** @type {string} */ name) {
  execFileSync('mkfifo', [name]);
}
