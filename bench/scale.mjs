#!/usr/bin/env node
// @ts-check
// `npm run bench:scale`: measures how the time of each request grows with the size of a text or a workspace. Twice the input may take twice
// as long, but no more. Writes its part of docs/performance.md; exits with status 1 if something grows faster.
//
//   --rounds N   how often each size is measured (3); the best time is used
//   --only TEXT  only the cases whose name contains the text; print, do not write
//   --dry        print the tables and write nothing
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { writePart } from './page.mjs';
import { cases, LONGEST, texts } from './scale-texts.mjs';
import { workspaceCases } from './scale-workspace.mjs';
import { startServer } from './server.mjs';

/** @typedef {import('./server.mjs').Server} Server */
/** @typedef {{ n: number, ms: number }} Measured */
/** @typedef {{ name: string, text: string }} File */
/** @typedef {{ name: string, most: number, measure: (n: number, server: Server) => Promise<number> }} Measurable */

const SIZES = 5;
const SLOPE = 1.2;
/** Milliseconds that requests on a text of a megabyte may take: nearly all, and each. */
const USUALLY = 250;
const ALWAYS = 1000;

const root = path.join(import.meta.dirname, '..');
const { rounds, only, dry } = readOptions();
const temp = mkdtempSync(path.join(os.tmpdir(), 'gpulint-scale-'));
process.once('exit', () => rmSync(temp, { recursive: true, force: true }));
let opened = 0;

/** @type {Map<string, readonly Measured[]>} */
const results = new Map();
for (const one of await measurables()) if (one.name.includes(only)) results.set(one.name, await measureGrowth(one));
const requests = await measureRequests();

const part = report();
if (dry || only !== '') console.log(part);
else writePart('bench:scale', part);
const steep = [...results].filter(([, measured]) => !(slopeOf(measured) < SLOPE)).map(([name]) => name);
if (steep.length > 0) {
  console.error(`Time grows faster than the input: ${steep.join('; ')}`);
  process.exitCode = 1;
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        rounds: { type: 'string', default: '3' },
        only: { type: 'string', default: '' },
        dry: { type: 'boolean', default: false },
      },
    });
    if (!/^[1-9]\d?$/.test(values.rounds))
      throw new Error(`--rounds must be a count, not ${JSON.stringify(values.rounds)}`);
    return { ...values, rounds: Number(values.rounds) };
  } catch (error) {
    console.error(`npm run bench:scale: ${error instanceof Error ? error.message : error}`);
    process.exit(2);
  }
}

/** @returns {Promise<readonly Measurable[]>} */
async function measurables() {
  return [
    ...cases.map(({ name, most, make, ask }) => ({
      name,
      most,
      measure: (/** @type {number} */ n, /** @type {Server} */ server) => measureText(server, make(n), ask),
    })),
    ...workspaceCases.map(({ name, size, make }) => ({
      name,
      most: size,
      measure: (/** @type {number} */ n, /** @type {Server} */ server) => measureFiles(server, make(n)),
    })),
    { name: 'files: close', most: 400, measure: measureClosing },
    { name: 'containers: `check --fix`', most: 12_000, measure: measureFix },
    { name: 'stars of a glob: `check`', most: 40, measure: measureGlob },
    { name: 'ignored files: `check`', most: 8000, measure: measureIgnored },
  ];
}

/** In one server for all sizes, so that none is measured with code that was not compiled yet. @param {Measurable} one */
async function measureGrowth({ name, most, measure }) {
  const server = await openServer();
  /** @type {Measured[]} */
  const measured = [];
  for (let step = SIZES - 1; step >= 0; step--) {
    const n = Math.max(1, Math.round(most / 2 ** step));
    if (measured.length === 0) await measure(n, server);
    let ms = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round++) ms = Math.min(ms, await measure(n, server));
    measured.push({ n, ms });
    // What takes so long is too slow whatever its slope, and would take minutes more.
    if (ms > 10 * ALWAYS) break;
  }
  await server.stop();
  console.error(
    `${name}: ${measured.map(({ n, ms }) => `${n} ${shown(ms)}`).join(', ')}; slope ${slopeOf(measured).toFixed(2)}`,
  );
  return measured;
}

async function openServer() {
  return startServer({ command: [process.execPath, path.join(root, 'dist', 'server.js'), '--stdio'], env: {} });
}

