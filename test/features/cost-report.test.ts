import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { renderCsv } from '../../server/src/features/cost-report/csv.ts';
import { groupsOf, idlePartsOf } from '../../server/src/features/cost-report/groups.ts';
import { renderPage } from '../../server/src/features/cost-report/html.ts';
import { renderMarkdown } from '../../server/src/features/cost-report/markdown.ts';
import type { CostSaving, ReportedCost, ReportedCosts } from '../../server/src/features/cost-report/report.ts';

const some: ReportedCost = {
  kind: 'Deployment',
  name: 'chat',
  namespace: null,
  team: null,
  gpus: { min: 1, max: 1 },
  cards: ['L4'],
  providers: ['AWS'],
  capacity: 'unknown',
  hourly: { min: 1, max: 1 },
  caveat: null,
  isOpen: false,
  monthly: { min: 730, max: 730 },
  run: null,
  possibleHourly: null,
  nodeHourly: null,
  idleHourly: 1,
  problem: null,
  path: 'chat.yaml',
  line: 1,
};

function costs(rows: readonly Partial<ReportedCost>[], savings: readonly CostSaving[] = []): ReportedCosts {
  return { title: 'shop', rows: rows.map((row) => ({ ...some, ...row })), savings, basis: undefined };
}

const page = (report: ReportedCosts, base = '') => renderPage(report, { nonce: 'abc', base });

describe('CSV', () => {
  const nameIn = (name: string) => {
    const csv = [...renderCsv(costs([{ name }]))].join('\r\n');
    const [row] = parse<Record<string, string>>(csv, { columns: true });
    return row?.name;
  };

  test.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['  =1', "'  =1"],
    ['\uff1d1', "'\uff1d1"],
    ['\t=1', "'\\u0009=1"],
    ['\u200b=1', "'\\u200b=1"],
  ])('shows %j as text', (name, shown) => expect(nameIn(name)).toBe(shown));

  test.each(['a,b', 'a"b', "a'b", ' a ', 'a;b', '1-2', '数据'])('keeps %j', (name) => expect(nameIn(name)).toBe(name));

  test('has every amount as a plain number', () => {
    const [, row] = [...renderCsv(costs([{ hourly: { min: 0.1 + 0.2, max: 1234567.891 } }]))];
    expect(row?.split(',')).toEqual(expect.arrayContaining(['0.3', '1234567.891']));
  });
});

describe('the address of a link', () => {
  const addressOf = (path: string, base?: string) => /<a href="([^"]*)"/.exec(page(costs([{ path }]), base).html)?.[1];

  test.each([
    ['javascript:alert(1).yaml', './javascript%3Aalert(1).yaml'],
    ['//evil.example/a.yaml', '/evil.example/a.yaml'],
    ['a b/"><img>/c#d?.yaml', './a%20b/%22%3E%3Cimg%3E/c%23d%3F.yaml'],
    ["it's.yaml", './it%27s.yaml'],
    ['\ud800.yaml', './%EF%BF%BD.yaml'],
  ])('of %j', (path, address) => expect(addressOf(path)).toBe(address));

  test('starts at the folder of the page', () => expect(addressOf('a.yaml', '../')).toBe('../a.yaml'));
});

describe('groups', () => {
  test('beyond the sixth are one group with the same sum', () => {
    const rows = costs(
      Array.from({ length: 9 }, (_, index) => ({ namespace: `n${index}`, hourly: { min: index, max: 2 * index } })),
    ).rows;
    const groups = groupsOf(rows, ({ namespace }) => namespace ?? '');
    expect(groups.map(({ name }) => name)).toEqual(['n8', 'n7', 'n6', 'n5', 'n4', 'n3', '3 others']);
    expect(groups.reduce((sum, { hourly }) => sum + hourly.max, 0)).toBe(72);
    expect(groups.at(-1)?.hourly).toEqual({ min: 3, max: 6 });
  });

  test('may have the names of properties of objects', () => {
    const names = ['constructor', '__proto__', 'toString'];
    const groups = groupsOf(costs(names.map((namespace) => ({ namespace }))).rows, (row) => row.namespace ?? '');
    expect(groups.map(({ name, hourly }) => [name, hourly.max])).toEqual(names.sort().map((name) => [name, 1]));
  });

  test('of idle dollars are the ceiling', () => {
    const { rows } = costs([
      { hourly: { min: 2, max: 6 }, idleHourly: 2 },
      { hourly: { min: 0, max: 8 }, idleHourly: null },
      { hourly: null, idleHourly: null },
    ]);
    expect(idlePartsOf(rows)).toEqual({ idle: 2, scaled: 4, others: 8 });
  });
});

describe('the page', () => {
  test('of no workloads has no charts and no savings', () => {
    const { html, places, fixes } = page(costs([]));
    expect(html).not.toMatch(/<figure|id="savings"/);
    expect(html).toContain('No workload requests GPUs.');
    expect([places, fixes]).toEqual([[], []]);
  });

  test('numbers places and fixes in the order of the page', () => {
    const saving = { workload: 'Deployment/chat', message: 'idle', path: 'chat.yaml', line: 9 };
    const savings = [
      { ...saving, hourly: 1, fix: 'Set replicas to 0' },
      { ...saving, hourly: 2, fix: null, line: 7 },
      { ...saving, hourly: 3, fix: 'Use spot', line: 8 },
    ];
    const { html, places, fixes } = page(costs([{}], savings));
    expect(places.map(({ line }) => line)).toEqual([8, 7, 9, 1]);
    expect(fixes.map(({ fix }) => fix)).toEqual(['Use spot', 'Set replicas to 0']);
    expect(html.match(/data-(place|fix)="\d"/g)).toEqual(
      ['place="0"', 'fix="0"', 'place="1"', 'place="2"', 'fix="1"', 'place="3"'].map((text) => `data-${text}`),
    );
  });

  test('shows the ten largest savings', () => {
    const savings = Array.from({ length: 12 }, (_, index) => ({
      ...{ workload: null, message: 'idle', fix: null, path: 'a.yaml', line: 1 },
      hourly: index,
    }));
    const { html } = page(costs([{}], savings));
    expect(html.match(/<p class="amount">/g)).toHaveLength(10);
    expect(html).toContain('The largest 10 of 12.');
    expect(html).not.toContain('$1.00/h <small>');
  });

  test('escapes every text of the files', () => {
    const bad = '"\'><img src=x onerror=alert(1)>&lt;`\u202e';
    const texts = { kind: bad, name: bad, namespace: bad, team: bad, cards: [bad], providers: [bad], problem: bad };
    const saving = { workload: bad, message: bad, hourly: 1, fix: bad, path: bad, line: 1 };
    const { html } = renderPage(
      { ...costs([{ ...texts, path: bad }], [saving]), title: bad, basis: bad },
      { nonce: 'abc' },
    );
    expect(html).not.toMatch(/<img|\u202e/);
    const withoutScript = html.replace(/<(script|style) [\s\S]*?<\/\1>/g, '');
    expect(
      withoutScript.match(/<(?!\/?(?:[a-z][a-z0-9]*)(?: [a-zA-Z-]+(?:="[^"<>]*")?)*\/?>|!DOCTYPE html>)[^\n]*/g),
    ).toBeNull();
  });
});

test('Markdown of many workloads counts those that it does not list', () => {
  const text = [...renderMarkdown(costs([{}, {}, {}]), 2)].join('');
  expect(text).toContain('… and 1 more workload\n');
  expect(text).toContain('GPU cost of shop: $3.00/h');
});
