/**
 * Text that is not gpulint's own, for a notification: VS Code makes `[text](command:…)` in it a link that runs the command, and there is no escape.
 * Whoever writes to a cluster chooses the owner of a pod.
 */
export function plainNotice(text: string): string {
  return text.replaceAll('](', '] (');
}
