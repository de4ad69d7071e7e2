import { Lexer } from 'yaml';
import { SCALAR_LEXEME } from './problems.ts';

/** The parts of the library's lexer that decide where a value ends. Its version is pinned, and `test/yaml/lenient.test.ts` fails if they change. */
interface LexerState {
  /** The least indentation of the lines of a value. */
  indentNext: number;
  /** The number of brackets around the text. */
  readonly flowLevel: number;
  charAt(ahead: number): string | undefined;
  parseFlowCollection(): Generator<string, unknown>;
  parseQuotedScalar(): Generator<string, unknown>;
}

/**
 * A lexer that ends quoted text and bracketed values where libyaml does, which Kubernetes reads with: at the closing quote or bracket. YAML 1.2
 * also demands that their lines are indented deeper than their key, without tabs. A dash in brackets with a comma or bracket after it is text.
 */
export function lenientLexer(): Lexer {
  const lexer = new Lexer();
  const state = lexer as unknown as LexerState;
  for (const name of ['parseFlowCollection', 'parseQuotedScalar'] as const) {
    const read = state[name].bind(lexer);
    state[name] = function* unindented() {
      const { indentNext } = state;
      state.indentNext = 0;
      const next = yield* read();
      if (state.indentNext === 0) state.indentNext = indentNext;
      return next;
    };
  }
  const charAt = state.charAt.bind(lexer);
  state.charAt = (ahead) => {
    const next = charAt(ahead);
    const isText = ahead === 1 && state.flowLevel > 0 && charAt(0) === '-' && /^[,[\]{}]$/.test(next ?? '');
    // Before a letter, a dash is text.
    return isText ? 'a' : next;
  };
  return lexer;
}

/** Whether every bracket closes if lines need no indentation. Without that, no other reading of the text is worth its time. */
export function closesAll(text: string): boolean {
  let open = 0;
  let scalar = false;
  for (const lexeme of lenientLexer().lex(text)) {
    if (!scalar) {
      if (lexeme === '[' || lexeme === '{') open++;
      else if (lexeme === ']' || lexeme === '}') open--;
    }
    scalar = lexeme === SCALAR_LEXEME;
  }
  return open === 0;
}
