import type { CodeLens, Diagnostic, InlayHint, Position, Range } from 'vscode-languageserver';
import { TextDocument, type TextDocumentContentChangeEvent } from 'vscode-languageserver-textdocument';
import type { FileAnalysis } from '../analysis.ts';

/** What is shown of a document, with places that move with the text. */
interface Shown {
  readonly diagnostics: readonly Diagnostic[];
  readonly lenses: readonly CodeLens[];
  readonly hints: readonly InlayHint[];
}

/**
 * Keeps what is shown steady while a line is half typed. A line that is being written breaks the YAML around it for a moment; the error is
 * held back, and what was known before stays in place, until the person changes another line, moves the caret off, or saves. Time plays no part.
 */
export interface Typing {
  /** For `TextDocuments`: it sees each change on its way to the text. */
  readonly documents: {
    create(uri: string, languageId: string, version: number, content: string): TextDocument;
    update(document: TextDocument, changes: TextDocumentContentChangeEvent[], version: number): TextDocument;
  };
  /** What to show: what was found, or what was shown before where the line being written breaks the file. */
  steady<K extends keyof Shown>(file: FileAnalysis, kind: K, found: Shown[K]): Shown[K];
  /** The same for the config, whose every problem is held back while its line is written: a word that is half typed is no known one. */
  steadyConfig(uri: string, found: readonly Diagnostic[]): readonly Diagnostic[];
  /** Whether an error is held back. */
  isHeld(file: FileAnalysis): boolean;
  /** Whether the config is half typed: what it said before still counts. */
  isConfigHeld(uri: string, messages: readonly string[]): boolean;
  /** Changes when something held back is to be shown though the text is the same. */
  turn(uri: string): number;
  /** The person has left the line, or saved. True where something was held back that is to be shown now. */
  settle(uri: string, caret?: number): boolean;
  forget(uri: string): void;
}

interface State {
  /** The line that is being written; undefined where the last change was not on one line. */
  line: number | undefined;
  /** The syntax errors that were there before the line was written. */
  known: readonly string[];
  /** Those of the last look. */
  errors: readonly string[];
  held: boolean;
  /** Counts how often something held back was shown after all. */
  turn: number;
  shown: Partial<Shown>;
}

export function watchTyping(): Typing {
  const states = new Map<string, State>();

  function stateOf(uri: string): State {
    const state = states.get(uri) ?? { line: undefined, known: [], errors: [], held: false, turn: 0, shown: {} };
    states.set(uri, state);
    return state;
  }

  function holds(uri: string, errors: readonly string[]): boolean {
    const state = stateOf(uri);
    state.errors = errors;
    // Only this one line has changed since, so what is new is of this line.
    state.held = state.line !== undefined && state.errors.some((error) => !state.known.includes(error));
    if (!state.held) state.known = state.errors;
    return state.held;
  }

  const isHeld = (file: FileAnalysis) => holds(file.uri, syntaxErrors(file));

  /** What was shown before, as long as something is held back. */
  function keep<K extends keyof Shown>(uri: string, held: boolean, kind: K, found: Shown[K]): Shown[K] {
    const { shown } = stateOf(uri);
    const before = shown[kind];
    if (held && before !== undefined) return before;
    shown[kind] = found;
    return found;
  }

  return {
    documents: {
      create: TextDocument.create,
      update(document, changes, version) {
        const state = states.get(document.uri);
        if (state !== undefined) for (const change of changes) note(state, change);
        return TextDocument.update(document, changes, version);
      },
    },
    isHeld,
    turn: (uri) => states.get(uri)?.turn ?? 0,
    isConfigHeld: holds,
    steady: (file, kind, found) => keep(file.uri, isHeld(file), kind, found),
    steadyConfig(uri, found) {
      const held = holds(
        uri,
        found.map(({ message }) => (typeof message === 'string' ? message : message.value)),
      );
      return keep(uri, held, 'diagnostics', found);
    },
    settle(uri, caret) {
      const state = states.get(uri);
      if (state === undefined || state.line === undefined || caret === state.line) return false;
      const { held } = state;
      state.line = undefined;
      state.held = false;
      if (held) state.turn += 1;
      return held;
    },
    forget(uri) {
      states.delete(uri);
    },
  };
}

function note(state: State, change: TextDocumentContentChangeEvent): void {
  if (!('range' in change)) {
    state.line = undefined;
    state.shown = {};
    return;
  }
  const { range, text } = change;
  const added = text.split(/\r\n|\r|\n/);
  const isOneLine = range.start.line === range.end.line && added.length === 1;
  // Writing elsewhere ends the line before, and what it left broken is shown.
  if (!isOneLine || state.line !== range.start.line) state.known = state.errors;
  state.line = isOneLine ? range.start.line : undefined;
  const move = (at: Position): Position => moved(at, range, added);
  const moveRange = ({ start, end }: Range): Range => ({ start: move(start), end: move(end) });
  const { diagnostics, lenses, hints } = state.shown;
  state.shown = {
    ...(diagnostics && { diagnostics: diagnostics.map((one) => ({ ...one, range: moveRange(one.range) })) }),
    ...(lenses && { lenses: lenses.map((one) => ({ ...one, range: moveRange(one.range) })) }),
    ...(hints && { hints: hints.map((one) => ({ ...one, position: move(one.position) })) }),
  };
}

/** Where a place is after a change; one inside what was replaced goes to its start. */
function moved(at: Position, { start, end }: Range, added: readonly string[]): Position {
  if (isBefore(at, start)) return at;
  if (isBefore(at, end)) return start;
  const lines = added.length - 1;
  const last = added.at(-1)?.length ?? 0;
  const line = at.line - end.line + start.line + lines;
  if (at.line > end.line) return { line, character: at.character };
  return { line, character: at.character - end.character + last + (lines === 0 ? start.character : 0) };
}

function isBefore(a: Position, b: Position): boolean {
  return a.line < b.line || (a.line === b.line && a.character < b.character);
}

/** Of each document only the first error is shown, and none of those that concern no accelerators. */
function syntaxErrors({ documents }: FileAnalysis): readonly string[] {
  return documents.flatMap(({ findings }, index) =>
    findings.filter(({ rule }) => rule === 'yaml-syntax').map(({ message }) => `${index}: ${message}`),
  );
}
