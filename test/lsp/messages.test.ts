import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createConnection, ErrorCodes, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver/node';
import { checkMessages } from '../../server/src/lsp/messages.ts';
import { methods } from '../../server/src/lsp/protocol.ts';
import { startServer } from '../../server/src/lsp/server.ts';
import { caret, folder, openEditor } from './editor.ts';

const uri = `${folder}/pod.yaml`;
const pod = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: busybox:1.36
      resources: { requests: { nvidia.com/gpu: 1 } }
`;
const textDocument = { uri };
const position = { line: 0, character: 0 };
const range = caret(position);
const context = { diagnostics: [] };

const oddPlaces: readonly unknown[] = [
  undefined,
  null,
  'x',
  [],
  {},
  { line: -1, character: 0 },
  { line: 0, character: -1 },
  { line: 0.5, character: 0 },
  { line: Number.NaN, character: 0 },
  { line: 1e300, character: 0 },
  { line: '0', character: 0 },
  { line: null, character: null },
];
const oddRanges: readonly unknown[] = [
  undefined,
  null,
  5,
  { start: position },
  ...oddPlaces.map((odd) => ({ start: odd, end: position })),
  { start: { line: 1, character: 0 }, end: position },
  { start: { line: 0, character: 1 }, end: position },
];
const oddUris: readonly unknown[] = [undefined, null, 5, {}, [], '', 'pod.yaml', '/pod.yaml'];

const requests: readonly (readonly [string, readonly unknown[]])[] = [
  ...[
    'textDocument/hover',
    'textDocument/completion',
    'textDocument/definition',
    'textDocument/references',
    'textDocument/codeLens',
    'textDocument/documentLink',
    'textDocument/diagnostic',
    'textDocument/inlayHint',
    'textDocument/codeAction',
  ].map((method) => {
    const rest = { position, range, context: { ...context, includeDeclaration: true } };
    const documents = [null, 'x', ...oddUris.map((odd) => ({ uri: odd }))];
    return [method, [null, [], 'x', {}, ...documents.map((odd) => ({ ...rest, textDocument: odd }))]] as const;
  }),
  ['textDocument/hover', oddPlaces.map((odd) => ({ textDocument, position: odd }))],
  ['textDocument/completion', oddPlaces.map((odd) => ({ textDocument, position: odd }))],
  ['textDocument/definition', oddPlaces.map((odd) => ({ textDocument, position: odd }))],
  [
    'textDocument/references',
    [
      { textDocument, position },
      { textDocument, position, context: { includeDeclaration: 1 } },
    ],
  ],
  ['textDocument/diagnostic', [{ textDocument, previousResultId: 5 }]],
  ['textDocument/inlayHint', oddRanges.map((odd) => ({ textDocument, range: odd }))],
  ['textDocument/codeAction', oddRanges.map((odd) => ({ textDocument, range: odd, context }))],
  [
    'textDocument/codeAction',
    [
      undefined,
      null,
      {},
      { diagnostics: null },
      { diagnostics: [null] },
      { diagnostics: [], only: 'quickfix' },
      { diagnostics: [], only: [5] },
    ].map((odd) => ({ textDocument, range, context: odd })),
  ],
  [methods.costs, [null, {}, ...oddUris.map((odd) => ({ uri: odd }))]],
  [methods.gpus, [null, 'x', { uri: 5 }]],
  [methods.migChoices, [null, {}, { uri }, { uri, position: { line: -1, character: 0 } }, { uri, position, gpu: 5 }]],
  [methods.fractions, [null, { uri }]],
  [methods.rewriteToFraction, [null, { uri, position }, { uri, position, id: 5 }]],
  [methods.rewriteToMig, [null, { uri, position }, { uri, position, gpu: 'l4', profile: 5 }]],
  [
    methods.setGpu,
    [null, {}, { uri, gpu: 5 }, { uri, gpu: 'l4', provider: {} }, { uri: 5, gpu: null, provider: null }],
  ],
  [methods.workspaceFixes, [null, {}, { uris: uri }, { uris: [5] }, { uris: ['pod.yaml'] }]],
  [methods.fixWorkspace, [null, { uris: [uri] }, { uris: [uri], rule: 5 }, { uris: null, rule: null }]],
];

describe('a request with invalid parameters', () => {
  test.each(requests)('%s gets an error, and the next request its response', async (method, odd) => {
    const editor = await openEditor();
    await editor.open(uri, pod);
    for (const params of odd) {
      const answer = editor.connection.sendRequest(method, params);
      await expect(answer, JSON.stringify(params)).rejects.toMatchObject({ code: ErrorCodes.InvalidParams });
    }
    expect(await editor.diagnostics(uri)).toHaveLength(1);
    expect(editor.log).toEqual([]);
  });

  test('gets the path of the invalid parameter', async () => {
    const editor = await openEditor();
    const params = { textDocument, position: { line: -1, character: 0 } };
    await expect(editor.connection.sendRequest('textDocument/hover', params)).rejects.toThrow(
      'params.position.line is invalid',
    );
  });
});

const change = (version: unknown, odd: unknown = [{ text: '' }]) => ({
  textDocument: { uri, version },
  contentChanges: odd,
});
const notifications: readonly (readonly [string, readonly unknown[]])[] = [
  [
    'textDocument/didOpen',
    [null, {}, ...oddUris.map((odd) => ({ textDocument: { uri: odd, languageId: 'yaml', version: 1, text: '' } }))],
  ],
  [
    'textDocument/didOpen',
    [{ text: 5 }, { version: null }, { version: 'x' }, { version: 1.5 }, { languageId: 5 }].map((odd) => ({
      textDocument: { uri: `${folder}/new.yaml`, languageId: 'yaml', version: 1, text: '', ...odd },
    })),
  ],
  ['textDocument/didOpen', [{ textDocument: { uri, languageId: 'yaml', version: 2, text: '' } }]],
  ['textDocument/didChange', [null, {}, ...[undefined, null, 'x', 1.5, 1, 0, -1].map((version) => change(version))]],
  [
    'textDocument/didChange',
    [null, 'x', {}, [null], [{}], [{ text: 5 }], [{ range: null, text: '' }]].map((odd) => change(2, odd)),
  ],
  ['textDocument/didChange', oddRanges.slice(1).map((odd) => change(2, [{ range: odd, text: 'x' }]))],
  // The first change alone would be enough.
  [
    'textDocument/didChange',
    [
      change(2, [
        { range, text: 'x' },
        { range: {}, text: 'x' },
      ]),
    ],
  ],
  ['textDocument/didChange', [{ textDocument: { uri: `${uri}x`, version: 2 }, contentChanges: [{ text: '' }] }]],
  ['textDocument/didSave', [null, {}, { textDocument: { uri: `${uri}x` } }]],
  [
    'textDocument/didClose',
    [null, {}, ...oddUris.map((odd) => ({ textDocument: { uri: odd } })), { textDocument: { uri: `${uri}x` } }],
  ],
  [
    'workspace/didChangeWatchedFiles',
    [
      null,
      {},
      { changes: {} },
      { changes: [null] },
      { changes: [{ uri: 5, type: 1 }] },
      { changes: [{ uri, type: 4 }] },
      { changes: [{ uri }] },
    ],
  ],
  [
    'workspace/didChangeWorkspaceFolders',
    [null, {}, { event: {} }, { event: { added: [{ uri: 5 }], removed: [] } }, { event: { added: null, removed: [] } }],
  ],
  [methods.syntaxElsewhere, [null, {}, { languages: 'yaml' }, { languages: [5] }]],
  ['$/setTrace', [null, {}, { value: 5 }]],
];

describe('an invalid notification', () => {
  test.each(notifications)('%s changes nothing and is logged', async (method, odd) => {
    const editor = await openEditor();
    await editor.open(uri, pod);
    const before = await editor.diagnostics(uri);
    for (const params of odd) await editor.connection.sendNotification(method, params as object);
    // A second open, or a close without an open, was ignored. After an ignored change, only a full text is valid.
    const whole = { textDocument: { uri, version: 9 }, contentChanges: [{ text: `# x\n${pod}` }] };
    if (method === 'textDocument/didChange') await editor.connection.sendNotification(method, whole);
    else await editor.change(uri, range, '# x\n');
    await editor.until(() => editor.log.length >= odd.length);
    expect(editor.log.filter((line) => line.startsWith(`${method} is ignored: `))).toHaveLength(odd.length);
    const after = await editor.diagnostics(uri);
    expect(after.map((one) => one.range.start.line)).toEqual(before.map((one) => one.range.start.line + 1));
    await editor.close(uri);
    await editor.close(uri);
    await editor.until(() => editor.log.at(-1)?.includes('is not open') === true);
    await editor.open(uri, pod);
    expect(await editor.diagnostics(uri)).toEqual(before);
  });

  test('leaves a document unknown until its full text arrives', async () => {
    const editor = await openEditor();
    await editor.open(uri, pod);
    const send = (version: number, changes: readonly object[]) =>
      editor.connection.sendNotification('textDocument/didChange', {
        textDocument: { uri, version },
        contentChanges: changes,
      });
    await send(1, [{ range, text: '# a\n# b\n' }]);
    // This would insert text into unknown content.
    await send(2, [{ range, text: '# c\n' }]);
    await editor.until(() => editor.log.length === 2);
    expect(editor.log[1]).toMatch(/an earlier change of .* was ignored; send the full text/);
    const [{ range: before } = { range }] = await editor.diagnostics(uri);
    await send(3, [{ text: `# a\n# b\n# c\n${pod}` }]);
    await send(4, [{ range, text: '# d\n' }]);
    const [{ range: after } = { range }] = await editor.diagnostics(uri);
    expect(after.start.line).toBe(before.start.line + 4);
    expect(editor.log).toHaveLength(2);
  });

  test('does not affect a document that is opened again after an ignored change', async () => {
    const editor = await openEditor();
    await editor.open(uri, pod);
    await editor.close(uri);
    await editor.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri, version: 2 },
      contentChanges: [{ range, text: '# a\n' }],
    });
    await editor.until(() => editor.log.at(-1)?.includes('is not open') === true);
    await editor.open(uri, pod);
    const [{ range: before } = { range }] = await editor.diagnostics(uri);
    await editor.change(uri, range, '# b\n');
    const [{ range: after } = { range }] = await editor.diagnostics(uri);
    expect(after.start.line).toBe(before.start.line + 1);
  });

  test.each([{}, { id: null }, { id: {} }, { id: 'none' }])(
    'such as a cancellation of %j has no effect',
    async (params) => {
      const editor = await openEditor();
      await editor.open(uri, pod);
      await editor.connection.sendNotification('$/cancelRequest', params);
      expect(await editor.diagnostics(uri)).toHaveLength(1);
    },
  );

  test('of an unknown method is ignored', async () => {
    const editor = await openEditor();
    await editor.connection.sendNotification('$/unknown', { any: 'thing' });
    await expect(editor.connection.sendRequest('$/unknown', {})).rejects.toMatchObject({
      code: ErrorCodes.MethodNotFound,
    });
    await expect(editor.connection.sendRequest('no/such', {})).rejects.toMatchObject({
      code: ErrorCodes.MethodNotFound,
    });
    expect(editor.log).toEqual([]);
  });
});

