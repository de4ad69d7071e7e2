import { afterEach, expect, test, vi } from 'vitest';
import { limitWork } from '../../server/src/lsp/limited-work.ts';

afterEach(() => vi.useRealTimers());

function hanging() {
  let end: (text: string) => void = () => undefined;
  const done = new Promise<string>((resolve) => {
    end = resolve;
  });
  return { work: () => done, end: () => end('late') };
}

test('work runs in a limited number of slots, the rest waits', async () => {
  const { run } = limitWork(2, 1000);
  const works = [hanging(), hanging(), hanging()];
  const started: number[] = [];
  const answers = works.map(({ work }, index) =>
    run(() => {
      started.push(index);
      return work();
    }),
  );
  await Promise.resolve();
  expect(started).toEqual([0, 1]);
  works[1]!.end();
  await answers[1];
  works[2]!.end();
  expect(await answers[2]).toBe('late');
  expect(started).toEqual([0, 1, 2]);
  works[0]!.end();
  await answers[0];
});

test('work that throws, at once or later, frees its slot', async () => {
  const { run, isBusy } = limitWork(1, 1000);
  const broken = () => {
    throw new Error('at once');
  };
  await expect(run(broken)).rejects.toThrow('at once');
  await expect(run(() => Promise.reject(new Error('later')))).rejects.toThrow('later');
  expect(isBusy()).toBe(false);
  expect(await run(async () => 1)).toBe(1);
});

test('hanging work times out but keeps its slot; if all slots hang, work is rejected until one is free', async () => {
  vi.useFakeTimers();
  const { run, isBusy } = limitWork(2, 5000);
  const works = [hanging(), hanging()];
  const answers = works.map(({ work }) => run(work));
  let isTried = false;
  const queued = run(async () => {
    isTried = true;
  });
  const reported = Promise.allSettled([...answers, queued]);
  await vi.advanceTimersByTimeAsync(5000);
  const reasons = (await reported).map((one) => (one.status === 'rejected' ? one.reason.message : one.value));
  expect(reasons).toEqual([
    'took longer than 5 s',
    'took longer than 5 s',
    'is on a file system that does not respond',
  ]);
  await expect(run(async () => 1)).rejects.toThrow('does not respond');
  expect([isTried, isBusy()]).toEqual([false, true]);
  works[0]!.end();
  await vi.advanceTimersByTimeAsync(0);
  expect(await run(async () => 1)).toBe(1);
});

test('settled waits for running work, but not for hanging work, and starts no more', async () => {
  vi.useFakeTimers();
  const { run, settled, isBusy } = limitWork(1, 5000);
  const work = hanging();
  void run(work.work).catch(() => undefined);
  const queued = expect(run(async () => 1)).rejects.toThrow('does not respond');
  const end = settled();
  await vi.advanceTimersByTimeAsync(1000);
  await Promise.all([end, queued]);
  expect(isBusy()).toBe(true);
});
