// @ts-check
// What of the libraries is bundled. Microsoft's for language servers speak all of the protocol and are compiled file by file, so half of
// their code is for requests that gpulint neither makes nor answers, and no bundler can tell. A start reads every byte of it.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** @typedef {import('esbuild').Plugin} Plugin */

/**
 * Features of the client that are left out: the server offers nothing that they would ask for, which test/bundles.test.ts holds
 * against what it offers.
 */
export const leftOutOfClient = [
  'callHierarchy',
  'colorProvider',
  'declaration',
  'documentHighlight',
  'documentSymbol',
  'executeCommand',
  'fileOperations',
  'foldingRange',
  'formatting',
  'implementation',
  'inlineCompletion',
  'inlineValue',
  'linkedEditingRange',
  'notebook',
  'rename',
  'selectionRange',
  'semanticTokens',
  'signatureHelp',
  'textDocumentContent',
  'typeDefinition',
  'typeHierarchy',
  'workspaceSymbol',
];

const leftOutOfServer = [
  'callHierarchy',
  'fileOperations',
  'foldingRange',
  'inlineCompletion',
  'inlineValue',
  'linkedEditingRange',
  'moniker',
  'notebook',
  'semanticTokens',
  'textDocumentContent',
  'typeHierarchy',
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
      const files = (/** @type {string} */ library, /** @type {readonly string[]} */ names) =>
        new RegExp(`[\\\\/]${library}[\\\\/]lib[\\\\/]common[\\\\/](?:${names.join('|')})\\.js$`);

      // The server's library asks for another patch release than the client's; one copy, the newer one, serves both.
      build.onResolve(
        { filter: /^vscode-(?:jsonrpc|languageserver-protocol|languageserver-types)(?:\/|$)/ },
        (args) => {
          if (protocol !== undefined) return { path: protocol, external: true };
          if (!/node_modules[\\/]vscode-languageserver[\\/]/.test(args.importer)) return undefined;
          return build.resolve(args.path, { kind: args.kind, resolveDir: root, importer: path.join(root, 'index.js') });
        },
      );

      build.onLoad({ filter: files('vscode-languageclient', leftOutOfClient) }, (args) => ({
        contents: `${leftOut}\n${exportsOf(args.path)
          .map((name) => `exports.${name} = ${name === 'NotebookDocumentSyncFeature' ? 'NoNotebooks' : 'LeftOut'};`)
          .join('\n')}`,
      }));
      build.onLoad({ filter: files('vscode-languageserver', leftOutOfServer) }, (args) => ({
        contents: exportsOf(args.path)
          .map((name) => `exports.${name} = ${name.endsWith('Feature') ? '(Base) => Base' : 'undefined'};`)
          .join('\n'),
      }));
      // It finds modules of other projects by running npm and yarn.
      build.onLoad({ filter: /[\\/]vscode-languageserver[\\/]lib[\\/]node[\\/]files\.js$/ }, () => ({ contents: '' }));
      // VS Code itself holds its version against `engines` in package.json before it loads an extension.
      build.onResolve({ filter: /^semver\/functions\// }, ({ path }) => ({ path, namespace: 'version' }));
      build.onLoad({ filter: /.*/, namespace: 'version' }, () => ({ contents: 'module.exports = () => true;' }));
      // The client holds the globs of its own document selector against the names of tabs: what reads the globs of configs reads these.
      build.onResolve({ filter: /^minimatch$/ }, ({ path }) => ({ path, namespace: 'globs' }));
      build.onLoad({ filter: /.*/, namespace: 'globs' }, () => ({
        resolveDir: root,
        contents: `import { matchesGlob } from './server/src/config/globs.ts';
          export class Minimatch {
            constructor(glob) { this.glob = glob; }
            makeRe() { return true; }
            match(path) { return matchesGlob(path.replaceAll('\\\\', '/').replace(/^\\//, ''), this.glob); }
          }`,
      }));
      // Texts are changed by edits and never printed anew (ARCHITECTURE.md), so what prints YAML is not needed to read it.
      build.onLoad({ filter: /[\\/]yaml[\\/]browser[\\/]dist[\\/]stringify[\\/]\w+\.js$/ }, (args) => {
        const [, names = ''] = /^export \{ (.*) \};$/m.exec(readFileSync(args.path, 'utf8')) ?? [];
        const printers = names.split(', ').map((name) => `export const ${name} = none;`);
        return { contents: `const none = () => { throw new Error('YAML is not printed here'); };${printers.join('')}` };
      });
      // Texts are read by the failsafe schema alone (yaml/parse.ts).
      build.onLoad({ filter: /[\\/]yaml[\\/]browser[\\/]dist[\\/]schema[\\/]tags\.js$/ }, () => ({
        contents: `import { map } from './common/map.js';
          import { seq } from './common/seq.js';
          import { string } from './common/string.js';
          export const coreKnownTags = {};
          export const getTags = () => [map, seq, string];`,
      }));
      // Names of sockets are made with it, which nobody here opens: it is loaded when it is asked for.
      build.onResolve({ filter: /^crypto$/ }, ({ importer }) =>
        /[\\/]vscode-jsonrpc[\\/]lib[\\/]node[\\/]/.test(importer) ? { path: 'crypto', namespace: 'late' } : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => ({
        contents: `module.exports = new Proxy({}, { get: (_, name) => require('node:${path}')[name] });`,
      }));

      build.onLoad({ filter: /[\\/]vscode-(?:jsonrpc|language\w+(?:-protocol)?)[\\/]lib[\\/].*\.js$/ }, (args) => {
        const text = readFileSync(args.path, 'utf8').replace(DESCRIPTION, '').replace(NAMES, '');
        const helpers = [...text.matchAll(COMPILER_HELPER)].map(([, name]) => name);
        const taken = helpers.length === 0 ? '' : `const { ${helpers.join(', ')} } = require('compiler-helpers');`;
        return { contents: taken + text.replace(COMPILER_HELPER, '') };
      });
      build.onResolve({ filter: /^compiler-helpers$/ }, ({ path }) => ({ path, namespace: 'helpers' }));
      build.onLoad({ filter: /.*/, namespace: 'helpers' }, () => ({ contents: compilerHelpers }));
    },
  };
}

