import { tableOf } from '../yaml/table.ts';
import { rules } from './index.ts';
import type { Rule, RulesOptions, Severity, Topic } from './rule.ts';

/**
 * recommended: every rule with its own severity. strict: info becomes a warning, and hints become info. cost-only: only rules about wasted
 * money.
 */
export const ruleSetNames = ['recommended', 'strict', 'cost-only'] as const;
export type RuleSetName = (typeof ruleSetNames)[number];

/** The severity of each rule that the set changes. */
export function rulesOfSet(name: RuleSetName): RulesOptions {
  const change = changes[name];
  const changed: [string, Severity | 'off'][] = [];
  for (const [id, rule] of rules) {
    const severity = change(rule);
    if (severity !== undefined) changed.push([id, severity]);
  }
  return tableOf(changed);
}

/** Undefined keeps the rule's own severity, which may differ between cases. */
const changes: Readonly<Record<RuleSetName, (rule: Rule) => Severity | 'off' | undefined>> = {
  recommended: () => undefined,
  strict: ({ severity }) => (severity === 'info' ? 'warning' : severity === 'hint' ? 'info' : undefined),
  // A rejected object costs nothing.
  'cost-only': ({ topic, severity, wasteful = costTopics.has(topic) }) =>
    severity !== 'error' && wasteful ? undefined : 'off',
};

const costTopics: ReadonlySet<Topic> = new Set<Topic>(['cost', 'scale-to-zero', 'autoscaling', 'sharing', 'spot']);
