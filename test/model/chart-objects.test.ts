import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { createRelatedFiles } from '../../server/src/workspace/find-related-files.ts';

const folder = 'test/fixtures/charts/whole';

function chartFiles(): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
  return new Map(names.map((name) => [`file:///c/${name}`, readFileSync(`${folder}/${name}`, 'utf8')]));
}

/** What the rules find in each template, with and without the other files of the chart. */
async function findings(files: ReadonlyMap<string, string>, isListed = true) {
  const list = async (within: string) => [...files.keys()].filter((uri) => uri.startsWith(within));
  const read = async (uri: string) => files.get(uri);
  const related = createRelatedFiles({ read, reaches: () => true, ...(isListed && { list }) });
  const found: string[] = [];
  for (const [uri, text] of [...files].sort()) {
    if (!/templates\/.*\.yaml$/.test(uri)) continue;
    const { documents } = new Analysis({ strict: true }).setFile(uri, text, 0, undefined, await related.of(uri));
    const loud = documents.flatMap((one) => one.findings).filter(({ severity }) => severity !== 'info');
    found.push(...loud.map(({ rule, message }) => `${rule}: ${message}`));
  }
  return found;
}

const onClaim = [
  'model-volume-too-small: Qwen3-8B has about 15 GiB of weights, but the claim release-name-answers-models holds 8 GiB: the download can fail (with values.yaml)',
  'rwo-many-replicas: ReadWriteOnce claim release-name-answers-models is mounted by up to 4 pods: those on a different node from the first never start (with values.yaml)',
];
const onScaler =
  'cpu-metric-for-gpu: release-name-answers (server.yaml) autoscales on CPU, but its load is on the GPU: it scales late or never (with values.yaml)';

test('the objects of a chart find each other by the names that a release gives them', async () => {
  expect(await findings(chartFiles())).toEqual([onScaler, ...onClaim]);
});

test('without its other templates, a template says nothing about them', async () => {
  expect(await findings(chartFiles(), false)).toEqual([]);
});

test('names that only the release knows match nothing', async () => {
  const files = chartFiles();
  const helpers = 'file:///c/templates/_helpers.tpl';
  files.set(helpers, (files.get(helpers) ?? '').replaceAll('.Release.Name', '.Release.Revision'));
  expect(await findings(files)).toEqual([]);
});

test('another template of the same chart takes part as soon as its text changes', async () => {
  const files = chartFiles();
  const server = 'file:///c/templates/server.yaml';
  files.set(server, (files.get(server) ?? '').replace('.Values.server.resources', '.Values.web.resources'));
  expect(await findings(files)).toEqual([]);
});

test('all templates share their chart, until one of them changes', async () => {
  const files = chartFiles();
  const related = createRelatedFiles({
    read: async (uri) => files.get(uri),
    reaches: () => true,
    list: async (within) => [...files.keys()].filter((uri) => uri.startsWith(within)),
  });
  const [server, web] = ['file:///c/templates/server.yaml', 'file:///c/templates/web.yaml'];
  const first = await related.of(server);
  expect(first.chart?.templates).toHaveLength(3);
  expect(await related.of(web)).toBe(first);
  files.set(web, 'kind: Service\n');
  expect(related.changed(web)).toBe(true);
  const second = await related.of(server);
  expect(second).not.toBe(first);
  expect(await related.of(web)).toBe(second);
});

test('a template that the values switch off is judged as if they did not', async () => {
  const template = `{{- if .Values.reader.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: reader}
spec:
  selector: {matchLabels: {app: reader}}
  template:
    metadata: {labels: {app: reader}}
    spec:
      containers:
        - name: main
          image: registry.example/vllm:2.1
          command: [vllm, serve, /m, --tensor-parallel-size=4]
          resources: {limits: {nvidia.com/gpu: {{ .Values.reader.gpus }}}}
{{- end }}
`;
  const of = (values: string, text = template) =>
    findings(
      new Map([
        ['file:///c/Chart.yaml', 'apiVersion: v2\nname: shelf\nversion: 0.1.0\n'],
        ['file:///c/values.yaml', values],
        ['file:///c/templates/reader.yaml', text],
      ]),
    );
  expect(await of('reader:\n  enabled: false\n  gpus: 2\n')).toEqual([
    expect.stringMatching(/^tensor-parallel-mismatch: .*\(with values\.yaml, switched on\)$/),
    expect.stringMatching(/^shm-missing: .*\(with values\.yaml, switched on\)$/),
  ]);
  expect(await of('reader:\n  enabled: false\n  gpus: 4\n')).toEqual([
    expect.stringMatching(/^shm-missing: .*\(with values\.yaml, switched on\)$/),
  ]);
  expect(await of('reader:\n  enabled: false\n')).toEqual([]);
  // The other branch has the objects while the switch is off.
  const other = template.replace(/^.*\n/, '{{- if .Values.reader.enabled }}\n{{- else }}\n');
  expect(await of('reader:\n  enabled: false\n  gpus: 2\n', other)).toEqual([
    expect.stringMatching(/^tensor-parallel-mismatch: .*\(with values\.yaml\)$/),
    expect.stringMatching(/^shm-missing: .*\(with values\.yaml\)$/),
  ]);
});
