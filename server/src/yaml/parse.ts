import { Composer, type Document, Lexer, Parser, type YAMLError } from 'yaml';
import { illegalCharacter, separatorBefore, withLineFeeds } from './characters.ts';
import { convertTree } from './convert.ts';
import { markDoubtful } from './doubtful.ts';
import { mergeConflict, openActionBefore, repeatsIndent } from './foreign-lines.ts';
import { markIncomplete } from './insertion-targets.ts';
import { closesAll, lenientLexer } from './lenient-lexer.ts';
import { checkLimits, intricateReason, isTooIntricate, nestingReason } from './limits.ts';
import type { YamlComment, YamlDocument, YamlFile, YamlProblem } from './node.ts';
import { maskFields, maskStandIns, maskTokens, maskVariables } from './other-templates.ts';
import { withYttCode } from './partial.ts';
import { CONTROL_LEXEMES, FLOW_END_LEXEME, firstProblem, SCALAR_LEXEME } from './problems.ts';
import { quickStop, readQuick } from './quick.ts';
import { repaired } from './repaired.ts';
import { type Scan, startScan } from './scanned.ts';
import type { Span } from './span.ts';
import { type DocumentText, endBeforeObject, omittedLines, splitDocuments } from './split.ts';
import { gluedDashes, lostObject, streamProblems } from './stream-problems.ts';
import { type Mask, maskTemplates } from './template.ts';
import { isCertainError } from './template-errors.ts';

export { checkLimits, objectsReason } from './limits.ts';
export { withOpenBlocks } from './open-blocks.ts';
export { type DocumentText, splitDocuments } from './split.ts';
export { splitObjects } from './split-list.ts';

/**
 * Reads a text as a stream of YAML documents. Never throws: what cannot be read becomes a problem of its document, and `skipped` says why a
 * text is not read at all (too large, binary, too deep).
 */
export function parseYaml(text: string): YamlFile {
  const skipped = checkLimits(text);
  if (skipped !== null) return { text, documents: [], skipped };
  return joinDocuments(
    text,
    splitDocuments(text).map((part) => parseDocument(part.text, part.base)),
  );
}

/**
 * A file assembled from documents that were read one by one. It is skipped if its only document is; with several, one just has a problem.
 */
function joinDocuments(text: string, documents: readonly YamlDocument[]): YamlFile {
  return { text, documents, skipped: documents.length === 1 ? (documents[0]?.skipped ?? null) : null };
}

/** Reads one part from `splitObjects`. */
export function parsePart({ base, text, item, opened, unbalanced }: DocumentText): YamlDocument {
  const read = parseDocument(text, base);
  // It says more than that the action has no end.
  const others = read.problems.filter(
    ({ span }) => unbalanced === undefined || span.end < unbalanced.span.start || span.start > unbalanced.span.end,
  );
  const document = unbalanced === undefined ? read : { ...read, problems: [...others, unbalanced] };
  if (opened !== undefined) return { ...document, opened };
  return item ? { ...document, item } : document;
}

/**
 * Reads one document's text, as split by `splitDocuments`. Apart from `base`, the result depends on the text alone.
 *
 * @param quick the reader of simple texts; omitted by a test that compares it with the library
 */
export function parseDocument(text: string, base: number, quick = readQuick): YamlDocument {
  const source = withLineFeeds(text);
  const document = readDocument(source, base, quick);
  const own = source === text ? document : { ...document, text, problems: document.problems.map(explained) };
  const read = text.includes('#@') ? withYttCode(own) : own;
  const illegal = read.template || read.skipped !== null ? undefined : (illegalCharacter(text) ?? gluedDashes(text));
  // What follows from it is no error of its own.
  const problems = illegal === undefined ? read.problems : [...problemsBefore(illegal, read.problems), illegal];
  if (!read.template) markDoubtful(read.root, text, problems);
  return illegal === undefined ? read : { ...read, problems };

  function explained(problem: YamlProblem): YamlProblem {
    return problem.readable === true ? problem : (separatorBefore(text, problem) ?? problem);
  }
}

function readDocument(text: string, base: number, quick: typeof readQuick): YamlDocument {
  try {
    const mask = maskTemplates(text) ?? maskTokens(text) ?? maskFields(text);
    const read = quick(text, mask);
    if (read !== undefined) {
      if (read.root && mask) markIncomplete(read.root, mask);
      return { base, text, ...read, skipped: null };
    }
    // The library limits neither its recursion nor its time.
    const tooDeep = nestingReason(text);
    if (tooDeep !== null) return unread(text, base, tooDeep.reason, tooDeep.at);
    if (isTooIntricate(text)) {
      const conflict = mergeConflict(text);
      if (conflict !== undefined) return unread(text, base, conflict);
      const at = quickStop(text, mask);
      return unread(text, base, intricateReason(text, at), at);
    }
    return mask ? readTemplate(text, base, mask) : readPlain(text, base);
  } catch (error) {
    const message = `This document cannot be read (${error instanceof Error ? error.message : String(error)})`;
    return unread(text, base, { message: message.slice(0, 200), span: firstLine(text) });
  }
}

