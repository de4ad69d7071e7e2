#!/usr/bin/env node
// @ts-check
// `npm run bench`: how fast the language server is, with another one next to it in the same run, because times drift from machine to
// machine and from minute to minute. Writes docs/performance.md.
//
//   --rounds N   sessions for each server and text (5); the quietest counts
//   --dry        prints the tables and writes nothing
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { project, samples } from './manifests.mjs';
import { EDITS, measure, measureIndexing, measureStart } from './measure.mjs';
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
const workspace = writeProject();

// The first start fills the folder of compiled code, and counts for nothing.
for (const one of contenders) await measureStart(one);
for (let round = 0; round < rounds; round++) {
  for (const sample of texts) {
    // In pairs and in turns, so that a busy minute of the machine meets both.
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
      throw new Error(`--rounds takes a count, not ${JSON.stringify(values.rounds)}`);
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
  // As gpulint's client starts its server in VS Code; the other one's does not, but here it has the same.
  return { name, command, env: { NODE_COMPILE_CACHE: path.join(temp, name.replaceAll(' ', '-')) } };
}

async function measureStarts() {
  const begin = performance.now();
  spawnSync(/** @type {{ path: string }} */ (node).path, ['-e', '0']);
  note('Node itself, with nothing to do', { time: performance.now() - begin, cpu: Number.NaN });
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

How long the editor waits for gpulint, measured from the outside: a client starts the server, opens a text, makes ${EDITS} edits
of one character each at ${EDITS} places, and after each of them waits for the diagnostics. Of ${rounds} sessions, each with a fresh process
and the servers in turns, each figure is the best: what else a machine does only adds to a time.

${texts.map(tableOf).join('\n\n')}

Times are in milliseconds, memory in megabytes. *CPU* is the server's processor time for an edit, which a busy machine disturbs least.
*Hover* and *completion* are requested right behind an edit, so the server has to read the text again first.

The text of 5,000 lines in documents holds ${documents} of them; the List is one document. Half of the objects ask for GPUs, and some do it
wrongly.

## Start

${startTable()}

From the start of the process to the answer to \`initialize\`; *CPU* is the processor time of all threads until then. All run on Node ${/** @type {{ version: string }} */ (node).version}, because VS Code brings a Node of its own that is no older. Both
servers may keep their compiled code between starts (NODE_COMPILE_CACHE), as gpulint's client arranges it in VS Code and \`gpulint lsp\` in
other editors; *the first time* is without.

## A workspace of ${FILES.toLocaleString('en')} files

${indexingNote()}

${targets()}

A text is opened once, by code that has not run before. Of that time a profile (\`--cpu-prof\`) gives half to the rules and a fifth each to
reading the YAML and to lowering it; a seventh of it all is the collection of garbage. About a sixth is V8's, which compiles each function
as it is first called: with \`--no-lazy\` the large texts open in 125 to 135 ms, but every start takes 10 ms more (the first one 55), the
server holds 5 MB more, and a V8 that no longer knows the flag would not start it at all. So gpulint does without.

## Bundles

${bundles()}

## The other server

${'command' in peer ? peerNote(peer.name) : `${peer.reason}.`}

Measured on ${new Date().toISOString().slice(0, 10)}: ${cpu?.model.trim()}, ${os.cpus().length} cores, ${os.type()}; the load was ${load.toFixed(1)} at the start of the run and ${(os.loadavg()[0] ?? 0).toFixed(1)} at
its end. On a machine with other work times are several times as long as on an idle one; the other server's rows tell by how much.
`;
}

function startTable() {
  const rows = [...starts].map(
    ([name, all]) => `| ${name} | ${ms(best(all.map(({ time }) => time)))} | ${ms(best(all.map(({ cpu }) => cpu)))} |`,
  );
  return `| | start | CPU |\n|---|---|---|\n${rows.join('\n')}`;
}

function indexingNote() {
  if (indexing.length === 0) return 'gpulint showed no look through a workspace.';
  const [p50, p95] = [0.5, 0.95].map((part) => best(indexing.map(({ changes }) => quantile(changes, part))));
  const took = best(indexing.map((one) => one.took));
  return `Behind the open text gpulint looks through the YAML files of the workspace, in turns of a few milliseconds: ${(took / 1000).toFixed(1)} s with somebody typing
all the while. Meanwhile a change in 200 lines waits ${ms(p50 ?? Number.NaN)} ms for its diagnostics (p50), ${ms(p95 ?? Number.NaN)} ms at p95. Then the server has ${ms(best(indexing.map(({ rss }) => rss)))} MB.`;
}

/** @param {string} name */
function peerNote(name) {
  return `${name} runs next to gpulint in most editors and reads the same texts. It does another job (it checks against JSON Schemas), so this is
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
    ['client, server and protocol, without the cluster part (kB of 1,024 bytes)', clientAndServer() / 1024, 1280],
  ];
  const lines = rows.map(
    ([what, value, limit]) => `| ${what} | ${ms(value)} | ${limit} | ${value <= limit ? 'yes' : 'no'} |`,
  );
  return `## Targets\n\nWhat people notice: a start, the first look at a large file, typing in it, and memory. The smallest figure of all sessions counts.\n\n| | measured | target | met |\n|---|---|---|---|\n${lines.join('\n')}`;
}

function bundles() {
  const rows = [
    ['client.js', 'the client in VS Code'],
    ['server.js', 'the server'],
    ['protocol.js', 'the protocol, for both'],
    ['client.browser.js', 'the client in the browser'],
    ['server.browser.js', 'the server in the browser'],
    ['commands.js', 'the command line'],
  ].map(([file = '', what]) => `| dist/${file} | ${what} | ${sizeOf(file).toLocaleString('en')} |`);
  return `| | | bytes |\n|---|---|---|\n${rows.join('\n')}`;
}

function clientAndServer() {
  return ['client.js', 'server.js', 'protocol.js'].reduce((sum, file) => sum + sizeOf(file), 0);
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
