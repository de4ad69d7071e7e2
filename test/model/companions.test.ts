import { expect, test } from 'vitest';
import { gpusOf } from '../../server/src/cost/estimate.ts';
import { analyse } from '../support/analyse.ts';

const requested = (limits: string) => {
  const text = `{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: 'a:1', resources: {limits: {${limits}}}}]}}`;
  const [workload] = analyse(text).documents.flatMap(({ workloads }) => workloads);
  return (
    workload && [
      gpusOf(workload).min,
      ...workload.podSets.flatMap(({ accelerators }) => accelerators.map(({ requested: { name } }) => name)),
    ]
  );
};

test.each([
  ['lab.example/gpu: 2', [2, 'lab.example/gpu']],
  ['nvidia.com/gpu: 1, lab.example/gpu-slot: 4', [1, 'nvidia.com/gpu']],
  ['nvidia.com/gpu: 1, lab.example/gpu-memory: 4', [null, 'nvidia.com/gpu', 'lab.example/gpu-memory']],
  ['lab.example/fast-gpu: 1, lab.example/npu: 2', [3, 'lab.example/fast-gpu', 'lab.example/npu']],
  [
    'tencent.com/vcuda-core: 200, tencent.com/vcuda-memory: 60',
    [2, 'tencent.com/vcuda-core', 'tencent.com/vcuda-memory'],
  ],
  ['tencent.com/vcuda-core: 30', [0.3, 'tencent.com/vcuda-core']],
  ['smarter-devices/nvhost-gpu: 1, smarter-devices/nvhost-ctrl-gpu: 1', [1, 'smarter-devices/nvhost-gpu']],
  ['devic.es/dri: 1, devic.es/rocm: 1', [1, 'devic.es/rocm']],
  ['squat.ai/dri: 1, squat.ai/video: 1', [1, 'squat.ai/dri']],
  ['nvidia.com/rtxa6000: 4', [4, 'nvidia.com/rtxa6000']],
])('%s', (limits, expected) => {
  expect(requested(limits)).toEqual(expected);
});
