/** Where the page of each rule is read. The one place that knows. */
const rulePages = 'https://github.com/gpulint/gpulint/blob/main/docs/rules/';

/** The address of a rule's page, for people. */
export function ruleDocsUrl(id: string): string {
  return `${rulePages}${id}.md`;
}
