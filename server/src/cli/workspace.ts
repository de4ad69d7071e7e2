import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Analysis } from '../analysis.ts';
import { kindsIn, namesIn } from '../workspace/kinds.ts';
import { deferred, summariseText } from '../workspace/summary.ts';
import type { ConfiguredInput } from './check.ts';
import { maxFileBytes } from './files.ts';

/**
 * Shows the files of a run to each other. Each is looked through for the kinds that others name; it is read only when one of them does, and
 * its text is not kept, so that a large tree takes no more memory than a small one.
 */
export function seeTogether(analysis: Analysis, inputs: readonly ConfiguredInput[]): void {
  if (inputs.length < 2) return;
  for (const { input, config } of inputs) {
    // The names of kinds are plain letters in every encoding, and bytes are read fastest.
    const text = textOf(input.file, 'latin1');
    const kinds = kindsIn(text);
    if (kinds.size === 0) continue;
    const read = () => summariseText(textOf(input.file, 'utf8').replace(/^\ufeff/, ''), config);
    analysis.workspace.set(pathToFileURL(input.file).href, deferred(kinds, namesIn(text), read), 'disk');
  }
}

/** Nothing where a file is none, as a pipe that can be read only once, or cannot be read: that is told when it is checked. */
function textOf(file: string, encoding: 'latin1' | 'utf8'): string {
  try {
    const stats = fs.statSync(file);
    return stats.isFile() && stats.size <= maxFileBytes ? fs.readFileSync(file, encoding) : '';
  } catch {
    return '';
  }
}
