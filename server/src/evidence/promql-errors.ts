import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { asText, type Cursor, isTemplated } from '../yaml/cursor.ts';

/**
 * Why Prometheus rejects a query, as far as its brackets and ranges show; undefined if it may be valid. VictoriaMetrics, whose language needs no
 * ranges, may be at an address that is unknown or names it.
 * https://prometheus.io/docs/prometheus/latest/querying/basics/ https://prometheus.io/docs/prometheus/latest/querying/functions/
 */
export function promqlError(query: string, server: Cursor | undefined): string | undefined {
  if (isTemplated(server) || /^$|vm|victoria|8428|8481|\/select\//i.test(asText(server) ?? '')) return undefined;
  // No real query is that long. Comments and placeholders may hide brackets.
  if (query.length > 10_000 || /#|\$|\{\{|<[a-z]/i.test(query)) return undefined;
  const text = withoutMatchers(query);
  const pairs = text === undefined ? undefined : pairsOf(text);
  if (text === undefined || pairs === undefined) return undefined;
  if (typeof pairs === 'string') return pairs;
  if (rangeOnly.test(text)) return 'it returns a range instead of a value';
  for (const [end, start] of pairs) {
    const name = functionBefore(text, start, pairs);
    const argument = text.slice(start + 1, end);
    if (ofRange.test(name) && !argument.includes('[') && argument.trim() !== '')
      return `${name}() needs a range such as [5m]`;
    if (ofInstant.has(name) && rangeOnly.test(argument)) return `${name}() takes no range`;
  }
  return undefined;
}

/** Functions of a range, which an instant value does not have. */
const ofRange = new RegExp(`^(?:${oneOf('rate irate increase delta idelta deriv changes resets')}|[a-z]+_over_time)$`);

const ofInstant = wordSet('sum avg min max count stddev stdvar group round ceil floor abs scalar vector clamp_min');

/** A selector with a range that no function reads. Subqueries have a colon. */
const rangeOnly = /^\s*[a-z_:][\w:]*\s*(?:\{\})?\s*\[[^\]:]*\]\s*$/i;

/** The text with empty matchers instead of `{...}`, and without the texts in quotes; undefined if a quote is not closed. */
function withoutMatchers(query: string): string | undefined {
  let isOpen = false;
  const bare = query.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|["'`]/g, (found) => {
    isOpen ||= found.length === 1;
    return '""';
  });
  return isOpen ? undefined : bare.replace(/\{[^{}]*\}/g, '{}');
}

const closers: ReadonlyMap<string, string> = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
]);

/** The start of each parenthesis by its end, or what is wrong with the brackets. */
function pairsOf(text: string): ReadonlyMap<number, number> | string {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const one = text.charAt(at);
    const opener = closers.get(one);
    if ('([{'.includes(one)) open.push(at);
    if (opener === undefined) continue;
    const start = open.pop();
    if (start === undefined) return `"${one}" closes nothing`;
    if (text.charAt(start) !== opener) return `"${text.charAt(start)}" is not closed`;
    if (one === ')') pairs.set(at, start);
  }
  const [first] = open;
  return first === undefined ? pairs : `"${text.charAt(first)}" is not closed`;
}

/** The function whose arguments start at a place, also behind the labels by which it groups. */
function functionBefore(text: string, place: number, pairs: ReadonlyMap<number, number>): string {
  // No name is longer.
  const near = text.slice(Math.max(0, place - 60), place);
  const before = near.trimEnd();
  const labels = pairs.get(place - 1 - (near.length - before.length));
  const grouped = labels === undefined ? '' : text.slice(Math.max(0, labels - 60), labels);
  const pattern = labels === undefined ? /(?:^|[^\w:])([a-z_]+)$/i : /(?:^|[^\w:])([a-z_]+)\s+(?:by|without)\s*$/i;
  return pattern.exec(labels === undefined ? before : grouped)?.[1]?.toLowerCase() ?? '';
}