/** A server that receives raw messages. */
function raw() {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const [reader, writer] = [new StreamMessageReader(toServer), new StreamMessageWriter(toClient)];
  const connection = createConnection(reader, writer, checkMessages(reader, writer));
  startServer(connection, { readFile: async () => undefined });
  const heard: { id?: unknown; error?: { code: number }; method?: string }[] = [];
  let wake: () => void = () => undefined;
  new StreamMessageReader(toClient).listen((message) => {
    heard.push(message as never);
    wake();
  });
  return {
    send(message: unknown) {
      const text = typeof message === 'string' ? message : JSON.stringify(message);
      toServer.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    },
    async answers(count: number) {
      while (heard.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return heard.map(({ id, error, method }) => error?.code ?? method ?? id);
    },
    end: () => connection.dispose(),
  };
}
const request = (id: unknown, method: string, params: unknown = {}) => ({ jsonrpc: '2.0', id, method, params });
const initialize = (id: unknown, more: object = {}) =>
  request(id, 'initialize', { processId: null, rootUri: null, capabilities: {}, ...more });

describe('the life cycle of a server', () => {
  test('starts with a single initialize and ends with shutdown', async () => {
    const server = raw();
    server.send({ jsonrpc: '2.0', method: 'textDocument/didOpen', params: null });
    server.send(request(1, 'textDocument/hover', { textDocument, position }));
    server.send(request(2, 'shutdown'));
    server.send(initialize(3));
    server.send(initialize(4));
    expect(await server.answers(4)).toEqual([
      ErrorCodes.ServerNotInitialized,
      ErrorCodes.ServerNotInitialized,
      3,
      ErrorCodes.InvalidRequest,
    ]);
    server.send(request(5, 'shutdown'));
    server.send(request(6, 'textDocument/hover', { textDocument, position }));
    expect((await server.answers(6)).slice(4)).toEqual(expect.arrayContaining([5, ErrorCodes.InvalidRequest]));
    server.end();
  });

  const beginnings: readonly (readonly [string, unknown])[] = [
    ['no parameters', null],
    ['a list', []],
    ['no capabilities', { processId: null, rootUri: null }],
    ...[
      { capabilities: null },
      { capabilities: 'x' },
      { capabilities: [] },
      { capabilities: { workspace: 'x' } },
      { capabilities: { textDocument: [] } },
      { processId: 'x' },
      { processId: -1 },
      { rootUri: 5 },
      { workspaceFolders: 'x' },
      { workspaceFolders: {} },
      { workspaceFolders: [null] },
      { workspaceFolders: [{ name: 'x' }] },
      { workspaceFolders: [{ uri: 5 }] },
    ].map((odd) => [JSON.stringify(odd), { processId: null, rootUri: null, capabilities: {}, ...odd }] as const),
  ];
  test.each(beginnings)('does not start with %s', async (_, params) => {
    const server = raw();
    server.send(request(1, 'initialize', params));
    server.send(initialize(2, { workspaceFolders: null, initializationOptions: null }));
    expect(await server.answers(2)).toEqual([ErrorCodes.InvalidParams, 2]);
    server.end();
  });

  test.each([
    { initializationOptions: 'x' },
    { initializationOptions: { syntaxElsewhere: 5 } },
    { capabilities: { textDocument: { hover: { contentFormat: 5 }, diagnostic: null }, workspace: null } },
    { workspaceFolders: [] },
    { trace: 5 },
    { rootUri: '' },
  ])('starts although a client sends odd capabilities: %j', async (odd) => {
    const server = raw();
    server.send(initialize(1, odd));
    expect(await server.answers(1)).toEqual([1]);
    server.end();
  });
});

test.each(['this is no JSON', '{', ''])(
  'text that is not JSON (%j) gets an error, and the next request its response',
  async (text) => {
    const server = raw();
    server.send(text);
    server.send(initialize(1));
    expect(await server.answers(2)).toEqual([ErrorCodes.ParseError, 1]);
    server.end();
  },
);

test.each([
  [[]],
  [[initialize(7)]],
  [null],
  [5],
  ['"x"'],
  [{}],
  [{ jsonrpc: '2.0' }],
  [{ method: 5 }],
  [{ id: {}, method: 'shutdown' }],
  [{ id: null, method: 'shutdown' }],
  [{ id: 7 }],
])('JSON that is not a message (%j) gets an error, and the next request its response', async (message) => {
  const server = raw();
  server.send(message);
  server.send(initialize(1));
  expect(await server.answers(2)).toEqual([ErrorCodes.InvalidRequest, 1]);
  server.end();
});

describe('settings of the wrong type', () => {
  test.each([
    [['x']],
    [{ gpu: 5, codeLens: 'on', inlayHints: { enabled: 'yes' }, advice: 5, index: { maxFiles: '20' } }],
    [{ rules: 'off', prices: [], nodePools: {}, index: -1 }],
  ])('%j are logged, and the defaults apply', async (settings) => {
    const editor = await openEditor({ settings: settings as never });
    await editor.open(uri, pod);
    expect(await editor.diagnostics(uri)).toHaveLength(1);
    expect(await editor.lenses(uri)).not.toEqual([]);
    expect(editor.log.every((line) => line.startsWith('settings: '))).toBe(true);
  });
});
