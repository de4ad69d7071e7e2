import type { ApiProblem } from '../evidence/api-problems.ts';
import { expectedWords, writtenWords } from '../evidence/api-words.ts';
import { meantQuantity, meantValue, unquoted } from '../evidence/meant-values.ts';
import { wrap } from '../rewrite/api-values.ts';
import { fix } from '../rewrite/fix.ts';
import { type Cursor, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar, unquoteScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import type { Report } from './rule.ts';

/** Describes a value that the API server rejects, with the value that is likely meant. */
export function describeValue(problem: ApiProblem, document: YamlDocument): Report {
  const inner = typographic(problem.at);
  if (inner !== undefined) return inTypographicQuotes(problem, inner, document);
  if (problem.what === 'not-in-enum') return notInEnum(problem, document);
  return problem.what === 'not-a-quantity' ? notQuantity(problem, document) : wrongType(problem, document);
}

function notInEnum({ at, field, type }: ApiProblem, document: YamlDocument): Report {
  const values = type?.form === 'enum' ? type.values.filter((value) => value !== '/') : [];
  const written = textOf(at);
  const listed =
    values.length > 6 ? `${values.slice(0, 4).join(', ')} and ${values.length - 4} more` : values.join(', ');
  return {
    message: `${field} must be one of ${listed}, not "${shorten(written, 30)}": the API server rejects the object`,
    span: spanOf(at),
    fixes: () => {
      const meant = meantValue(written, values);
      if (meant === undefined) return [];
      const { value, certain } = meant;
      return [fix(`Change to ${value}`, certain ? 'safe' : 'unsafe', replaceScalar(document, at, value))];
    },
  };
}

function notQuantity({ at, field }: ApiProblem, document: YamlDocument): Report {
  const written = textOf(at);
  const meant = meantQuantity(written);
  return {
    message: `${shorten(subjectOf(at, field), 60)} "${shorten(written, 30)}" is not a quantity${meant === undefined ? '' : `; write ${meant}`}: the API server rejects the object`,
    span: spanOf(at),
    fixes: () => (meant === undefined ? [] : [fix(`Change to ${meant}`, 'safe', replaceScalar(document, at, meant))]),
  };
}

/** The text in the curly quotes of a word processor or a web page, which are no quotes to YAML. */
function typographic({ node }: Cursor): string | undefined {
  if (node.kind !== 'scalar' || node.style !== 'plain') return undefined;
  return /^[\u2018\u201c\u201e](.*)[\u2018\u2019\u201c\u201d]$/.exec(node.source)?.[1];
}

function inTypographicQuotes({ at, field, type }: ApiProblem, inner: string, document: YamlDocument): Report {
  const form = type?.form;
  return {
    message: `The typographic quotes of ${shorten(subjectOf(at, field), 60)} are part of its value: the API server rejects the object; remove them`,
    span: spanOf(at),
    fixes: () =>
      form === 'quantity' || form === 'enum'
        ? [fix(`Remove the quotes: ${inner}`, 'safe', replaceScalar(document, at, inner))]
        : [],
  };
}

function wrongType({ at, field, type }: ApiProblem, document: YamlDocument): Report {
  if (type === undefined) throw new Error('a wrong type is known');
  const { node } = at;
  const subject = shorten(subjectOf(at, field), 60);
  if (type.form === 'quantity' && node.kind === 'scalar') return fraction(at, subject, document);
  const pair = (type.form === 'object' || type.form === 'map') && unspacedPair(at);
  if (pair) {
    const is = `${subject} is the text "${shorten(pair, 30)}", not a mapping`;
    return {
      message: `${is}: the API server rejects the object; add a space after the colon`,
      span: firstLineOf(at, document),
    };
  }
  const variable = brokenVariable(at);
  return {
    message:
      variable === undefined
        ? `${subject} must be ${expectedWords(type)}, not ${writtenWords(at, (text) => shorten(text, 30))}: the API server rejects the object`
        : `${subject} is a mapping, not {{ ${variable} }}, because of the space in "{ {": the API server rejects the object`,
    span: node.kind === 'scalar' || at.entry === undefined ? firstLineOf(at, document) : keySpanOf(at),
    fixes: () => {
      if (node.kind !== 'scalar' || typeof node.value !== 'string') return [];
      const value = unquoted(node.value, type.form);
      if (value !== undefined) return [fix(`Remove the quotes: ${value}`, 'safe', unquoteScalar(document, at, value))];
      const wrapped = type.form === 'list' || type.form === 'object' ? wrap(at, type, document) : undefined;
      return wrapped === undefined ? [] : [wrapped];
    },
  };
}

/** The schema of a custom resource has only whole numbers and strings for a quantity. */
function fraction(at: Cursor, subject: string, document: YamlDocument): Report {
  const text = textOf(at);
  return {
    message: `${subject} must be quoted: custom resources do not accept fractions such as ${shorten(text, 30)}, and the API server rejects the object`,
    span: spanOf(at),
    fixes: () => [fix(`Quote the value: "${text}"`, 'safe', replaceScalar(document, at, text))],
  };
}

/** A long value is marked on its first line. */
function firstLineOf(at: Cursor, { text }: YamlDocument): Span {
  const { start, end } = spanOf(at);
  const line = text.indexOf('\n', start);
  return { start, end: line < 0 ? end : Math.min(end, line) };
}

/** The key of a value, or the list of an item. */
function subjectOf(at: Cursor, field: string): string {
  return at.entry === undefined ? `Each item of ${field}` : keyOf(at);
}

function textOf({ node }: Cursor): string {
  return node.kind === 'scalar' ? node.source : '';
}

/** The first key and its value in a text such as `cpu:4`, which is no mapping without the space. A toleration is a taint in kubectl's words. */
function unspacedPair({ node, entry }: Cursor): string | undefined {
  const isValue = entry !== undefined && node.kind === 'scalar' && node.style === 'plain';
  return isValue ? /^[A-Za-z][\w./-]*:(?!\/\/)\S+/.exec(node.source)?.[0] : undefined;
}

/** The name in `{ { NAME } }`, which formatters make of `{{ NAME }}`. */
function brokenVariable({ node }: Cursor): string | undefined {
  const [only, ...others] = node.kind === 'map' ? node.entries : [];
  const [, name] = /^\{ *(\S{1,40}) *\}$/.exec(only?.key ?? '') ?? [];
  return others.length === 0 ? name : undefined;
}
