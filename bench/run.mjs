#!/usr/bin/env node
// @ts-check
// `npm run bench`: measures the language server and, for comparison, another one in the same run, because times vary between
// machines and from minute to minute. Writes docs/performance.md.
//
//   --rounds N   sessions for each server and text (5); the best one is used
//   --dry        print the tables and write nothing
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { project, samples } from './manifests.mjs';
import { EDITS, measure, measureCosts, measureIndexing, measureStart } from './measure.mjs';
import { findNode } from './node.mjs';
import { writePart } from './page.mjs';
import { installPeer } from './peer.mjs';

/** @typedef {import('./measure.mjs').Session} Session */
/** @typedef {import('./measure.mjs').Program & { name: string }} Contender */

const FILES = 5000;
const root = path.join(import.meta.dirname, '..');
const { rounds, dry } = readOptions();
const [load = 0] = os.loadavg();
const temp = mkdtempSync(path.join(os.tmpdir(), 'gpulint-bench-'));
process.once('exit', () => rmSync(temp, { recursive: true, force: true }));

const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const node = findNode();
if ('reason' in node) {
  console.error(node.reason);
  process.exit(1);
}
/** @type {Contender[]} */
const contenders = [contender(`gpulint ${version}`, [node.path, path.join(root, 'dist', 'server.js'), '--stdio'])];
const peer = installPeer(node.path);
if ('command' in peer) contenders.push(contender(peer.name, peer.command));
else console.error(peer.reason);

const texts = samples();
/** @type {Map<string, Session[]>} */
const sessions = new Map();
/** @type {Map<string, { time: number, cpu: number }[]>} */
const starts = new Map();
/** @type {{ changes: readonly number[], took: number, rss: number }[]} */
const indexing = [];
/** @type {Awaited<ReturnType<typeof measureCosts>>[]} */
const costs = [];
const workspace = writeProject();

// The first start only fills the compile cache.
for (const one of contenders) await measureStart(one);
for (let round = 0; round < rounds; round++) {
  for (const sample of texts) {
    // Alternating, so that a busy minute of the machine affects both.
    for (const one of round % 2 ? contenders.toReversed() : contenders) {
      const session = await measure(one, sample);
      const key = `${one.name} ${sample.name}`;
      sessions.set(key, [...(sessions.get(key) ?? []), session]);
      console.error(`${key}: open ${ms(session.open)} ms, change ${ms(quantile(session.changes, 0.5))} ms`);
    }
    await measureStarts();
  }
  const [gpulint] = contenders;
  const [small] = texts;
  const measured = gpulint && small && (await measureIndexing(gpulint, small, workspace));
  if (measured) indexing.push(measured);
  if (gpulint && small) costs.push(await measureCosts(gpulint, small, workspace));
}

const page = report();
if (dry) console.log(page);
else writePart('bench', page);

function readOptions() {
  try {
    const { values } = parseArgs({
      options: { rounds: { type: 'string', default: '5' }, dry: { type: 'boolean', default: false } },
    });
    if (!/^[1-9]\d{0,2}$/.test(values.rounds))
      throw new Error(`--rounds must be a count, not ${JSON.stringify(values.rounds)}`);
    return { rounds: Number(values.rounds), dry: values.dry };
  } catch (error) {
    console.error(
      `npm run bench: ${error instanceof Error ? error.message : error}; the options are --rounds N and --dry.`,
    );
    process.exit(2);
  }
}

/** @param {string} name @param {readonly string[]} command @returns {Contender} */
function contender(name, command) {
  // As in VS Code, where gpulint's client sets this up. The other client does not, but here both have the cache.
  return { name, command, env: { NODE_COMPILE_CACHE: path.join(temp, name.replaceAll(' ', '-')) } };
}

async function measureStarts() {
  const begin = performance.now();
  spawnSync(/** @type {{ path: string }} */ (node).path, ['-e', '0']);
  note('Node itself, without a script', { time: performance.now() - begin, cpu: Number.NaN });
  for (const one of contenders) {
    note(one.name, await measureStart(one));
    note(`${one.name}, the first time`, await measureStart({ ...one, env: { NODE_DISABLE_COMPILE_CACHE: '1' } }));
  }
}

