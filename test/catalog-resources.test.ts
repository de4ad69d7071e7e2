import { describe, expect, it, test } from 'vitest';
import {
  acceleratorResource,
  acceleratorResourceNames,
  familyExamples,
  knownAccelerator,
  migTables,
  nodeLabels,
} from '../server/src/catalog/index.ts';
import { isCertainSlip, meantMigResource, meantResource } from '../server/src/catalog/resource-spelling.ts';
import { modelsInResource } from '../server/src/model/named-models.ts';

describe('resource names', () => {
  it.each([
    ['nvidia.com/gpu', 'nvidia', 'whole'],
    ['nvidia.com/gpu.shared', 'nvidia', 'shared'],
    ['nvidia.com/mig-1g.5gb', 'nvidia', 'mig'],
    ['nvidia.com/mig-1g.5gb.shared', 'nvidia', 'shared'],
    ['nvidia.com/mig-<profile>', 'nvidia', 'mig'],
    ['nvidia.com/mig-small', 'nvidia', 'shared'],
    ['nvidia.com/gpumem', 'nvidia', 'memory'],
    ['nvidia.com/gpucores', 'nvidia', 'percent'],
    ['volcano.sh/vgpu-number', 'nvidia', 'shared'],
    ['amd.com/gpu', 'amd', 'whole'],
    ['amd.com/cpx_nps4', 'amd', 'shared'],
    ['gpu.intel.com/i915', 'intel', 'whole'],
    ['habana.ai/gaudi', 'habana', 'whole'],
    ['aws.amazon.com/neuron', 'aws', 'whole'],
    ['aws.amazon.com/neuroncore', 'aws', 'core'],
    ['google.com/tpu', 'google', 'whole'],
    ['huawei.com/Ascend910', 'huawei', 'whole'],
    ['huawei.com/Ascend310P-2c', 'huawei', 'shared'],
    ['huawei.com/Ascend910B4-1', 'huawei', 'whole'],
    ['huawei.com/Ascend910B4-1-memory', 'huawei', 'memory'],
    ['tencent.com/vcuda-core', 'nvidia', 'percent'],
    ['nvidia.com/a100', 'nvidia', 'whole'],
    ['nvidia.com/rtxa6000', 'nvidia', 'whole'],
    ['nvidia.com/GA102GL_A10', 'nvidia', 'whole'],
    ['nvidia.com/GRID_T4-2Q', 'nvidia', 'shared'],
    ['nvidia.com/gpu-10gb', 'nvidia', 'shared'],
    ['hygon.com/dcu-share-30c-16g', 'hygon', 'shared'],
    ['cambricon.com/mlu370.smlu.vmemory', 'cambricon', 'memory'],
    ['rebellions.ai/ATOM', 'rebellions', 'whole'],
    ['furiosa.ai/warboy-2core', 'furiosa', 'shared'],
    ['tenstorrent.com/n150', 'tenstorrent', 'whole'],
    ['xilinx.com/fpga-xilinx_u250', 'xilinx', 'whole'],
  ])('%s', (name, vendor, form) => {
    expect(acceleratorResource(name)).toMatchObject({ vendor, form });
    expect(acceleratorResource(name)?.source).not.toBe('shape');
  });

  it.each([
    ['acme.example/gpu', null, 'whole'],
    ['acme.example/gpu0', null, 'whole'],
    ['acme.example/big-gpus', null, 'whole'],
    ['acme.example/vgpu', null, 'shared'],
    ['acme.example/gpu-slice', null, 'shared'],
    ['acme.example/gpu-all', null, 'shared'],
    ['acme.example/gpumem', null, 'memory'],
    ['acme.example/gpu-memory', null, 'memory'],
    ['acme.example/gpu-cores', null, 'percent'],
    ['acme.example/npu', null, 'whole'],
    ['acme.example/edgetpu', null, 'whole'],
    ['acme.example/accelerator', null, 'whole'],
    ['nvidia.com/gpu-inference', 'nvidia', 'whole'],
  ])('%s looks like an accelerator', (name, vendor, form) => {
    expect(acceleratorResource(name)).toMatchObject({ vendor, form, source: 'shape' });
    expect(knownAccelerator(name)).toBeUndefined();
  });

  it.each([
    'acme.example/input',
    'acme.example/gpu-monitoring',
    'acme.example/gpu.product',
    'gpu.intel.com/i915_monitoring',
  ])('%s does not', (name) => {
    expect(acceleratorResource(name)).toBeUndefined();
  });

  it.each(['nvidia.com/gpus', 'nvidia/gpu', 'amd/gpus'])(
    '%s is a misspelling, not a name that looks like one',
    (name) => {
      expect(acceleratorResource(name)).toBeUndefined();
    },
  );

  it.each(familyExamples())('%s is in a family', (name) => {
    expect(knownAccelerator(name)).toBeDefined();
    expect(meantResource(name)).toBeUndefined();
  });

  it.each([
    ['nvidia.com/GA102GL_A10', ['a10']],
    ['nvidia.com/TU104GL_T4', ['t4']],
    ['nvidia.com/TU104GL_Tesla_T4', ['t4']],
    ['nvidia.com/a40', ['a40']],
    ['nvidia.com/rtxa6000', ['rtx-a6000']],
    ['nvidia.com/gpu-v100', ['v100-16gb', 'v100-32gb']],
    ['nvidia.com/gpu', []],
    ['nvidia.com/gpu0', []],
    ['nvidia.com/mig-1g.5gb', []],
  ])('%s names the models %j', (name, ids) => {
    expect(modelsInResource(name).map(({ id }) => id)).toEqual(ids);
  });

  it.each(['vpc.amazonaws.com/efa', 'rdma/ib', 'nvidia.com/hostdev', 'cpu', 'nvidia.com/priority', 'toString', ''])(
    '"%s" names no accelerator',
    (name) => {
      expect(acceleratorResource(name)).toBeUndefined();
    },
  );

  it('recognize every MIG resource in the tables', () => {
    for (const { resource } of migTables().flatMap((table) => table.profiles)) {
      expect(acceleratorResource(resource)?.form, resource).toBe('mig');
    }
  });
});

