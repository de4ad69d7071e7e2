/**
 * What is used of the library at run time, except to start: each file that imports values from a library in CommonJS gets, in the bundle, a copy of
 * all its exports, here of hundreds.
 */
export {
  CodeLensRefreshRequest,
  CompletionItemKind,
  DiagnosticSeverity,
  DiagnosticTag,
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  DocumentDiagnosticReportKind,
  ErrorCodes,
  FileChangeType,
  InsertTextFormat,
  InsertTextMode,
  LSPErrorCodes,
  MarkupKind,
  MessageType,
  ResponseError,
  ShowMessageNotification,
  TextDocumentSyncKind,
  TextDocuments,
  WatchKind,
} from 'vscode-languageserver';
