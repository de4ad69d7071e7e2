import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient';
import { commands } from '../../server/src/lsp/protocol.ts';
import { showInformation } from './show-notice.ts';

const asked = 'gpuAsked';

/**
 * Asks once per workspace which GPU is used, when a lens of a saved file offers to set it: nothing names the card there. The question counts as
 * answered when it appears, so that a reload does not repeat it; the lens remains.
 */
export function gpuQuestion({
  extensionMode,
  workspaceState,
  globalState,
}: vscode.ExtensionContext): Required<Pick<Middleware, 'provideCodeLenses'>> {
  const ask = async (document: vscode.TextDocument, set: vscode.Command) => {
    // A window without a folder has no lasting state of its own.
    const state = vscode.workspace.workspaceFolders?.length ? workspaceState : globalState;
    const isWanted = vscode.workspace.getConfiguration('gpulint', document).get('askForGpu.enabled', true);
    if (!isWanted || extensionMode === vscode.ExtensionMode.Test || state.get(asked) === true) return;
    await state.update(asked, true);
    const name = vscode.workspace.asRelativePath(document.uri);
    const message = `The GPU model in ${name} is unknown, so its cost is a range. Which GPU do your nodes have?`;
    const answer = await showInformation(message, 'Set…', 'Not now');
    if (answer === 'Set…') await vscode.commands.executeCommand(set.command, ...(set.arguments ?? []));
  };
  return {
    async provideCodeLenses(document, token, next) {
      const lenses = await next(document, token);
      const set = lenses?.find(({ command }) => command?.command === commands.setGpu)?.command;
      // Whoever is still writing may name it in the next line.
      if (set !== undefined && !document.isDirty && !document.isUntitled) void ask(document, set);
      return lenses;
    },
  };
}
