// @ts-check
import { digits } from './manifests.mjs';
import { startServer } from './server.mjs';

export const EDITS = 50;
const HOVERS = 15;

/**
 * One session with a fresh server: start, open, edits, hovers right behind edits. Milliseconds and megabytes.
 * @typedef {object} Session
 * @property {number} initialize
 * @property {number} open
 * @property {readonly number[]} changes from a change to its diagnostics
 * @property {number} cpu milliseconds of processor time an edit
 * @property {readonly number[]} hovers from a change to the answer to a hover sent behind it
 * @property {number} rss
 * @property {number} peak
 * @property {number} found how many diagnostics there were
 */

/**
 * @param {readonly string[]} command
 * @param {import('./manifests.mjs').Sample} sample
 * @returns {Promise<Session>}
 */
export async function measure(command, { text }) {
  const server = await startServer(command);
  const uri = 'file:///bench/manifests.yaml';
  const places = digits(text).map((offset) => positionOf(text, offset));
  let version = 1;

  const opened = performance.now();
  server.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version, text } });
  const found = (await server.diagnostics(uri, version)).length;
  const open = performance.now() - opened;

  /** Another count at another place, as somebody types it. @param {number} index */
  function edit(index) {
    const start = places[(index * 7) % places.length] ?? { line: 0, character: 0 };
    const end = { line: start.line, character: start.character + 1 };
    version++;
    server.notify('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [{ range: { start, end }, text: String(1 + ((index * 3) % 8)) }],
    });
    return start;
  }

  const changes = [];
  const before = server.usage();
  for (let index = 0; index < EDITS; index++) {
    const start = performance.now();
    edit(index);
    await server.diagnostics(uri, version);
    changes.push(performance.now() - start);
  }
  const after = server.usage();

  const hovers = [];
  for (let index = 0; index < HOVERS; index++) {
    const start = performance.now();
    const position = edit(EDITS + index);
    await server.request('textDocument/hover', { textDocument: { uri }, position });
    hovers.push(performance.now() - start);
    // The server comes to rest, so that the next one is measured alone.
    await server.diagnostics(uri, version);
  }
  const { rss, peak } = server.usage();
  await server.stop();
  return {
    initialize: server.startedAfter,
    open,
    changes,
    cpu: (after.cpu - before.cpu) / EDITS,
    hovers,
    rss,
    peak,
    found,
  };
}

/** @param {string} text @param {number} offset */
function positionOf(text, offset) {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length - 1, character: offset - before.lastIndexOf('\n') - 1 };
}
