// Draws findings of error and warning severity from JSON reports and prints them as the tables of docs/precision.md, with the verdicts
// that are there already: node scripts/precision-sample.mjs report.json,other.json 400 4
import { readFileSync } from 'node:fs';

const [reports = '', count = '400', seed = '4'] = process.argv.slice(2);
if (reports === '') {
  console.error('usage: node scripts/precision-sample.mjs <report.json>[,<report.json>...] [count] [seed]');
  process.exit(2);
}

/** Verdicts by rule and place, as the page has them. */
const judged = new Map(
  readFileSync(new URL('../docs/precision.md', import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .filter((cells) => cells.length === 8)
    .map(([, rule, , place, , verdict, why]) => [`${rule} ${place}`, { verdict, why }]),
);

const files = reports.split(',').flatMap((report) => JSON.parse(readFileSync(report, 'utf8')).files);
const all = files.flatMap(({ path, findings }) =>
  findings
    .filter(({ severity }) => severity === 'error' || severity === 'warning')
    .map(({ rule, severity, message, range }) => {
      const place = `${path.replace('+', '/')}:${range.start.line}`;
      return { rule, severity, place, message, ...judged.get(`${rule} ${place}`) };
    }),
);
const drawn = shuffled(all, Number(seed)).slice(0, Number(count));
drawn.sort((a, b) => compare(a.rule, b.rule) || compare(a.place, b.place));

const rules = [...new Set(drawn.map(({ rule }) => rule))];
const tally = (findings) =>
  ['agree', 'disagree', 'unclear'].map((one) => findings.filter((f) => f.verdict === one).length);
print(['Rule', 'Drawn', 'Agree', 'Disagree', 'Unclear']);
print(['---', '--:', '--:', '--:', '--:']);
for (const rule of rules) {
  const of = drawn.filter((finding) => finding.rule === rule);
  print([rule, of.length, ...tally(of)]);
}
print(['all', drawn.length, ...tally(drawn)]);
console.log('');
print(['Rule', 'Severity', 'Place', 'Message', 'Verdict', 'Why']);
print(['---', '---', '---', '---', '---', '---']);
for (const { rule, severity, place, message, verdict = '', why = '' } of drawn) {
  print([rule, severity, place, message.replaceAll('|', '\\|'), verdict, why]);
}

/** Fisher and Yates with mulberry32: the same seed and findings give the same draw on every machine. */
function shuffled(items, start) {
  const result = [...items];
  let state = start;
  for (let last = result.length - 1; last > 0; last--) {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const other = Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * (last + 1));
    [result[last], result[other]] = [result[other], result[last]];
  }
  return result;
}

function compare(a, b) {
  return a < b ? -1 : Number(a > b);
}

function print(cells) {
  console.log(`| ${cells.join(' | ')} |`);
}
