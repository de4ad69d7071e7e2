import { describe, expect, test } from 'vitest';
import { chart, costs, mapped, release, rows } from './installed-chart.ts';

// Charts of the project that objects and helmfiles install, with amounts computed by hand: a g6.xlarge is $0.8048/h, a g6.12xlarge $4.6016/h.

const application = (helm: string, from = 'path: charts/rank') => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: rank, namespace: argocd}
spec:
  destination: {namespace: search}
  source: {repoURL: https://git.example.com/platform.git, ${from}, helm: ${helm}}
`;

describe('an Application of Argo CD installs a chart', () => {
  test('with values of its own: 4 × 4/4 of g6.12xlarge', async () => {
    const values = application('{valuesObject: {replicas: 4, cards: 4, machine: g6.12xlarge}}');
    expect(await costs({ 'apps/prod/rank.yaml': values })).toEqual(['apps/prod/rank.yaml search 18.41']);
  });

  test('with files of values in another folder, then its own, then parameters: 3 × 0.8048', async () => {
    const helm =
      '{valueFiles: [../../envs/prod.yaml, /envs/more.yaml], values: "cards: 1", parameters: [{name: replicas, value: "3"}]}';
    const files = { 'envs/prod.yaml': 'replicas: 2\n', 'envs/more.yaml': 'replicas: 9\ncards: 4\n' };
    expect(await costs({ ...files, 'apps/rank.yaml': application(helm) })).toEqual(['apps/rank.yaml search 2.41']);
  });

  test('with the values next to the chart, which then do not count again: 5 × 0.8048', async () => {
    const files = { 'charts/rank/values-prod.yaml': 'replicas: 5\n' };
    expect(await costs({ ...files, 'apps/rank.yaml': application('{valueFiles: [values-prod.yaml]}') })).toEqual([
      'apps/rank.yaml search 4.02',
    ]);
  });

  test('with files that another source refers to: 2 × 0.8048', async () => {
    const two = application('{}').replace(
      / {2}source: .*\n/,
      `  sources:
    - {repoURL: https://git.example.com/platform.git, path: charts/rank, helm: {valueFiles: [$values/envs/prod.yaml]}}
    - {repoURL: https://git.example.com/platform.git, ref: values}
`,
    );
    expect(await costs({ 'envs/prod.yaml': 'replicas: 2\n', 'apps/rank.yaml': two })).toEqual([
      'apps/rank.yaml search 1.61',
    ]);
  });

  test('as often as there are Applications', async () => {
    const two = `${application('{}')}---\n${application('{valuesObject: {replicas: 2}}')}`;
    expect(await costs({ 'apps/rank.yaml': two })).toEqual([
      'apps/rank.yaml search 0.80',
      'apps/rank.yaml search 1.61',
    ]);
  });
});

test('objects have the names that the chart makes for their release', async () => {
  const named = (name: string) => ({
    'charts/rank/templates/rank.yaml': chart['charts/rank/templates/rank.yaml'].replace(
      'name: rank}',
      `name: ${name}}`,
    ),
  });
  const helper = '{{- define "rank.full" -}}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 12 }}{{- end }}\n';
  const texts = {
    'charts/rank/templates/_helpers.tpl': helper,
    ...named('"{{ include "rank.full" . }}"'),
    'a/app.yaml': application('{releaseName: night}'),
    'b/helm.yaml': release('  targetNamespace: day\n  values: {replicas: 2}\n'),
    'c/helmfile.yaml': 'releases: [{name: noon, chart: ../charts/rank}]\n',
  };
  const names = async (files: typeof texts) => (await rows(files)).map(({ name }) => name);
  expect(await names(texts)).toEqual(['night-rank', 'day-rank-ran', 'noon-rank']);
  // What Helm knows only while it installs stays as written.
  expect(await names({ ...texts, ...named('"{{ .Release.Revision }}"') })).toEqual(
    Array(3).fill('{{ .Release.Revision }}'),
  );
});

test.each([
  ['a chart that is elsewhere', application('{valuesObject: {replicas: 4}}', 'path: charts/other')],
  ['a file of values that is missing', application('{valueFiles: [missing.yaml], valuesObject: {replicas: 4}}')],
  ['values that a template decides', application('{parameters: [{name: replicas, value: "{{count}}"}]}')],
  ['values of a ConfigMap', release('  valuesFrom: [{kind: ConfigMap, name: rank}]\n')],
  ['a chart of a registry', release('  values: {replicas: 4}\n', 'HelmRepository')],
])('%s leaves the chart as it is', async (_, text) => {
  expect(await costs({ 'apps/rank.yaml': text })).toEqual(['charts/rank/templates/rank.yaml null 0.80']);
});

test('a HelmRelease of Flux installs a chart of its repository: 2 × 0.8048', async () => {
  expect(await costs({ 'clusters/a/rank.yaml': release('  values: {replicas: 2}\n') })).toEqual([
    'clusters/a/rank.yaml search 1.61',
  ]);
});

const configMap = (name: string, key = 'values.yaml') => `apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}, namespace: search}
data:
  ${key}: |
    replicas: 9
    machine: g6.12xlarge
    cards: 4
