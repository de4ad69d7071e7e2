import type { InitializeParams, InitializeResult, WorkspaceFolder } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { MarkupKind, TextDocumentSyncKind } from './library.ts';
import type { ClientOptions } from './protocol.ts';
import type { ClientAbilities } from './to-lsp.ts';

/** Some editors use dotted language ids for dialects (`yaml.helm-values`). */
export function isOurs({ languageId }: TextDocument): boolean {
  if (languageId.includes('docker-compose')) return false;
  return ['yaml', 'helm', 'json', 'jsonc'].includes(languageId.split('.')[0] ?? '');
}

/** The abilities of a client that matter here. */
export function abilitiesOf({ capabilities, initializationOptions }: InitializeParams): ClientAbilities {
  const options = initializationOptions as ClientOptions | undefined;
  const formats = capabilities.textDocument?.hover?.contentFormat;
  return {
    hoverFormat:
      Array.isArray(formats) && formats.includes(MarkupKind.Markdown) ? MarkupKind.Markdown : MarkupKind.PlainText,
    documentChanges: capabilities.workspace?.workspaceEdit?.documentChanges === true,
    annotations: capabilities.workspace?.workspaceEdit?.changeAnnotationSupport !== undefined,
    commands: options?.picker === true,
    progress: capabilities.window?.workDoneProgress === true,
    snippets: capabilities.textDocument?.completion?.completionItem?.snippetSupport === true,
    baseTexts: options?.baseTexts === true,
    syntaxElsewhere: Array.isArray(options?.syntaxElsewhere) ? options.syntaxElsewhere : [],
  };
}

/** The URIs of workspace folders from a client, which can send any value. */
export function urisOf(folders: readonly WorkspaceFolder[] | null): readonly string[] {
  return Array.isArray(folders) ? folders.map((folder) => folder?.uri).filter((uri) => typeof uri === 'string') : [];
}

/** The workspace folders as URIs. */
export function foldersOf({ workspaceFolders, rootUri }: InitializeParams): readonly string[] {
  if (workspaceFolders) return urisOf(workspaceFolders);
  return rootUri ? [rootUri] : [];
}

/**
 * The capabilities of the server for a client.
 * @param pull whether the client pulls diagnostics
 */
export function initializeResult({ capabilities }: InitializeParams, pull: boolean): InitializeResult {
  const result: InitializeResult = {
    serverInfo: { name: 'gpulint' },
    capabilities: {
      textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: { includeText: false } },
      hoverProvider: true,
      completionProvider: { triggerCharacters: ['/', '.', '-', ' '] },
      codeLensProvider: {},
      inlayHintProvider: true,
      documentLinkProvider: {},
      definitionProvider: true,
      referencesProvider: true,
      codeActionProvider: { codeActionKinds: ['quickfix', 'refactor.rewrite', 'source.fixAll.gpulint'] },
    },
  };
  if (pull) {
    result.capabilities.diagnosticProvider = {
      identifier: 'gpulint',
      // The diagnostics of a file depend on the config and on objects in other files.
      interFileDependencies: true,
      workspaceDiagnostics: false,
    };
  }
  if (capabilities.general?.positionEncodings) result.capabilities.positionEncoding = 'utf-16';
  if (capabilities.workspace?.workspaceFolders) {
    result.capabilities.workspace = { workspaceFolders: { supported: true, changeNotifications: true } };
  }
  return result;
}
