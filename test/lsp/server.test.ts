import { describe, expect, test } from 'vitest';
import { DiagnosticSeverity, DiagnosticTag } from 'vscode-languageserver/node';
import { podWithCaret, rejectedPod, selectsA100 } from '../support/manifests.ts';
import { caret, folder, openEditor, withCursor } from './editor.ts';

const uri = `${folder}/app.yaml`;

const harmless = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n';

describe('diagnostics', () => {
  test('are returned to a client that pulls, with rule, page and data', async () => {
    const editor = await openEditor();
    expect(editor.initialized.capabilities.diagnosticProvider).toMatchObject({
      interFileDependencies: true,
      workspaceDiagnostics: false,
    });
    await editor.open(uri, rejectedPod);
    const [found, ...others] = await editor.diagnostics(uri);
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      severity: DiagnosticSeverity.Error,
      code: 'gpu-limits-required',
      source: 'gpulint',
      data: { rule: 'gpu-limits-required' },
    });
    expect(found?.codeDescription?.href).toMatch(/\/docs\/rules\/gpu-limits-required\.md$/);
    expect(found?.tags).toBeUndefined();
    expect(editor.pushed).toEqual([]);
    expect(editor.log).toEqual([]);
  });

  test('fade unused suppressions', async () => {
    const editor = await openEditor();
    const needed = '# gpulint-disable gpu-limits-required\n';
    await editor.open(uri, `${needed}# gpulint-disable mig-geometry\n${rejectedPod}`);
    const found = await editor.diagnostics(uri);
    expect(found).toMatchObject([
      {
        severity: DiagnosticSeverity.Hint,
        tags: [DiagnosticTag.Unnecessary],
        code: 'unused-suppression',
        range: { start: { line: 1, character: 0 } },
      },
    ]);
    expect(found[0]?.codeDescription?.href).toMatch(/\/docs\/ci\.md#/);
  });

  test('are pushed to a client that cannot pull, and cleared when the file is closed', async () => {
    const editor = await openEditor({ capabilities: {} });
    expect(editor.initialized.capabilities.diagnosticProvider).toBeUndefined();
    await editor.open(uri, rejectedPod);
    await editor.until(() => editor.pushed.length === 1);
    expect(editor.pushed[0]).toMatchObject({ uri, version: 1 });
    expect(editor.pushed[0]?.diagnostics.map(({ code }) => code)).toEqual(['gpu-limits-required']);
    await editor.close(uri);
    await editor.until(() => editor.pushed.length === 2);
    expect(editor.pushed[1]).toEqual({ uri, diagnostics: [] });
  });

  test('are those of the last version after fast typing', async () => {
    const editor = await openEditor({ capabilities: {} });
    await editor.open(uri, `${harmless}#`);
    const end = { line: 4, character: 1 };
    for (const character of rejectedPod.replace(/^/, '\n---\n')) {
      const text = editor.text(uri);
      const position = text.endsWith('#') ? end : lastPosition(text);
      await editor.change(uri, caret(position), character);
    }
    const last = 1 + rejectedPod.length + '\n---\n'.length;
    await editor.until(() => editor.pushed.at(-1)?.version === last);
    expect(editor.pushed.at(-1)?.diagnostics.map(({ code }) => code)).toEqual(['gpu-limits-required']);
    const versions = editor.pushed.map(({ version }) => version ?? 0);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(versions.length);
  });

  test('are not sent again without a change', async () => {
    const editor = await openEditor();
    await editor.open(uri, rejectedPod);
    const first = await editor.report(uri);
    expect(await editor.report(uri, first.resultId)).toEqual({ kind: 'unchanged', resultId: first.resultId });
    await editor.change(uri, caret({ line: 0, character: 0 }), '# a\n');
    expect(await editor.report(uri, first.resultId)).toMatchObject({ kind: 'full' });
  });

  test('are empty for files that request no accelerators, and for unsupported languages', async () => {
    const editor = await openEditor();
    await editor.open(uri, harmless);
    expect(await editor.diagnostics(uri)).toEqual([]);
    expect(await editor.lenses(uri)).toEqual([]);
    const compose = `${folder}/compose.yaml`;
    await editor.open(compose, rejectedPod, 'dockercompose');
    expect(await editor.diagnostics(compose)).toEqual([]);
    expect(await editor.lenses(compose)).toEqual([]);
    expect(await editor.diagnostics(`${folder}/never-opened.yaml`)).toEqual([]);
  });

  test.each([
    ['helm', 'file:///a/templates/pod.yaml'],
    ['yaml.kubernetes', 'untitled:Untitled-1'],
    ['yaml', 'vscode-vfs://github/a/b/pod.yaml'],
  ])('are returned for language %s at %s', async (language, address) => {
    const editor = await openEditor();
    await editor.open(address, rejectedPod, language);
    expect(await editor.diagnostics(address)).toHaveLength(1);
  });

  test('are returned for JSON', async () => {
    const editor = await openEditor();
    const container = { name: 'a', image: 'busybox:1.36', resources: { requests: { 'nvidia.com/gpu': 1 } } };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [container] } };
    await editor.open(`${folder}/pod.json`, JSON.stringify(pod), 'json');
    expect((await editor.diagnostics(`${folder}/pod.json`)).map(({ code }) => code)).toEqual(['gpu-limits-required']);
  });

  test('report a YAML error at its position, and the findings of the other documents', async () => {
    const editor = await openEditor();
    await editor.open(uri, `${rejectedPod}---\nnvidia.com/gpu: [1\nb: 2\n`);
    const codes = (await editor.diagnostics(uri)).map(({ code }) => code);
    expect(codes).toContain('gpu-limits-required');
    expect(codes.filter((code) => code === 'yaml-syntax')).toHaveLength(1);
  });

  test('omit syntax errors of languages for which another extension reports them', async () => {
    const editor = await openEditor({ options: { syntaxElsewhere: ['yaml'] } });
    const text = `${rejectedPod}---\nnvidia.com/gpu: [1\nb: 2\n`;
    await editor.open(uri, text);
    await editor.open(`${folder}/templates/app.yaml`, text, 'helm');
    expect((await editor.diagnostics(uri)).map(({ code }) => code)).toEqual(['gpu-limits-required']);
    expect((await editor.diagnostics(`${folder}/templates/app.yaml`)).map(({ code }) => code)).toContain('yaml-syntax');
  });

  test('are at the right column after emoji, and in files with CRLF', async () => {
    const editor = await openEditor();
    const text = `# 🚀🚀\n${rejectedPod}`.replace(/\n/g, '\r\n').replace('name: trainer', 'name: "🚀"');
    await editor.open(uri, text);
    const found = (await editor.diagnostics(uri)).find(({ code }) => code === 'gpu-limits-required');
    const line = text.split('\r\n')[found?.range.start.line ?? -1];
    const { start, end } = found!.range;
    expect(line?.slice(start.character, end.line === start.line ? end.character : undefined)).toMatch(
      /requests|nvidia\.com\/gpu/,
    );
  });
});

