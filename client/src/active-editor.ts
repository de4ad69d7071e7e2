import * as vscode from 'vscode';

/** The editor that a person works in. VS Code counts the Output panel as an editor, too, once somebody clicks into it. */
export function activeEditor(): vscode.TextEditor | undefined {
  const active = vscode.window.activeTextEditor;
  if (active?.document.uri.scheme !== 'output') return active;
  return vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme !== 'output');
}
