import { expect, test } from 'vitest';
import { analyse, findingsOf } from '../support/analyse.ts';

const pod = (comment: string, code: string) => `${comment}apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  containers:
    - name: main
      image: registry.example/train:1.4
      resources:
        requests:
          nvidia.com/gpu: ${code}
`;

const errors = (text: string) =>
  findingsOf(analyse(text)).flatMap(({ severity, rule }) => (severity === 'error' ? [rule] : []));

test.each([
  ['a value that ytt computes', pod('', '#@ data.values.gpus')],
  ['an overlay of ytt', pod('#@overlay/match by="name"\n', '1')],
  ['a comment of Jinja alone', pod('{# one pod #}\n', '1').replace('requests', 'limits')],
  ['a comment of Jinja over lines', pod('{# one pod,\nor two #}\n', '1').replace('requests', 'limits')],
  [
    'a variable with a default in brackets',
    pod('', '1').replace('requests:\n          nvidia.com/gpu: 1', 'limits: {nvidia.com/gpu: \u0024{GPUS:=1}}'),
  ],
])('%s is no error', (_, text) => {
  expect(errors(text)).toEqual([]);
});

test.each([
  ['a comment that only resembles code', pod('', '1 #@todo')],
  ['no value at all', pod('', '# later')],
])('%s changes nothing', (_, text) => {
  expect(errors(text)).not.toEqual([]);
});

test('a mapping may begin with a comment', () => {
  const text = 'x: {# a comment #} too\n  a: 1}\n';
  expect(analyse(text).documents[0]?.document.template).toBe(false);
});
