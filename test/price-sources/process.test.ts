// What the extension does to refresh prices: the command line in a process of its own.
import fs from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import type { CancellationToken } from 'vscode';
import { refreshInProcess } from '../../client/src/node-prices.ts';
import { cli, temporaryFolder } from '../cli/run-cli.ts';
import { azureItem, hosts, json, partly, type Route, startPriceServer } from '../support/price-server.ts';

/** A token that can be canceled, as far as the extension uses it. */
function cancelable() {
  const listeners = new Set<() => void>();
  const onCancellationRequested = (listener: () => void) => {
    listeners.add(listener);
    return { dispose: () => listeners.delete(listener) };
  };
  const token = { isCancellationRequested: false, onCancellationRequested } as unknown as CancellationToken;
  return { token, listeners, cancel: () => [...listeners].forEach((listener) => void listener()) };
}

async function run(route: Route, onLine: (line: string, cancel: () => void) => void) {
  const { mirror } = await startPriceServer(new Map([[hosts.azure, route]]));
  const folder = temporaryFolder();
  const sheet = path.join(folder, 'prices.json');
  vi.stubEnv('GPULINT_PRICES', sheet);
  vi.stubEnv('GPULINT_PRICES_MIRROR', mirror);
  const { token, listeners, cancel } = cancelable();
  const lines: { kind: string; text: string }[] = [];
  try {
    const result = await refreshInProcess(cli)({
      sources: ['azure'],
      folder,
      token,
      onLine(line) {
        lines.push(JSON.parse(line));
        onLine(line, cancel);
      },
    });
    return { result, lines, hasSheet: fs.existsSync(sheet), listeners: listeners.size };
  } finally {
    vi.unstubAllEnvs();
  }
}

it('reports each step as a line, and the end', async () => {
  const { lines, ...ended } = await run(json({ Items: [azureItem({})] }), () => undefined);
  expect(ended).toEqual({ result: { isComplete: true, errors: [] }, hasSheet: true, listeners: 0 });
  expect(lines[0]).toEqual({ kind: 'step', text: 'Azure Retail Prices: file 1' });
  expect(lines.slice(-2)).toMatchObject([
    { kind: 'result', text: 'Azure Retail Prices: 1 price in 1 region', problems: [] },
    { kind: 'end' },
  ]);
});

it('ends when the user cancels', async () => {
  const body = JSON.stringify({ Items: [azureItem({})] });
  let isCanceled = false;
  const { lines, ...ended } = await run(partly(body, 100, 'hang'), (line, cancel) => {
    if (isCanceled || !line.includes(' of ')) return;
    isCanceled = true;
    cancel();
  });
  expect(ended).toEqual({ result: { isComplete: false, errors: [] }, hasSheet: false, listeners: 0 });
  expect(lines.at(-1)?.text).toMatch(/^canceled; /);
});

it('says that the program cannot be started', async () => {
  const { token } = cancelable();
  const missing = path.join(temporaryFolder(), 'none.js');
  const result = await refreshInProcess(missing)({
    sources: ['azure'],
    folder: undefined,
    token,
    onLine: () => undefined,
  });
  expect(result.isComplete).toBe(false);
  expect(result.errors.join()).toContain('none.js');
});