const root = path.join(import.meta.dirname, '..');

/** A feature that says nothing of itself and registers nothing. Of notebooks the pull of diagnostics wants to hear, and never will. */
const leftOut = `
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

/** The protocol describes each of its messages to generators of code: who sends it, and which capability it belongs to. No program reads that. */
const DESCRIPTION = /^ +\w+\.(?:messageDirection|capabilities) = messages_1\.[^;]*;$/gm;

/** Nor does anybody ask for an export before it is made. */
const NAMES = /^exports\.[\w.= ]+ = void 0;$/gm;

/** What the TypeScript compiler writes at the head of each file: up to a line that ends the expression at the first column. */
const COMPILER_HELPER =
  /^var (__createBinding|__setModuleDefault|__importStar|__exportStar|__importDefault) = \(?(?:this|function)[\s\S]*?^\}(?:\)\)|\)\(\)|\))?;$/gm;

/** The same once for all files. A module's exports may be set after it was asked for, so they are read when they are used. */
const compilerHelpers = `
function bind(to, from, key) {
  // A module's own export of the name takes its place.
  const set = (value) => Object.defineProperty(to, key, { enumerable: true, writable: true, value });
  Object.defineProperty(to, key, { enumerable: true, configurable: true, get: () => from[key], set });
}
exports.__createBinding = bind;
exports.__setModuleDefault = (to, value) => Object.defineProperty(to, 'default', { enumerable: true, value });
exports.__importStar = (from) => {
  if (from.__esModule) return from;
  const to = {};
  for (const key of Object.getOwnPropertyNames(from)) if (key !== 'default') bind(to, from, key);
  to.default = from;
  return to;
};
exports.__exportStar = (from, to) => {
  for (const key in from) if (key !== 'default' && !Object.hasOwn(to, key)) bind(to, from, key);
};
exports.__importDefault = (from) => (from.__esModule ? from : { default: from });
`;

/** The names that a file of a library exports. @param {string} file @returns {readonly string[]} */
function exportsOf(file) {
  const found = readFileSync(file, 'utf8').matchAll(/^exports\.(\w+) = /gm);
  const chained = readFileSync(file, 'utf8').matchAll(/^exports\.[\w.= ]+ = void 0;$/gm);
  const names = [...chained].flatMap(([line]) => [...line.matchAll(/exports\.(\w+)/g)].map(([, name = '']) => name));
  return [...new Set([...names, ...[...found].map(([, name = '']) => name)])];
}
