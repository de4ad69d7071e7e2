import { expect, test } from 'vitest';
import { parse, stringify, type ToStringOptions } from 'yaml';
import { Analysis } from '../../server/src/analysis.ts';
import { applySafeFixes } from '../../server/src/cli/apply-fixes.ts';
import { findingsOf } from '../support/analyse.ts';

// What a manifest means does not depend on how its YAML is written: neither do its findings and fixes.

const pod = (fixed: boolean) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'trainer' },
  spec: {
    tolerations: [
      fixed
        ? { key: 'nvidia.com/gpu', operator: 'Exists' }
        : { key: 'nvidia.com/gpu', operator: 'Exists', value: 'true' },
    ],
    containers: [
      {
        name: 'main',
        image: 'registry.example/trainer:1.4',
        imagePullPolicy: fixed ? 'IfNotPresent' : 'ifNotPresent',
        command: fixed ? ['python', 'train.py'] : ['python train.py'],
        env: [{ name: 'WORLD', value: fixed ? '8' : 8 }],
        resources: fixed
          ? { requests: { 'nvidia.com/gpu': 1 }, limits: { 'nvidia.com/gpu': 1 } }
          : { requests: { 'nvidia.com/gpu': 1 } },
        volumeMounts: [{ name: 'shm', mountPath: '/dev/shm' }],
      },
    ],
    volumes: [{ name: 'shm', emptyDir: { medium: fixed ? 'Memory' : 'memory' } }],
  },
});

const layouts: readonly ToStringOptions[] = [
  { indent: 1 },
  { indent: 2, indentSeq: false },
  { indent: 5, defaultStringType: 'QUOTE_DOUBLE' },
  { defaultStringType: 'QUOTE_SINGLE', defaultKeyType: 'PLAIN' },
  { collectionStyle: 'flow', lineWidth: 0 },
  { collectionStyle: 'flow', lineWidth: 20, flowCollectionPadding: false },
  { collectionStyle: 'flow', defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' },
];
const written = [
  ...layouts.map((layout) => stringify(pod(false), layout)),
  `${JSON.stringify(pod(false))}\n`,
  `${JSON.stringify(pod(false), undefined, '\t')}\n`,
];
const changes: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => `\ufeff${text.trimEnd()}`,
  (text) => (/^[{[]/.test(text) ? `\ufeff  ${text}` : `\ufeff${text.replace(/^(?=.)/gm, '  ')}`),
  (text) => (text.startsWith('{') ? text : `# head\n---\n${text.replace(/$/gm, ' # note').replace(/^ # note$/gm, '')}`),
];
const texts = new Set(written.flatMap((text) => changes.map((change) => change(text))));

test.each([...texts])('%j', (text) => {
  const analysis = new Analysis();
  const before = analysis.setFile('file:///w/a.yaml', text);
  expect(
    findingsOf(before)
      .map(({ rule }) => rule)
      .sort(),
  ).toEqual([
    'api-field',
    'command-single-string',
    'emptydir-medium',
    'gpu-limits-required',
    'toleration-invalid',
    'value-not-string',
  ]);
  const { file } = applySafeFixes(analysis, before);
  expect(parse(file.text.replace('\ufeff', ''))).toEqual(pod(true));
  expect(file.text.startsWith('\ufeff')).toBe(text.startsWith('\ufeff'));
  expect((file.text.match(/#/g) ?? []).length).toBe((text.match(/#/g) ?? []).length);
});
