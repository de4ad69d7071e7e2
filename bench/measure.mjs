// @ts-check
import { digits } from './manifests.mjs';
import { startServer } from './server.mjs';

export const EDITS = 50;
const ASKED = 15;
const ROUNDS_OF_TYPING = 400;

/**
 * One session with a fresh server: start, open, edits, then hovers and completions right behind edits. Milliseconds and megabytes.
 * @typedef {object} Session
 * @property {number} initialize
 * @property {number} open
 * @property {readonly number[]} changes from a change to its diagnostics
 * @property {number} cpu milliseconds of processor time an edit
 * @property {readonly number[]} hovers from a change to the answer to a hover sent behind it
 * @property {readonly number[]} completions likewise
 * @property {number} rss
 * @property {number} found how many diagnostics there were
 */

/** @typedef {{ command: readonly string[], env: Readonly<Record<string, string>> }} Program */

/**
 * @param {Program} program
 * @param {import('./manifests.mjs').Sample} sample
 * @returns {Promise<Session>}
 */
export async function measure(program, { text }) {
  const server = await startServer(program);
  const { open, found, edit, diagnostics } = await openText(server, 'file:///bench/manifests.yaml', text);

  const changes = [];
  const before = server.usage();
  for (let index = 0; index < EDITS; index++) {
    const start = performance.now();
    edit(index);
    await diagnostics();
    changes.push(performance.now() - start);
  }
  const after = server.usage();

  /** @param {string} method @param {number} first */
  async function ask(method, first) {
    const times = [];
    for (let index = 0; index < ASKED; index++) {
      const start = performance.now();
      const { uri, position } = edit(first + index);
      await server.request(method, { textDocument: { uri }, position });
      times.push(performance.now() - start);
      // The server comes to rest, so that the next one is measured alone.
      await diagnostics();
    }
    return times;
  }
  const hovers = await ask('textDocument/hover', EDITS);
  const completions = await ask('textDocument/completion', EDITS + ASKED);
  const { rss } = server.usage();
  await server.stop();
  const cpu = (after.cpu - before.cpu) / EDITS;
  return { initialize: server.startedAfter, open, changes, cpu, hovers, completions, rss, found };
}

/** What a start takes, up to the answer to `initialize`, in milliseconds of the clock and of the processor. @param {Program} program */
export async function measureStart(program) {
  const { startedAfter: time, cpuToStart: cpu, stop } = await startServer(program);
  await stop();
  return { time, cpu };
}

/**
 * Typing in a text while the server looks through its workspace. A server that shows no progress looks through nothing, and is not measured.
 * @param {Program} program
 * @param {import('./manifests.mjs').Sample} sample
 * @param {string} folder as a URI
 * @returns {Promise<{ changes: readonly number[], took: number, rss: number } | undefined>} `took`: the whole look through the folder
 */
export async function measureIndexing(program, { text }, folder) {
  const server = await startServer(program, folder);
  const opened = performance.now();
  const { edit, diagnostics } = await openText(server, `${folder}/open.yaml`, text);
  const changes = [];
  for (let index = 0; index < ROUNDS_OF_TYPING && !server.progress.ended; index++) {
    const start = performance.now();
    edit(index);
    await diagnostics();
    if (server.progress.begun) changes.push(performance.now() - start);
  }
  await server.progress.end;
  const took = performance.now() - opened;
  const { rss } = server.usage();
  await server.stop();
  return changes.length === 0 ? undefined : { changes, took, rss };
}

/**
 * The costs of a workspace, requested when the server starts, and again after an edit of one file.
 * @param {Program} program
 * @param {import('./manifests.mjs').Sample} sample the file that is open
 * @param {string} folder as a URI
 * @returns {Promise<{ first: number, worked: number, again: number, changes: readonly number[], rss: number, peak: number, workloads: number }>} `first`: from the
 *   start of the process to the first total, of which the server's own thread has worked `worked`; `changes`: from a change to its diagnostics meanwhile
 */
export async function measureCosts(program, { text }, folder) {
  const begin = performance.now();
  const server = await startServer(program, folder);
  const { edit, diagnostics } = await openText(server, `${folder}/open.yaml`, text);
  const total = async () => (await server.request('gpulint/workspaceCosts', {})).total;
  let first = 0;
  let worked = 0;
  const answer = total().then(({ workloads }) => {
    first = performance.now() - begin;
    worked = server.worked();
    return workloads;
  });
  const changes = [];
  for (let index = 0; index < ROUNDS_OF_TYPING && first === 0; index++) {
    const start = performance.now();
    edit(index);
    await diagnostics();
    changes.push(performance.now() - start);
  }
  const workloads = await answer;
  edit(0);
  const changed = performance.now();
  await total();
  const again = performance.now() - changed;
  const { rss, peak } = server.usage();
  await server.stop();
  return { first, worked, again, changes, rss, peak, workloads };
}

/** @param {import('./server.mjs').Server} server @param {string} uri @param {string} text */
async function openText(server, uri, text) {
  const places = digits(text).map((offset) => positionOf(text, offset));
  let version = 1;
  const start = performance.now();
  server.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version, text } });
  const found = (await server.diagnostics(uri, version)).length;
  const open = performance.now() - start;

  /** Another count at another place, as a user types it. @param {number} index */
  function edit(index) {
    const position = places[(index * 7) % places.length] ?? { line: 0, character: 0 };
    const end = { line: position.line, character: position.character + 1 };
    version++;
    server.notify('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [{ range: { start: position, end }, text: String(1 + ((index * 3) % 8)) }],
    });
    return { uri, position };
  }
  return { open, found, edit, diagnostics: () => server.diagnostics(uri, version) };
}

/** @param {string} text @param {number} offset */
function positionOf(text, offset) {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length - 1, character: offset - before.lastIndexOf('\n') - 1 };
}
