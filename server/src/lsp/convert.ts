import {
  type CodeAction,
  type CodeLens,
  type CompletionItem,
  CompletionItemKind,
  type Diagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
  type DocumentLink,
  type Hover,
  type InlayHint,
  InsertTextFormat,
  InsertTextMode,
  type TextEdit as LspTextEdit,
  type MarkupKind,
  type Position,
  type Range,
  type WorkspaceEdit,
} from 'vscode-languageserver';
import type { FileAnalysis } from '../analysis.ts';
import type { EditorSettings } from '../config/schema.ts';
import type { ConfigProblem } from '../config.ts';
import type { Action } from '../features/actions/code-actions.ts';
import { type UnusedSuppression, unusedSuppressionId } from '../features/actions/unused-suppressions.ts';
import type { Lens } from '../features/code-lens.ts';
import type { Completion } from '../features/completion/completion-item.ts';
import type { HoverContent } from '../features/hover/hover.ts';
import { renderMarkdown, renderPlain } from '../features/hover/markdown.ts';
import type { InlayHint as Hint } from '../features/inlay-hints.ts';
import type { DocumentLink as Link } from '../features/navigation/document-links.ts';
import { ruleDocsUrl, unusedSuppressionDocsUrl } from '../rules/docs.ts';
import type { Finding, Severity } from '../rules/rule.ts';
import { applyEdits, type Span, shiftSpan, type TextEdit } from '../yaml/span.ts';
import { commands } from './requests.ts';

// The one place that knows both worlds: offsets of a text inside, lines and UTF-16 columns outside.

/** Translates between offsets and positions of one text. */
export interface LineIndex {
  readonly text: string;
  toPosition(offset: number): Position;
  toRange(span: Span): Range;
  /** A position outside the text is moved to the nearest place inside, as LSP wants it. */
  fromPosition(position: Position): number;
  fromRange(range: Range): Span;
}

/** LSP's line ends are `\n`, `\r\n` and `\r`; its columns are UTF-16 code units, as JavaScript's offsets are. */
export function lineIndex(text: string): LineIndex {
  const starts = lineStarts(text);

  function toPosition(offset: number): Position {
    const at = clamp(offset, 0, text.length);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return { line: low, character: at - (starts[low] ?? 0) };
  }

  function fromPosition({ line, character }: Position): number {
    if (!(line >= 0)) return 0;
    const start = starts[Math.trunc(line)];
    if (start === undefined) return text.length;
    const next = starts[Math.trunc(line) + 1];
    const end = next === undefined ? text.length : next - lineEndLength(text, next);
    return clamp(start + Math.trunc(character), start, end);
  }

  return {
    text,
    toPosition,
    fromPosition,
    toRange: ({ start, end }) => ({ start: toPosition(start), end: toPosition(end) }),
    fromRange: ({ start, end }) => {
      const [a, b] = [fromPosition(start), fromPosition(end)];
      return { start: Math.min(a, b), end: Math.max(a, b) };
    },
  };
}

/** What the client of this connection can show. */
export interface ClientAbilities {
  readonly hoverFormat: MarkupKind;
  readonly documentChanges: boolean;
  /** It shows changes that have to be confirmed before they are made. */
  readonly annotations: boolean;
  /** It has our commands. */
  readonly commands: boolean;
  /** It shows how far work has come. */
  readonly progress: boolean;
  /** It takes snippets from completion. */
  readonly snippets: boolean;
  /** The languages (ids) whose syntax errors somebody else shows. */
  readonly syntaxElsewhere: readonly string[];
}

/** What a diagnostic carries so that code actions find its finding again. Spans are of the file. */
export interface FindingData {
  readonly rule: string;
  readonly span: Span;
}

/** Reads `Diagnostic.data` as it comes back from a client, which may be anything. */
export function fromDiagnosticData(data: unknown): FindingData | undefined {
  const { rule, span } = (data ?? {}) as { rule?: unknown; span?: { start?: unknown; end?: unknown } };
  if (typeof rule !== 'string' || typeof span?.start !== 'number' || typeof span.end !== 'number') return undefined;
  return { rule, span: { start: span.start, end: span.end } };
}

/** How the person wants to see advice. */
export type AdviceForm = EditorSettings['advice'];

