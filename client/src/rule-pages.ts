import * as vscode from 'vscode';
import type { BaseLanguageClient, Middleware } from 'vscode-languageclient';
import { commands, methods, type RuleIdsResult } from '../../server/src/lsp/protocol.ts';

const scheme = 'gpulint-rule';

/**
 * Shows the rule pages in the editor. They ship with the extension and need no network.
 * @param folder the installation folder of the extension
 */
export function registerRulePages(
  client: BaseLanguageClient,
  started: () => Promise<void>,
  folder: vscode.Uri,
): readonly vscode.Disposable[] {
  const ruleIds = async () => {
    await started();
    return client.sendRequest<RuleIdsResult>(methods.ruleIds, {});
  };
  return [
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      provideTextDocumentContent: ({ path }) => readPage(folder, path.replace(/^\/|\.md$/g, '')),
    }),
    vscode.commands.registerCommand(commands.showRule, async (rule?: unknown) => {
      const id = typeof rule === 'string' ? rule : await pickRule(await ruleIds());
      if (id !== undefined) await vscode.commands.executeCommand('vscode.open', pageLink(id));
    }),
  ];
}

async function readPage(folder: vscode.Uri, id: string): Promise<string> {
  try {
    if (!/^[a-z0-9-]+$/.test(id)) throw new Error('not a rule id');
    const bytes = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder, 'docs', 'rules', `${id}.md`));
    // The first line only warns editors of the file that it is generated.
    return new TextDecoder().decode(bytes).replace(/^<!--.*?-->\n/s, '');
  } catch {
    return `gpulint has no rule ${id}.`;
  }
}

/** Makes links to a rule open its page in the editor. The server links to the web page, for other editors. */
export const ruleLinks = {
  async provideDiagnostics(document, previousResultId, token, next) {
    const report = await next(document, previousResultId, token);
    if (report !== null && report !== undefined && 'items' in report) report.items.forEach(linkToPage);
    return report;
  },
  async provideDocumentLinks(document, token, next) {
    const links = (await next(document, token)) ?? [];
    for (const link of links) {
      const id = /\/docs\/rules\/([a-z0-9-]+)\.md$/.exec(link.target?.path ?? '')?.[1];
      if (id !== undefined) link.target = pageLink(id);
    }
    return links;
  },
  handleDiagnostics(uri, diagnostics, next) {
    diagnostics.forEach(linkToPage);
    next(uri, diagnostics);
  },
} satisfies Middleware;

function linkToPage(diagnostic: vscode.Diagnostic): void {
  const { code } = diagnostic;
  if (diagnostic.source !== 'gpulint' || typeof code !== 'object') return;
  diagnostic.code = { value: code.value, target: pageLink(code.value) };
}

/**
 * Not a `command:` link, because some views of diagnostics do not follow those. `workbench.editorAssociations` in package.json opens pages as
 * a preview; without it, they are still readable as text.
 */
function pageLink(id: string | number): vscode.Uri {
  return vscode.Uri.from({ scheme, path: `/${id}.md` });
}

async function pickRule(ids: readonly string[]): Promise<string | undefined> {
  return vscode.window.showQuickPick([...ids], {
    title: 'gpulint rules',
    placeHolder: 'Select a rule to read about',
  });
}
