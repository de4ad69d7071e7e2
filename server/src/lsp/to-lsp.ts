import type {
  CodeAction,
  CodeLens,
  CompletionItem,
  Diagnostic,
  DocumentLink,
  Hover,
  InlayHint,
  TextEdit as LspTextEdit,
  MarkupKind,
  WorkspaceEdit,
} from 'vscode-languageserver';
import type { EditorSettings } from '../config/schema.ts';
import type { ConfigProblem } from '../config.ts';
import type { Action } from '../features/actions/code-actions.ts';
import { type UnusedSuppression, unusedSuppressionId } from '../features/actions/unused-suppressions.ts';
import type { Lens } from '../features/code-lens.ts';
import type { Completion } from '../features/completion/completion-item.ts';
import { type HoverContent, type LinkOf, renderMarkdown, renderPlain } from '../features/hover/render.ts';
import type { InlayHint as Hint } from '../features/inlay-hints.ts';
import type { DocumentLink as Link } from '../features/navigation/document-links.ts';
import { ruleDocsUrl, unusedSuppressionDocsUrl } from '../rules/docs.ts';
import type { Finding, Severity } from '../rules/rule.ts';
import { applyEdits, type Span, shiftSpan, type TextEdit } from '../yaml/span.ts';
import { CompletionItemKind, DiagnosticSeverity, DiagnosticTag, InsertTextFormat, InsertTextMode } from './library.ts';
import { type LineIndex, lineIndex } from './line-index.ts';
import { commands } from './protocol.ts';

/** What the client of this connection can show. */
export interface ClientAbilities {
  readonly hoverFormat: MarkupKind;
  readonly documentChanges: boolean;
  /** It asks the user to confirm annotated changes. */
  readonly annotations: boolean;
  /** It has our commands. */
  readonly commands: boolean;
  /** It shows progress. */
  readonly progress: boolean;
  /** It supports snippets in completion. */
  readonly snippets: boolean;
  /** It knows the texts of the last commit. */
  readonly baseTexts: boolean;
  /** The ids of languages whose syntax errors another extension reports. */
  readonly syntaxElsewhere: readonly string[];
}

/** `Diagnostic.data`, from which code actions find the finding again. Spans are relative to the file. */
export interface FindingData {
  readonly rule: string;
  readonly span: Span;
}

/** Reads `Diagnostic.data` from a client, which can send any value. */
export function fromDiagnosticData(data: unknown): FindingData | undefined {
  const { rule, span } = (data ?? {}) as { rule?: unknown; span?: { start?: unknown; end?: unknown } };
  if (typeof rule !== 'string' || typeof span?.start !== 'number' || typeof span.end !== 'number') return undefined;
  return { rule, span: { start: span.start, end: span.end } };
}

/** The setting for advice. */
export type AdviceForm = EditorSettings['advice'];

/**
 * Errors and warnings are squiggles. Advice follows the setting: a hint, which editors show as three dots with a light bulb, an entry in the
 * Problems panel, or no diagnostic (a lens can show it instead). A finding of severity hint is never a diagnostic: only its fixes are offered.
 */
function severityToLsp(severity: Severity, advice: AdviceForm): DiagnosticSeverity | undefined {
  if (severity === 'error') return DiagnosticSeverity.Error;
  if (severity === 'warning') return DiagnosticSeverity.Warning;
  if (severity === 'hint' || advice === 'lens' || advice === 'off') return undefined;
  return advice === 'info' ? DiagnosticSeverity.Information : DiagnosticSeverity.Hint;
}

export function findingToLsp(
  finding: Finding,
  base: number,
  lines: LineIndex,
  advice: AdviceForm,
): Diagnostic | undefined {
  const severity = severityToLsp(finding.severity, advice);
  if (severity === undefined) return undefined;
  const span = shiftSpan(finding.span, base);
  return {
    range: lines.toRange(span),
    severity,
    code: finding.rule,
    codeDescription: { href: ruleDocsUrl(finding.rule) },
    source: 'gpulint',
    message: finding.message,
    data: { rule: finding.rule, span } satisfies FindingData,
  };
}

/** Most config problems are warnings, because wrong values are ignored. */
export function configProblemToLsp(problem: ConfigProblem, lines: LineIndex): Diagnostic {
  return {
    range: lines.toRange(problem.span),
    severity: configSeverities[problem.level],
    code: 'gpulint-config',
    source: 'gpulint',
    message: problem.message,
  };
}

/** An unused suppression is shown faded. */
export function unusedSuppressionToLsp({ span, message }: UnusedSuppression, lines: LineIndex): Diagnostic {
  return {
    range: lines.toRange(span),
    severity: DiagnosticSeverity.Hint,
    tags: [DiagnosticTag.Unnecessary],
    code: unusedSuppressionId,
    codeDescription: { href: unusedSuppressionDocsUrl },
    source: 'gpulint',
    message,
  };
}

const configSeverities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
  // Editors hardly show hints, and the author of the config should see the problem.
  hint: DiagnosticSeverity.Information,
} as const;

/** A client without our commands gets the actions as text. */
export function hoverToLsp(hover: HoverContent, uri: string, lines: LineIndex, client: ClientAbilities): Hover {
  const linkOf: LinkOf = ({ command, target }) => {
    if (!client.commands) return undefined;
    const argument = encodeURIComponent(JSON.stringify([{ uri, range: lines.toRange(target) }]));
    // A parenthesis would end the link.
    return `command:${hoverCommands[command]}?${argument.replace(/\(/g, '%28').replace(/\)/g, '%29')}`;
  };
  const { hoverFormat: format } = client;
  const value = format === 'markdown' ? renderMarkdown(hover.blocks, linkOf) : renderPlain(hover.blocks);
  return { contents: { kind: format, value }, range: lines.toRange(hover.span) };
}