/** @param {string} name @param {{ time: number, cpu: number }} start */
function note(name, start) {
  starts.set(name, [...(starts.get(name) ?? []), start]);
}

/** @returns {string} the URI of the folder */
function writeProject() {
  const folder = path.join(temp, 'workspace');
  for (const [name, text] of project(FILES)) {
    mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return pathToFileURL(folder).href;
}

function report() {
  const documents = (texts[1]?.text.match(/^---$/gm) ?? []).length;
  const [cpu] = os.cpus();
  return `# Performance

How long an editor waits for gpulint, measured from the outside: a client starts the server, opens a text, makes ${EDITS} edits
of one character at ${EDITS} places, and waits for the diagnostics after each edit. There are ${rounds} sessions, each with a new process, alternating
between the servers. Each figure is the best of all sessions, because other work on the machine only adds time.

${texts.map(tableOf).join('\n\n')}

Times are in milliseconds, memory in megabytes. *CPU* is the server's processor time per edit, the figure that a busy machine affects least.
*Hover* and *completion* are requested directly after an edit, so the server must analyze the new text first.

The text of 5,000 lines in documents has ${documents} documents; the List is one document. Half of the objects request GPUs, some of them
with mistakes.

## Start

${startTable()}

From the start of the process to the response to \`initialize\`; *CPU* is the processor time of all threads until then. All run on Node ${/** @type {{ version: string }} */ (node).version}, because the Node in VS Code is at least as new. Both
servers can cache their compiled code between starts: Node does it with NODE_COMPILE_CACHE for what is compiled while a program loads, and gpulint
itself also for what is compiled later, in every editor; *the first time* is without the cache.

## A workspace of ${FILES.toLocaleString('en')} files

${indexingNote()}

${costsNote()}

${targets()}

Each text is opened only once, by code that has not run in this process. According to a profile, three fifths of the time are spent in the rules, a
quarter in lowering and a tenth in parsing; V8 collects garbage for a tenth of it. Regular expressions are compiled in each session, to machine code at
once: with V8's interpreter for them, the text of 200 lines takes 12 ms longer. What V8 compiled in earlier sessions it reads from the cache: without
that, the text of 200 lines takes 40 ms longer, the large ones 50 ms.

## Bundles

${bundles()}

## The other server

${'command' in peer ? peerNote(peer.name) : `${peer.reason}.`}

Measured on ${new Date().toISOString().slice(0, 10)}: ${cpu?.model.trim()}, ${os.cpus().length} cores, ${os.type()}; the load was ${load.toFixed(1)} at the start of the run and ${(os.loadavg()[0] ?? 0).toFixed(1)} at
its end. On a busy machine, times are several times as long as on an idle one; the rows of the other server show by how much.
`;
}

function startTable() {
  const rows = [...starts].map(
    ([name, all]) => `| ${name} | ${ms(best(all.map(({ time }) => time)))} | ${ms(best(all.map(({ cpu }) => cpu)))} |`,
  );
  return `| | start | CPU |\n|---|---|---|\n${rows.join('\n')}`;
}

function indexingNote() {
  if (indexing.length === 0) return 'gpulint did not report any indexing.';
  const [p50, p95] = [0.5, 0.95].map((part) => best(indexing.map(({ changes }) => quantile(changes, part))));
  const took = best(indexing.map((one) => one.took));
  return `In the background, gpulint indexes the YAML files of the workspace in slices of a few milliseconds: ${(took / 1000).toFixed(1)} s in total while a user types.
Meanwhile, a change in 200 lines waits ${ms(p50 ?? Number.NaN)} ms for its diagnostics (p50), ${ms(p95 ?? Number.NaN)} ms at p95. Afterwards, the server uses ${ms(best(indexing.map(({ rss }) => rss)))} MB.`;
}

function costsNote() {
  const lowest = (/** @type {(one: (typeof costs)[number]) => number} */ figure) => ms(best(costs.map(figure)));
  const p95 = lowest(({ changes }) => quantile(changes, 0.95));
  return `The costs of all ${(costs[0]?.workloads ?? 0).toLocaleString('en')} workloads, requested at the start by the GPU Cost view, are there ${(best(costs.map(({ first }) => first)) / 1000).toFixed(1)} s after the
process starts, of which its main thread works ${(best(costs.map(({ worked }) => worked)) / 1000).toFixed(1)} s. Meanwhile, a change waits ${p95} ms for its diagnostics at p95. The server then uses ${lowest(({ rss }) => rss)} MB. After
an edit, the next total takes ${lowest(({ again }) => again)} ms.`;
}

/** @param {string} name */
function peerNote(name) {
  return `${name} runs next to gpulint in most editors and reads the same texts. It has a different purpose (it validates against JSON
Schemas), so this is not a competition, but it is what people are used to. Here it has no network and no schema: it only parses, which is its
lightest work. It deliberately waits 200 ms after a change before it starts; its CPU column shows the work itself.`;
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
      best(all.map(({ completions }) => quantile(completions, 0.5))),
      best(all.map(({ rss }) => rss)),
    ];
    return `| ${contender.name} | ${cells.map(ms).join(' | ')} |`;
  });
  return `### ${name}

| | initialize | open | change → diagnostics p50 | p95 | CPU | hover p50 | completion p50 | memory |
|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}`;
}

