// @ts-check
// `npm run bench` runs it: the language server connected to a cluster of 5,000 nodes and 50,000 pods. Writes its part of docs/performance.md.
//
//   --dry   print the table and write nothing
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { configText } from '../test/support/cluster-lab.ts';
import { samples } from './manifests.mjs';
import { writePart } from './page.mjs';
import { startServer } from './server.mjs';

const root = path.join(import.meta.dirname, '..');
const folder = mkdtempSync(path.join(os.tmpdir(), 'gpulint-bench-cluster-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const api = fork(path.join(root, 'bench/cluster-server.mjs'), {
  execArgv: ['--import', 'tsx', '--max-old-space-size=4096'],
});
/** @type {number} */
let listed = 0;
const { url, nodes, pods } = await new Promise((resolve) => {
  api.on('message', (/** @type {any} */ message) => {
    if (message.url !== undefined) resolve(message);
    else listed = message.listed;
  });
});
const kubeconfig = path.join(folder, 'config');
writeFileSync(kubeconfig, configText(url, {}));

const command = [process.execPath, path.join(root, 'dist/server.js'), '--stdio'];
const server = await startServer({ command, env: { GPULINT_PRICES: 'none' } });
const [sample] = samples();
const uri = 'file:///bench/manifests.yaml';
let version = 1;
let text = sample?.text ?? '';
server.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version, text } });
await server.diagnostics(uri, version);

/** @type {any} */
let status;
let changes = 0;
let connected = 0;
/** @type {() => void} */
const wake = () => undefined;
server.on('gpulint/clusterChanged', (params) => {
  status = params;
  changes += 1;
  if (params.state === 'live' && connected === 0) connected = Date.now();
  wake();
});

/** Types until a condition holds. @param {() => boolean} isOver @returns {Promise<number[]>} milliseconds from a change to its diagnostics */
async function type(isOver) {
  const times = [];
  while (!isOver()) {
    const start = performance.now();
    version += 1;
    text += version % 40 === 0 ? '\n# ' : 'x';
    server.notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
    await server.diagnostics(uri, version);
    times.push(performance.now() - start);
    // As a person pauses between keys.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return times;
}

/** @param {number} milliseconds */
const after = (milliseconds) => {
  const end = performance.now() + milliseconds;
  return () => performance.now() > end;
};

await type(after(3000));
const before = await type(after(6000));
const { rss: rssBefore } = server.usage();
const begin = Date.now();
const { problem } = await server.request('gpulint/clusterConnect', { kubeconfig });
if (problem !== null) throw new Error(problem);
const during = await type(() => connected > 0 || status?.state === 'failed');
if (connected === 0) throw new Error(status.message);
await type(after(2000));
const { rss: rssAfter, peak } = server.usage();
changes = 0;
const churn = setInterval(() => api.send('change'), 200);
const busy = await type(after(8000));
clearInterval(churn);
const perSecond = changes / 8;
const { rss: rssBusy } = server.usage();
await server.stop();
api.send('stop');

const page = `## A connected cluster

${nodes.toLocaleString('en')} nodes with ${pods.toLocaleString('en')} pods, listed over HTTPS from a server on the same machine. Memory is what the process of the language server
grows by when it connects: its thread for the cluster, with its own heap.

| | |
|---|---|
| from the connection to the first figures | ${seconds(connected - begin)} |
| of it after the last page of the pods had arrived | ${seconds(Math.max(0, connected - listed))} |
| memory of the thread | ${Math.round(rssAfter - rssBefore)} MB; ${Math.round(rssBusy - rssBefore)} MB after 8 s with 250 changes of pods per second; at most ${Math.round(peak - rssBefore)} MB |
| messages with changed figures, during these changes | ${perSecond.toFixed(1)} per second |
| from a keystroke to its diagnostics, not connected | ${percentiles(before)} |
| the same while the cluster is listed | ${percentiles(during)} |
| the same during the changes | ${percentiles(busy)} |
`;
if (process.argv.includes('--dry')) console.log(page);
else writePart('bench:cluster', page);
process.exit();

/** @param {number} milliseconds */
function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** @param {readonly number[]} times */
function percentiles(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return `${at(0.5).toFixed(1)} ms (p95 ${at(0.95).toFixed(1)} ms)`;
}
