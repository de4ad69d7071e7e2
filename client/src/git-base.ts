import * as vscode from 'vscode';
import type { BaseTextParams, BaseTextResult } from '../../server/src/lsp/cost-protocol.ts';

// The last commit, through VS Code's built-in Git extension. Without it, in the browser or outside a repository, nothing is compared.
// https://github.com/microsoft/vscode/blob/main/extensions/git/src/api/git.d.ts

interface Change {
  readonly uri: vscode.Uri;
  /** Its path in the last commit, for a file that was renamed. */
  readonly originalUri: vscode.Uri;
}

interface Repository {
  readonly rootUri: vscode.Uri;
  readonly state: {
    readonly HEAD: { readonly commit?: string } | undefined;
    readonly indexChanges: readonly Change[];
    readonly workingTreeChanges: readonly Change[];
    readonly untrackedChanges: readonly Change[];
    readonly mergeChanges: readonly Change[];
    readonly onDidChange: vscode.Event<void>;
  };
  /** Rejects if the file is not in the commit. */
  show(ref: string, path: string): Promise<string>;
}

interface GitApi {
  readonly repositories: readonly Repository[];
  readonly onDidOpenRepository: vscode.Event<Repository>;
  getRepository(uri: vscode.Uri): Repository | null;
}

interface GitExtension {
  readonly enabled: boolean;
  getAPI(version: 1): GitApi;
}

async function gitApi(): Promise<GitApi | undefined> {
  const extension = vscode.extensions.getExtension<GitExtension>('vscode.git');
  try {
    const git = await extension?.activate();
    return git?.enabled === true ? git.getAPI(1) : undefined;
  } catch {
    // There is no git on this machine.
    return undefined;
  }
}

/** The text of a file in the last commit. */
export async function readBase({ uri }: BaseTextParams): Promise<BaseTextResult> {
  const file = vscode.Uri.parse(uri, true);
  const repository = file.scheme === 'file' ? (await gitApi())?.getRepository(file) : null;
  return repository === null || repository === undefined ? null : show(repository, file);
}

/** The YAML and JSON files that differ from the last commit, with their texts there; undefined outside repositories. */
export async function changedFiles(): Promise<
  readonly { readonly uri: vscode.Uri; readonly base: string | null }[] | undefined
> {
  const git = await gitApi();
  if (git === undefined || git.repositories.length === 0) return undefined;
  const changed = new Map<string, { readonly uri: vscode.Uri; readonly base: string | null }>();
  for (const repository of git.repositories) {
    const { indexChanges, workingTreeChanges, untrackedChanges, mergeChanges } = repository.state;
    for (const { uri, originalUri } of [...indexChanges, ...workingTreeChanges, ...untrackedChanges, ...mergeChanges]) {
      if (!/\.(?:ya?ml|json)$/i.test(uri.path) || changed.has(uri.toString())) continue;
      changed.set(uri.toString(), { uri, base: await show(repository, originalUri) });
    }
  }
  return [...changed.values()];
}

async function show(repository: Repository, file: vscode.Uri): Promise<string | null> {
  try {
    return await repository.show('HEAD', file.fsPath);
  } catch {
    return null;
  }
}

/** Calls back when a repository is opened or its last commit is another one. */
export function watchCommits(changed: () => void): vscode.Disposable {
  const listeners: vscode.Disposable[] = [];
  let disposed = false;
  const watch = ({ state }: Repository) => {
    let commit = state.HEAD?.commit;
    listeners.push(
      state.onDidChange(() => {
        if (state.HEAD?.commit === commit) return;
        commit = state.HEAD?.commit;
        changed();
      }),
    );
  };
  void gitApi().then((git) => {
    if (git === undefined || disposed) return;
    git.repositories.forEach(watch);
    if (git.repositories.length > 0) changed();
    listeners.push(
      git.onDidOpenRepository((repository) => {
        watch(repository);
        changed();
      }),
    );
  });
  return {
    dispose() {
      disposed = true;
      for (const listener of listeners) listener.dispose();
    },
  };
}
