// @ts-check
// Which parts of the libraries are bundled. Microsoft's language server libraries speak all of the protocol, half of which gpulint
// neither requests nor answers, and the library for YAML also writes it; no bundler can tell, and a start reads every byte of it.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** @typedef {import('esbuild').Plugin} Plugin */
/** @typedef {Readonly<Record<string, readonly string[]>>} Features what each file of a library exports, by its name */

/**
 * Features of the client that are left out: the server offers nothing that uses them. test/bundles.test.ts holds both lists against
 * what the server offers, and their exports against the library's.
 * @type {Features}
 */
export const leftOutOfClient = {
  callHierarchy: ['CallHierarchyFeature'],
  colorProvider: ['ColorProviderFeature'],
  declaration: ['DeclarationFeature'],
  documentHighlight: ['DocumentHighlightFeature'],
  documentSymbol: ['DocumentSymbolFeature', 'SupportedSymbolKinds', 'SupportedSymbolTags'],
  executeCommand: ['ExecuteCommandFeature'],
  fileOperations: ['Create', 'Delete', 'Rename'].flatMap((what) => [
    `Did${what}FilesFeature`,
    `Will${what}FilesFeature`,
  ]),
  foldingRange: ['FoldingRangeFeature'],
  formatting: ['DocumentFormattingFeature', 'DocumentOnTypeFormattingFeature', 'DocumentRangeFormattingFeature'],
  implementation: ['ImplementationFeature'],
  inlineCompletion: ['InlineCompletionItemFeature'],
  inlineValue: ['InlineValueFeature'],
  linkedEditingRange: ['LinkedEditingFeature'],
  notebook: ['NotebookDocumentSyncFeature'],
  rename: ['RenameFeature'],
  selectionRange: ['SelectionRangeFeature'],
  semanticTokens: ['SemanticTokensFeature'],
  signatureHelp: ['SignatureHelpFeature'],
  textDocumentContent: ['TextDocumentContentFeature'],
  typeDefinition: ['TypeDefinitionFeature'],
  typeHierarchy: ['TypeHierarchyFeature'],
  workspaceSymbol: ['WorkspaceSymbolFeature'],
};

/**
 * Features of the server that are left out: what is not offered is not requested.
 * @type {Features}
 */
export const leftOutOfServer = {
  callHierarchy: ['CallHierarchyFeature'],
  fileOperations: ['FileOperationsFeature'],
  foldingRange: ['FoldingRangeFeature'],
  inlineCompletion: ['InlineCompletionFeature'],
  inlineValue: ['InlineValueFeature'],
  linkedEditingRange: ['LinkedEditingRangeFeature'],
  moniker: ['MonikerFeature'],
  notebook: ['NotebookDocuments', 'NotebookSyncFeature'],
  semanticTokens: ['SemanticTokensBuilder', 'SemanticTokensDiff', 'SemanticTokensFeature'],
  textDocumentContent: ['TextDocumentContentFeature'],
  typeHierarchy: ['TypeHierarchyFeature'],
};

/**
 * What is left out of the library for YAML: what writes YAML, what makes nodes of values, and all schemas but the failsafe one, by which
 * every text is read (server/src/yaml/parse.ts). test/bundled-yaml.test.ts compares what is read with and without it.
 */
const leftOutOfYaml = [
  'stringify/\\w+',
  'parse/cst-(?:stringify|visit)',
  'doc/(?:applyReviver|createNode)',
  'visit',
  'schema/(?:core|json|yaml-1\\.1)/\\w+',
];

/**
 * Where a request of the server's side is answered by nobody, `leftOutOfClient` holds the client's side of it.
 * @param {{ protocol?: string }} options `protocol`: where the bundle of the protocol lies that others take it from
 * @returns {Plugin}
 */
