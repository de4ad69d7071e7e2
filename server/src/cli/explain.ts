import process from 'node:process';
import { didYouMean, nearest } from '../config.ts';
import { rules } from '../rules/index.ts';
import { rulePages } from '../rules/pages.ts';
import { UsageError } from './usage-error.ts';

/**
 * Prints the page of a rule.
 * @throws UsageError for an id that no rule has.
 */
export function explain(id: string): void {
  const page = rulePages.get(id)?.replace(generatedNote, '');
  if (page === undefined) {
    throw new UsageError(
      `no rule '${id}'${didYouMean(nearest(id, rulePages.keys())) || "; 'gpulint rules' lists them"}`,
    );
  }
  process.stdout.write(page.endsWith('\n') ? page : `${page}\n`);
}

/** Prints every rule with its severity and what it looks for. */
export function listRules(): void {
  const width = Math.max(0, ...[...rules.keys()].map((id) => id.length));
  for (const [id, { severity }] of rules) {
    process.stdout.write(
      `${id.padEnd(width)}  ${severity.padEnd('warning'.length)}  ${descriptionOf(rulePages.get(id) ?? '')}\n`,
    );
  }
}

/** What the pages tell whoever would edit them. */
const generatedNote = /^<!--.*?-->\n/s;

/** The first sentence below a page's heading. */
function descriptionOf(page: string): string {
  const line = page
    .replace(generatedNote, '')
    .split('\n')
    .find((text) => text.trim() !== '' && !text.startsWith('#'));
  return line?.trim() ?? '';
}
