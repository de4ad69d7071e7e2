#!/usr/bin/env node
// @ts-check
// `npm run bench`: how fast the language server is, with another one beside it in the same run, because times drift from machine to
// machine and from minute to minute. Writes docs/performance.md.
//
//   --rounds N   sessions for each server and text (5); the quietest counts
//   --dry        prints the tables and writes nothing
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { samples } from './manifests.mjs';
import { EDITS, measure } from './measure.mjs';
import { installPeer } from './peer.mjs';

/** @typedef {import('./measure.mjs').Session} Session */
/** @typedef {{ name: string, command: readonly string[] }} Contender */

const root = path.join(import.meta.dirname, '..');
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, dry: { type: 'boolean', default: false } },
});
const rounds = Number(options.rounds);
const [load = 0] = os.loadavg();

const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
/** @type {Contender[]} */
const contenders = [
  { name: `gpulint ${version}`, command: [process.execPath, path.join(root, 'dist', 'cli.js'), 'lsp', '--stdio'] },
];
const peer = installPeer();
if ('command' in peer) contenders.push(peer);
else console.error(peer.reason);

const texts = samples();
/** @type {Map<string, Session[]>} */
const sessions = new Map();
for (let round = 0; round < rounds; round++) {
  for (const sample of texts) {
    // In pairs and in turns, so that a busy minute of the machine meets both.
    for (const { name, command } of round % 2 ? contenders.toReversed() : contenders) {
      const session = await measure(command, sample);
      const key = `${name} ${sample.name}`;
      sessions.set(key, [...(sessions.get(key) ?? []), session]);
      console.error(`${key}: open ${ms(session.open)} ms, change ${ms(quantile(session.changes, 0.5))} ms`);
    }
  }
}

const page = report();
if (options.dry) console.log(page);
else writeFileSync(path.join(root, 'docs', 'performance.md'), page);

function report() {
  const documents = (texts[1]?.text.match(/^---$/gm) ?? []).length;
  const [cpu] = os.cpus();
  return `<!-- Written by \`npm run bench\`. -->
# Performance

How long the editor waits for gpulint, measured from the outside: a client starts the server, opens a text, makes ${EDITS} edits
of one character each at ${EDITS} places, and after each of them waits for the diagnostics. Of ${rounds} sessions, each with a fresh process
and the servers in turns, each figure is the best: what else a machine does only adds to a time.

${texts.map(tableOf).join('\n\n')}

Times are in milliseconds, memory in megabytes. *CPU* is the server's processor time for an edit, which a busy machine disturbs least.
*Hover* is sent right behind an edit, so the server has to read the text anew first.

The text of 5,000 lines in documents holds ${documents} of them; the List is one document. Half of the objects ask for GPUs, and some do it
wrongly.

${targets()}

## Bundles

${bundles()}

## The other server

${'command' in peer ? peerNote(peer.name) : `${peer.reason}.`}

Measured on ${new Date().toISOString().slice(0, 10)}: ${cpu?.model.trim()}, ${os.cpus().length} cores, ${os.type()}, Node
${process.versions.node}; the load was ${load.toFixed(1)} at the start of the run and ${(os.loadavg()[0] ?? 0).toFixed(1)} at its end. On a
machine with other work times are several times as long as on an idle one; the other server's rows tell by how much.
`;
}

/** @param {string} name */
function peerNote(name) {
  return `${name} runs beside gpulint in most editors and reads the same texts. It does another job (it checks against JSON Schemas), so this is
no contest, but it is what people are used to. Here it has no network and no schema: it only reads, which is its lightest work. It waits
200 ms after a change before it begins, on purpose; its CPU column shows the work itself.`;
}

/** @param {import('./manifests.mjs').Sample} sample */
function tableOf({ name }) {
  const rows = contenders.map((contender) => {
    const all = sessions.get(`${contender.name} ${name}`) ?? [];
    const cells = [
      best(all.map(({ initialize }) => initialize)),
      best(all.map(({ open }) => open)),
      best(all.map(({ changes }) => quantile(changes, 0.5))),
      best(all.map(({ changes }) => quantile(changes, 0.95))),
      best(all.map(({ cpu }) => cpu)),
      best(all.map(({ hovers }) => quantile(hovers, 0.5))),
      best(all.map(({ rss }) => rss)),
    ];
    return `| ${contender.name} | ${cells.map(ms).join(' | ')} |`;
  });
  return `### ${name}

| | initialize | open | change → diagnostics p50 | p95 | CPU | hover after edit p50 | memory |
|---|---|---|---|---|---|---|---|
${rows.join('\n')}`;
}

function targets() {
  const [small, large, list] = texts.map(({ name }) => sessions.get(`${contenders[0]?.name} ${name}`) ?? []);
  const p95 = (/** @type {Session[] | undefined} */ all) =>
    best((all ?? []).map(({ changes }) => quantile(changes, 0.95)));
  const all = [...(small ?? []), ...(large ?? []), ...(list ?? [])];
  /** @type {readonly (readonly [string, number, number])[]} */
  const rows = [
    ['change → diagnostics, 200 lines, p95', p95(small), 10],
    ['change → diagnostics, 5,000 lines in documents, p95', p95(large), 16],
    ['change → diagnostics, 5,000 lines in one document, p95', p95(list), 40],
    ['open 5,000 lines in documents', best((large ?? []).map(({ open }) => open)), 150],
    ['open 5,000 lines in one document', best((list ?? []).map(({ open }) => open)), 150],
    ['start to initialized', best(all.map(({ initialize }) => initialize)), 150],
    ['memory (MB)', Math.max(...all.map(({ rss }) => rss)), 120],
  ];
  const lines = rows.map(
    ([what, value, limit]) => `| ${what} | ${ms(value)} | ${limit} | ${value <= limit ? 'yes' : 'no'} |`,
  );
  return `## Targets\n\n| | measured | target | met |\n|---|---|---|---|\n${lines.join('\n')}`;
}

function bundles() {
  const files = ['client.js', 'server.js', 'client.browser.js', 'server.browser.js', 'cli.js'];
  const sizes = files.map(
    (file) => `| dist/${file} | ${Math.round(statSync(path.join(root, 'dist', file)).size / 1000)} |`,
  );
  return `| | kB |\n|---|---|\n${sizes.join('\n')}`;
}

/** @param {number} value */
function ms(value) {
  return Number.isFinite(value) ? value.toFixed(value < 9.95 ? 1 : 0) : '–';
}

/** @param {readonly number[]} values */
function best(values) {
  return Math.min(...values);
}

/** @param {readonly number[]} values @param {number} part */
function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}
