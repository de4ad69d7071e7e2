import fc from 'fast-check';
import { methods } from '../../server/src/lsp/protocol.ts';
import { mutate, mutatorNames, scale } from './mutate.ts';
import { related } from './related.ts';
import type { Seeds } from './seeds.ts';

/** One message of a client. For a cancellation, `params` says how many requests ago the canceled one was sent. */
export interface ClientMessage {
  readonly how: 'request' | 'notify' | 'cancel';
  readonly method: string;
  readonly params: unknown;
}

/** The messages of a client between `initialize` and `shutdown`. */
export interface Dialogue {
  readonly messages: readonly ClientMessage[];
  /** The files on disk. */
  readonly files: Readonly<Record<string, string>>;
  readonly settings: unknown;
  /** Whether the built server runs in a separate process. */
  readonly process: boolean;
  readonly own: boolean;
}

const uri = fc.constantFrom(
  'file:///w/a.yaml',
  'file:///w/b.yaml',
  'file:///w/sub/c.yaml',
  'file:///w/.gpulint.yaml',
  'file:///w/d.json',
  'untitled:Untitled-1',
  'file:///w/notes',
);
const languages: ReadonlyMap<string, string> = new Map([
  ['file:///w/d.json', 'json'],
  ['untitled:Untitled-1', 'helm'],
  ['file:///w/notes', 'plaintext'],
]);
const oddUri = fc.constantFrom<unknown>(
  '',
  'x',
  'file:///',
  'file:///w/none.yaml',
  'file:///%zz',
  'file:///w/%00.yaml',
  'http://h/a.yaml',
  'file://host/a.yaml',
  '../..',
  7,
  null,
  {},
  'file:///w/__proto__',
  'constructor',
  '__proto__',
  'a'.repeat(5000),
);
const odd = fc.constantFrom<unknown>(
  null,
  undefined,
  '',
  'x',
  0,
  -1,
  1e308,
  2 ** 53,
  true,
  [],
  {},
  [null],
  { __proto__: null },
  { uri: 5 },
  'a'.repeat(1000),
);

const line = fc.oneof(
  { weight: 6, arbitrary: fc.nat(40) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(-1, 1e9, 2 ** 31, 2 ** 53, 0.5, '1', null, undefined) },
);
const position = fc.oneof(
  { weight: 12, arbitrary: fc.record({ line, character: line }) },
  { weight: 1, arbitrary: odd },
);
const range = fc.oneof(
  { weight: 12, arbitrary: fc.record({ start: position, end: position }) },
  { weight: 1, arbitrary: odd },
);
const properRange = fc.tuple(fc.nat(30), fc.nat(20), fc.nat(4), fc.nat(20)).map(([start, from, lines, to]) => ({
  start: { line: start, character: from },
  end: { line: start + lines, character: lines === 0 ? from + to : to },
}));

/** The document of a message: usually one that may be open. */
const textDocument = fc.oneof(
  { weight: 12, arbitrary: fc.record({ uri }) },
  { weight: 1, arbitrary: fc.record({ uri: oddUri }) },
  { weight: 1, arbitrary: odd },
);

const atPlace = ['hover', 'completion', 'definition'].map((name) => `textDocument/${name}`);
const ofDocument = ['codeLens', 'documentLink', 'diagnostic'].map((name) => `textDocument/${name}`);
const own = [
  methods.costs,
  methods.gpus,
  methods.migChoices,
  methods.fractions,
  methods.rewriteToFraction,
  methods.rewriteToMig,
  methods.setGpu,
  methods.workspaceFixes,
  methods.fixWorkspace,
  methods.ruleIds,
  methods.platforms,
];
const others = [
  'textDocument/rename',
  'textDocument/foldingRange',
  'workspace/symbol',
  'workspace/executeCommand',
  'codeAction/resolve',
  'completionItem/resolve',
  'codeLens/resolve',
  'gpulint/none',
  '$/unknown',
  'constructor',
  'shutdown2',
  '',
];

const requests: fc.Arbitrary<ClientMessage> = fc
  .oneof(
    fc.tuple(fc.constantFrom(...atPlace), fc.record({ textDocument, position })),
    fc.tuple(fc.constantFrom(...ofDocument), fc.record({ textDocument })),
    fc.tuple(
      fc.constant('textDocument/references'),
      fc.record({ textDocument, position, context: fc.oneof(fc.record({ includeDeclaration: fc.boolean() }), odd) }),
    ),
    fc.tuple(fc.constant('textDocument/inlayHint'), fc.record({ textDocument, range })),
    fc.tuple(
      fc.constant('textDocument/codeAction'),
      fc.record({
        textDocument,
        range,
        context: fc.oneof(
          { weight: 5, arbitrary: fc.record({ diagnostics: fc.constant([]) }) },
          { weight: 1, arbitrary: odd },
        ),
      }),
    ),
    fc.tuple(
      fc.constantFrom(...own),
      fc.record({
        uri: fc.oneof(uri, oddUri),
        position,
        gpu: fc.constantFrom<unknown>('h100-80gb-sxm', '__proto__', null, 5),
        profile: fc.constantFrom<unknown>('1g.10gb', 'constructor', null),
        provider: fc.constantFrom<unknown>('aws', null, 'toString'),
        uris: fc.oneof(fc.array(uri, { maxLength: 3 }), odd),
        rule: fc.constantFrom<unknown>(null, 'gpu-limits-required', 'constructor', 3),
      }),
    ),
    fc.tuple(
      fc.constantFrom(
        ...atPlace,
        ...ofDocument,
        ...own,
        ...others,
        'textDocument/codeAction',
        'textDocument/references',
        'textDocument/inlayHint',
      ),
      odd,
    ),
  )
  .map(([method, params]) => ({ how: 'request', method, params }));

