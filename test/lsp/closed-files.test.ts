import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchClosing } from '../../server/src/lsp/closed-files.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('memory is released once after many files were closed', () => {
  const collect = vi.fn();
  const closed = watchClosing(collect);
  for (let count = 0; count < 99; count += 1) closed();
  vi.advanceTimersByTime(60_000);
  expect(collect).not.toHaveBeenCalled();
  closed();
  vi.advanceTimersByTime(900);
  closed();
  vi.advanceTimersByTime(900);
  expect(collect).not.toHaveBeenCalled();
  vi.advanceTimersByTime(200);
  expect(collect).toHaveBeenCalledOnce();
});
