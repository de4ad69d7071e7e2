import { expect, test } from 'vitest';
import { createPendingSummaries } from '../../server/src/lsp/pending-summaries.ts';

const found = { kinds: new Set(['Service']), names: new Set(['chat']) };

function pendingSummaries() {
  let release: () => void = () => undefined;
  const busy = new Promise<void>((resolve) => {
    release = resolve;
  });
  const made: string[] = [];
  const pending = createPendingSummaries(
    () => undefined,
    () => busy,
  );
  const defer = (key: string, size = 10) =>
    pending.defer(key, 'x'.repeat(size), found, () => {
      made.push(key);
      return { kinds: found.kinds, objects: () => [], references: () => [] };
    });
  return { pending, made, defer, release: () => release() };
}

test('a summary is computed on the first lookup, once', () => {
  const { made, defer } = pendingSummaries();
  const summary = defer('a');
  expect([...summary.kinds, ...(summary.names ?? [])]).toEqual(['Service', 'chat']);
  expect(made).toEqual([]);
  summary.objects();
  summary.references();
  expect(made).toEqual(['a']);
});

test('the rest is computed when nothing else is running', async () => {
  const { pending, made, defer, release } = pendingSummaries();
  const looked = defer('a');
  for (const key of ['b', 'c']) defer(key);
  pending.drop('b');
  looked.objects();
  const finished = pending.finish();
  await Promise.resolve();
  expect(made).toEqual(['a']);
  release();
  await finished;
  expect(made).toEqual(['a', 'c']);
});

test('no more texts are kept than the limit, which those that were dropped leave free', () => {
  const { pending, made, defer } = pendingSummaries();
  defer('a', 15_000_000);
  defer('b', 2_000_000);
  expect(made).toEqual(['b']);
  pending.drop('a');
  defer('c', 2_000_000);
  expect(made).toEqual(['b']);
});
