import { describe, expect, test } from 'vitest';
import { gpusOf } from '../../server/src/cost/estimate.ts';
import { project, root } from './project.ts';

const template = (parameters: string, apiVersion = 'template.openshift.io/v1') => `apiVersion: ${apiVersion}
kind: Template
metadata: {name: embedder}
parameters: ${parameters}
objects:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: embedder}
    spec:
      replicas: \${{PODS}}
      selector: {matchLabels: {app: embedder}}
      template:
        metadata: {labels: {app: embedder}}
        spec:
          containers:
            - name: server
              image: vllm/vllm-openai:v0.10.0
              args: ["--model=\${MODEL}", "--tensor-parallel-size=\${SIZE}"]
              resources: {limits: {nvidia.com/gpu: "\${GPUS}"}}
`;
const open = (text: string) => project({ 't.yaml': text }).file(`${root}/t.yaml`)?.documents[0];
const counts = (text: string) => open(text)?.costed.map((workload) => gpusOf(workload).min);
const two = '[{name: PODS, value: "3"}, {name: GPUS, value: "2"}, {name: SIZE, value: "2"}]';

describe('the parameters of an OpenShift template', () => {
  test('count with their default values', () => {
    expect(counts(template(two))).toEqual([6]);
    expect(counts(template(two, 'v1'))).toEqual([6]);
  });

  test('are judged, without a fix', () => {
    const text = template(two.replace('SIZE, value: "2"', 'SIZE, value: "4"'));
    const found = open(text)?.findings.find(({ rule }) => rule === 'tensor-parallel-mismatch');
    expect(found?.message).toContain('(with its default parameters)');
    expect(found?.fixes).toEqual([]);
  });

  test('are not accused where they fit', () => {
    expect(open(template(two))?.findings.map(({ rule }) => rule)).not.toContain('tensor-parallel-mismatch');
  });

  test('are unknown without a value', () => {
    expect(counts(template('[{name: PODS, value: "3"}, {name: GPUS, required: true}]'))).toEqual([null]);
    expect(counts(template('[{name: PODS, from: "[1-9]", generate: expression}, {name: GPUS, value: "1"}]'))).toEqual([
      null,
    ]);
  });
});
