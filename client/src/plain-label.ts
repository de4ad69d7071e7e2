import type * as vscode from 'vscode';

/** What VS Code draws as an icon in a lens, a list to pick from and the status bar. */
const icon = /\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/g;

/** Text that is not gpulint's own, for a label: a name such as `$(flame)` stays a text. The backslash is not shown. */
export function plainLabel(text: string): string {
  return text.replace(icon, '\\$&');
}

/** Items to pick from whose texts stay texts. */
export function plainItems<T extends vscode.QuickPickItem>(items: readonly T[]): T[] {
  return items.map((item) => ({
    ...item,
    label: plainLabel(item.label),
    ...(item.description !== undefined && { description: plainLabel(item.description) }),
    ...(item.detail !== undefined && { detail: plainLabel(item.detail) }),
  }));
}

/** Lenses whose titles stay texts: they contain names from files and clusters. */
export function plainLenses<T extends readonly vscode.CodeLens[] | null | undefined>(lenses: T): T {
  for (const { command } of lenses ?? []) if (command !== undefined) command.title = plainLabel(command.title);
  return lenses;
}
