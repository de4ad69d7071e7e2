import { expect, test } from 'vitest';
import { project, root, total } from './project.ts';

// Workflows and pipelines whose pods are described by templates in other files.

const template = (kind = 'WorkflowTemplate') => `apiVersion: argoproj.io/v1alpha1
kind: ${kind}
metadata: {name: lab}
spec:
  entrypoint: sweep
  templates:
    - name: sweep
      parallelism: 2
      steps:
        - - {name: run, template: train, withItems: [a, b, c]}
    - name: train
      container:
        image: registry.example/trainer:1.0
        resources: {limits: {nvidia.com/gpu: 4}}
    - name: report
      container: {image: registry.example/report:1.0}
`;

const workflow = (spec: string) => `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: run-}
spec:
${spec}
`;

const gpus = (spec: string, other = template()) =>
  total(project({ 'run.yaml': workflow(spec), 'template.yaml': other }).file(`${root}/run.yaml`));

test.each([
  ['a whole template', '  workflowTemplateRef: {name: lab}', 8],
  ['another entrypoint', '  entrypoint: train\n  workflowTemplateRef: {name: lab}', 4],
  ['an entrypoint without accelerators', '  entrypoint: report\n  workflowTemplateRef: {name: lab}', 0],
  ['no such template', '  workflowTemplateRef: {name: other}', 0],
])('a workflow runs %s', (_, spec, expected) => {
  expect(gpus(spec)).toBe(expected);
});

const step = (reference: string, more: string) => `  entrypoint: main
  templates:
    - name: main
      steps:
        - - {name: one, templateRef: ${reference}${more}}`;

test.each([
  ['a step', '{name: lab, template: train}', '', 4],
  ['a loop over numbers', '{name: lab, template: train}', ', withSequence: {count: "3"}', 12],
  ['a template with steps', '{name: lab, template: sweep}', '', 8],
  ['a step that a condition may skip', '{name: lab, template: train}', ", when: '{{x}} == 1'", 0],
])('%s uses a template of another file', (_, reference, more, expected) => {
  expect(gpus(step(reference, more))).toBe(expected);
});

test('a cluster template is found by its scope only', () => {
  const cluster = template('ClusterWorkflowTemplate');
  expect(gpus('  workflowTemplateRef: {name: lab, clusterScope: true}', cluster)).toBe(8);
  expect(gpus('  workflowTemplateRef: {name: lab}', cluster)).toBeFalsy();
});

const task = `apiVersion: tekton.dev/v1
kind: Task
metadata: {name: train}
spec:
  steps:
    - name: main
      image: registry.example/trainer:1.0
      computeResources: {limits: {nvidia.com/gpu: 2}}
`;

test('a TaskRun has the steps of its Task, a PipelineRun those of the tasks that run at once', () => {
  const run = 'apiVersion: tekton.dev/v1\nkind: TaskRun\nmetadata: {name: run}\nspec: {taskRef: {name: train}}\n';
  expect(total(project({ 'run.yaml': run, 'task.yaml': task }).file(`${root}/run.yaml`))).toBe(2);
  const pipeline = (second: string) => `apiVersion: tekton.dev/v1
kind: PipelineRun
metadata: {name: run}
spec:
  pipelineSpec:
    tasks:
      - {name: first, taskRef: {name: train}}
      - {name: second, taskRef: {name: train}${second}}
`;
  const used = (second: string) =>
    total(project({ 'run.yaml': pipeline(second), 'task.yaml': task }).file(`${root}/run.yaml`));
  expect(used('')).toBe(4);
  expect(used(', runAfter: [first]')).toBe(2);
  expect(used(", params: [{name: model, value: '$(tasks.first.results.model)'}]")).toBe(2);
  expect(used(', matrix: {params: [{name: a, value: [x, y]}]}')).toBe(6);
  expect(used(", matrix: {params: [{name: a, value: '$(params.a[*])'}]}")).toBe(null);
});

test('workflows whose every template runs the next twice end soon, and cost no more than their pods at once', () => {
  const depth = 60;
  const levels = Array.from({ length: depth }, (_, level) => {
    const step = (name: string) => `        - - {name: ${name}, template: level-${level + 1}}\n`;
    return `    - name: level-${level}\n      steps:\n${step('first')}${step('second')}`;
  });
  const text = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: nested}
spec:
  entrypoint: level-0
  templates:
${levels.join('')}    - name: level-${depth}
      container:
        image: registry.example/trainer:1.0
        resources: {limits: {nvidia.com/gpu: 4}}
`;
  expect(total(project({ 'run.yaml': text }).file(`${root}/run.yaml`))).toBe(4);
});
