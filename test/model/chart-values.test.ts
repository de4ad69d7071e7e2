import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { gpusOf } from '../../server/src/cost/estimate.ts';
import { hover } from '../../server/src/features/hover/hover.ts';
import { renderPlain } from '../../server/src/features/hover/render.ts';
import { inlayHints } from '../../server/src/features/inlay-hints.ts';
import { chartValues } from '../../server/src/model/chart-templates.ts';
import { parseDocument } from '../../server/src/yaml/parse.ts';
import { evaluate } from '../../server/src/yaml/template-expression.ts';
import type { Evaluated } from '../../server/src/yaml/template-functions.ts';

const folder = 'test/fixtures/charts/serve';
const read = (name: string) => readFileSync(`${folder}/${name}`, 'utf8');
const chart = chartValues('values.yaml', read('values.yaml'));
if (chart === undefined) throw new Error('the fixture has values');

function analyse(text: string) {
  return new Analysis({ strict: true }).setFile('file:///t.yaml', text, 0, undefined, chart && { chart });
}

describe('a template with the values of its chart', () => {
  test('has the replicas, resources, nodes and tolerations that they say', () => {
    const [document] = analyse(read('templates/deployment.yaml')).documents;
    const [workload] = document?.costed ?? [];
    const [podSet] = workload?.podSets ?? [];
    expect(workload?.readWith).toBe('values.yaml');
    expect(podSet?.pods).toEqual({ min: 3, max: 3 });
    expect(podSet?.containers[0]?.image?.value).toBe('registry.example.com/serve:1.4');
    expect(podSet?.tolerations.map(({ key }) => key?.value)).toEqual(['nvidia.com/gpu']);
    expect(podSet?.accelerators).toMatchObject([{ perPod: 2, model: 'h100-80gb-sxm' }]);
    // The file itself says nothing of it, and rules judge what it says.
    expect(document?.workloads).toEqual([]);
    expect(document?.findings).toEqual([]);
  });

  test('shows prices where the values come in', () => {
    const text = read('templates/deployment.yaml');
    const file = analyse(text);
    const at = text.indexOf('toYaml . | nindent 12') + 3;
    const found = hover(file, at);
    expect(found && text.slice(found.span.start, found.span.end)).toBe('{{- toYaml . | nindent 12 }}');
    expect(found && renderPlain(found.blocks)).toContain('Missing values from values.yaml');
    expect(
      inlayHints(file, { start: 0, end: text.length }).map(({ offset }) => text.slice(offset - 2, offset)),
    ).toEqual(['}}']);
  });

  test('a number alone is looked up, with its default; what is off stays as it is written', () => {
    const costed = analyse(read('templates/jobs.yaml')).documents.flatMap((document) => document.costed);
    expect(costed.map((workload) => [workload.name, gpusOf(workload).min, workload.readWith])).toEqual([
      ['trainer', 8, 'values.yaml'],
      ['worker', null, undefined],
    ]);
  });

  test('what Helm repeats, includes or prints is unknown', () => {
    const { documents } = analyse(read('templates/generated.yaml'));
    for (const workloads of [
      documents.flatMap(({ workloads }) => workloads),
      documents.flatMap(({ costed }) => costed),
    ])
      expect(workloads.map((workload) => [workload.kind, gpusOf(workload).min])).toEqual([
        ['Deployment', null],
        ['Job', null],
        ['Pod', null],
        ['Pod', null],
      ]);
    expect(documents.flatMap(({ findings }) => findings.map(({ rule }) => rule))).toEqual([]);
  });

  test('keeps its analysis while text and values are the same', () => {
    const analysis = new Analysis({ strict: true });
    const relatedFiles = chart && { chart };
    const first = analysis.setFile('file:///t.yaml', read('templates/jobs.yaml'), 0, undefined, relatedFiles);
    const second = analysis.setFile('file:///t.yaml', read('templates/jobs.yaml'), 1, undefined, relatedFiles);
    expect(second.documents[0]).toBe(first.documents[0]);
    const other = analysis.setFile('file:///t.yaml', read('templates/jobs.yaml'), 2, undefined, {});
    expect(other.documents[0]?.costed[0]?.readWith).toBeUndefined();
  });
});

