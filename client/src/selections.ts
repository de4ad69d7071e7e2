import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient';
import { commands, type PlaceArgument } from '../../server/src/lsp/requests.ts';

/** More than the lists of actions offer that may be there at once: the one that is open, and those that are asked for while it is. */
const slots = 32;
const places: PlaceArgument[] = [];
let offered = 0;

/**
 * Selects what an action has written. VS Code forgets the arguments of an action's command with its list of actions, and makes the list anew
 * when the action's own edit has changed the text; then the command is not found. One without arguments is: its place is kept here.
 */
export const selections: Middleware = {
  async provideCodeActions(document, range, context, token, next) {
    const actions = await next(document, range, context, token);
    for (const { command } of actions ?? []) {
      if (typeof command !== 'object' || command.command !== commands.select) continue;
      const slot = offered++ % slots;
      places[slot] = command.arguments?.[0];
      command.command = nameOf(slot);
      delete command.arguments;
    }
    return actions;
  },
};

export function registerSelections(): readonly vscode.Disposable[] {
  return Array.from({ length: slots }, (_, slot) =>
    vscode.commands.registerCommand(nameOf(slot), async () => {
      const place = places[slot];
      if (place !== undefined) await select(place);
    }),
  );
}

function nameOf(slot: number): string {
  return `${commands.select}.${slot}`;
}

export async function select({ uri, range: { start, end } }: PlaceArgument): Promise<void> {
  const selection = new vscode.Range(start.line, start.character, end.line, end.character);
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  await vscode.window.showTextDocument(document, { selection, preserveFocus: false });
}
