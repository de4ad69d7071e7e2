import { codeActions } from '../features/actions/code-actions.ts';
import { configActions } from '../features/actions/config-actions.ts';
import { adviceLenses, codeLenses } from '../features/code-lens.ts';
import { complete } from '../features/completion/completion.ts';
import { completeConfig, hoverConfig } from '../features/completion/config-help.ts';
import { hover } from '../features/hover/hover.ts';
import type { Block } from '../features/hover/render.ts';
import { inlayHints } from '../features/inlay-hints.ts';
import { documentLinks } from '../features/navigation/document-links.ts';
import type { summarize } from '../features/report.ts';
import type { BaseTexts } from './base-texts.ts';
import { guard } from './guard.ts';
import { lineIndex, linesOf } from './line-index.ts';
import { isConfigUri } from './projects.ts';
import type { Session } from './session.ts';
import {
  actionToLsp,
  completionToLsp,
  documentLinkToLsp,
  fromDiagnosticData,
  hoverToLsp,
  inlayHintToLsp,
  lensToLsp,
} from './to-lsp.ts';

/** The editor features, as a record so that tests can replace one. */
export interface Features {
  readonly hover: typeof hover;
  readonly codeLenses: typeof codeLenses;
  readonly codeActions: typeof codeActions;
  readonly summarize: typeof summarize;
  readonly complete: typeof complete;
  readonly inlayHints: typeof inlayHints;
}

const incomplete: Block = { kind: 'text', text: 'Incomplete: gpulint is still reading other files of the workspace' };

/**
 * Hover, completion, lenses, actions, links and hints, each from the latest analysis.
 * @param settled called when the cursor has left a line with held-back problems
 */
export function registerLanguageFeatures(
  session: Session,
  replaced: Partial<Features>,
  bases: BaseTexts,
  settled: (uri: string) => void,
): void {
  const features: Omit<Features, 'summarize'> = { hover, codeLenses, codeActions, complete, inlayHints, ...replaced };
  const { connection, documents, projects, typing, log, analyzed } = session;

  connection.onHover(
    guard(log, 'hover', null, async ({ textDocument, position }, token) => {
      const config = isConfigUri(textDocument.uri) ? documents.get(textDocument.uri) : undefined;
      if (config !== undefined) {
        const lines = lineIndex(config.getText());
        const content = hoverConfig(config.getText(), lines.fromPosition(position));
        return content === undefined ? null : hoverToLsp(content, textDocument.uri, lines, session.client);
      }
      if ((await analyzed(textDocument.uri)) === undefined) return null;
      // Editors request a hover once, and show the result as long as it is open.
      const isComplete = await projects.settled();
      const found = token.isCancellationRequested ? undefined : await analyzed(textDocument.uri);
      if (found === undefined) return null;
      const lines = linesOf(found.file);
      const content = features.hover(found.file, lines.fromPosition(position));
      if (content === undefined) return null;
      const blocks: readonly Block[] = isComplete ? content.blocks : [...content.blocks, incomplete];
      return hoverToLsp({ ...content, blocks }, textDocument.uri, lines, session.client);
    }),
  );

  connection.onCompletion(
    guard(log, 'completion', null, async ({ textDocument, position }) => {
      const config = isConfigUri(textDocument.uri) ? documents.get(textDocument.uri) : undefined;
      if (config !== undefined) {
        const lines = lineIndex(config.getText());
        const found = completeConfig(config.getText(), lines.fromPosition(position), projects.sheet());
        return found.map((one) => completionToLsp(one, lines, session.client.snippets));
      }
      const found = await analyzed(textDocument.uri);
      if (found === undefined) return null;
      const lines = linesOf(found.file);
      const completions = features.complete(found.file, lines.fromPosition(position));
      return completions.map((one) => completionToLsp(one, lines, session.client.snippets));
    }),
  );

  /** The analysis for lenses: a file that is still being read may name the card for which a lens would ask. */
  async function withCards(uri: string): ReturnType<typeof analyzed> {
    const found = await analyzed(uri);
    const asks = found !== undefined && features.codeLenses(found.file).some(({ action }) => action === 'set-gpu');
    if (!asks) return found;
    await projects.settled();
    return analyzed(uri);
  }

  connection.onCodeLens(
    guard(log, 'codeLens', null, async ({ textDocument }) => {
      const { codeLens, advice } = await projects.settingsOf(textDocument.uri);
      const found = await (codeLens.enabled ? withCards : analyzed)(textDocument.uri);
      if (found === undefined) return null;
      const lines = linesOf(found.file);
      const changes = codeLens.enabled ? await bases.changesOf(found.file) : new Map();
      const costs = codeLens.enabled ? features.codeLenses(found.file, changes) : [];
      const advices = advice === 'lens' ? adviceLenses(found.file) : [];
      // Without our commands, there is no view to lead to.
      const shown = [...costs, ...advices].filter(({ action }) => action !== 'show-pods' || session.client.commands);
      const lenses = shown.map((lens) => lensToLsp(lens, textDocument.uri, lines, session.client));
      return [...typing.steady(found.file, 'lenses', lenses)];
    }),
  );

  connection.onCodeAction(
    guard(log, 'codeAction', null, async ({ textDocument, range, context }) => {
      // Editors request code actions whenever the cursor moves, which shows that it left the line.
      if (range.start.line === range.end.line && typing.settle(textDocument.uri, range.start.line)) {
        settled(textDocument.uri);
      }
      const config = isConfigUri(textDocument.uri) ? documents.get(textDocument.uri) : undefined;
      if (config !== undefined) {
        const lines = lineIndex(config.getText());
        const actions = configActions(config.getText(), lines.fromRange(range), context.only);
        return actions.map((action) => actionToLsp(action, config, lines, session.client, 'hint'));
      }
      const found = await analyzed(textDocument.uri);
      if (found === undefined) return null;
      const lines = linesOf(found.file);
      const query = {
        span: lines.fromRange(range),
        only: context.only,
        shown: context.diagnostics.flatMap(({ data }) => fromDiagnosticData(data) ?? []),
        picker: session.client.commands,
      };
      const { document } = found;
      const { advice } = await projects.settingsOf(textDocument.uri);
      return features
        .codeActions(found.file, query)
        .map((action) => actionToLsp(action, document, lines, session.client, advice));
    }),
  );

  connection.onDocumentLinks(
    guard(log, 'documentLink', null, async ({ textDocument }) => {
      const found = await analyzed(textDocument.uri);
      if (found === undefined) return null;
      const lines = linesOf(found.file);
      return documentLinks(found.file).map((link) => documentLinkToLsp(link, lines));
    }),
  );

  connection.languages.inlayHint.on(
    guard(log, 'inlayHint', null, async ({ textDocument, range }) => {
      const { enabled } = (await projects.settingsOf(textDocument.uri)).inlayHints;
      const found = enabled ? await analyzed(textDocument.uri) : undefined;
      if (found === undefined) return null;
      const lines = linesOf(found.file);
      const hints = features.inlayHints(found.file, lines.fromRange(range)).map((hint) => inlayHintToLsp(hint, lines));
      return [...typing.steady(found.file, 'hints', hints)];
    }),
  );
}
