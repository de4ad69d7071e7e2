import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { memoryRecords } from '../../server/src/features/memory-records.ts';
import { trainingRun } from '../../server/src/model/training-run.ts';
import { summarizeModelConfig } from '../../server/src/workspace/model-configs.ts';
import { kindsOfFile } from '../../server/src/workspace/terraform.ts';
import { modelConfig, servedPod, trainedJob } from '../support/manifests.ts';

const pod = 'file:///work/apps/chat.yaml';

/** The memory of the only container of a manifest, next to these model configs. */
function memoryIn(files: Readonly<Record<string, string>>, text: string) {
  const analysis = new Analysis();
  for (const [uri, config] of Object.entries(files)) {
    analysis.workspace.set(`file:///work/${uri}`, summarizeModelConfig(uri, config), 'disk');
  }
  analysis.setFile(pod, text, 1);
  const read = () => memoryRecords(analysis.file(pod)!.documents[0]!.workloads[0]!)[0];
  return { analysis, read };
}

test.each([
  ['./models/acme-chat', 'models/acme-chat/config.json'],
  ['/models/acme-chat/', 'ml/acme-chat/config.json'],
  ['acme/acme-chat', 'models/acme-chat/config.json'],
  ['s3://bucket/runs/7/acme-chat', 'models/acme-chat/config.json'],
  ['./acme-chat/final', 'models/acme-chat/final/config.json'],
])('a server of %s has the shape of %s', (name, file) => {
  const { read } = memoryIn({ [file]: modelConfig({}) }, servedPod(name));
  // 7.24 billion parameters in 16 bits.
  expect(read()).toMatchObject({ unknown: null, weightsGiB: 13.49 });
});

test.each([
  ['another folder', './models/acme-chat', 'models/acme-chat-2/config.json'],
  ['a general name', '/models/model', 'fixtures/model/config.json'],
  ['the end of another name', './models/chat', 'models/acme-chat/config.json'],
])('%s says nothing', (_, name, file) => {
  expect(memoryIn({ [file]: modelConfig({}) }, servedPod(name)).read()?.needGiB).toBeNull();
});

test('a change of the config changes what asked for it, and nothing else', () => {
  const file = 'models/acme-chat/config.json';
  const { analysis, read } = memoryIn({ [file]: modelConfig({}) }, servedPod('./models/acme-chat'));
  const other = 'file:///work/apps/other.yaml';
  analysis.setFile(other, servedPod('./models/other'), 1);
  const before = [analysis.file(pod)?.documents[0], analysis.file(other)?.documents[0]];
  for (const one of before) void memoryRecords(one!.workloads[0]!);
  const half = modelConfig({ num_hidden_layers: 16 });
  analysis.workspace.set(`file:///work/${file}`, summarizeModelConfig(file, half), 'disk');
  expect(read()?.weightsGiB).toBe(6.99);
  expect(analysis.file(other)?.documents[0]).toBe(before[1]);
});

test('an open config takes precedence over the one on disk', () => {
  const file = 'models/acme-chat/config.json';
  const { analysis, read } = memoryIn({ [file]: modelConfig({}) }, servedPod('./models/acme-chat'));
  analysis.setFile(`file:///work/${file}`, modelConfig({ num_hidden_layers: 16 }), 1);
  expect(read()?.weightsGiB).toBe(6.99);
});

test('two folders that differ say nothing', () => {
  const files = {
    'a/acme-chat/config.json': modelConfig({}),
    'b/acme-chat/config.json': modelConfig({ num_hidden_layers: 16 }),
  };
  expect(memoryIn(files, servedPod('acme/acme-chat')).read()?.needGiB).toBeNull();
});

test('a known model keeps its shape, in the format of its folder', () => {
  const name = 'mistralai/Mistral-7B-v0.1';
  const file = 'models/Mistral-7B-v0.1/config.json';
  const quantized = modelConfig({ quantization_config: { quant_method: 'awq', bits: 4 } });
  expect(memoryIn({ [file]: quantized }, servedPod(name)).read()?.weightsGiB).toBeLessThan(4);
  const tiny = modelConfig({ hidden_size: 64, num_hidden_layers: 2 });
  expect(memoryIn({ [file]: tiny }, servedPod(name)).read()?.weightsGiB).toBeCloseTo(13.49, 1);
});

test('a trainer has the shape of the folder that it starts from', () => {
  const file = 'models/acme-chat/config.json';
  const { analysis } = memoryIn({ [file]: modelConfig({}) }, trainedJob('./models/acme-chat'));
  const [workload] = analysis.file(pod)!.documents[0]!.workloads;
  const { run } = trainingRun(workload!.podSets[0]!.containers[0]!, workload!);
  expect(run).toMatchObject({ name: './models/acme-chat', shape: { layers: 32, source: 'config.json' } });
});

test.each([
  ['settings of another program', '{"port": 8080}'],
  ['a file that is too long', modelConfig({ vocabulary: 'x'.repeat(300_000) })],
])('%s named config.json are not read', (_, text) => {
  expect(kindsOfFile('app/config.json', text).kinds.size).toBe(0);
  expect(summarizeModelConfig('app/config.json', text).objects()).toEqual([]);
});