function problemsBefore({ span: { start } }: YamlProblem, problems: readonly YamlProblem[]): readonly YamlProblem[] {
  return problems.filter(({ span }) => span.end <= start);
}

function readPlain(text: string, base: number): YamlDocument {
  const read = compose(text);
  const omits = endBeforeObject(text) === undefined && omittedLines(text).length > 0;
  if (omits || read.errors.length > 0) {
    // The braces of an unquoted ${VAR} are invalid where a flow mapping may begin; with the variable filled in, the text is valid. Stand-in
    // lines are tried second, because in a script such a line is text.
    let hiding: YamlDocument | undefined;
    for (const maskOf of omits ? [maskStandIns] : [maskVariables, maskStandIns]) {
      const mask = maskOf(text);
      if (mask === undefined) continue;
      const filled = compose(mask.text);
      if (filled.errors.length === 0) return readTemplate(text, base, mask);
      if (isVariable(mask, firstProblem(read.errors, text))) hiding = readFilled(text, base, mask, filled);
    }
    if (hiding !== undefined) return hiding;
  }
  const whole = withoutBrokenValues(text, read);
  if (whole !== undefined) return { ...whole, base, text };
  const { root, problems, skipped } = convertTree(read.tree, text, undefined);
  if (skipped !== null) return unread(text, base, skipped);
  // Nothing after the dots is read.
  const end = endBeforeObject(text)?.start ?? text.length;
  const invalid = firstProblem(
    read.errors.filter(({ pos }) => pos[0] <= end),
    text,
  );
  const rejected = read.rejected && read.rejected.from < end ? read.rejected : undefined;
  const first = rejected && !(invalid && invalid.span.start <= rejected.from) ? rejected.first : invalid;
  // After a syntax error the library guesses; only problems before it are certain.
  const before = first ? problemsBefore(first, problems) : [];
  const certain = first && !repeatsIndent(before, first) ? [...before, first] : before;
  const kept = first ? certain : [...problems, ...streamProblems(text)];
  return { base, text, root, comments: read.comments, problems: kept, template: false, skipped: null };
}

/** A text with an error that a variable before it hides. */
function readFilled(text: string, base: number, mask: Mask, filled: Composed): YamlDocument | undefined {
  const invalid = firstProblem(filled.errors, mask.text);
  const { root, problems, skipped } = convertTree(filled.tree, text, mask);
  if (invalid === undefined || skipped !== null) return undefined;
  if (root) markIncomplete(root, mask);
  const kept = [...problemsBefore(invalid, problems), invalid];
  return { base, text, root, comments: filled.comments, problems: kept, template: false, skipped: null };
}

function isVariable({ actions }: Mask, problem: YamlProblem | undefined): boolean {
  const at = problem?.span.start ?? -1;
  return actions.some(({ span }) => at >= span.start && at < span.end);
}

/** The document without the values that are errors, if the rest of it is valid. */
function withoutBrokenValues(
  text: string,
  { errors, rejected }: Composed,
): Omit<YamlDocument, 'base' | 'text'> | undefined {
  const problem = endBeforeObject(text) === undefined ? firstProblem(errors, text) : undefined;
  // Tabs are rejected twice.
  const first = rejected === undefined || problem?.message.startsWith('Tab') ? problem : undefined;
  const found =
    first &&
    repaired(text, first, (masked) => {
      const read = compose(masked);
      return { read, problem: firstProblem(read.errors, masked) ?? read.rejected?.first };
    });
  if (found === undefined) return undefined;
  const { root, problems, skipped } = convertTree(found.read.tree, text, found.mask);
  if (skipped !== null) return undefined;
  if (root) markIncomplete(root, found.mask);
  const all = [...problems, ...found.problems].sort((a, b) => a.span.start - b.span.start);
  return { root, comments: found.read.comments, problems: all, template: false, skipped: null };
}

function readTemplate(text: string, base: number, mask: Mask): YamlDocument {
  const read = compose(mask.text);
  if (read.errors.length > 0) {
    // Some texts contain template syntax only in their strings and are valid YAML as they are.
    const plain = compose(text);
    if (plain.errors.length === 0) {
      const { root, skipped } = convertTree(plain.tree, text, { ...mask, text });
      return skipped === null
        ? { base, text, root, comments: plain.comments, problems: [], template: true, skipped: null }
        : unread(text, base, skipped);
    }
    const first = Math.min(...read.errors.map(({ pos }) => pos[0]));
    const cause = mergeConflict(text) ?? openActionBefore(mask.text, first);
    const invalid = cause === undefined ? firstProblem(read.errors, mask.text) : undefined;
    const problems = [cause ?? (invalid && isCertainError(mask, invalid) ? invalid : [])].flat();
    return { base, text, root: null, comments: read.comments, problems, template: true, skipped: null };
  }
  const { root, problems, skipped } = convertTree(read.tree, text, mask);
  if (skipped !== null) return unread(text, base, skipped);
  if (root) markIncomplete(root, mask);
  const found = [...problems, ...lostObject(text)];
  return { base, text, root, comments: read.comments, problems: found, template: true, skipped: null };
}

