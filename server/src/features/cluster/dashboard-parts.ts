/** What the page of a cluster adds to the style of reports. High contrast replaces shades by outlines. */
export const dashboardStyle = `

.charts { grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); }
.legend { display: flex; gap: .375rem; color: var(--soft); font-size: .857rem; }
.legend svg:not(:first-child) { margin-left: .5rem; }
.used { fill: var(--floor); }
.free { fill: var(--vscode-charts-green, #388a34); fill-opacity: .55; }
.out { fill: var(--others); fill-opacity: .6; }
.vscode-high-contrast .free, .vscode-high-contrast .out { fill-opacity: .12; stroke: currentColor; vector-effect: non-scaling-stroke; }
.alert { border-left: 3px solid var(--idle); padding: .25rem .75rem; margin: .75rem 0; max-width: 62rem; }
.way { display: block; color: var(--soft); }
.wide { max-width: 40rem; overflow-wrap: anywhere; }
.problems { border-top: 1px solid var(--line); margin-top: .5rem; }
.problems li { padding: .375rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
details { font-size: .929rem; color: var(--soft); }
summary { cursor: pointer; width: max-content; }
@media (forced-colors: active) { 
.charts { grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); }
.legend { display: flex; gap: .375rem; color: var(--soft); font-size: .857rem; }
.legend svg:not(:first-child) { margin-left: .5rem; }
.used { fill: CanvasText; } .free, .out { fill: Canvas; fill-opacity: 1; stroke: CanvasText; vector-effect: non-scaling-stroke; } }
`;

/** Sorts and filters the tables, and keeps their state and what is open when the page is replaced. Sends the editor what the user selects. */
export const dashboardScript = `
(() => {
  const host = acquireVsCodeApi();
  const state = { tables: {}, ...host.getState() };
  const keep = () => host.setState({ ...state, top: scrollY });
  const collator = new Intl.Collator('en', { numeric: true });
  const textOf = (cell) => cell.dataset.key ?? (cell.firstElementChild ?? cell).textContent;
  const numberOf = (text) => Number.parseFloat(text.replace(/[^\\d.]+/, '').replaceAll(',', ''));
  for (const table of document.querySelectorAll('table')) {
    const id = table.dataset.table;
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    const own = (state.tables[id] ??= { filter: '' });
    const sort = () => {
      const { column, down } = own;
      const head = heads[column];
      if (head === undefined) return;
      for (const one of heads) one.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const isNumber = 'number' in head.dataset;
      rows.sort((a, b) => {
        const [x, y] = [textOf(a.cells[column]), textOf(b.cells[column])];
        if (x === '' || y === '') return (x === '') - (y === '');
        const order = isNumber ? numberOf(x) - numberOf(y) : collator.compare(x, y);
        return down ? -order : order;
      });
      body.append(...rows);
    };
    heads.forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        own.down = own.column === column ? !own.down : 'number' in head.dataset;
        own.column = column;
        sort();
        keep();
      });
    });
    const input = document.querySelector('[data-filter="' + id + '"]');
    const filter = () => {
      const words = own.filter.toLowerCase().split(/\\s+/);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    };
    input.parentElement.hidden = rows.length < 8;
    input.value = own.filter;
    input.addEventListener('input', () => {
      own.filter = input.value;
      filter();
      keep();
    });
    sort();
    filter();
  }
  for (const time of document.querySelectorAll('time')) time.textContent = new Date(time.dateTime).toLocaleString();
  scrollTo(0, state.top ?? 0);
  addEventListener('scroll', keep);
  addEventListener('click', (event) => {
    const action = event.target.closest('[data-action]')?.dataset.action;
    if (action !== undefined) host.postMessage({ action });
  });
})();
`;
