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
const duration = /^@every (?:[\d.]+(?:ns|us|µs|ms|s|m|h))+$/;

/** What is wrong with a schedule, as the end of a sentence that starts with it; undefined if it is valid. */
export function scheduleProblem(schedule: string): string | undefined {
  const text = schedule.trim();
  if (text === '') return 'is empty';
  if (/^(?:CRON_)?TZ=/.test(text)) return 'must not contain a time zone; use timeZone';
  if (text.startsWith('@')) {
    return descriptors.test(text) || (text.length < 60 && duration.test(text)) ? undefined : 'is not a known word';
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

function rangeProblem(range: string, field: Field): string | undefined {
  const [bounds = '', step, ...more] = range.split('/');
  const [start = '', end, ...others] = bounds.split('-');
  const invalid = `has an invalid ${field.name} (${range.slice(0, 12)})`;
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
