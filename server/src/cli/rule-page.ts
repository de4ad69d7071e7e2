import { rulePages } from '../rules/pages.ts';

/** The page of a rule as Markdown; undefined for an id that no rule has. */
export function pageOf(id: string): string | undefined {
  return rulePages.get(id)?.replace(generatedNote, '');
}

/** The first sentence below a page's heading. */
export function descriptionOf(page: string): string {
  const line = page.split('\n').find((text) => text.trim() !== '' && !text.startsWith('#'));
  return line?.trim() ?? '';
}

/** What the pages tell whoever would edit them. */
const generatedNote = /^<!--.*?-->\n/s;
