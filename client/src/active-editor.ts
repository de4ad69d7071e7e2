import * as vscode from 'vscode';

/** The editor in use. VS Code also treats the Output panel as an editor once it has focus. */
export function activeEditor(): vscode.TextEditor | undefined {
  const active = vscode.window.activeTextEditor;
  if (active?.document.uri.scheme !== 'output') return active;
  return vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme !== 'output');
}
