// @ts-check
// What it costs to open, edit and close many files, and what stays in memory then.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { startServer } from './server.mjs';

/**
 * @typedef {object} Closing
 * @property {number} files
 * @property {number} open milliseconds of processor time, as all times here
 * @property {number} edit
 * @property {number} close
 * @property {number} before megabytes when the server had come to rest, with one file opened, edited and closed
 * @property {number} most
 * @property {number} after
 */

/** How long the server must be quiet to count as at rest. */
const QUIET = 1500;

/**
 * @param {import('./measure.mjs').Program} program with `--expose-gc` and `-r bench/collect.cjs` its memory is what is in use
 * @param {number} count @param {string} folder to write the files to
 * @returns {Promise<Closing>}
 */
export async function measureClosing(program, count, folder) {
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < count; index++) writeFileSync(path.join(folder, `${index}.yaml`), textOf(index, 1));
  const root = pathToFileURL(folder).href;
  const server = await startServer(program, root);
  /** @param {number} index */
  const uriOf = (index) => `${root}/${index}.yaml`;

  async function rest() {
    for (let before = Number.NaN; ; ) {
      const { cpu, rss } = server.usage();
      if (cpu - before < 20) return { cpu, rss };
      before = cpu;
      await new Promise((resolve) => setTimeout(resolve, QUIET));
    }
  }

  /** @param {number} files */
  async function session(files) {
    const start = await rest();
    for (let index = 0; index < files; index++) {
      const textDocument = { uri: uriOf(index), languageId: 'yaml', version: 1, text: textOf(index, 1) };
      server.notify('textDocument/didOpen', { textDocument });
    }
    const opened = await rest();
    for (let index = 0; index < files; index++) {
      const textDocument = { uri: uriOf(index), version: 2 };
      server.notify('textDocument/didChange', { textDocument, contentChanges: [{ text: textOf(index, 2) }] });
      if (index % 10 === 0) await server.diagnostics(uriOf(index), 2);
    }
    const edited = await rest();
    for (let index = 0; index < files; index++)
      server.notify('textDocument/didClose', { textDocument: { uri: uriOf(index) } });
    return { start, opened, edited, closed: await rest() };
  }

  const first = await session(1);
  const { start, opened, edited, closed } = await session(count);
  await server.stop();
  return {
    files: count,
    open: opened.cpu - start.cpu,
    edit: edited.cpu - opened.cpu,
    close: closed.cpu - edited.cpu,
    before: first.closed.rss,
    most: Math.max(opened.rss, edited.rss),
    after: closed.rss,
  };
}

/** @param {number} index @param {number} gpus */
const textOf = (index, gpus) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: server-${index}}
spec:
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec:
      containers: [{name: main, image: "registry.example/server:1", resources: {limits: {nvidia.com/gpu: ${gpus}}}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: server-${index}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: server-${index}}
  minReplicas: 1
  maxReplicas: 4
`;
