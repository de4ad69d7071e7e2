import { runRulesOnAll } from '../rules/run.ts';
import type { DocumentAnalysis } from './document.ts';

/** More at once are no faster, and each of them keeps its objects until all are checked. */
const maxTogether = 100;

/** Checks all documents of some files together, which is faster than one after the other, as their findings are read. */
export function judgeTogether(files: readonly { readonly documents: readonly DocumentAnalysis[] }[]): void {
  const documents = files.flatMap((file) => file.documents);
  for (let start = 0; start < documents.length; start += maxTogether) {
    const unchecked = documents.slice(start, start + maxTogether).flatMap((document) => document.unchecked() ?? []);
    const results = runRulesOnAll(unchecked.map(({ input }) => input));
    for (const [index, result] of results.entries()) unchecked[index]?.take(result);
  }
}