const version = fc.oneof({ weight: 8, arbitrary: fc.nat(100) }, { weight: 1, arbitrary: odd });

function notifications(text: fc.Arbitrary<string>): fc.Arbitrary<ClientMessage> {
  // Opening a document twice is a client error, and no rule says which language then applies: each document has only one.
  const open = fc
    .record({ uri, version: fc.nat(100), text })
    .map((document) => ({ ...document, languageId: languages.get(document.uri) ?? 'yaml' }));
  const change = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        range: properRange,
        text: fc.oneof(fc.constantFrom('', 'x', '\n', 'nvidia.com/gpu: 1', '\r', '---\n', '{{'), text),
      }),
    },
    { weight: 1, arbitrary: fc.record({ range, text: fc.oneof(text, odd) }) },
    { weight: 2, arbitrary: fc.record({ text }) },
    { weight: 1, arbitrary: odd },
  );
  const event = fc.record({ uri: fc.oneof(uri, oddUri), type: fc.oneof(fc.integer({ min: 1, max: 3 }), odd) });
  return fc
    .oneof(
      { weight: 4, arbitrary: fc.tuple(fc.constant('textDocument/didOpen'), fc.record({ textDocument: open })) },
      {
        weight: 1,
        arbitrary: fc.tuple(
          fc.constant('textDocument/didOpen'),
          fc.record({
            textDocument: fc.oneof(fc.record({ uri: oddUri, languageId: odd, version: odd, text: odd }), odd),
          }),
        ),
      },
      {
        weight: 6,
        arbitrary: fc.tuple(
          fc.constant('textDocument/didChange'),
          fc.record({
            textDocument: fc.oneof(
              { weight: 8, arbitrary: fc.record({ uri, version }) },
              { weight: 1, arbitrary: textDocument },
            ),
            contentChanges: fc.oneof(
              { weight: 8, arbitrary: fc.array(change, { maxLength: 3 }) },
              { weight: 1, arbitrary: odd },
            ),
          }),
        ),
      },
      {
        weight: 2,
        arbitrary: fc.tuple(
          fc.constantFrom('textDocument/didClose', 'textDocument/didSave', 'textDocument/willSave'),
          fc.record({ textDocument }),
        ),
      },
      {
        weight: 1,
        arbitrary: fc.tuple(
          fc.constant('workspace/didChangeWatchedFiles'),
          fc.record({ changes: fc.oneof(fc.array(event, { maxLength: 4 }), odd) }),
        ),
      },
      {
        weight: 1,
        arbitrary: fc.tuple(
          fc.constantFrom(
            'workspace/didChangeConfiguration',
            'workspace/didChangeWorkspaceFolders',
            methods.syntaxElsewhere,
            '$/setTrace',
            '$/unknown',
            'gpulint/unknown',
            'textDocument/didOpen',
            'textDocument/didChange',
            'textDocument/didClose',
          ),
          fc.oneof(
            odd,
            fc.constant({ settings: { gpulint: { gpu: 5 } } }),
            fc.constant({ languages: ['yaml'] }),
            fc.constant({ event: { added: [{ uri: 'file:///none', name: 'n' }], removed: [] } }),
          ),
        ),
      },
    )
    .map(([method, params]) => ({ how: 'notify', method, params }));
}

const settings = fc.constantFrom<unknown>(
  {},
  null,
  { gpu: 'h100-80gb-sxm', extends: 'strict' },
  { gpu: 5, rules: { constructor: 'off' } },
  [],
  'x',
  { ruleOptions: { 'idle-gpu-container': { hours: 'x' } } },
);

/** Messages in any order, most of them valid, some malformed. */
export function dialogues({ all }: Seeds): fc.Arbitrary<Dialogue> {
  const short = all.filter(({ text, own: isOwn }) => isOwn && text.length < 1500).map(({ text }) => text);
  const number = fc.nat(scale - 1);
  const text = fc
    .tuple(
      fc.constantFrom(...short, ...related),
      fc.array(fc.record({ kind: fc.constantFrom(...mutatorNames), at: number, choice: number }), { maxLength: 1 }),
    )
    .map(([seed, mutations]) => mutate(seed, '', mutations).slice(0, 20_000));
  const cancel = fc.nat(5).map((params): ClientMessage => ({ how: 'cancel', method: '', params }));
  const messages = fc.oneof(
    { weight: 5, arbitrary: requests },
    { weight: 6, arbitrary: notifications(text) },
    { weight: 1, arbitrary: cancel },
  );
  return fc.record({
    messages: fc.array(messages, { minLength: 2, maxLength: 40, size: 'max' }).map((list) => [start, ...list]),
    files: fc.dictionary(uri, fc.constantFrom(...related), { maxKeys: 3, noNullPrototype: true }),
    settings,
    process: fc.nat(29).map((dice) => dice === 0),
    own: fc.constant(true),
  });
}

/** Opens the document that most messages concern. */
const start: ClientMessage = {
  how: 'notify',
  method: 'textDocument/didOpen',
  params: { textDocument: { uri: 'file:///w/a.yaml', languageId: 'yaml', version: 1, text: related[0] } },
};
