import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';

// Schedules as robfig/cron v3 reads them with ParseStandard. https://github.com/robfig/cron/blob/v3.0.1/parser.go

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly words: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const fields: readonly Field[] = [
  { name: 'minute', least: 0, most: 59, words: [] },
  { name: 'hour', least: 0, most: 23, words: [] },
  { name: 'day of the month', least: 1, most: 31, words: [] },
  { name: 'month', least: 1, most: 12, words: months },
  { name: 'day of the week', least: 0, most: 6, words: days },
];

const descriptors = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/;
const duration = /^@every (?:[\d.]+(?:ns|us|\u00b5s|ms|s|m|h))+$/;

/** What is wrong with a schedule, as the end of a sentence that starts with it; undefined if it is valid. */
export function scheduleProblem(schedule: string): string | undefined {
  const text = schedule.trim();
  if (text === '') return 'is empty';
  if (/^(?:CRON_)?TZ=/.test(text)) return 'must not contain a time zone; use timeZone';
  if (text.startsWith('@')) {
    return descriptors.test(text) || (text.length < 60 && duration.test(text)) ? undefined : 'is unknown';
  }
  const written = text.split(/\s+/);
  if (written.length !== fields.length) return `must have 5 fields, not ${written.length}`;
  for (const [index, field] of fields.entries()) {
    for (const range of (written[index] ?? '').split(',')) {
      const problem = rangeProblem(range, field);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

/** Whether none of the months has one of the days: the 30th of February. A day of the week is an alternative to them. */
export function isNever(schedule: string): boolean {
  const [, , days = '', months = '', weekday = ''] = schedule.trim().split(/\s+/);
  if (weekday !== '*' || !/^\d[\d,]*$/.test(days) || !/^\d[\d,]*$/.test(months)) return false;
  const least = Math.min(...days.split(',').map(Number));
  return months.split(',').every((month) => least > new Date(2024, Number(month), 0).getDate());
}

const perDescriptor = table<string>({
  yearly: '0 0 1 1 *',
  annually: '0 0 1 1 *',
  monthly: '0 0 1 * *',
  weekly: '0 0 * * 0',
  daily: '0 0 * * *',
  midnight: '0 0 * * *',
  hourly: '0 * * * *',
});

const secondsPer = table<number>({ ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 });

/** The average number of runs in a month, which is a twelfth of a year of 365 days (730 hours); null for an invalid schedule. */
export function runsPerMonth(schedule: string): number | null {
  const text = schedule.trim();
  if (scheduleProblem(text) !== undefined) return null;
  if (text.startsWith('@every')) {
    const parts = [...text.matchAll(/([\d.]{1,20})([a-z\u00b5]{1,2})/g)];
    const seconds = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (secondsPer[unit] ?? 0), 0);
    return seconds > 0 ? (730 * 3600) / seconds : null;
  }
  const written = (perDescriptor[text.slice(1)] ?? text).split(/\s+/);
  const [minutes, hours, days, inMonths, weekdays] = fields.map((field, index) =>
    valuesOf(written[index] ?? '', field),
  );
  if (!minutes || !hours || !days || !inMonths || !weekdays) return null;
  return minutes.size * hours.size * daysPerMonth();

  function daysPerMonth(): number {
    if (!days || !inMonths || !weekdays) return 0;
    if (days.size === 31 && inMonths.size === 12) return (weekdays.size / 7) * (365 / 12);
    // If both days are limited, either may match.
    const isLimited = (index: number) => !/^[*?]/.test(written[index] ?? '');
    const either = isLimited(2) && isLimited(4);
    let matching = 0;
    // After 28 years, dates have the same weekdays again.
    for (let day = 0; day < 28 * 365.25; day += 1) {
      const date = new Date(Date.UTC(2024, 0, 1 + day));
      const byDay = days.has(date.getUTCDate());
      const byWeekday = weekdays.has(date.getUTCDay());
      if (inMonths.has(date.getUTCMonth() + 1) && (either ? byDay || byWeekday : byDay && byWeekday)) matching += 1;
    }
    return matching / (28 * 12);
  }
}

function valuesOf(text: string, field: Field): ReadonlySet<number> {
  const values = new Set<number>();
  for (const range of text.split(',')) {
    const [bounds = '', step] = range.split('/');
    const [start = '', end] = bounds.split('-');
    const all = start === '*' || start === '?';
    const from = all ? field.least : (numberOf(start, field) ?? field.least);
    const last = end === undefined ? (all || step !== undefined ? field.most : from) : (numberOf(end, field) ?? from);
    for (let value = from; value <= last; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

function rangeProblem(range: string, field: Field): string | undefined {
  const [bounds = '', step, ...more] = range.split('/');
  const [start = '', end, ...others] = bounds.split('-');
  const invalid = `has an invalid ${field.name} (${shorten(range, 20)})`;
  if (more.length > 0 || others.length > 0) return invalid;
  if (step !== undefined && !(/^\d{1,9}$/.test(step) && Number(step) > 0)) return invalid;
  if (start === '*' || start === '?') return end === undefined ? undefined : invalid;
  const from = numberOf(start, field);
  const to = end === undefined ? from : numberOf(end, field);
  if (from === undefined || to === undefined) return invalid;
  if (from < field.least || to > field.most) return `${invalid}, which must be from ${field.least} to ${field.most}`;
  return from > to ? invalid : undefined;
}

function numberOf(text: string, { words, least }: Field): number | undefined {
  const index = words.indexOf(text.toLowerCase());
  if (index >= 0) return index + least;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
