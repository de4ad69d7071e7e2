import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { CodeAction } from 'vscode-languageserver/node';
import type { CostReportFile, CostReportFormat } from '../../server/src/lsp/cost-protocol.ts';
import { methods } from '../../server/src/lsp/protocol.ts';
import { type Editor, folder } from './editor.ts';
import { openFolder } from './served-model.ts';

const fixtures = path.join(import.meta.dirname, '../fixtures/cost-report');
const nonce = '0123456789abcdef0123456789abcdef';

/** The project whose report the command line writes, as a workspace folder. */
const shop = Object.fromEntries(
  readdirSync(path.join(fixtures, 'shop'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => [
      `${folder}/${path.relative(path.join(fixtures, 'shop'), file).replaceAll(path.sep, '/')}`,
      readFileSync(file, 'utf8'),
    ]),
);

async function report(editor: Editor, format: CostReportFormat): Promise<CostReportFile> {
  const params = { format, nonce };
  return editor.connection.sendRequest<CostReportFile>(methods.costReport, params);
}

test.each([
  ['html', 'shop.html'],
  ['csv', 'shop.csv'],
  ['markdown', 'shop.md'],
] as const)('the editor has the same %s as the command line', async (format, name) => {
  // The bundles shorten the style and the script of the page.
  const withoutPage = (page: string) => page.replaceAll(/<(style|script) [\s\S]*?<\/\1>/g, '');
  const { text } = await report(await openFolder(shop), format);
  const written = readFileSync(path.join(fixtures, name), 'utf8')
    .replace('<!-- gpulint cost -->\n', '')
    // The report has an ellipsis of its own in ranges.
    .replaceAll(/(?<=nonce-|nonce=")…/g, nonce)
    .replaceAll('shop/<wbr>', '')
    .replaceAll('./shop/', './')
    .replaceAll(/(?<=[ ,])shop\//g, '')
    .replaceAll('of shop', 'of work space')
    .replaceAll('<bdi>shop</bdi>', '<bdi>work space</bdi>');
  expect(withoutPage(text)).toBe(withoutPage(written));
});

test('JSON has the rows and the savings', async () => {
  const json = JSON.parse((await report(await openFolder(shop), 'json')).text);
  expect(json).toMatchObject({ version: 1, base: null, after: { workloads: 5, unpriced: 1 } });
  expect(json.savings).toEqual([
    {
      workload: 'InferenceService/chat',
      message: expect.stringContaining('$6.88/h'),
      hourly: 6.88,
      fix: 'Set minReplicas to 0 (now 1)',
      path: 'serving/chat.yaml',
      line: 9,
    },
  ]);
});

test('the numbers of the page are places of the files, and fixes that the file offers', async () => {
  const editor = await openFolder(shop);
  const { places, fixes } = await report(editor, 'html');
  expect(places).toHaveLength(6);
  const [fix] = fixes;
  expect(fix).toMatchObject({ uri: `${folder}/serving/chat.yaml`, range: { start: { line: 8 } } });
  const uri = fix?.uri ?? '';
  await editor.open(uri, shop[uri] ?? '');
  const actions = await editor.connection.sendRequest<CodeAction[]>('textDocument/codeAction', {
    textDocument: { uri },
    range: fix?.range,
    context: { diagnostics: [] },
  });
  expect(actions.map(({ title }) => title)).toContain(fix?.title);
});

test('the report has the unsaved text of open files', async () => {
  const editor = await openFolder(shop);
  const uri = `${folder}/serving/chat.yaml`;
  await editor.open(uri, (shop[uri] ?? '').replace('minReplicas: 1', 'minReplicas: 0'));
  expect((await report(editor, 'html')).fixes).toEqual([]);
  expect((await report(editor, 'csv')).text).toContain(
    'InferenceService,chat,assistants,assistants,serving/chat.yaml,1,H100 80GB SXM,0,3,',
  );
});

test('a nonce that could be markup is an error', async () => {
  const editor = await openFolder(shop);
  const params = { format: 'html', nonce: '"><script>alert(1)</script>' };
  await expect(editor.connection.sendRequest(methods.costReport, params)).rejects.toThrow(/nonce/);
});