const hoverCommands = {
  'set-gpu': commands.setGpu,
  'set-up': commands.setUp,
  'show-fixes': commands.showFixes,
} as const;

/** @param snippets whether the client supports tab stops; otherwise they are replaced by their defaults */
export function completionToLsp(completion: Completion, lines: LineIndex, snippets: boolean): CompletionItem {
  const { label, kind, detail, insert, span, rank } = completion;
  return {
    label,
    kind: completionKinds[kind],
    ...(detail !== '' && { labelDetails: { description: detail }, detail }),
    sortText: String(rank + 1000).padStart(5, '0'),
    filterText: insert.startsWith('- ') ? `- ${label}` : label,
    insertTextFormat: snippets ? InsertTextFormat.Snippet : InsertTextFormat.PlainText,
    // The lines are already indented.
    insertTextMode: InsertTextMode.asIs,
    textEdit: { range: lines.toRange(span), newText: snippets ? insert : withoutTabStops(insert) },
  };
}

const completionKinds = {
  key: CompletionItemKind.Property,
  value: CompletionItemKind.EnumMember,
  resource: CompletionItemKind.Unit,
  snippet: CompletionItemKind.Snippet,
  rule: CompletionItemKind.Reference,
} as const;

function withoutTabStops(insert: string): string {
  return insert
    .replace(/\$\{\d+\|([^,|]*)[^}]*\|\}/g, '$1')
    .replace(/\$\{\d+:([^}]*)\}/g, '$1')
    .replace(/\$\d+/g, '');
}

/** A client without our commands gets the lens as text: a lens with an empty command cannot be clicked. */
export function lensToLsp(lens: Lens, uri: string, lines: LineIndex, client: ClientAbilities): CodeLens {
  const name = lensCommands[lens.action];
  const argument = lens.owner ?? { uri, range: lines.toRange(lens.target) };
  const title = lens.action === 'set-gpu' ? `${lens.title} · Set…` : lens.title;
  return {
    range: lines.toRange({ start: lens.span.start, end: lens.span.start }),
    command: client.commands ? { title, command: name, arguments: [argument] } : { title: lens.title, command: '' },
  };
}

const lensCommands = {
  'set-gpu': commands.setGpu,
  'show-cost': commands.showCost,
  'show-fixes': commands.showFixes,
  'show-pods': commands.showPods,
} as const;

export function documentLinkToLsp({ span, to }: Link, lines: LineIndex): DocumentLink {
  return 'rule' in to
    ? { range: lines.toRange(span), target: ruleDocsUrl(to.rule), tooltip: `Explain ${to.rule}` }
    : { range: lines.toRange(span), target: to.url };
}

export function inlayHintToLsp({ offset, label, tooltip }: Hint, lines: LineIndex): InlayHint {
  return { position: lines.toPosition(offset), label, tooltip, paddingLeft: true };
}

export function actionToLsp(
  action: Action,
  document: { readonly uri: string; readonly version: number },
  lines: LineIndex,
  client: ClientAbilities,
  advice: AdviceForm,
): CodeAction {
  const result: CodeAction = { title: action.title, kind: action.kind };
  if (action.preferred) result.isPreferred = true;
  if (action.finding !== undefined) {
    const diagnostic = findingToLsp(action.finding.finding, action.finding.base, lines, advice);
    if (diagnostic !== undefined) result.diagnostics = [diagnostic];
  }
  if (action.edits !== undefined) result.edit = editsToLsp(action.edits, document, lines, client, action);
  if (action.select !== undefined && action.edits !== undefined && client.commands) {
    const after = lineIndex(applyEdits(lines.text, action.edits));
    const argument = { uri: document.uri, range: after.toRange(action.select) };
    result.command = { title: action.title, command: commands.select, arguments: [argument] };
  }
  if (action.everywhere !== undefined) {
    result.command = { title: action.title, command: commands.fixAllInWorkspace, arguments: [action.everywhere] };
  }
  if (action.picker !== undefined) {
    const argument = { uri: document.uri, range: lines.toRange(action.picker) };
    result.command = { title: action.title, command: commands.rewriteToMig, arguments: [argument] };
  }
  if (action.fractions !== undefined) {
    const argument = { uri: document.uri, range: lines.toRange(action.fractions) };
    result.command = { title: action.title, command: commands.resizeGpu, arguments: [argument] };
  }
  return result;
}

/**
 * @param edits with offsets of the file
 * @param why the title of the change, and the reason if the user must confirm it
 */
export function editsToLsp(
  edits: readonly TextEdit[],
  document: { readonly uri: string; readonly version: number | null },
  lines: LineIndex,
  client: ClientAbilities,
  why: { readonly title: string; readonly confirm?: string } = { title: '' },
): WorkspaceEdit {
  const changes: LspTextEdit[] = edits.map(({ span, newText }) => ({ range: lines.toRange(span), newText }));
  if (!client.documentChanges) return { changes: { [document.uri]: changes } };
  const textDocument = { uri: document.uri, version: document.version };
  if (why.confirm === undefined || !client.annotations) return { documentChanges: [{ textDocument, edits: changes }] };
  const annotationId = why.title;
  return {
    documentChanges: [{ textDocument, edits: changes.map((change) => ({ ...change, annotationId })) }],
    changeAnnotations: { [annotationId]: { label: why.title, description: why.confirm, needsConfirmation: true } },
  };
}
