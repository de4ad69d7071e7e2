import { expect, test, vi } from 'vitest';
import { CancellationTokenSource, LSPErrorCodes, ResponseError } from 'vscode-languageserver';
import { guard, inTime, outdated } from '../../server/src/lsp/guard.ts';

const never = new CancellationTokenSource().token;

test('an exception is logged with the name, and the fallback is the response', async () => {
  const log: string[] = [];
  const handler = guard(
    (line) => log.push(line),
    'hover',
    'nothing',
    () => {
      throw new TypeError('broken');
    },
  );
  expect(await handler(undefined, never)).toBe('nothing');
  expect(log).toHaveLength(1);
  expect(log[0]).toMatch(/^hover failed: TypeError: broken/);
});

test('any thrown value is logged', async () => {
  const log: string[] = [];
  const handler = guard(
    (line) => log.push(line),
    'hover',
    null,
    () => Promise.reject('just a text'),
  );
  expect(await handler(undefined, never)).toBeNull();
  expect(log).toEqual(['hover failed: just a text']);
});

test('a ResponseError is passed on', async () => {
  const log: string[] = [];
  const handler = guard(
    (line) => log.push(line),
    'hover',
    null,
    () => Promise.reject(outdated()),
  );
  await expect(handler(undefined, never)).rejects.toMatchObject({ code: LSPErrorCodes.ContentModified });
  expect(log).toEqual([]);
});

test('a cancellation that arrives while the request waits prevents the work', async () => {
  let worked = false;
  const source = new CancellationTokenSource();
  const handler = guard(
    () => undefined,
    'hover',
    null,
    () => {
      worked = true;
      return null;
    },
  );
  const answer = handler(undefined, source.token);
  source.cancel();
  await expect(answer).rejects.toBeInstanceOf(ResponseError);
  await expect(answer).rejects.toMatchObject({ code: LSPErrorCodes.RequestCancelled });
  expect(worked).toBe(false);
});

test('an answer in time leaves no timer behind, and a late one is replaced', async () => {
  vi.useFakeTimers();
  try {
    expect(await inTime(Promise.resolve('answer'), 3000, () => 'late')).toBe('answer');
    await expect(inTime(Promise.reject(new Error('no answer')), 3000, () => 'late')).rejects.toThrow('no answer');
    expect(vi.getTimerCount()).toBe(0);
    const never = inTime(new Promise<string>(() => undefined), 3000, () => 'late');
    vi.advanceTimersByTime(3000);
    expect(await never).toBe('late');
  } finally {
    vi.useRealTimers();
  }
});