/**
 * An error or a warning is a squiggle; advice is what the person chose: a hint, which editors show as three dots with a light bulb, an
 * entry of the problems list, or no diagnostic (then a lens may show it). What is a mere hint here is none at all: its fixes are
 * offered at its place.
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

/** What a config says wrongly is passed over, so most of it is a warning. */
export function configProblemToLsp(problem: ConfigProblem, lines: LineIndex): Diagnostic {
  return {
    range: lines.toRange(problem.span),
    severity: configSeverities[problem.level],
    code: 'gpulint-config',
    source: 'gpulint',
    message: problem.message,
  };
}

/** What can go is shown faded, and is in nobody's way. */
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
  // An editor hardly shows hints, and the author should see it once.
  hint: DiagnosticSeverity.Information,
} as const;

export function hoverToLsp(hover: HoverContent, lines: LineIndex, format: MarkupKind): Hover {
  const value = format === 'markdown' ? renderMarkdown(hover.blocks) : renderPlain(hover.blocks);
  return { contents: { kind: format, value }, range: lines.toRange(hover.span) };
}

/** @param snippets the client fills in places; for others the places hold their defaults */
export function completionToLsp(completion: Completion, lines: LineIndex, snippets: boolean): CompletionItem {
  const { label, kind, detail, insert, span, rank } = completion;
  return {
    label,
    kind: completionKinds[kind],
    ...(detail !== '' && { labelDetails: { description: detail }, detail }),
    sortText: String(rank + 1000).padStart(5, '0'),
    filterText: insert.startsWith('- ') ? `- ${label}` : label,
    insertTextFormat: snippets ? InsertTextFormat.Snippet : InsertTextFormat.PlainText,
    // Lines are indented as they are meant to stand.
    insertTextMode: InsertTextMode.asIs,
    textEdit: { range: lines.toRange(span), newText: snippets ? insert : withoutPlaces(insert) },
  };
}

const completionKinds = {
  key: CompletionItemKind.Property,
  value: CompletionItemKind.EnumMember,
  resource: CompletionItemKind.Unit,
  snippet: CompletionItemKind.Snippet,
  rule: CompletionItemKind.Reference,
} as const;

function withoutPlaces(insert: string): string {
  return insert
    .replace(/\$\{\d+\|([^,|]*)[^}]*\|\}/g, '$1')
    .replace(/\$\{\d+:([^}]*)\}/g, '$1')
    .replace(/\$\d+/g, '');
}

/** A client without our commands gets the lens as text: an empty command name is one that cannot be clicked. */
export function lensToLsp(lens: Lens, uri: string, lines: LineIndex, client: ClientAbilities): CodeLens {
  const name = lensCommands[lens.action];
  const argument = { uri, range: lines.toRange(lens.target) };
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
} as const;

export function documentLinkToLsp({ span, to }: Link, lines: LineIndex): DocumentLink {
  return 'rule' in to
    ? { range: lines.toRange(span), target: ruleDocsUrl(to.rule), tooltip: `What ${to.rule} finds` }
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
  return result;
}

/**
 * @param edits with offsets of the file
 * @param why what the change is called, and why it has to be confirmed, if it has to
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

const indexes = new WeakMap<FileAnalysis, LineIndex>();

/** The line index of an analysed file, made once for each version. */
export function linesOf(file: FileAnalysis): LineIndex {
  let index = indexes.get(file);
  if (index === undefined) {
    index = lineIndex(file.text);
    indexes.set(file, index);
  }
  return index;
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  // Made anew with every edit, of the whole text; nearly all texts have plain line ends, which the platform finds ten times as fast.
  if (!/\r(?!\n)/.test(text)) {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    return starts;
  }
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 13 && text.charCodeAt(at + 1) === 10) continue;
    if (code === 10 || code === 13) starts.push(at + 1);
  }
  return starts;
}

function lineEndLength(text: string, nextLine: number): number {
  return text.charCodeAt(nextLine - 1) === 10 && text.charCodeAt(nextLine - 2) === 13 ? 2 : 1;
}

function clamp(value: number, low: number, high: number): number {
  // NaN, which a broken client may send as a column, counts as the lowest.
  return value > low ? Math.min(value, high) : low;
}