/** @param {Server} server @param {string} text */
async function open(server, text) {
  const uri = `file:///bench/text-${++opened}.yaml`;
  server.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: 1, text } });
  await server.diagnostics(uri, 1);
  return uri;
}

/** What the server's own thread works for it, in milliseconds; where the system does not tell, how long it takes. @param {Server} server @param {() => Promise<unknown>} work */
async function worked(server, work) {
  const before = server.worked();
  await work();
  return server.worked() - before;
}

/** @param {Server} server @param {string} text @param {string} ask */
async function measureText(server, text, ask) {
  let uri = '';
  const opening = await worked(server, async () => {
    uri = await open(server, text);
  });
  const took =
    ask === 'open'
      ? opening
      : await worked(server, () =>
          request(server, ask, uri, endOf(text, ask === 'hover' ? text.length - 10 : text.length)),
        );
  server.notify('textDocument/didClose', { textDocument: { uri } });
  return took;
}

/** @typedef {{ line: number, character: number }} Position */

/** @param {Server} server @param {string} ask @param {string} uri @param {Position} position */
function request(server, ask, uri, position) {
  const range = { start: { line: 0, character: 0 }, end: position };
  const textDocument = { uri };
  if (ask === 'select' || ask === 'fixAll' || ask === 'codeAction') {
    const context = { diagnostics: [], ...(ask === 'fixAll' && { only: ['source.fixAll.gpulint'] }) };
    const place = ask === 'codeAction' ? { start: position, end: position } : range;
    return server.request('textDocument/codeAction', { textDocument, range: place, context });
  }
  const context = { includeDeclaration: true };
  return server.request(`textDocument/${ask}`, { textDocument, position, range, context });
}

/** @param {string} text @param {number} [offset] @returns {Position} */
function endOf(text, offset = text.length) {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}

/** Opening of all files, and an edit of one. @param {Server} server @param {{ files: readonly File[], edit: (round: number) => File }} made */
async function measureFiles(server, { files, edit }) {
  const folder = `file:///bench/${++opened}`;
  const took = await worked(server, async () => {
    for (const { name, text } of files) {
      const textDocument = { uri: `${folder}/${name}`, languageId: 'yaml', version: 1, text };
      server.notify('textDocument/didOpen', { textDocument });
    }
    for (const { name } of files) await server.diagnostics(`${folder}/${name}`, 1);
    const { name: edited, text } = edit(1);
    const textDocument = { uri: `${folder}/${edited}`, version: 2 };
    server.notify('textDocument/didChange', { textDocument, contentChanges: [{ text }] });
    await server.diagnostics(textDocument.uri, 2);
  });
  for (const { name } of files) server.notify('textDocument/didClose', { textDocument: { uri: `${folder}/${name}` } });
  return took;
}

/** @param {number} n @param {Server} server */
async function measureClosing(n, server) {
  const text = texts.find(({ name }) => name === 'containers')?.make(3) ?? '';
  const uris = [];
  for (let index = 0; index < n; index++) uris.push(await open(server, text));
  return worked(server, async () => {
    for (const uri of uris) server.notify('textDocument/didClose', { textDocument: { uri } });
    await request(server, 'hover', uris[0] ?? '', { line: 0, character: 0 });
  });
}

/** @param {number} n */
async function measureFix(n) {
  const text = texts.find(({ name }) => name === 'containers to be fixed')?.make(n) ?? '';
  return measureCli(['check', '--fix', 'a.yaml'], { 'a.yaml': text });
}

/** @param {number} n */
async function measureGlob(n) {
  return measureCli(['check', '.'], {
    '.gpulint.yaml': `ignore: ['${'*a'.repeat(n)}*b']\n`,
    [`${'a'.repeat(2 * n)}.yaml`]: '',
  });
}

/** @param {number} n */
async function measureIgnored(n) {
  const files = Object.fromEntries(Array.from({ length: n }, (_, index) => [`old/${index % 50}/${index}.yaml`, '']));
  return measureCli(['check', '.'], { '.gpulint.yaml': 'ignore: [old]\n', 'a.yaml': '', ...files });
}

