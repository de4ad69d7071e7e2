/** The address of the documentation, defined only here. */
const docs = 'https://github.com/gpulint/gpulint/blob/main/docs/';

/** The address of a rule's page. */
export function ruleDocsUrl(id: string): string {
  return `${docs}rules/${id}.md`;
}

/** The documentation of comments and annotations that suppress nothing. */
export const unusedSuppressionDocsUrl = `${docs}ci.md#suppressions-that-nothing-needs`;
