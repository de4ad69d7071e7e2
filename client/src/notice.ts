/**
 * Text for a notification without links: VS Code makes `[text](command:…)` a link that runs the command, and there is no escape. Anyone who writes
 * to a repository or a cluster chooses the names of its files and objects.
 */
export function plainNotice(text: string): string {
  return text.replaceAll('](', '] (');
}