function targets() {
  const [small, large, list] = texts.map(({ name }) => sessions.get(`${contenders[0]?.name} ${name}`) ?? []);
  const p95 = (/** @type {Session[] | undefined} */ all) =>
    best((all ?? []).map(({ changes }) => quantile(changes, 0.95)));
  /** @type {readonly (readonly [string, number, number])[]} */
  const rows = [
    ['change → diagnostics, 200 lines, p95', p95(small), 10],
    ['change → diagnostics, 5,000 lines in documents, p95', p95(large), 16],
    ['change → diagnostics, 5,000 lines in one document, p95', p95(list), 16],
    ['open 5,000 lines in documents', best((large ?? []).map(({ open }) => open)), 150],
    ['open 5,000 lines in one document', best((list ?? []).map(({ open }) => open)), 150],
    ['CPU to initialize', best((starts.get(contenders[0]?.name ?? '') ?? []).map(({ cpu }) => cpu)), 175],
    [
      'memory (MB), the largest text',
      Math.max(...[small, large, list].map((some = []) => best(some.map(({ rss }) => rss)))),
      120,
    ],
    ['first total of a workspace of 5,000 files (s)', best(costs.map(({ first }) => first)) / 1000, 3],
    ['memory (MB), the costs of a workspace of 5,000 files', best(costs.map(({ rss }) => rss)), 300],
    [
      'client, server, catalog and protocol, without the cluster part (kB of 1,024 bytes)',
      clientAndServer() / 1024,
      2816,
    ],
  ];
  const lines = rows.map(
    ([what, value, limit]) => `| ${what} | ${ms(value)} | ${limit} | ${value <= limit ? 'yes' : 'no'} |`,
  );
  return `## Targets\n\nWhat people notice: a start, the first look at a large file, typing in it, and memory. The smallest figure of all sessions counts.\n\n| | measured | target | met |\n|---|---|---|---|\n${lines.join('\n')}`;
}

function bundles() {
  const rows = [
    ['client.js', 'the client in VS Code'],
    ['language-server.js', 'the server'],
    ['catalog.js', "what reads the catalog's data, for the server and the command line"],
    ['catalog.br', "the catalog's data, packed"],
    ['protocol.js', 'the protocol, shared by both'],
    ['client.browser.js', 'the client in the browser'],
    ['server.browser.js', 'the server in the browser'],
    ['commands.js', 'the command line'],
  ].map(([file = '', what]) => `| dist/${file} | ${what} | ${sizeOf(file).toLocaleString('en')} |`);
  return `| | | bytes |\n|---|---|---|\n${rows.join('\n')}`;
}

function clientAndServer() {
  const files = ['client.js', 'server.js', 'language-server.js', 'catalog.js', 'catalog.br', 'protocol.js'];
  return files.reduce((sum, file) => sum + sizeOf(file), 0);
}

/** @param {string} file */
function sizeOf(file) {
  return statSync(path.join(root, 'dist', file)).size;
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
