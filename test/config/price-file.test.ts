import { describe, expect, test } from 'vitest';
import { isPathBelow, readPriceFile } from '../../server/src/config/price-file.ts';
import { parseConfig } from '../../server/src/config.ts';

describe('a price file of OpenCost', () => {
  test('has prices as texts or numbers', () => {
    const text =
      '{"provider": "custom", "CPU": "0.03", "RAM": 0.004, "GPU": "0.95", "spotGPU": "0.31", "storage": "1"}';
    expect(readPriceFile(`\uFEFF${text}`)).toEqual({
      onDemand: { gpu: 0.95, cpu: 0.03, memoryGiB: 0.004 },
      spot: { gpu: 0.31, cpu: 0, memoryGiB: 0 },
    });
  });

  test('has no spot price without spotGPU', () => {
    expect(readPriceFile('{"GPU": "2"}')).toEqual({ onDemand: { gpu: 2, cpu: 0, memoryGiB: 0 }, spot: null });
  });

  test.each([
    ['CPU: 1', 'it is not JSON'],
    ['{"CPU": "0.03"}', 'it has no GPU price above 0'],
    ['{"GPU": "free"}', 'it has no GPU price above 0'],
    ['{"GPU": -1}', 'it has no GPU price above 0'],
    ['{"GPU": 1e400}', 'it has no GPU price above 0'],
    ['{"__proto__": {"GPU": 1}}', 'it has no GPU price above 0'],
    ['null', 'it has no GPU price above 0'],
    ['[]', 'it has no GPU price above 0'],
  ])('%s: %s', (text, reason) => {
    expect(readPriceFile(text)).toBe(reason);
  });
});

describe('the path of a price file', () => {
  test.each(['prices.json', 'team/prices/default.json', 'with space.json'])('%s is below', (path) => {
    expect(isPathBelow(path)).toBe(true);
  });

  test.each([
    '../prices.json',
    'a/../../prices.json',
    '/etc/passwd',
    'C:\\prices.json',
    'a\\..\\b',
    './a',
    'a//b',
    'https://prices.example/a.json',
    '%2e%2e/a',
    'a?b',
    'a/',
  ])('%s is not, which the config reports at the path', (path) => {
    expect(isPathBelow(path)).toBe(false);
    const text = `priceFile: ${JSON.stringify(path)}`;
    const [problem, ...others] = parseConfig(text).problems;
    expect(others).toEqual([]);
    expect(problem?.message).toContain("'priceFile' must be the path of a file in or below this folder");
    expect(text.slice(problem?.span.start, problem?.span.end)).toBe(JSON.stringify(path));
  });
});

test('a discount of something unknown is reported at its key', () => {
  const text = 'prices: {discounts: {aws: 10, p5.48xlarge: 20, p5.48xlrge: 30}}';
  const [problem, ...others] = parseConfig(text).problems;
  expect(others).toEqual([]);
  expect(problem?.message).toContain("no provider and no instance type 'p5.48xlrge', so the discount has no effect");
  expect(text.slice(problem?.span.start, problem?.span.end)).toBe('p5.48xlrge');
});
