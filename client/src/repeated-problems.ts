import * as vscode from 'vscode';
import { type BaseLanguageClient, DocumentDiagnosticRequest, type Middleware, vsdiag } from 'vscode-languageclient';

// Red Hat's YAML extension reports fields that a schema does not have, if it has a schema of Kubernetes. Then each such problem is shown once, by
// that extension; our fix stays in the light bulb, which needs no diagnostic.

/** The rule that compares objects with the API. */
const schemaRule = 'api-field';

/** Hides our problems that another extension shows at the same place, and shows them again when it no longer does. */
export interface RepeatedProblems {
  readonly provideDiagnostics: NonNullable<Middleware['provideDiagnostics']>;
  readonly handleDiagnostics: NonNullable<Middleware['handleDiagnostics']>;
  /** Compares again when the other extension's problems change. */
  readonly watch: (client: BaseLanguageClient) => vscode.Disposable;
}

export function repeatedProblems(): RepeatedProblems {
  /** What the server reported last, by document. */
  const reports = new Map<string, Report>();
  return {
    async provideDiagnostics(document, previousResultId, token, next) {
      const uri = document instanceof vscode.Uri ? document : document.uri;
      const answer = await next(document, previousResultId, token);
      if (answer === null || answer === undefined) return answer;
      const before = reports.get(uri.toString());
      const all = 'items' in answer ? answer.items : before?.all;
      if (all === undefined) return answer;
      const shown = withoutRepeated(uri, all);
      // Unchanged at the server may still be changed here. New marks close menus, so there are none without need.
      if (!('items' in answer) && shown.length === before?.shown) return answer;
      reports.set(uri.toString(), { all, shown: shown.length, push: undefined });
      return { ...answer, kind: vsdiag.DocumentDiagnosticReportKind.full, items: shown };
    },
    handleDiagnostics(uri, all, next) {
      const shown = withoutRepeated(uri, all);
      reports.set(uri.toString(), { all, shown: shown.length, push: next });
      next(uri, shown);
    },
    watch: (client) =>
      vscode.Disposable.from(
        vscode.workspace.onDidCloseTextDocument(({ uri }) => reports.delete(uri.toString())),
        vscode.languages.onDidChangeDiagnostics(({ uris }) => {
          for (const uri of uris) {
            const report = reports.get(uri.toString());
            if (report === undefined) continue;
            const shown = withoutRepeated(uri, report.all);
            if (shown.length === report.shown) continue;
            if (report.push === undefined) {
              pullAgain(client, uri);
              continue;
            }
            reports.set(uri.toString(), { ...report, shown: shown.length });
            report.push(uri, shown);
          }
        }),
      ),
  };
}

interface Report {
  readonly all: vscode.Diagnostic[];
  /** How many of them are shown. */
  readonly shown: number;
  /** How to show them, if the server sends them by itself. */
  readonly push: ((uri: vscode.Uri, shown: vscode.Diagnostic[]) => void) | undefined;
}

function withoutRepeated(uri: vscode.Uri, all: readonly vscode.Diagnostic[]): vscode.Diagnostic[] {
  const others = schemaProblems(uri);
  return all.filter(
    ({ code, range }) => idOf(code) !== schemaRule || !others.some((other) => other.intersection(range) !== undefined),
  );
}

function pullAgain(client: BaseLanguageClient, uri: vscode.Uri): void {
  const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
  if (document === undefined) return;
  client.getFeature(DocumentDiagnosticRequest.method).getProvider(document)?.onDidChangeDiagnosticsEmitter.fire();
}

/** Where other extensions report that a document does not follow its schema. */
function schemaProblems(uri: vscode.Uri): readonly vscode.Range[] {
  return vscode.languages
    .getDiagnostics(uri)
    .filter(({ source }) => source?.startsWith('yaml-schema') === true)
    .map(({ range }) => range);
}

function idOf(code: vscode.Diagnostic['code']): unknown {
  return typeof code === 'object' ? code.value : code;
}