`;

test('a HelmRelease is changed after its chart, by all of its renderers: 4 × 0.9776', async () => {
  const patches = [
    '[{op: replace, path: /spec/replicas, value: 4}]',
    '{spec: {template: {spec: {nodeSelector: {node.kubernetes.io/instance-type: g6.2xlarge}}}}}',
    '{spec: {replicas: 9}}',
  ].map((patch, index) => `{target: {kind: Deployment, name: ${index < 2 ? 'rank' : 'other'}}, patch: "${patch}"}`);
  const renderers = `  postRenderers: [{kustomize: {patches: [${patches[0]}]}}, {kustomize: {patches: [${patches.slice(1)}]}}]\n`;
  expect(await costs({ 'flux/rank.yaml': release(`  values: {replicas: 2}\n${renderers}`) })).toEqual([
    'flux/rank.yaml search 3.91',
  ]);
});

test('a HelmRelease has values of a ConfigMap in its file, below its own: 3 × 4.6016', async () => {
  const text = `${configMap('rank-values')}---\n${mapped()}`;
  expect(await costs({ 'clusters/a/rank.yaml': text })).toEqual(['clusters/a/rank.yaml search 13.80']);
});

test('a HelmRelease has values of a ConfigMap in its folder, under another key: 3 × 4.6016', async () => {
  const files = {
    'clusters/a/values.yaml': configMap('rank-values', 'prod'),
    'clusters/b/values.yaml': configMap('rank-values'),
  };
  const text = mapped(', valuesKey: prod');
  expect(await costs({ ...files, 'clusters/a/rank.yaml': text })).toEqual(['clusters/a/rank.yaml search 13.80']);
});

test('a HelmRelease has values of a ConfigMap that a kustomization makes of a file: 3 × 4.6016', async () => {
  const files = {
    'clusters/a/kustomization.yaml': `resources: [rank.yaml]
configMapGenerator:
  - {name: rank-values, namespace: search, files: [values.yaml=rank-values.yaml]}
`,
    'clusters/a/rank-values.yaml': 'machine: g6.12xlarge\ncards: 4\n',
  };
  expect(await costs({ ...files, 'clusters/a/rank.yaml': mapped() })).toEqual(['clusters/a/rank.yaml search 13.80']);
});

// Flux reads the text under a key as `helm --set` does: of several sources of one value, the last applies, below the release's own.
test('a HelmRelease has single values of a ConfigMap at paths: 4 × 4.6016', async () => {
  const map = `apiVersion: v1
kind: ConfigMap
metadata: {name: sizes, namespace: search}
data: {few: "2", many: "4", kind: g6.12xlarge, all: "'4'"}
`;
  const at = (key: string, path: string) =>
    `    - {kind: ConfigMap, name: sizes, valuesKey: ${key}, targetPath: ${path}}\n`;
  const paths = `${at('few', 'replicas')}${at('many', 'replicas')}${at('kind', 'machine')}${at('all', 'cards')}`;
  expect(await costs({ 'clusters/a/rank.yaml': `${map}---\n${release(`  valuesFrom:\n${paths}`)}` })).toEqual([
    'clusters/a/rank.yaml search 18.41',
  ]);
});

test.each([
  [
    'of a list at a path',
    mapped(', targetPath: replicas'),
    `${configMap('rank-values').split('data:')[0]}data: {values.yaml: "{1,2}"}\n`,
  ],
  ['of two ConfigMaps with one name', mapped(), `${configMap('rank-values')}---\n${configMap('rank-values')}`],
  ['at a path', mapped(', targetPath: replicas'), configMap('rank-values')],
  ['that may be missing', mapped(', optional: true'), configMap('rank-values')],
  ['of another namespace', mapped(), configMap('rank-values').replace('namespace: search', 'namespace: other')],
  ['of a Secret', mapped().replace('kind: ConfigMap', 'kind: Secret'), configMap('rank-values')],
])('values %s leave the chart as it is', async (_, text, map) => {
  expect(await costs({ 'apps/map.yaml': map, 'apps/rank.yaml': text })).toEqual([
    'charts/rank/templates/rank.yaml null 0.80',
  ]);
});

const applicationSet = (generators: string, mark = '') => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: rank, namespace: argocd}
spec:
  goTemplate: ${mark === '.'}
  generators:
    ${generators}
  template:
    metadata: {name: "rank-{{${mark}stage}}"}
    spec:
      destination: {namespace: "search-{{${mark}stage}}"}
      source:
        repoURL: https://git.example.com/platform.git
        path: charts/rank
        helm:
          valueFiles: ["/envs/{{${mark}stage}}.yaml"]
          parameters: [{name: replicas, value: "{{ ${mark}count }}"}]
`;