interface Composed {
  readonly tree: unknown;
  readonly errors: readonly YAMLError[];
  readonly comments: readonly YamlComment[];
  /** What the library accepts, but not Kubernetes' parser. */
  readonly rejected: Scan['problem'];
  /** A bracket or a quote ended before its closing character, or brackets contain a dash. */
  readonly cutShort: boolean;
}

/** Reads a text by YAML 1.2 and, if it has errors, as libyaml does. If that also fails, the errors of the first reading are closer to their cause. */
function compose(text: string): Composed {
  // In a badly broken text the library creates an error for every character; capturing unused stack traces would take seconds.
  const errors: ErrorConstructor & { stackTraceLimit?: number } = Error;
  const limit = errors.stackTraceLimit;
  if (limit !== undefined) errors.stackTraceLimit = 0;
  try {
    const strict = composeText(text, new Lexer());
    if (strict.errors.length === 0) return strict;
    // Only a bracket or quote that ended at its indentation, or a dash in brackets, can be read otherwise.
    if (!strict.cutShort || !closesAll(text)) return strict;
    const lenient = composeText(text, lenientLexer());
    return lenient.errors.length === 0 ? lenient : strict;
  } finally {
    if (limit !== undefined) errors.stackTraceLimit = limit;
  }
}

/** Every scalar is text, whatever it looks like and whatever its tag: `scalar.ts` reads plain ones as Kubernetes does. */
const failsafe = { schema: 'failsafe', resolveKnownTags: false } as const;

/** After this many errors the rest of a text is meaningless. */
const ENOUGH_ERRORS = 100;

/** Runs the library's lexer, parser and composer one by one, because the positions of comments are only known in between. */
function composeText(text: string, lexer: Lexer): Composed {
  let errorCount = 0;
  const comments: YamlComment[] = [];
  const parser = new Parser();
  const composer = new Composer({ ...failsafe, uniqueKeys: false, merge: false, logLevel: 'silent' });
  const documents: Document.Parsed[] = [];
  const pass = (tokens: ReturnType<Parser['next']>): void => {
    for (const token of tokens) {
      if (token.type === 'error') errorCount++;
      for (const document of composer.next(token)) documents.push(document as Document.Parsed);
    }
  };
  let at = 0;
  let scalar = false;
  let ownLine = true;
  const scan = startScan(text);
  let cutShort = false;
  for (const lexeme of lexer.lex(text)) {
    if (errorCount > ENOUGH_ERRORS) break;
    if (CONTROL_LEXEMES.has(lexeme)) {
      scalar = lexeme === SCALAR_LEXEME;
      cutShort ||= lexeme === FLOW_END_LEXEME;
    } else {
      if (!scalar && lexeme.charCodeAt(0) === 0x23) {
        comments.push({ text: lexeme, span: { start: at, end: at + lexeme.length }, ownLine });
      }
      scan.see(lexeme, at, scalar);
      scalar = false;
      at += lexeme.length;
      ownLine = lexeme.endsWith('\n') || (ownLine && lexeme.trim() === '');
    }
    pass(parser.next(lexeme));
  }
  pass(parser.end());
  for (const document of composer.end(true, text.length)) documents.push(document as Document.Parsed);
  // The text was split at its markers, so more than one document means that the first one ended at a syntax error.
  const errors = documents.flatMap((document) => document.errors).filter(({ message }) => !isAccepted(message));
  cutShort ||= errors.some(
    ({ code, message }) => code === 'BLOCK_IN_FLOW' || /^Missing closing ['"]quote/.test(message),
  );
  return { tree: documents[0]?.contents, errors, comments, rejected: scan.problem, cutShort };
}

/** Whether libyaml accepts what the library reports: a comment after a quote or a bracket without a space, and \\' in double quotes. */
function isAccepted(message: string): boolean {
  return message.startsWith('Comments must be separated') || message.startsWith("Invalid escape sequence \\'");
}

function unread(text: string, base: number, problem: YamlProblem | string, at = 0): YamlDocument {
  const skipped = typeof problem === 'string' ? problem : null;
  const found =
    typeof problem === 'string' ? { message: problem.replace(/\.$/, ''), span: firstLine(text, at) } : problem;
  return { base, text, root: null, comments: [], problems: [found], template: false, skipped };
}

/** The first line with text, from the line of an offset on. */
function firstLine(text: string, at = 0): Span {
  const line = text.lastIndexOf('\n', at - 1) + 1;
  const start = line + Math.max(0, text.slice(line).search(/[^\s\uFEFF]/));
  const length = text.slice(start, start + 200).search(/[\r\n]/);
  return { start, end: length === -1 ? Math.min(text.length, start + 200) : start + length };
}
