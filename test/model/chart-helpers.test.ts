import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { gpusOf } from '../../server/src/cost/estimate.ts';
import { chartValues } from '../../server/src/model/chart-templates.ts';
import { createRelatedFiles } from '../../server/src/workspace/find-related-files.ts';
import { readHelpers } from '../../server/src/yaml/template-helpers.ts';

const folder = 'test/fixtures/charts/helped';
const read = (name: string) => readFileSync(`${folder}/${name}`, 'utf8');

function costedIn(name: string, helpers = read('templates/_helpers.tpl')) {
  const chart = chartValues('values.yaml', read('values.yaml'));
  if (chart === undefined) throw new Error('the fixture has values');
  const related = { chart: { ...chart, helpers: readHelpers(helpers) } };
  const { documents } = new Analysis({ strict: true }).setFile('file:///t.yaml', read(name), 0, undefined, related);
  return documents.flatMap(({ costed }) => costed);
}

test('helpers give the image, the resources and the nodes of the pods', () => {
  const [workload] = costedIn('templates/known.yaml');
  const [podSet] = workload?.podSets ?? [];
  expect(podSet?.containers[0]?.image?.value).toBe('registry.example/embed:2.1');
  expect(podSet?.accelerators).toMatchObject([{ perPod: 2, model: 'l40s' }]);
  expect(podSet?.selectors.map(({ key }) => key)).toEqual(['nvidia.com/gpu.product', 'nvidia.com/gpu.count']);
  expect(workload && gpusOf(workload)).toEqual({ min: 4, max: 4 });
});

test('without the helpers, the same template is unknown', () => {
  expect(costedIn('templates/known.yaml', '')).toEqual([]);
});

test('helpers that are defined twice, include themselves, or depend on more than the values are unknown', () => {
  const [byNamespace, otherContext] = costedIn('templates/unknown.yaml');
  const [podSet] = byNamespace?.podSets ?? [];
  expect(byNamespace && gpusOf(byNamespace).min).toBeNull();
  expect(podSet?.accelerators).toMatchObject([{ perPod: 1, model: null }]);
  expect(podSet?.containers[0]?.image?.value).toContain('helped.missing');
  expect(otherContext && gpusOf(otherContext).min).toBeNull();
  expect(otherContext?.podSets[0]?.accelerators).toMatchObject([{ perPod: null }]);
});

test('the helpers of a chart are read with its values, and a change of them is noticed', async () => {
  const files = new Map(
    ['Chart.yaml', 'values.yaml', 'templates/_helpers.tpl'].map((name) => [`file:///c/${name}`, read(name)]),
  );
  const related = createRelatedFiles({ read: async (uri) => files.get(uri), reaches: () => true });
  const template = 'file:///c/templates/known.yaml';
  const first = await related.of(template);
  expect(first.chart?.helpers?.bodies.has('helped.image')).toBe(true);
  expect(await related.of('file:///c/templates/unknown.yaml')).toBe(first);
  files.delete('file:///c/templates/_helpers.tpl');
  expect(related.changed('file:///c/templates/_helpers.tpl')).toBe(true);
  expect((await related.of(template)).chart?.helpers).toBeUndefined();
});

describe('what a helper makes is text', () => {
  const gpusOfPod = (values: string, helpers: string, limits: string) => {
    const chart = chartValues('values.yaml', values);
    if (chart === undefined) throw new Error('the values have no error');
    const related = { chart: { ...chart, helpers: readHelpers(helpers) } };
    const text = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: main
      image: registry.example/serve:1
      resources:
        limits:
${limits}
`;
    const { documents } = new Analysis({ strict: true }).setFile('file:///t.yaml', text, 0, undefined, related);
    return documents.flatMap(({ costed }) => costed.map((one) => gpusOf(one).min));
  };
  const on = '{{ define "on" }}{{ .Values.on }}{{ end }}{{ define "count" }}{{ .Values.count }}{{ end }}';

  test('so "false" and "0" are true, and a number where it is printed', () => {
    const either = `          {{- if include "on" . }}
          nvidia.com/gpu: {{ .Values.count }}
          {{- else }}
          nvidia.com/gpu: 8
          {{- end }}`;
    expect(gpusOfPod('on: false\ncount: 2', on, either)).toEqual([2]);
    const orElse = '          nvidia.com/gpu: {{ default 8 (include "count" .) }}';
    expect(gpusOfPod('on: false\ncount: 2', on, orElse)).toEqual([2]);
    expect(gpusOfPod('on: false\ncount: 0', on, orElse)).toEqual([0]);
  });

  test('also if it compares', () => {
    const compared = `          {{- if eq (include "on" .) "true" }}
          nvidia.com/gpu: {{ .Values.count }}
          {{- else }}
          nvidia.com/gpu: {{ include "count" . | int }}
          {{- end }}`;
    expect(gpusOfPod('on: false\ncount: 3', on, compared)).toEqual([3]);
  });

  test('and unknown if it includes too many others', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => {
      const inner = index === 0 ? '{{ .Values.count }}' : `{{ include "h${index - 1}" . }}`;
      return `{{ define "h${index}" }}${inner}{{ end }}`;
    }).join('\n');
    const last = '          nvidia.com/gpu: {{ include "h4999" . }}';
    expect(gpusOfPod('count: 1\nother: 2', many, last)).toEqual([null]);
    expect(gpusOfPod('count: 1', many, '          nvidia.com/gpu: {{ include "h9" . }}')).toEqual([1]);
  });
});
