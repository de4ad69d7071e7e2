import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { framesOf } from '../../server/src/lsp/node-framing.ts';

const frame = (text: string, header = 'Content-Length: ') => `${header}${Buffer.byteLength(text)}\r\n\r\n${text}`;

async function passed(input: string, size = input.length): Promise<string> {
  const stream = new PassThrough();
  const all = buffer(framesOf(stream));
  const bytes = Buffer.from(input);
  for (let at = 0; at < bytes.length; at += Math.max(1, size)) stream.write(bytes.subarray(at, at + Math.max(1, size)));
  stream.end();
  return (await all).toString();
}

const [one, two] = [frame('{"a":"ü"}'), frame('{"b":2}')];

test.each([1, 7, 1000])('messages pass unchanged, in chunks of %i bytes', async (size) => {
  expect(await passed(one + two, size)).toBe(one + two);
  const typed = frame('{"b":2}', 'Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:');
  expect(await passed(one + typed, size)).toBe(one + two);
});

test.each([
  ['no length', 'Content-Type: x\r\n\r\n'],
  ['a length that is no number', 'Content-Length: many\r\n\r\n'],
  ['a negative length', 'Content-Length: -5\r\n\r\nhello'],
  ['an absurd length', 'Content-Length: 99999999999\r\n\r\n{"x":1}'],
  ['a length that is no whole number', 'Content-Length: 1e3\r\n\r\n{}'],
  ['no header', '\r\n\r\n\r\n\r\n'],
  ['a header without a colon', 'Hello\r\n\r\n'],
  ['much that is none', 'x'.repeat(100_000)],
])('input with %s is dropped, and the next message passes', async (_, garbage) => {
  for (const size of [1000, 100_000]) expect(await passed(one + garbage + two, size)).toBe(one + two);
});
