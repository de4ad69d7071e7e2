/** Where the page of each rule is read. The one place that knows. */
const docs = 'https://github.com/gpulint/gpulint/blob/main/docs/';

/** The address of a rule's page, for people. */
export function ruleDocsUrl(id: string): string {
  return `${docs}rules/${id}.md`;
}

/** What is said of comments and annotations that silence nothing. */
export const unusedSuppressionDocsUrl = `${docs}ci.md#suppressions-that-nothing-needs`;
