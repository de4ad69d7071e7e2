import type { CodeLens, Diagnostic, InlayHint, Position, Range } from 'vscode-languageserver';
import { TextDocument, type TextDocumentContentChangeEvent } from 'vscode-languageserver-textdocument';
import type { FileAnalysis } from '../analysis.ts';

/** What is shown for a document, at positions that move with the text. */
interface Shown {
  readonly diagnostics: readonly Diagnostic[];
  readonly lenses: readonly CodeLens[];
  readonly hints: readonly InlayHint[];
}

/**
 * Keeps what is shown steady while a line is incomplete. A line that is being typed often breaks the YAML around it. The error is held back, and
 * the previous state stays, until the user edits another line, moves the cursor to another line, or saves. There is no timeout.
 */
export interface Typing {
  /** For `TextDocuments`: records each change before it is applied. */
  readonly documents: {
    create(uri: string, languageId: string, version: number, content: string): TextDocument;
    update(document: TextDocument, changes: TextDocumentContentChangeEvent[], version: number): TextDocument;
  };
  /** What to show: the new result, or the previous one if the line being typed breaks the file. */
  steady<K extends keyof Shown>(file: FileAnalysis, kind: K, found: Shown[K]): Shown[K];
  /** The same for the config. All its new problems are held back while a line is being typed: an incomplete word is never valid. */
  steadyConfig(uri: string, found: readonly Diagnostic[]): readonly Diagnostic[];
  /** Without the problems that an incomplete word causes on its line. These are also held back, on their own. */
  withoutUnfinished(
    uri: string,
    found: readonly Diagnostic[],
    isUnfinished: (one: Diagnostic) => boolean,
  ): Diagnostic[];
  /** Whether an error is held back. */
  isHeld(file: FileAnalysis): boolean;
  /** Whether the config is incomplete, so that the previous one still applies. */
  isConfigHeld(uri: string, messages: readonly string[]): boolean;
  /** Changes when held-back problems are to be shown although the text is unchanged. */
  turn(uri: string): number;
  /** Reports that the user left the line or saved. True if held-back problems are to be shown now. */
  settle(uri: string, caret?: number): boolean;
  forget(uri: string): void;
}

interface State {
  /** The line that is being typed; undefined if the last change was not within one line. */
  line: number | undefined;
  /** The syntax errors before the line was typed. */
  known: readonly string[];
  /** The syntax errors of the last analysis. */
  errors: readonly string[];
  held: boolean;
  /** Problems of a half typed word are held back. */
  unfinished: boolean;
  /** Counts how often held-back problems were shown. */
  turn: number;
  shown: Partial<Shown>;
}

const initial: State = {
  line: undefined,
  known: [],
  errors: [],
  held: false,
  unfinished: false,
  turn: 0,
  shown: {},
};

export function watchTyping(): Typing {
  const states = new Map<string, State>();

  function stateOf(uri: string): State {
    const state = states.get(uri) ?? { ...initial };
    states.set(uri, state);
    return state;
  }

  function updateHeld(uri: string, errors: readonly string[]): boolean {
    const state = stateOf(uri);
    state.errors = errors;
    // Only this line has changed since, so new errors come from it.
    state.held = state.line !== undefined && state.errors.some((error) => !state.known.includes(error));
    if (!state.held) state.known = state.errors;
    return state.held;
  }

  const isHeld = (file: FileAnalysis) => updateHeld(file.uri, syntaxErrors(file));

  /** The previous state as long as problems are held back, otherwise the new one. */
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
    isConfigHeld: updateHeld,
    steady: (file, kind, found) => keep(file.uri, isHeld(file), kind, found),
    withoutUnfinished(uri, found, isUnfinished) {
      const state = stateOf(uri);
      const isTyped = ({ start }: Range) => start.line === state.line;
      const kept = found.filter((one) => !isTyped(one.range) || !isUnfinished(one));
      state.unfinished = kept.length < found.length;
      return kept;
    },
    steadyConfig(uri, found) {
      const held = updateHeld(
        uri,
        found.map(({ message }) => (typeof message === 'string' ? message : message.value)),
      );
      return keep(uri, held, 'diagnostics', found);
    },
    settle(uri, caret) {
      const state = states.get(uri);
      if (state === undefined || state.line === undefined || caret === state.line) return false;
      const held = state.held || state.unfinished;
      state.line = undefined;
      state.held = false;
      state.unfinished = false;
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
  // Typing elsewhere ends the previous line, and its errors are shown.
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

/** A position after a change. Positions in replaced text move to its start. */
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

/** The syntax errors of a file: the first one of each document that concerns accelerators. */
function syntaxErrors({ documents }: FileAnalysis): readonly string[] {
  return documents.flatMap(({ findings }, index) =>
    findings.filter(({ rule }) => rule === 'yaml-syntax').map(({ message }) => `${index}: ${message}`),
  );
}