/** How long a command takes, start and all. @param {readonly string[]} args @param {Readonly<Record<string, string>>} files */
function measureCli(args, files) {
  const folder = mkdtempSync(path.join(temp, 'project-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const begin = performance.now();
  spawnSync(process.execPath, [path.join(root, 'dist', 'cli.js'), ...args], { cwd: folder, timeout: 60_000 });
  const took = performance.now() - begin;
  rmSync(folder, { recursive: true, force: true });
  return took;
}

/** Every request on every text of a megabyte, at several places and behind an edit. */
async function measureRequests() {
  /** @type {{ name: string, ask: string, ms: number }[]} */
  const all = [];
  for (const { name, most, make } of texts.filter((one) => one.name.includes(only))) {
    const whole = make(most);
    const n = whole.length > LONGEST ? Math.floor((most * LONGEST) / whole.length) : most;
    const text = (n === most ? whole : make(n)).slice(0, LONGEST);
    const server = await openServer();
    let uri = await open(server, '{ apiVersion: v1, kind: Pod }');
    const note = async (/** @type {string} */ ask, /** @type {() => Promise<unknown>} */ work) =>
      all.push({ name, ask, ms: await worked(server, work) });
    await note('open', async () => {
      uri = await open(server, text);
    });
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const position = endOf(text, Math.floor(text.length * share));
      for (const ask of ['hover', 'completion', 'definition', 'references', 'codeAction'])
        await note(ask, () => request(server, ask, uri, position));
    }
    for (const ask of ['codeLens', 'documentLink', 'inlayHint'])
      await note(ask, () => request(server, ask, uri, endOf(text)));
    const start = endOf(text, text.length >> 1);
    await note('edit', async () => {
      const change = { range: { start, end: start }, text: ' ' };
      server.notify('textDocument/didChange', { textDocument: { uri, version: 2 }, contentChanges: [change] });
      await server.diagnostics(uri, 2);
    });
    await server.stop();
    const slow = all.filter((one) => one.name === name && one.ms > USUALLY);
    if (slow.length > 0) console.error(`${name}: ${slow.map(({ ask, ms }) => `${ask} ${shown(ms)}`).join(', ')}`);
  }
  return all.sort((a, b) => a.ms - b.ms);
}

/** The slope of log(time) against log(n), by least squares. @param {readonly Measured[]} measured */
function slopeOf(measured) {
  const points = measured.map(({ n, ms }) => [Math.log(n), Math.log(Math.max(ms, 0.1))]);
  const [x = 0, y = 0] = [0, 1].map(
    (axis) => points.reduce((sum, point) => sum + (point[axis] ?? 0), 0) / points.length,
  );
  let [above, below] = [0, 0];
  for (const [px = 0, py = 0] of points) {
    above += (px - x) * (py - y);
    below += (px - x) ** 2;
  }
  return below === 0 ? 0 : above / below;
}

/** @param {number} value */
function shown(value) {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
}

function report() {
  const rows = [...results].map(([name, measured]) => {
    const last = measured.at(-1);
    const cells = [name, shown(last?.n ?? 0), ...measured.map(({ ms }) => shown(ms)), slopeOf(measured).toFixed(2)];
    return `| ${[...cells.slice(0, 2), ...Array.from({ length: SIZES }, (_, index) => cells.slice(2, -1)[index] ?? '–'), cells.at(-1)].join(' | ')} |`;
  });
  const worst = requests.slice(-10).toReversed();
  const p99 = requests[Math.min(requests.length - 1, Math.floor(requests.length * 0.99))]?.ms ?? Number.NaN;
  return `## How time grows

The time of a request as its input doubles four times, up to the count in the second column: milliseconds of the server's main thread (for a
command: including startup), the best of ${rounds} runs. If time grows linearly with the input, the slope of log(time) against log(n) is 1; all
slopes must stay below ${SLOPE}. Where a row drops, the input reaches a limit: 5,000 objects per file, or 300 kB for a document that is not plain YAML.

| input: request | n | n/16 | n/8 | n/4 | n/2 | n | slope |
|---|---|---|---|---|---|---|---|
${rows.join('\n')}

## Requests on a megabyte of text

${shown(requests.length)} requests on ${texts.length} texts of up to a megabyte, each repeating one construct: 99% take at most ${shown(p99)} ms (the budget is ${USUALLY} ms),
and the longest takes ${shown(worst[0]?.ms ?? Number.NaN)} ms (the limit is ${shown(ALWAYS)} ms). ${shown(requests.filter(({ ms }) => ms > ALWAYS).length)} take longer. The longest are:

| text | request | ms |
|---|---|---|
${worst.map(({ name, ask, ms }) => `| ${name} | ${ask} | ${shown(ms)} |`).join('\n')}
`;
}
