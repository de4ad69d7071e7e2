import { describe, expect, test } from 'vitest';
import { gpusOf } from '../../server/src/cost/estimate.ts';
import { project, root } from './project.ts';

const workflow = (parameters: string, templates: string) => `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: tune-}
spec:
  entrypoint: main
  arguments:
    parameters: ${parameters}
  templates:
${templates}`;
const pod = (name: string, gpus: string, processes: string, inputs = '') => `    - name: ${name}
${inputs}      container:
        image: registry.example/tune:3
        command: [torchrun, "--nproc_per_node=${processes}", tune.py]
        resources: {limits: {nvidia.com/gpu: "${gpus}"}}
`;
const open = (text: string) => project({ 'w.yaml': text }).file(`${root}/w.yaml`)?.documents[0];
const counts = (text: string) => open(text)?.costed.map((workload) => gpusOf(workload).min);
const rulesOf = (text: string) => open(text)?.findings.map(({ rule }) => rule);

describe('the default parameters of a workflow', () => {
  test('count where the workflow uses them', () => {
    const text = workflow('[{name: gpus, value: "4"}]', pod('main', '{{workflow.parameters.gpus}}', '4'));
    expect(counts(text)).toEqual([4]);
    expect(rulesOf(text)).not.toContain('nproc-per-node');
  });

  test('are judged, without a fix', () => {
    const text = workflow('[{name: gpus, value: "4"}]', pod('main', '{{workflow.parameters.gpus}}', '8'));
    const found = open(text)?.findings.find(({ rule }) => rule === 'nproc-per-node');
    expect(found?.message).toContain('(with its default parameters)');
    expect(found?.fixes).toEqual([]);
  });

  test('may take GPUs past the device plugin', () => {
    const taken = (gpu: string) =>
      workflow(
        `[{name: gpu, value: "${gpu}"}]`,
        `    - name: main
      container:
        image: registry.example/tune:3
        env: [{name: NVIDIA_VISIBLE_DEVICES, value: "{{workflow.parameters.gpu}}"}]
`,
      );
    expect(rulesOf(taken('0,3'))).toContain('visible-devices-bypass');
    expect(rulesOf(taken('0,3').replace('kind: Workflow', 'kind: WorkflowTemplate'))).toContain(
      'visible-devices-bypass',
    );
    expect(rulesOf(taken('none'))).not.toContain('visible-devices-bypass');
    expect(rulesOf(taken('lab'))).not.toContain('visible-devices-bypass');
  });

  test('are unknown without a value', () => {
    expect(counts(workflow('[{name: gpus}]', pod('main', '{{workflow.parameters.gpus}}', '4')))).toEqual([null]);
  });

  const input = '      inputs: {parameters: [{name: gpus, value: "1"}]}\n';
  const called = (...values: readonly string[]) =>
    `    - name: main\n      steps:\n${values
      .map(
        (value, index) =>
          `        - - {name: s${index}, template: tune, arguments: {parameters: [{name: gpus, value: "${value}"}]}}\n`,
      )
      .join('')}${pod('tune', '{{inputs.parameters.gpus}}', '2', input)}`;

  test('reach the templates that steps start with them', () => {
    expect(counts(workflow('[{name: all, value: "2"}]', called('{{workflow.parameters.all}}')))).toEqual([2]);
  });

  test('are unknown where the steps differ', () => {
    expect(counts(workflow('[]', called('2', '4')))).toEqual([null]);
  });
});