const stages = '- list: {elements: [{stage: test, count: 1}, {stage: prod, count: "3"}]}';

test.each(['', '.'])(
  'an ApplicationSet installs a chart for each element of its lists: 0.8048 and 3 × 4.6016 (%s)',
  async (mark) => {
    const files = { 'envs/test.yaml': 'cards: 1\n', 'envs/prod.yaml': 'machine: g6.12xlarge\ncards: 4\n' };
    expect(await costs({ ...files, 'apps/rank.yaml': applicationSet(stages, mark) })).toEqual([
      'apps/rank.yaml search-test 0.80',
      'apps/rank.yaml search-prod 13.80',
    ]);
  },
);

test('an ApplicationSet installs a chart for each pair of a matrix of lists: 2 × 0.8048 and 2 × 2 × 0.8048', async () => {
  const text = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: rank}
spec:
  generators:
    - matrix:
        generators:
          - list: {elements: [{count: "1"}, {count: "2"}]}
          - list: {elements: [{team: north}, {team: south}]}
  template:
    spec:
      destination: {namespace: "{{team}}-{{count}}"}
      source: {repoURL: "https://git.example.com/platform.git", path: charts/rank, helm: {parameters: [{name: replicas, value: "{{count}}"}]}}
`;
  expect(await costs({ 'apps/rank.yaml': text })).toEqual([
    'apps/rank.yaml north-1 0.80',
    'apps/rank.yaml south-1 0.80',
    'apps/rank.yaml north-2 1.61',
    'apps/rank.yaml south-2 1.61',
  ]);
});

test.each([
  [
    'a matrix with another generator',
    applicationSet('- matrix: {generators: [{list: {elements: [{stage: test, count: 1}]}}, {clusters: {}}]}'),
  ],
  ['elements that lack a value', applicationSet('- list: {elements: [{stage: test}]}')],
  ['placeholders of the other syntax', applicationSet(stages, '.').replace('goTemplate: true', 'goTemplate: false')],
  ['another generator', applicationSet(`${stages}\n    - git: {directories: [{path: "apps/*"}]}`)],
  ['elements of a text', applicationSet('- list: {elements: [], elementsYaml: "[]"}')],
])('an ApplicationSet with %s leaves the chart as it is', async (_, text) => {
  const files = { 'envs/test.yaml': 'cards: 1\n', 'envs/prod.yaml': 'cards: 1\n' };
  expect(await costs({ ...files, 'apps/rank.yaml': text })).toEqual(['charts/rank/templates/rank.yaml null 0.80']);
});

test('a helmfile sets single values, which go first: 2 × 4.6016', async () => {
  const helmfile = `releases:
  - name: rank
    chart: ./charts/rank
    values: [{replicas: 7, cards: 4}]
    set: [{name: replicas, value: 2}, {name: machine, value: g6.12xlarge}, {name: labels.example\\.com/team, value: search}]
`;
  expect(await costs({ 'helmfile.yaml': helmfile })).toEqual(['helmfile.yaml null 9.20']);
});

test.each([
  ['a value of a file', '{name: replicas, file: count.txt}'],
  ['a list', '{name: "args[0]", value: x}'],
  ['a template', '{name: replicas, value: "{{ .Values.count }}"}'],
])('a helmfile that sets %s leaves the chart as it is', async (_, set) => {
  const helmfile = `releases:\n  - {name: rank, chart: ./charts/rank, set: [${set}]}\n`;
  expect(await costs({ 'helmfile.yaml': helmfile })).toEqual(['charts/rank/templates/rank.yaml null 0.80']);
});

test('a helmfile installs each of its releases: 2 × 0.8048 and 3 × 4.6016', async () => {
  const helmfile = `releases:
  - {name: small, namespace: a, chart: ./charts/rank, values: [values/small.yaml]}
  - {name: large, namespace: b, chart: ./charts/rank, values: [{machine: g6.12xlarge, cards: 4}, {replicas: 3}]}
  - {name: off, namespace: c, chart: ./charts/rank, installed: false}
  - {name: db, namespace: d, chart: example/postgresql}
`;
  expect(await costs({ 'helmfile.yaml': helmfile, 'values/small.yaml': 'replicas: 2\n' })).toEqual([
    'helmfile.yaml a 1.61',
    'helmfile.yaml b 13.80',
  ]);
});

describe('Terraform installs a chart', () => {
  const release = (body: string) => `resource "kubernetes_namespace" "search" {
  metadata { name = "search" }
}

resource "helm_release" "rank" {
  name      = "rank"
  namespace = "search"
  chart     = "\${path.module}/charts/rank"
${body}
}
`;

  test('with a file, a here-document, an object and single values: 5 × 2/4 of g6.12xlarge', async () => {
    const main = release(`  values = [
    file("\${path.module}/prod.yaml"),
    <<-EOT
      cards: 2
      replicas: 9
    EOT
    , yamlencode({
      machine = "g6.12xlarge"
    })
  ]
  set {
    name  = "replicas"
    value = 5
  }`);
    const files = { 'main.tf': main, 'prod.yaml': 'machine: g6.xlarge\ncards: 1\n' };
    expect(await costs(files)).toEqual(['main.tf search 11.50']);
  });

  test('at the values of a list of objects: 3 × g6.xlarge', async () => {
    const main = release('  set = [{ name = "replicas", value = "3" }]');
    expect(await costs({ 'main.tf': main })).toEqual(['main.tf search 2.41']);
  });

  test.each([
    'count = 3',
    'for_each = toset(["a", "b", "a", "c"])',
    'for_each = {\n    a = 1\n    b = 2\n    c = 3\n  }',
  ])('as often as the resource exists: %s', async (body) => {
    expect(await costs({ 'main.tf': release(`  ${body}`) })).toEqual(Array(3).fill('main.tf search 0.80'));
  });

  test('once under a condition', async () => {
    expect(await costs({ 'main.tf': release('  count = var.enabled ? 1 : 0') })).toEqual(['main.tf search 0.80']);
  });

  test.each([
    'values = [templatefile("values.tftpl", { machine = var.machine })]',
    'values = [file("missing.yaml")]',
    'for_each = toset(var.teams)',
    'set {\n    name  = "replicas"\n    value = var.replicas\n  }',
  ])('and counts it with its own values if others are unknown: %s', async (body) => {
    expect(await costs({ 'main.tf': release(`  ${body}`) })).toEqual(['charts/rank/templates/rank.yaml null 0.80']);
  });
});

describe('a kustomization inflates a chart', () => {
  const kustomization = (more: string, chartHome = '../charts') =>
    `helmGlobals: {chartHome: ${chartHome}}\nhelmCharts:\n  - name: rank\n    namespace: search\n${more}`;

  test('with a file of values and its own: 2 × 4/4 of g6.12xlarge', async () => {
    const files = {
      'prod/kustomization.yaml': kustomization(
        '    valuesFile: values.yaml\n    valuesInline: {replicas: 2, machine: g6.12xlarge}\n',
      ),
      'prod/values.yaml': 'replicas: 5\ncards: 4\n',
    };
    expect(await costs(files)).toEqual(['prod/kustomization.yaml search 9.20']);
  });

  test('with its patches, a file and a text, and its replicas: 3 × 2/4 of g6.12xlarge', async () => {
    const patch = 'target: {kind: Deployment, name: rank}, patch: "[{op: replace, path: /spec/replicas, value: 7}]"';
    const files = {
      'prod/kustomization.yaml': `${kustomization('    valuesInline: {cards: 2}\n')}patches: [{${patch}}, {path: nodes.yaml}]\nreplicas: [{name: rank, count: 3}]\n`,
      'prod/nodes.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: rank}
spec: {template: {spec: {nodeSelector: {node.kubernetes.io/instance-type: g6.12xlarge}}}}
`,
    };
    expect(await costs(files)).toEqual(['prod/kustomization.yaml search 6.90']);
  });

  test.each([
    ['of a repository', '    repo: https://charts.example.com\n    valuesInline: {replicas: 2}\n', undefined],
    ['that is elsewhere', '    valuesInline: {replicas: 2}\n', 'vendor'],
  ])('%s, so the chart counts with its own values', async (_, more, home) => {
    const rows = await costs({ 'prod/kustomization.yaml': kustomization(more, home) });
    expect(rows).toEqual(['charts/rank/templates/rank.yaml null 0.80']);
  });
});