export function leanLibraries({ protocol } = {}) {
  return {
    name: 'lean-libraries',
    setup(build) {
      // The server's library asks for another patch release than the client's; one copy, the newer one, serves both.
      build.onResolve(
        { filter: /^vscode-(?:jsonrpc|languageserver-protocol|languageserver-types)(?:\/|$)/ },
        (args) => {
          if (protocol !== undefined) return { path: protocol, external: true };
          if (!/node_modules[\\/]vscode-languageserver[\\/]/.test(args.importer)) return undefined;
          return build.resolve(args.path, { kind: args.kind, resolveDir: root, importer: path.join(root, 'index.js') });
        },
      );
      leaveOutVersionCheck(build);
      leaveOutGlobs(build);
      leaveOutModuleSearch(build);
      leaveOutYaml(build);
      leaveOut(build, 'vscode-languageclient', leftOutOfClient, (name) =>
        name === 'NotebookDocumentSyncFeature' ? 'NoNotebooks' : 'LeftOut',
      );
      leaveOut(build, 'vscode-languageserver', leftOutOfServer, (name) =>
        name.endsWith('Feature') ? '(Base) => Base' : 'undefined',
      );
    },
  };
}

const root = path.join(import.meta.dirname, '..');

/**
 * @param {import('esbuild').PluginBuild} build
 * @param {string} library
 * @param {Features} features
 * @param {(name: string) => string} standIn the code that takes the place of an export
 */
function leaveOut(build, library, features, standIn) {
  const filter = new RegExp(
    `[\\\\/]${library}[\\\\/]lib[\\\\/]common[\\\\/](?:${Object.keys(features).join('|')})\\.js$`,
  );
  build.onLoad({ filter }, ({ path: file }) => {
    const names = features[path.basename(file, '.js')] ?? [];
    return { contents: `${standIns}\n${names.map((name) => `exports.${name} = ${standIn(name)};`).join('\n')}` };
  });
}

/**
 * The client checks the version of VS Code when it starts, which VS Code has done before by the `engines` of package.json; test/bundles.test.ts compares
 * the two versions.
 * @param {import('esbuild').PluginBuild} build
 */
function leaveOutVersionCheck(build) {
  build.onResolve({ filter: /^semver\/functions\/(?:parse|satisfies)$/ }, ({ path: name, importer }) =>
    /[\\/]vscode-languageclient[\\/]/.test(importer) ? { path: name, namespace: 'no-version-check' } : undefined,
  );
  build.onLoad({ filter: /.*/, namespace: 'no-version-check' }, () => ({ contents: 'module.exports = () => ({});' }));
}

/**
 * The client matches globs itself only for notebooks, and for diagnostics of tabs, which `diagnosticPullOptions.match` decides instead.
 * @param {import('esbuild').PluginBuild} build
 */
function leaveOutGlobs(build) {
  const filter = /[\\/]vscode-languageclient[\\/]lib[\\/]common[\\/]utils[\\/]globPattern\.js$/;
  build.onLoad({ filter }, () => ({ contents: 'exports.matchGlobPattern = () => false;' }));
}

/**
 * The server's library finds modules of other projects by running npm and yarn, for servers that load them.
 * @param {import('esbuild').PluginBuild} build
 */
function leaveOutModuleSearch(build) {
  const filter = /[\\/]vscode-languageserver[\\/]lib[\\/]node[\\/]files\.js$/;
  build.onLoad({ filter }, () => ({ contents: '' }));
}

/** @param {import('esbuild').PluginBuild} build */
function leaveOutYaml(build) {
  const files = leftOutOfYaml.join('|').replaceAll('/', '[\\\\/]');
  build.onLoad(
    { filter: new RegExp(`[\\\\/]yaml[\\\\/]browser[\\\\/]dist[\\\\/](?:${files})\\.js$`) },
    ({ path: file }) => {
      const [, names = ''] = /^export \{ (.+) \};$/m.exec(readFileSync(file, 'utf8')) ?? [];
      return { contents: `export const ${names.split(', ').join(' = undefined, ')} = undefined;` };
    },
  );
}

/** A feature that says nothing of itself and registers nothing. The pull of diagnostics subscribes to notebooks, of which there are none. */
const standIns = `
class LeftOut {
  fillClientCapabilities() {}
  initialize() {}
  getState() { return { kind: 'static' }; }
  clear() {}
}
const never = () => ({ dispose() {} });
class NoNotebooks extends LeftOut {
  static CellScheme = 'vscode-notebook-cell';
  registrationType = { method: 'notebookDocument/sync' };
  onOpenNotificationSent = never;
  onChangeNotificationSent = never;
  onSaveNotificationSent = never;
  onCloseNotificationSent = never;
  register() {}
  unregister() {}
  handles() { return false; }
}`;
