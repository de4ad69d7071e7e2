import { expect, test } from 'vitest';
import { setConfigEdits } from '../../server/src/features/actions/set-config.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';

test.each([
  ['a new file', '', 'gpu: l4\nprovider: aws\n'],
  ['a file of comments', '# ours\n', '# ours\ngpu: l4\nprovider: aws\n'],
  ['no newline at the end', '# ours', '# ours\ngpu: l4\nprovider: aws\n'],
  [
    'other settings',
    '# ours\nrules:\n  idle-gpu-container: off # why\n',
    '# ours\nrules:\n  idle-gpu-container: off # why\ngpu: l4\nprovider: aws\n',
  ],
  ['other values', 'gpu: "t4" # old\nprovider: gcp\n', 'gpu: "l4" # old\nprovider: aws\n'],
  ['an empty value', 'gpu:\nprovider: gcp\n', 'gpu: l4\nprovider: aws\n'],
  ['CRLF', 'rules: {}\r\n', 'rules: {}\r\ngpu: l4\r\nprovider: aws\r\n'],
])('%s', (_, text, wanted) => {
  const edits = setConfigEdits(text, { gpu: 'l4', provider: 'aws' });
  expect(edits && applyEdits(text, edits)).toBe(wanted);
});

test('writes only the GPU without a provider', () => {
  expect(applyEdits('provider: gcp\n', setConfigEdits('provider: gcp\n', { gpu: 'l4', provider: null }) ?? [])).toBe(
    'provider: gcp\ngpu: l4\n',
  );
});

test.each([
  ['a list', '- a\n'],
  ['broken YAML', 'gpu: [\n'],
  ['a mapping where a value belongs', 'gpu:\n  a: 1\n'],
])('%s is left alone', (_, text) => {
  expect(setConfigEdits(text, { gpu: 'l4', provider: 'aws' })).toBeUndefined();
});

test('writes nothing that would not be read back', () => {
  expect(
    setConfigEdits('# a directive needs a document marker\n%YAML 1.2\n', { gpu: 'h100-80gb-sxm' }),
  ).toBeUndefined();
});
