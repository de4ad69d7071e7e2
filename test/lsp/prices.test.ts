// The price sheet of the user in the editor.
import { expect, it } from 'vitest';
import { catalogPrices, type FetchedPrice, priceSheet } from '../../server/src/catalog/index.ts';
import type { MachinePrices } from '../../server/src/lsp/confined-host.ts';
import { methods } from '../../server/src/lsp/protocol.ts';
import { folder, modern, openEditor } from './editor.ts';

const uri = `${folder}/pod.yaml`;
const pod = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge, topology.kubernetes.io/region: us-east-1}
  containers:
    - {name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 8}}}
`;
const fetched: FetchedPrice = {
  provider: 'aws',
  instanceType: 'p5.48xlarge',
  region: 'us-east-1',
  pricing: 'on-demand',
  hourly: 50,
  basis: null,
  date: '2026-11-22',
  source: 'https://pricing.us-east-1.amazonaws.com/index.csv',
};

it('is read at the start, and again when the extension has refreshed it', async () => {
  let prices: MachinePrices = { sheet: catalogPrices, today: '2026-11-22', problem: 'the price sheet is damaged' };
  const host = { readFile: async () => undefined, prices: () => prices };
  const editor = await openEditor({ capabilities: modern, host });
  await editor.open(uri, pod);
  const lens = async () => (await editor.lenses(uri)).map(({ command }) => command?.title).join();
  const hover = async () => JSON.stringify(await editor.hover(uri, { line: 6, character: 55 }));
  expect(await lens()).toContain('$55.04/h');
  expect(await hover()).toContain('125 days old');
  expect(editor.log.filter((line) => line.includes('the price sheet is damaged'))).toHaveLength(1);

  prices = { sheet: priceSheet('new', [fetched]), today: '2026-11-22', problem: null };
  expect(await lens()).toContain('$55.04/h');
  await editor.connection.sendNotification(methods.pricesChanged);
  await editor.until(() => editor.refreshes.length > 0);
  expect(await lens()).toContain('$50.00/h');
  expect(await hover()).not.toContain('days old');
});
