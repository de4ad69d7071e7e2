// The price sheet of the user in the editor.
import { expect, it } from 'vitest';
import { catalogPrices, priceSheet } from '../../server/src/catalog/index.ts';
import type { MachinePrices } from '../../server/src/lsp/confined-host.ts';
import { methods } from '../../server/src/lsp/protocol.ts';
import { p5Pod, p5Price } from '../support/p5.ts';
import { folder, modern, openEditor } from './editor.ts';

const uri = `${folder}/pod.yaml`;
it('is read at the start, and again when the extension has refreshed it', async () => {
  let prices: MachinePrices = { sheet: catalogPrices, today: '2026-11-22', problem: 'the price sheet is damaged' };
  const host = { readFile: async () => undefined, prices: () => prices };
  const editor = await openEditor({ capabilities: modern, host });
  await editor.open(uri, p5Pod);
  const lens = async () => (await editor.lenses(uri)).map(({ command }) => command?.title).join();
  const hover = async () =>
    JSON.stringify(
      await editor.hover(uri, { line: 6, character: p5Pod.split('\n')[6]?.indexOf('nvidia.com/gpu') ?? 0 }),
    );
  expect(await lens()).toContain('$55.04/h');
  expect(await hover()).toContain('125 days old');
  expect(editor.log.filter((line) => line.includes('the price sheet is damaged'))).toHaveLength(1);

  prices = { sheet: priceSheet('new', [p5Price]), today: '2026-11-22', problem: null };
  expect(await lens()).toContain('$55.04/h');
  await editor.connection.sendNotification(methods.pricesChanged);
  await editor.until(() => editor.refreshes.length > 0);
  expect(await lens()).toContain('$50.00/h');
  expect(await hover()).not.toContain('days old');
});
