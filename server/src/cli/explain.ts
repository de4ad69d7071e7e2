import process from 'node:process';
import { didYouMean, nearest } from '../config.ts';
import { rules } from '../rules/index.ts';
import { type RuleSetName, rulesOfSet } from '../rules/rule-sets.ts';
import { descriptionOf, pageOf } from './rule-page.ts';
import { UsageError } from './usage-error.ts';

/**
 * Prints the page of a rule.
 * @throws UsageError for an unknown id
 */
export function explain(id: string): void {
  const page = pageOf(id);
  if (page === undefined) {
    throw new UsageError(`no rule '${id}'${didYouMean(nearest(id, rules.keys())) || "; 'gpulint rules' lists them"}`);
  }
  process.stdout.write(page.endsWith('\n') ? page : `${page}\n`);
}

/** Prints every rule of a set with its severity in that set and what it finds. */
export function listRules(set: RuleSetName = 'recommended'): void {
  const changed = rulesOfSet(set);
  const width = Math.max(0, ...[...rules.keys()].map((id) => id.length));
  for (const [id, rule] of rules) {
    const severity = changed[id] ?? rule.severity;
    if (severity === 'off') continue;
    process.stdout.write(
      `${id.padEnd(width)}  ${severity.padEnd('warning'.length)}  ${descriptionOf(pageOf(id) ?? '')}\n`,
    );
  }
}
