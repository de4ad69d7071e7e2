import { isolated } from '../cost-report/html-text.ts';

// Tables of the page of a cluster.

/** More rows than these are counted only: nobody reads them, and each has a price. */
export const mostRows = 500;

/** A table with its heading; the head of a column of numbers starts with #. Empty without rows. */
export function section(
  title: string,
  id: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  count: number,
): string {
  if (rows.length === 0) return '';
  const columns = heads.map((name) =>
    name.startsWith('#')
      ? `<th scope="col" class="number" data-number>${name.slice(1)}</th>`
      : `<th scope="col">${name}</th>`,
  );
  const more = count > rows.length ? `<p class="notes">and ${count - rows.length} more</p>` : '';
  return `<section aria-labelledby="${id}"><div class="above"><h2 id="${id}">${title}</h2>
<label class="filter" hidden>Filter <input type="search" data-filter="${id}"></label></div>
<div class="scroll"><table data-table="${id}"><thead><tr>${columns.join('')}</tr></thead>
<tbody>
${rows.map((cells) => `<tr>${cells.join('')}</tr>`).join('\n')}
</tbody></table></div>${more}</section>`;
}

export function head(name: string, note: string | undefined): string {
  const small = note === undefined || note === '' ? '' : ` <small class="file">${isolated(note)}</small>`;
  return `<th scope="row">${isolated(name)}${small}</th>`;
}

/** A cell. @param key what the column is sorted by, if not its text */
export function cell(html: string, kind = '', key = ''): string {
  return `<td${kind === '' ? '' : ` class="${kind}"`}${key === '' ? '' : ` data-key="${key}"`}>${html}</td>`;
}