describe('rules judge a template', () => {
  const of = (name: string) => readFileSync(`test/fixtures/charts/answers/${name}`, 'utf8');
  const values = chartValues('values.yaml', of('values.yaml'));
  const [server, guarded, tight] = ['server', 'guarded', 'tight'].map((name) => {
    const file = new Analysis({ strict: true });
    const related = values === undefined ? {} : { chart: values };
    return file.setFile(`file:///templates/${name}.yaml`, of(`templates/${name}.yaml`), 0, undefined, related)
      .documents;
  });
  const said = (documents = server) =>
    documents?.flatMap(({ findings }) => findings.map(({ severity, message }) => `${severity}: ${message}`));

  test('with the GPUs that its chart requests, and the flags that a loop adds', () => {
    expect(said(server)).toEqual([
      'info: No volume keeps Qwen2.5-32B-Instruct (61 GiB): each restart downloads it again while its GPUs wait (with values.yaml)',
      'warning: No volume is mounted at /dev/shm: the processes of --tensor-parallel-size=4 share its default 64 MiB and can fail (with values.yaml)',
    ]);
    expect(server?.[0]?.findings.flatMap(({ fixes }) => fixes)).toEqual([]);
    const [workload] = server?.[0]?.costed ?? [];
    const [container] = workload?.podSets[0]?.containers ?? [];
    expect(container?.args.map(({ value }) => value)).toEqual([
      '--model=Qwen/Qwen2.5-32B-Instruct',
      '--tensor-parallel-size=4',
      '--max-model-len=8192',
      '--enable-prefix-caching',
    ]);
    expect(container?.env.map(({ name }) => name)).toEqual(['HF_HOME']);
    expect(workload?.podSets[0]?.accelerators).toMatchObject([{ perPod: 4, model: 'l4' }]);
  });

  test('whose memory is too small as one that is written out', () => {
    expect(said(tight)).toEqual([
      expect.stringMatching(/^error: Qwen2\.5-32B-Instruct needs .* \(with values\.yaml\)$/),
    ]);
  });

  test('but not by what a helper may add, in a loop over documents', () => {
    expect(said(guarded)).toEqual([]);
    expect(guarded?.[0]?.costed.map((one) => [one.name, gpusOf(one).min])).toEqual([
      ['small', 2],
      ['large', 8],
    ]);
  });
});