describe('misspelled resource names', () => {
  test.each([
    ...['nvdia.com/gpu', 'nvida.com/gpu', 'nividia.com/gpu', 'nivdia.com/gpu', 'nvidea.com/gpu', 'nvidai.com/gpu'],
    ...['nivida.com/gpu', 'nvidia/gpu', 'nvidia.com/gpus', 'nvidia.com/gup', 'NVIDIA.com/GPU', 'nvidia.com.gpu'],
    ...['nvidia.gpu', 'nvidia.com-gpu', 'nvidia.com_gpu'],
    ...['nvidia.co/gpu', 'nvidia.cm/gpu', 'nvidia.comm/gpu', 'nvidia.ocm/gpus'],
  ])('%s is nvidia.com/gpu', (written) => {
    expect(meantResource(written)).toBe('nvidia.com/gpu');
  });

  test.each([
    ['amd/gpus', 'amd.com/gpu'],
    ['amd.co/gpu', 'amd.com/gpu'],
    ['google.com/tpus', 'google.com/tpu'],
    ['cloud.google.com/tpu', 'google.com/tpu'],
    ['habana/gaudi', 'habana.ai/gaudi'],
    ['aws.amazon.com/neuroncores', 'aws.amazon.com/neuroncore'],
    ['qualcom.com/qaic', 'qualcomm.com/qaic'],
  ])('%s is %s', (written, meant) => {
    expect(meantResource(written)).toBe(meant);
  });

  test.each([
    ...[
      'nvidia-gpu',
      'nvidia.com/vgpu',
      'nvidia.com/xgpumem',
      'volcano.sh/pgpu-memory',
      'nvidia.com/npu',
      'nvidia.com/tpu',
      'habana.ai/gaudi2',
      'nvidia.com/gpu-shared',
    ],
    ...[
      'nvidia.com/hostdev',
      'nvidia.cn/gpu',
      'nvidia.org/gpu',
      'google.com/gpu',
      'intel.com/fpga',
      'rdma/hca',
      'cpu',
      'ephemeral-storage',
      'constructor',
    ],
    ...nodeLabels(),
    ...acceleratorResourceNames(),
  ])('%s is right, or something else', (name) => {
    expect(meantResource(name)).toBeUndefined();
  });

  test.each([
    ['nvidia.com/gpu.share', 'nvidia.com/gpu.shared'],
    ['nvidia.com/gpucore', 'nvidia.com/gpucores'],
    ['volcano.sh/vgpu-core', 'volcano.sh/vgpu-cores'],
    ['nvidia.com/gpumen', 'nvidia.com/gpumem'],
  ])('%s may be %s, or the name of another plugin', (written, meant) => {
    expect([undefined, meant]).toContain(meantResource(written));
    expect(isCertainSlip(written, meant)).toBe(false);
  });

  test.each([
    ...['nivida.com/gpu', 'nvidia/gpu', 'nvidia.com/gpus', 'nvidia.com/gup', 'NVIDIA.com/GPU', 'nvidia.com.gpu'],
    ...['nvidia.gpu', 'nvidia.com_gpu'],
  ])('%s is certainly nvidia.com/gpu', (written) => {
    expect(isCertainSlip(written, 'nvidia.com/gpu')).toBe(true);
  });

  test.each([
    ['nvidia/mig-1g.5gb', 'nvidia.com/mig-1g.5gb'],
    ['nvidia.com/mig1g.10gb', 'nvidia.com/mig-1g.10gb'],
    ['nvidia.com/MIG-1g.10gb+me', 'nvidia.com/mig-1g.10gb.me'],
    ['nvidia.com/mig-2g_20g', 'nvidia.com/mig-2g.20gb'],
    ['nvida.com/mig-3g.20gb', 'nvidia.com/mig-3g.20gb'],
    ['nvidia.com/mig-1g.24gb+me', 'nvidia.com/mig-1g.24gb.me'],
    ['nvidia.com/mig-1g.24gb-me', undefined],
    ['nvidia.com/mig-9g.99gb', undefined],
    ['nvidia.com/mig-1g.5gb', undefined],
  ])('%s is %s', (written, meant) => {
    expect(meantMigResource(written)).toBe(meant);
  });
});
