import type { YamlNode } from './node.ts';

/** Every key and scalar in a value, as it is written without quotes. Comments are none of them. */
export function* textsIn(node: YamlNode): Generator<string> {
  if (node.kind === 'scalar') yield node.source;
  else if (node.kind === 'seq') for (const { value } of node.items) yield* textsIn(value);
  else
    for (const { key, value } of node.entries) {
      yield key;
      yield* textsIn(value);
    }
}

/** Whether a key or a scalar in a value satisfies a test. */
export function someText(node: YamlNode, test: (text: string) => boolean): boolean {
  for (const text of textsIn(node)) if (test(text)) return true;
  return false;
}

/**
 * The same text, in memory of its own. V8 makes no copy of a slice: it refers to the text from which it was cut, so a name that is kept keeps its
 * whole file in memory, and the documents of a file that is edited each keep another version of it.
 */
export function ownCopy(text: string): string {
  return ` ${text}`.slice(1);
}
