import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient';
import { commands, type PlaceArgument } from '../../server/src/lsp/protocol.ts';

/** More than the actions of all lists that can exist at once: the open list, and those requested in the meantime. */
const slots = 32;
const places: PlaceArgument[] = [];
let offered = 0;

/**
 * Selects the text that an action inserted. VS Code registers an action's command with arguments only as long as its list of actions lives, and
 * the action's own edit replaces that list. A command without arguments survives, so its place is kept here.
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
