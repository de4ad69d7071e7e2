import { afterEach, expect, test, vi } from 'vitest';
import { createBulkReader, type FromReader, type ReaderThread, type ToReader } from '../../server/src/lsp/node-bulk.ts';

afterEach(() => vi.useRealTimers());

/** A thread that answers when the test says so. */
function lab() {
  const posted: string[] = [];
  const ends: string[] = [];
  let receive: (message: FromReader) => void = () => undefined;
  let fail: () => void = () => undefined;
  const alone: string[] = [];
  const start = (received: typeof receive, ended: () => void): ReaderThread => {
    receive = received;
    fail = ended;
    return { post: ({ file }: ToReader) => posted.push(file), end: () => ends.push('ended') };
  };
  const reader = createBulkReader(start, async (file) => {
    alone.push(file);
    return `alone ${file}`;
  });
  return { reader, posted, ends, alone, receive: (message: FromReader) => receive(message), fail: () => fail() };
}

test('files are read in the thread as long as the work runs, and alone before and after', async () => {
  const { reader, posted, ends, receive } = lab();
  expect(await reader.read('a', [])).toBe('alone a');
  const texts = await reader.during(async () => {
    const reads = ['b', 'c', 'd'].map((file) => reader.read(file, []).catch(({ message }: Error) => message));
    receive({ text: 'B' });
    receive({ text: undefined });
    receive({ denied: 'is a circular link' });
    return Promise.all(reads);
  });
  expect(texts).toEqual(['B', undefined, 'is a circular link']);
  expect([posted, ends]).toEqual([['b', 'c', 'd'], ['ended']]);
  expect(await reader.read('e', [])).toBe('alone e');
});

test('work that overlaps shares the thread', async () => {
  const { reader, posted, ends } = lab();
  let end: () => void = () => undefined;
  const busy = new Promise<void>((resolve) => {
    end = resolve;
  });
  const first = reader.during(() => busy);
  await reader.during(async () => undefined);
  void reader.read('a', []);
  expect([posted, ends]).toEqual([['a'], []]);
  end();
  await first;
  expect(ends).toEqual(['ended']);
});

test('files that a thread has not read when it fails are read alone', async () => {
  const { reader, receive, fail } = lab();
  const texts = await reader.during(async () => {
    const reads = ['a', 'b'].map((file) => reader.read(file, []));
    receive({ text: 'A' });
    fail();
    return Promise.all([...reads, reader.read('c', [])]);
  });
  expect(texts).toEqual(['A', 'alone b', 'alone c']);
  expect(reader.isHung()).toBe(false);
});

test('a read that hangs is denied after five seconds, and the others are read alone', async () => {
  vi.useFakeTimers();
  const { reader, receive } = lab();
  const work = reader.during(async () => {
    const reads = ['a', 'b', 'c'].map((file) => reader.read(file, []).catch(({ message }: Error) => message));
    await vi.advanceTimersByTimeAsync(3000);
    receive({ text: 'A' });
    await vi.advanceTimersByTimeAsync(5000);
    expect(reader.isHung()).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    return Promise.all(reads);
  });
  expect(await work).toEqual(['A', 'took longer than 5 s', 'alone c']);
  expect(reader.isHung()).toBe(true);
  // No further thread is started.
  expect(await reader.during(() => reader.read('d', []))).toBe('alone d');
});
