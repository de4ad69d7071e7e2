import { describe, expect, test } from 'vitest';
import { DiagnosticSeverity, DocumentLinkRequest, InlayHintRequest } from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { methods, type PlatformsResult } from '../../server/src/lsp/protocol.ts';
import { rejectedPod } from '../support/manifests.ts';
import { caret, folder, openEditor } from './editor.ts';

const uri = `${folder}/app.yaml`;

const place = caret({ line: 10, character: 12 });

describe('suppressing a finding', () => {
  test('inserts a comment and selects the reason', async () => {
    const editor = await openEditor({ options: { picker: true } });
    await editor.open(uri, rejectedPod.replace(/\n/g, '\r\n'));
    const action = (await editor.actions(uri, place, ['quickfix'])).find(({ title }) => title.startsWith('Silence'));
    const after = editor.applied(uri, action?.edit);
    expect(after).toContain('\r\n          # gpulint-disable-next-line gpu-limits-required -- reason\r\n');
    const [argument] = action?.command?.arguments ?? [];
    expect(action?.command?.command).toBe('gpulint.select');
    expect(TextDocument.create(uri, 'yaml', 2, after).getText(argument.range)).toBe('reason');
    await editor.close(uri);
    await editor.open(uri, after);
    expect(await editor.diagnostics(uri)).toEqual([]);
  });

  test('is only an edit for a client without our commands', async () => {
    const editor = await openEditor();
    await editor.open(uri, rejectedPod);
    const actions = await editor.actions(uri, place, ['quickfix']);
    expect(actions.find(({ title }) => title.startsWith('Silence'))?.command).toBeUndefined();
  });
});

describe('advice', () => {
  const rules = { 'gpu-limits-required': 'info' };

  test.each([
    ['info', [DiagnosticSeverity.Information], 0],
    ['hint', [DiagnosticSeverity.Hint], 0],
    ['lens', [], 1],
    ['off', [], 0],
  ] as const)('as %s', async (advice, severities, lenses) => {
    const editor = await openEditor({ settings: { advice, rules }, options: { picker: true } });
    await editor.open(uri, rejectedPod);
    expect((await editor.diagnostics(uri)).map(({ severity }) => severity)).toEqual(severities);
    const found = (await editor.lenses(uri)).filter(({ command }) => command?.command === 'gpulint.showFixes');
    expect(found).toHaveLength(lenses);
    expect(found.every(({ range }) => range.start.line === 10)).toBe(true);
  });
});

describe('inlay hints', () => {
  const range = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };

  test.each([
    [true, [expect.stringMatching(/^\$\d/)]],
    [false, undefined],
  ])('enabled: %s', async (enabled, labels) => {
    const editor = await openEditor({ settings: { gpu: 'l4', inlayHints: { enabled }, codeLens: { enabled } } });
    await editor.open(uri, rejectedPod);
    const hints = await editor.connection.sendRequest(InlayHintRequest.type, { textDocument: { uri }, range });
    expect(hints?.map(({ label }) => label)).toEqual(labels);
    expect((await editor.lenses(uri)).length).toBe(enabled ? 1 : 0);
  });
});

test('rules in comments link to their pages', async () => {
  const editor = await openEditor();
  await editor.open(uri, `# gpulint-disable gpu-limits-required -- why\n${rejectedPod}`);
  const links = await editor.connection.sendRequest(DocumentLinkRequest.type, { textDocument: { uri } });
  expect(links?.map(({ target }) => target)).toEqual([
    expect.stringMatching(/\/docs\/rules\/gpu-limits-required\.md$/),
  ]);
});

describe('the pickers of the client', () => {
  test('list the ids of rules', async () => {
    const editor = await openEditor();
    expect(await editor.connection.sendRequest(methods.ruleIds, {})).toContain('yaml-syntax');
  });

  test('list platforms with their regions, and write the selection', async () => {
    const editor = await openEditor();
    const platforms = await editor.connection.sendRequest<PlatformsResult>(methods.platforms, {});
    expect(platforms.find(({ id }) => id === 'gke-standard')).toMatchObject({
      name: 'Google Cloud: GKE Standard',
      provider: 'gcp',
      regions: expect.arrayContaining(['us-central1']),
    });
    const { edit } = await editor.connection.sendRequest<{ edit: never }>(methods.setGpu, {
      uri,
      gpu: 'l4',
      provider: null,
      platform: 'gke-standard',
      region: 'us-central1',
      capacity: 'spot',
    });
    expect(JSON.stringify(edit)).toContain(
      'gpu: l4\\nplatform: gke-standard\\nregion: us-central1\\ncapacity: spot\\n',
    );
  });
});
