/** Base address of the documentation. */
const docs = 'https://github.com/gpulint/gpulint/blob/main/docs/';

/** The address of a rule's page. */
export function ruleDocsUrl(id: string): string {
  return `${docs}rules/${id}.md`;
}

/** The address of the section on unused suppressions. */
export const unusedSuppressionDocsUrl = `${docs}ci.md#suppressions-that-nothing-needs`;
