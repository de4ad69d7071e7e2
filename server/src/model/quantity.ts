import type { Cursor } from '../yaml/cursor.ts';
import { isTemplated } from '../yaml/cursor.ts';
import type { Quantity } from './workload.ts';

/** The syntax of resource.Quantity. https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
const syntax = /^([+-]?(?:\d+\.?\d*|\.\d+))(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$/;

const suffixes: Readonly<Record<string, number>> = {
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
}; // prettier-ignore

/** The number that a quantity stands for (`500m` is 0.5, `1k` is 1000), or null when the text is none. */
export function parseQuantity(text: string): number | null {
  const match = syntax.exec(text.trim());
  if (match?.[1] === undefined) return null;
  const suffix = match[2] ?? '';
  if (/^[eE]./.test(suffix)) return Number(match[1] + suffix);
  return Number(match[1]) * (suffixes[suffix] ?? 1);
}

/** Reads a quantity where it stands. */
export function lowerQuantity(at: Cursor): Quantity {
  const { node } = at;
  if (node.kind !== 'scalar') return { at, text: '', value: null, templated: false, empty: false };
  const empty = node.value === null || node.value === '';
  const templated = isTemplated(at);
  // A plain number is read by the YAML decoder before it is a quantity: 010 is eight there.
  const value = templated || empty ? null : typeof node.value === 'number' ? node.value : parseQuantity(node.source);
  return { at, text: node.source, value, templated, empty: empty && !templated };
}