test('a script that begins with an action is text, also in front of what the values insert last', () => {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: main
      image: registry.example/render:1
      command: [bash, -c]
      args:
        - |
          {{- if .Values.debug }}
          set -x
          {{- end }}
          python render.py
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
`;
  const values = chartValues('values.yaml', 'resources: {limits: {nvidia.com/gpu: 4}}\n');
  const related = values === undefined ? {} : { chart: values };
  const [document] = new Analysis({ strict: true }).setFile('file:///t.yaml', text, 0, undefined, related).documents;
  expect(document?.findings).toEqual([]);
  expect(document?.costed.map((one) => gpusOf(one).min)).toEqual([4]);
  expect(document?.costed[0]?.podSets[0]?.containers[0]?.args[0]?.value).toContain('python render.py');
});

describe('an object in loops', () => {
  const values = chartValues('values.yaml', 'groups:\n  - models: [{gpus: 1}, {gpus: 8}]\n  - models: [{gpus: 2}]\n');
  const gpusIn = (before: string, after: string) => {
    const pod = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: main
      image: registry.example/serve:1
      resources: {limits: {nvidia.com/gpu: {{ .gpus }}}}
`;
    const related = values === undefined ? {} : { chart: values };
    const file = new Analysis({ strict: true }).setFile('file:///t.yaml', before + pod + after, 0, undefined, related);
    return file.documents.flatMap(({ costed }) => costed.map((one) => gpusOf(one).min));
  };
  const loops = '{{- range .Values.groups }}\n{{- range .models }}\n';
  const ends = '{{- end }}\n{{- end }}\n';

  test('is one for each round of the innermost', () => {
    expect(gpusIn(loops, ends)).toEqual([1, 8, 2]);
  });

  test('is one for each round also if the loop begins in an earlier document', () => {
    expect(gpusIn(`${loops}---\n`, ends)).toEqual([1, 8, 2]);
    expect(gpusIn(`{{- range .Values.groups }}\n---\n{{- range .models }}\n---\n`, ends)).toEqual([1, 8, 2]);
    const loop = '{{- range $index, $group := .Values.groups }}\n{{- $models := $group.models }}\n';
    expect(gpusIn(`${loop}kind: Namespace\n---\n{{- range $models }}\n`, ends)).toEqual([1, 8, 2]);
  });

  test('is read again if the loop in an earlier document changes', () => {
    const related = values === undefined ? {} : { chart: values };
    const analysis = new Analysis({ strict: true });
    const gpus = (loop: string) => {
      const pod = 'spec: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: {{ .gpus }}}}}]}';
      const text = `${loop}\n---\napiVersion: v1\nkind: Pod\n${pod}\n`;
      const { documents } = analysis.setFile('file:///t.yaml', text, 0, undefined, related);
      return documents.flatMap(({ costed }) => costed.map((one) => gpusOf(one).min));
    };
    expect(gpus('{{- range .Values.groups }}{{- range .models }}')).toEqual([1, 8, 2]);
    expect(gpus('{{- range .Values.others }}{{- range .models }}')).toEqual([null]);
  });

  test('is unknown after a loop that has ended', () => {
    expect(gpusIn(`${loops}kind: Namespace\n${ends}---\n`, '')).toEqual([null]);
  });

  test('stays as written if an earlier document disables it', () => {
    expect(gpusIn(`${loops}{{- if .never }}\n---\n`, `{{- end }}\n${ends}`)).toEqual([null]);
    expect(gpusIn(`{{- if .Values.never }}\n${loops}---\n`, `${ends}{{- end }}`)).toEqual([null]);
  });

  test.each(['break', 'continue'])('is unknown if a round can end with %s', (word) => {
    expect(gpusIn(`${loops}{{- if eq (int .gpus) 8 }}{{ ${word} }}{{- end }}\n`, ends)).toEqual([null]);
  });

  test('is unknown if an earlier block may have changed a variable', () => {
    const pod = (before: string) => {
      const spec = 'spec: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: {{ $gpus }}}}}]}';
      const text = `${before}\n---\napiVersion: v1\nkind: Pod\n${spec}\n`;
      const related = { chart };
      const { documents } = new Analysis({ strict: true }).setFile('file:///t.yaml', text, 0, undefined, related);
      return documents.flatMap(({ costed }) => costed.map((one) => gpusOf(one).min));
    };
    const set = '{{- $gpus := .Values.trainer.gpus }}';
    expect(pod(set)).toEqual([4]);
    expect(pod(`${set}{{ if .Capabilities }}{{ $gpus = 8 }}{{ end }}`)).toEqual([null]);
    expect(pod(`${set}{{ range .Values.more }}{{ if .x }}{{ $gpus = 8 }}{{ end }}{{ end }}`)).toEqual([null]);
    expect(pod(`${set}{{ if .Values.more }}{{ $gpus = 8 }}{{ end }}`)).toEqual([4]);
    expect(pod(`${set}{{ if .Values.trainer }}{{ $gpus = 8 }}{{ end }}`)).toEqual([8]);
    expect(pod(`${set}{{ if .Values.trainer }}{{ $gpus := 8 }}{{ end }}`)).toEqual([4]);
    expect(pod(`${set}{{ if .Values.more }}{{ $gpus = 8 }}{{ else }}{{ $gpus = 2 }}{{ end }}`)).toEqual([2]);
    expect(pod(`${set}{{ if .Values.more }}{{ $gpus := 8 }}{{ end }}`)).toEqual([4]);
    expect(pod('{{- $root := . }}{{- $gpus := $root.Values.trainer.gpus }}')).toEqual([4]);
    expect(pod('{{- $root := .Values }}{{- $gpus := $root.trainer.gpus }}')).toEqual([4]);
    expect(pod('{{- $root := . }}{{- $gpus := $root.Release.Revision }}')).toEqual([null]);
    const more = '{{ $gpus = 8 }}'.repeat(400);
    expect(pod(`${set}{{ if .Capabilities }}${more}{{ end }}`)).toEqual([null]);
  });

  test('is unknown if there are too many rounds', () => {
    expect(gpusIn(`${'{{- $a := 1 }}\n'.repeat(30_000)}${loops}`, ends)).toEqual([null]);
  });
});

