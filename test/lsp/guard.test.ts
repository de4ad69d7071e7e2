import { expect, test } from 'vitest';
import { CancellationTokenSource, LSPErrorCodes, ResponseError } from 'vscode-languageserver';
import { guard, outdated } from '../../server/src/lsp/guard.ts';

const never = new CancellationTokenSource().token;

test('an exception becomes a log line with the name, and the fallback is answered', async () => {
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

test('whatever is thrown is told', async () => {
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

test('an answer that is an error passes', async () => {
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

test('a cancel that arrives while the request waits keeps the work from being done', async () => {
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