describe('code actions', () => {
  test('edit the right text', async () => {
    const editor = await openEditor();
    await editor.open(uri, rejectedPod);
    const diagnostics = await editor.diagnostics(uri);
    const actions = await editor.actions(uri, diagnostics[0]!.range, ['quickfix'], diagnostics);
    const fix = actions.find(({ isPreferred }) => isPreferred);
    expect(fix?.diagnostics?.map(({ code }) => code)).toEqual(['gpu-limits-required']);
    const fixed = editor.applied(uri, fix?.edit);
    expect(fixed).toContain('        limits:\n          nvidia.com/gpu: 1\n');
    await editor.close(uri);
    await editor.open(uri, fixed);
    expect(await editor.diagnostics(uri)).toEqual([]);
  });

  test('keep CRLF and columns after emoji, typed in small steps', async () => {
    const editor = await openEditor();
    await editor.open(uri, rejectedPod.replace(/\n/g, '\r\n'));
    await editor.change(uri, caret({ line: 0, character: 0 }), '# 🚀 ');
    await editor.change(uri, caret({ line: 0, character: 5 }), 'é\r\n');
    const diagnostics = await editor.diagnostics(uri);
    const [fix] = await editor.actions(uri, diagnostics[0]!.range, ['quickfix'], diagnostics);
    const fixed = editor.applied(uri, fix?.edit);
    expect(fixed.replace(/\r\n/g, '')).not.toMatch(/[\r\n]/);
    expect(fixed).toContain('limits:\r\n');
  });

  test('are found by rule and span even if the range is elsewhere', async () => {
    const editor = await openEditor();
    await editor.open(uri, rejectedPod);
    const diagnostics = await editor.diagnostics(uri);
    const top = caret({ line: 0, character: 0 });
    expect(await editor.actions(uri, top, ['quickfix'])).toEqual([]);
    expect(await editor.actions(uri, top, ['quickfix'], diagnostics)).not.toEqual([]);
    const foreign = diagnostics.map((one) => ({ ...one, data: { other: true } }));
    expect(await editor.actions(uri, top, ['quickfix'], foreign)).toEqual([]);
  });

  test('fix all safe problems at once', async () => {
    const editor = await openEditor();
    await editor.open(uri, `${rejectedPod}---\n${rejectedPod}`);
    const top = caret({ line: 0, character: 0 });
    const actions = await editor.actions(uri, top, ['source.fixAll']);
    expect(actions.map(({ kind }) => kind)).toEqual(['source.fixAll.gpulint']);
    const fixed = editor.applied(uri, actions[0]?.edit);
    expect(fixed.match(/limits:/g)).toHaveLength(2);
  });

  test('are plain edits for a client without versioned edits', async () => {
    const editor = await openEditor({ capabilities: { textDocument: { diagnostic: {} } } });
    await editor.open(uri, rejectedPod);
    const diagnostics = await editor.diagnostics(uri);
    const [fix] = await editor.actions(uri, diagnostics[0]!.range, ['quickfix'], diagnostics);
    expect(Object.keys(fix?.edit?.changes ?? {})).toEqual([uri]);
  });

  test('offer every slice of a known GPU to editors without a picker', async () => {
    const editor = await openEditor();
    const { text, position } = withCursor(podWithCaret(selectsA100));
    await editor.open(uri, text);
    const actions = await editor.actions(uri, caret(position), ['refactor']);
    expect(actions.map(({ title }) => title.replace(/ \(.*/, ''))).toEqual([
      'Rewrite to MIG slice 1g.10gb',
      'Rewrite to MIG slice 1g.20gb',
      'Rewrite to MIG slice 2g.20gb',
      'Rewrite to MIG slice 3g.40gb',
      'Rewrite to MIG slice 4g.40gb',
      'Rewrite to MIG slice 7g.80gb',
    ]);
    expect(editor.applied(uri, actions[0]?.edit)).toBe(text.replace('nvidia.com/gpu:', 'nvidia.com/mig-1g.10gb:'));
  });
});

describe('hover and lens', () => {
  test('show what a workload costs', async () => {
    const editor = await openEditor();
    const { text, position } = withCursor(podWithCaret(selectsA100));
    await editor.open(uri, text);
    const hover = await editor.hover(uri, position);
    expect(hover?.contents).toMatchObject({
      kind: 'markdown',
      value: expect.stringMatching(/^\*\*1 × A100 80GB SXM · \$/),
    });
    expect(hover?.range?.start).toEqual({ line: position.line, character: 10 });
    const [lens] = await editor.lenses(uri);
    expect(lens?.range.start).toEqual({ line: 0, character: 0 });
    expect(lens?.command).toEqual({ title: expect.stringMatching(/^1 × A100 80GB SXM · \$/), command: '' });
    expect(await editor.hover(uri, { line: 0, character: 2 })).toBeNull();
  });

  test('are plain text for a client without Markdown', async () => {
    const editor = await openEditor({ capabilities: {} });
    const { text, position } = withCursor(podWithCaret(selectsA100));
    await editor.open(uri, text);
    expect((await editor.hover(uri, position))?.contents).toMatchObject({ kind: 'plaintext' });
  });

  test('of our own client can be clicked', async () => {
    const editor = await openEditor({ options: { picker: true } });
    await editor.open(uri, rejectedPod);
    const [lens] = await editor.lenses(uri);
    expect(lens?.command).toMatchObject({
      title: expect.stringMatching(/^1 GPU · \$[\d.]+\/h on .+ … \$[\d.]+\/h on .+ · Set…$/),
      command: 'gpulint.setGpu',
      arguments: [{ uri }],
    });
  });
});

describe('errors', () => {
  test('in a handler are logged, and the server goes on', async () => {
    const editor = await openEditor({
      features: {
        hover: () => {
          throw new Error('boom');
        },
      },
    });
    await editor.open(uri, rejectedPod);
    expect(await editor.hover(uri, { line: 10, character: 12 })).toBeNull();
    await editor.until(() => editor.log.length > 0);
    expect(editor.log[0]).toMatch(/^hover failed: Error: boom/);
    expect(await editor.diagnostics(uri)).toHaveLength(1);
  });

  test('do not follow from positions outside the text, unknown files or unknown methods', async () => {
    const editor = await openEditor();
    await editor.open(uri, rejectedPod);
    expect(await editor.hover(uri, { line: 9999, character: 9999 })).toBeNull();
    expect(await editor.hover(`${uri}.none`, { line: 0, character: 0 })).toBeNull();
    await expect(editor.connection.sendRequest('gpulint/nothing', {})).rejects.toMatchObject({ code: -32601 });
    await editor.change(uri, { start: { line: 50, character: 2 }, end: { line: 90, character: 2 } }, '# end');
    expect(await editor.diagnostics(uri)).toHaveLength(1);
  });

  test('of a canceled request report the cancellation', async () => {
    const editor = await openEditor();
    await editor.open(uri, rejectedPod);
    const { CancellationTokenSource } = await import('vscode-languageserver/node');
    const source = new CancellationTokenSource();
    const answer = editor.connection.sendRequest(
      'textDocument/hover',
      { textDocument: { uri }, position: { line: 0, character: 0 } },
      source.token,
    );
    source.cancel();
    await expect(answer).rejects.toMatchObject({ code: -32800 });
    expect(await editor.diagnostics(uri)).toHaveLength(1);
  });

  test('replace a response about an outdated version', async () => {
    let release: (text: string | undefined) => void = () => undefined;
    const host = {
      readFile: () =>
        new Promise<string | undefined>((resolve) => {
          release = resolve;
        }),
    };
    const editor = await openEditor({ host });
    await editor.open(uri, rejectedPod);
    const hover = editor.hover(uri, { line: 10, character: 12 });
    const outcome = hover.then(
      () => 'answered',
      (error) => error.code,
    );
    // Responses are in the order of the work: after these, the server waits for the config, then has the change.
    await editor.connection.sendRequest('gpulint/gpus', {});
    await editor.change(uri, caret({ line: 0, character: 0 }), '# new\n');
    await editor.connection.sendRequest('gpulint/gpus', {});
    release(undefined);
    expect(await outcome).toBe(-32801);
    expect(await editor.diagnostics(uri)).toHaveLength(1);
  });
});

function lastPosition(text: string) {
  const lines = text.split('\n');
  return { line: lines.length - 1, character: lines.at(-1)!.length };
}