describe('what an expression gives', () => {
  const { root } = parseDocument('a: {b: 2, text: x, none: ~, zero: 0, list: [1], on: true}\nopen: {{ x }}\n', 0);
  const cases: readonly (readonly [expression: string, given: string])[] = [
    ['.Values.a.b', '2'],
    ['$.Values.a.b', '2'],
    ['.Values.a.b | quote', '"2"'],
    ['.Values.a.none | default 3', '3'],
    ['default "y" .Values.a.text', '"x"|x'],
    ['.Values.a.zero | default .Values.a.b | int', '2'],
    ['.Values.missing | default "z" | quote', '"z"'],
    ['.Values.missing', 'nothing'],
    ['.Values.missing.deeper', 'unknown'],
    ['.Values.open', 'unknown'],
    ['toYaml .Values.a.list | nindent 8', 'seq'],
    ['(.Values.a.on)', 'true'],
    ['eq .Values.a.text "x"', 'true'],
    ['and .Values.a.on .Values.a.zero', '0'],
    ['not .Values.a.zero', 'true'],
    ['required "say it" .Values.a.b', '2'],
    ['include "x" .', 'unknown'],
    ['empty $', 'unknown'],
    ['index $ "Values"', 'unknown'],
    ['.Release.Name', 'unknown'],
    ['.Values.a.b | include "x"', 'unknown'],
    ['index .Values.a "b"', '2'],
    ['index .Values.a.list 0', '1|map|"1"'],
    ['index .Values.a.list 9', 'unknown'],
    ['index .Values.a "none"', 'nothing'],
    ['get .Values.a "none"', '""'],
    ['.Values.a | dig "b" 7', '2'],
    ['dig "none" "deeper" 7 .Values.a', '7'],
    ['hasKey .Values.a "b"', 'true'],
    ['hasKey .Values.a "c"', 'false'],
    ['gt (int .Values.a.b) 1', 'true'],
    ['lt 3 (int .Values.a.b)', 'false'],
    ['gt .Values.a.text 1', 'unknown'],
    ['mul .Values.a.b 4 | int', '8'],
    ['div .Values.a.b .Values.a.zero', 'unknown'],
    ['sub .Values.a.b 2', '0'],
    ['ternary "yes" "no" .Values.a.on', '"yes"'],
    ['empty .Values.a.none', 'true'],
    ['trimSuffix "/" "models/chat/"', '"models/chat"'],
    ['trimPrefix "v" "v1.2" | quote', '"1.2"'],
    ['index .Release "Name"', 'unknown'],
    ['printf "%s-%d" .Values.a.text .Values.a.b', '"x-2"'],
    ['printf "%5.1f" .Values.a.b', 'unknown'],
    ['contains "x" .Values.a.text', 'true'],
    ['contains "y" .Values.a.text', 'false'],
    ['lower "GPU"', '"gpu"'],
    ['replace "." "-" "v1.2.3"', '"v1-2-3"'],
    ['join " " .Values.a.list', '"1"'],
    ['.Values.a.list | join "," | quote', '"1"'],
    ['join " " .Values.open', 'unknown'],
    ['join " " .Values.a.text', 'unknown'],
    ['trunc 3 "chat-server"', '"cha"'],
    ['trunc -3 "chat"', 'unknown'],
    ['printf "%s" .Release.Name', 'unknown'],
    ['.Values.a.b )', 'unknown'],
    ['(.Values.a.b', 'unknown'],
    ['', 'unknown'],
    ['"'.repeat(400), 'unknown'],
  ];
  for (const [expression, expected] of cases) {
    test(expression.slice(0, 60), () => {
      if (root === null) throw new Error('the text is YAML');
      const given = evaluate(expression, { dot: 'root', values: root, variables: new Map() });
      expect(expected.split('|')).toContain(render(given));
    });
  }
});

function render(given: Evaluated): string {
  if (given === undefined) return 'unknown';
  if (given === null) return 'nothing';
  if (given.kind !== 'scalar') return given.kind;
  return given.style === 'double' ? `"${given.source}"` : given.source;
}

test('a comment next to a container of a chart names its card, wherever the options of the pods are', () => {
  const text = `controllers:
  ollama:
    containers:
      app:
        image: {repository: ollama/ollama, tag: 0.13.0}
        env:
          # Pinned to one P100.
          OLLAMA_MODELS: /models
        resources: {limits: {nvidia.com/gpu: 1}}
defaultPodOptions:
  runtimeClassName: nvidia
`;
  const [document] = new Analysis({ strict: true }).setFile('file:///values.yaml', text).documents;
  expect(document?.workloads[0]?.podSets[0]?.accelerators).toMatchObject([{ model: 'p100-16gb' }]);
});

test('values with an error are unknown', () => {
  expect(chartValues('values.yaml', 'gpus: 2\nnodes: [\n')).toBeUndefined();
  expect(chartValues('values.yaml', 'gpus: 2\ngpus: 4\n')).toBeDefined();
});

test('the settings of a chart are not pods of their own', () => {
  const text = `ollama:
  gpu: {enabled: true, number: 1}
  nodeSelector: {nvidia.com/gpu.present: "true"}
  resources: {limits: {nvidia.com/gpu: 1}}
  models: {pull: [llama3.2:1b]}
`;
  const { documents } = new Analysis({ strict: true }).setFile('file:///values.yaml', text);
  expect(documents[0]?.workloads.map((one) => gpusOf(one))).toEqual([{ min: 1, max: 1 }]);
});
