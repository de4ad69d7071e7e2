import { expect, test } from 'vitest';
import { analyse } from '../support/analyse.ts';

const pod = (terms: string) =>
  `{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ${terms}}}}, containers: [{name: main, image: 'a:1', resources: {limits: {nvidia.com/gpu: 1}}}]}}`;
const key = 'kubernetes.azure.com/scalesetpriority';
const placed = (terms: string) => {
  const [podSet] = analyse(pod(terms)).documents.flatMap(({ workloads }) =>
    workloads.flatMap(({ podSets }) => podSets),
  );
  return [
    podSet?.avoided.map((one) => `${one.key}=${one.values.map(({ value }) => value).join(',')}`),
    podSet?.placement.capacity,
  ];
};

test('nodes that a pod avoids', () => {
  expect(placed(`[{matchExpressions: [{key: ${key}, operator: NotIn, values: [spot]}]}]`)).toEqual([
    [`${key}=spot`],
    'on-demand',
  ]);
  expect(placed(`[{matchExpressions: [{key: ${key}, operator: In, values: [spot]}]}]`)).toEqual([[], 'spot']);
});

test('terms are alternatives, so every term must exclude a value', () => {
  const notSpot = `{matchExpressions: [{key: ${key}, operator: NotIn, values: [spot]}]}`;
  expect(placed(`[${notSpot}, ${notSpot}]`)).toEqual([[`${key}=spot`], 'on-demand']);
  expect(placed(`[${notSpot}, {matchExpressions: [{key: pool, operator: In, values: [a]}]}]`)).toEqual([[], 'unknown']);
});
