/**
 * Sorts and filters the table. In an editor's webview, which has `acquireVsCodeApi`, it also sends what the user selects: `{place: 3}`, `{fix: 0}`,
 * `{action: 'csv'}`. The page is replaced when prices or files change, so the state of the table is kept by the editor.
 */
export const pageScript = `
(() => {
  const host = typeof acquireVsCodeApi === 'function' ? acquireVsCodeApi() : undefined;
  const one = (selector) => document.querySelector(selector);
  const table = one('table');
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({
    row,
    text: row.textContent.toLowerCase(),
    amounts: row.dataset.amounts.split(' ').map(Number),
  }));
  const heads = [...table.tHead.rows[0].cells];
  const sums = [...table.tFoot.rows[0].cells];
  const complete = sums.map((cell) => cell.textContent);
  const input = one('#filter');
  const output = one('output');
  const collator = new Intl.Collator('en', { numeric: true });
  const state = { column: heads.findIndex((head) => head.dataset.sum === 'hourly'), down: true, filter: '', ...host?.getState() };

  // The first element of a workload is its name.
  const keyOf = ({ row: { cells } }, column) => cells[column].dataset.key ?? (cells[column].firstElementChild ?? cells[column]).textContent;
  function sort(column, down) {
    if (heads[column] === undefined) return;
    state.column = column;
    state.down = down;
    heads.forEach((head, index) => {
      if (index === column) head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
    const isNumber = 'number' in heads[column].dataset;
    for (const row of rows) row.key = keyOf(row, column);
    // Unknown values come last in both directions.
    rows.sort(({ key: x }, { key: y }) => {
      if (x === '' || y === '') return (x === '') - (y === '');
      const order = isNumber ? x - y : collator.compare(x, y);
      return down ? -order : order;
    });
    body.append(...rows.map(({ row }) => row));
  }

  const number = (value, digits) => value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const dollars = (digits) => (value) => (value === 0 ? '$0' : '$' + number(value, digits));
  const count = (value) => value.toLocaleString('en-US', { maximumFractionDigits: value < 1 ? 3 : 1 });
  const range = (format, low, high) => (format(low) === format(high) ? format(low) : format(low) + '\\u2013' + format(high));
  const sumOf = {
    gpus: (total) => range(count, total[0], total[1]),
    hourly: (total) => range(dollars(2), total[2], total[3]),
    idle: (total) => dollars(2)(total[4]),
    monthly: (total) => range(dollars(0), total[5], total[6]),
  };
  function filter(text) {
    state.filter = text;
    const words = text.toLowerCase().split(/\\s+/).filter(Boolean);
    const shown = rows.filter((one) => {
      one.row.hidden = !words.every((word) => one.text.includes(word));
      return !one.row.hidden;
    });
    const all = shown.length === rows.length;
    const total = shown.reduce((sum, { amounts }) => sum.map((value, index) => value + amounts[index]), [0, 0, 0, 0, 0, 0, 0]);
    sums.forEach((cell, index) => {
      const sum = sumOf[heads[index].dataset.sum];
      cell.textContent = all || (sum === undefined && index > 0) ? complete[index] : (sum?.(total) ?? 'Total shown');
    });
    output.textContent = all ? '' : shown.length + ' of ' + rows.length;
  }

  function keep() {
    host?.setState({ ...state, top: scrollY });
  }
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      sort(column, state.column === column ? !state.down : 'number' in head.dataset);
      keep();
    });
  });
  input.addEventListener('input', () => {
    filter(input.value);
    keep();
  });
  one('.filter').hidden = false;
  sort(state.column, state.down);
  input.value = state.filter;
  filter(state.filter);
  if (host === undefined) return;

  one('.actions').hidden = false;
  for (const fix of document.querySelectorAll('[data-fix]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...fix.childNodes, '\\u2026');
    fix.append(button);
  }
  scrollTo(0, state.top ?? 0);
  addEventListener('scroll', keep);
  addEventListener('click', (event) => {
    const from = event.target.closest('[data-place],[data-action],[data-fix] button');
    if (from === null) return;
    // The editor would open the address of a link.
    event.preventDefault();
    event.stopImmediatePropagation();
    const { place, action } = from.dataset;
    if (action !== undefined) host.postMessage({ action });
    else if (place !== undefined) host.postMessage({ place: Number(place) });
    else host.postMessage({ fix: Number(from.parentElement.dataset.fix) });
  }, true);
})();
`;
