// What the suites do with the editor, through VS Code's public API alone.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';

/** The folder that the window shows: a copy of examples/ that a test may write to. */
export function workspaceFolder(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'the window shows no folder');
  return folder.uri.fsPath;
}

/** Opens a file of the workspace. With text, the file is written first. */
export async function open(name: string, text?: string): Promise<vscode.TextDocument> {
  const file = path.join(workspaceFolder(), name);
  if (text !== undefined) fs.writeFileSync(file, text);
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file));
  await vscode.window.showTextDocument(document);
  return document;
}

/** The ids of gpulint's rules that have something to say about a document, in the order of their places. */
export function findings(document: vscode.TextDocument): string[] {
  return ownDiagnostics(document).map(ruleOf);
}

/** Waits until the findings are as wanted. */
export async function untilFindings(document: vscode.TextDocument, wanted: readonly string[]): Promise<void> {
  await until(
    () => JSON.stringify(findings(document)) === JSON.stringify(wanted),
    () => `the findings ${JSON.stringify(wanted)}; there are ${JSON.stringify(findings(document))}`,
  );
}

/** The first diagnostic of a rule; waits until there is one. */
export async function finding(document: vscode.TextDocument, rule: string): Promise<vscode.Diagnostic> {
  const find = () => ownDiagnostics(document).find((diagnostic) => ruleOf(diagnostic) === rule);
  await until(
    () => find() !== undefined,
    () => `${rule}; there is ${JSON.stringify(findings(document))}`,
  );
  const found = find();
  assert.ok(found);
  return found;
}

/**
 * The quick fixes that the light bulb offers at a diagnostic; waits until there is one. While VS Code starts, other extensions register
 * providers of actions, and each registration cancels the running requests with an empty result. The light bulb requests again, too.
 */
export async function fixesAt(document: vscode.TextDocument, at: vscode.Diagnostic): Promise<vscode.CodeAction[]> {
  const kind = vscode.CodeActionKind.QuickFix.value;
  let fixes: vscode.CodeAction[] = [];
  await until(
    async () => {
      const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
        'vscode.executeCodeActionProvider',
        document.uri,
        at.range,
        kind,
        20,
      );
      fixes = actions.filter((action) => action.edit !== undefined);
      return fixes.length > 0;
    },
    () => `a fix of ${ruleOf(at)}`,
  );
  return fixes;
}

/** Applies a code action as the light bulb does. */
export async function apply(action: vscode.CodeAction): Promise<void> {
  assert.ok(action.edit, `${action.title} has no edit`);
  assert.ok(await vscode.workspace.applyEdit(action.edit), `${action.title} was not applied`);
}

/** The titles of the code lenses of a document. */
export async function lenses(document: vscode.TextDocument): Promise<string[]> {
  const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
    'vscode.executeCodeLensProvider',
    document.uri,
    50,
  );
  return found.map((lens) => lens.command?.title ?? '');
}

/** The text of all hovers at the first place of a text in the document. */
export async function hoverAt(document: vscode.TextDocument, text: string): Promise<string> {
  const offset = document.getText().indexOf(text);
  assert.ok(offset >= 0, `${text} does not stand in ${document.fileName}`);
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
    'vscode.executeHoverProvider',
    document.uri,
    document.positionAt(offset + 1),
  );
  return hovers
    .flatMap((hover) => hover.contents)
    .map((content) => (typeof content === 'string' ? content : content.value))
    .join('\n');
}

/** Waits until a condition holds; says what it waited for when it never does. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: () => string,
  milliseconds = 30_000,
): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (!(await holds())) {
    if (Date.now() > deadline) assert.fail(`timeout: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

function ownDiagnostics(document: vscode.TextDocument): vscode.Diagnostic[] {
  return vscode.languages
    .getDiagnostics(document.uri)
    .filter((diagnostic) => diagnostic.source === 'gpulint')
    .sort((a, b) => a.range.start.compareTo(b.range.start));
}

function ruleOf(diagnostic: vscode.Diagnostic): string {
  const { code } = diagnostic;
  return String(typeof code === 'object' ? code.value : code);
}
