import fs from 'node:fs';
import path from 'node:path';
import { rules } from '../rules/index.ts';
import { UsageError } from './usage-error.ts';

/**
 * The page of a rule as Markdown; undefined for an unknown id.
 * @throws UsageError if the package was installed without its pages
 */
export function pageOf(id: string): string | undefined {
  if (!rules.has(id)) return undefined;
  return fs.readFileSync(path.join(pagesFolder(), `${id}.md`), 'utf8').replace(generatedNote, '');
}

/** The first sentence below a page's heading. */
export function descriptionOf(page: string): string {
  const line = page.split('\n').find((text) => text.trim() !== '' && !text.startsWith('#'));
  return line?.trim() ?? '';
}

/** The note to editors in generated pages. */
const generatedNote = /^<!--.*?-->\n/s;

/** The pages are files of the package: above the bundle in dist/, and further above the source. */
function pagesFolder(): string {
  for (let folder = __dirname; ; folder = path.dirname(folder)) {
    const pages = path.join(folder, 'docs', 'rules');
    if (fs.existsSync(path.join(pages, 'README.md'))) return pages;
    if (folder === path.dirname(folder))
      throw new UsageError(`docs/rules is missing above ${__dirname}: reinstall gpulint`);
  }
}
