import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import {
  type EditResult,
  type FractionsResult,
  methods,
  type PlaceArgument,
  type RewriteToFractionParams,
} from '../../server/src/lsp/protocol.ts';
import { activeEditor } from './active-editor.ts';
import { activeUri, apply } from './config-pickers.ts';
import { plainItems } from './plain-label.ts';
import { showInformation } from './show-notice.ts';

/** Lists the pieces of a GPU on which the model of a request fits, and applies the one that the user selects. */
export async function resizeGpu(client: BaseLanguageClient, place: PlaceArgument | undefined): Promise<void> {
  const uri = place?.uri ?? activeUri(client);
  const at = place?.range.start ?? activeEditor()?.selection.active;
  if (uri === undefined || at === undefined) return;
  const position = { line: at.line, character: at.character };
  const found = await client.sendRequest<FractionsResult | null>(methods.fractions, { uri, position });
  if (found === null || found.fractions.length === 0) {
    void showInformation('Place the cursor on a whole-GPU request of a server whose model and GPU are known.');
    return;
  }
  const items = found.fractions.map(({ id, label, description, needs }) =>
    needs === null ? { id, label, description } : { id, label, description, detail: `Needs ${needs}` },
  );
  const chosen = await vscode.window.showQuickPick(plainItems(items), {
    title: found.title,
    placeHolder: 'New request for each pod',
    matchOnDescription: true,
  });
  if (chosen === undefined) return;
  const params: RewriteToFractionParams = { uri, position, id: chosen.id };
  await apply(client, await client.sendRequest<EditResult>(methods.rewriteToFraction, params), false);
}
