import * as vscode from 'vscode';
import { commands, type FileSummary, type SummaryParams } from '../../server/src/lsp/protocol.ts';
import { activeEditor } from './active-editor.ts';
import { plainLabel } from './plain-label.ts';

/** Shows the GPUs of the active file; hidden if it requests none. */
export class StatusBar implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem('gpulint.cost', vscode.StatusBarAlignment.Right, 100);
  readonly #summaries = new Map<string, FileSummary>();
  readonly #subscriptions: vscode.Disposable[];

  constructor() {
    this.#item.name = 'GPU cost';
    this.#item.command = commands.showCost;
    this.#subscriptions = [
      vscode.window.onDidChangeActiveTextEditor(() => this.#show()),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.#summaries.delete(document.uri.toString());
      }),
    ];
  }

  /** Stores the server's summary of a file. */
  update({ uri, summary }: SummaryParams): void {
    const key = vscode.Uri.parse(uri).toString();
    if (summary === null) this.#summaries.delete(key);
    else this.#summaries.set(key, summary);
    this.#show();
  }

  /** Forgets all summaries, because the server stopped. */
  clear(): void {
    this.#summaries.clear();
    this.#show();
  }

  dispose(): void {
    this.#item.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #show(): void {
    const active = activeEditor()?.document.uri.toString();
    const summary = active === undefined ? undefined : this.#summaries.get(active);
    void vscode.commands.executeCommand('setContext', 'gpulint.hasAccelerators', summary !== undefined);
    if (summary === undefined) {
      this.#item.hide();
      return;
    }
    this.#item.text = `$(server) ${plainLabel(summary.text)}`;
    this.#item.tooltip = summary.tooltip;
    this.#item.accessibilityInformation = { label: summary.label, role: 'button' };
    this.#item.show();
  }
}
