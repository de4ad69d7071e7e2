// @ts-check
// The tables of a catalog file, column by column: the keys of records are written once, and so is a value that repeats the one above it. That
// is more than half of such a table. The bundles have the second half of this file.

/** Stands in a column where the record has no such key. */
const absent = '~';
/** Stands in a column for the value above. */
const asAbove = '^';

/** @typedef {Record<string, any>} Data the content of a file */
/** @typedef {{ data: Data, tables: string[], lists: string[] }} Columns with the names of what is in columns */

/** @param {Data} data @returns {Columns} */
export function inColumns(data) {
  const tables = Object.keys(data).filter((name) => isTable(data[name]));
  const lists = Object.keys(data).filter((name) => isListOfTuples(data[name]));
  const changed = { ...data };
  for (const name of tables) changed[name] = toColumns(data[name]);
  for (const name of lists) changed[name] = transposed(data[name]).map((column) => column.map(shortened));
  return { data: changed, tables, lists };
}

/** @param {unknown} value @returns {value is readonly Record<string, unknown>[]} */
function isTable(value) {
  return Array.isArray(value) && value.length > 0 && value.every((one) => one?.constructor === Object);
}

/** @param {unknown} value @returns {value is readonly (readonly unknown[])[]} */
function isListOfTuples(value) {
  return (
    Array.isArray(value) &&
    value.length > 1 &&
    value.every((one) => Array.isArray(one) && one.length === value[0].length)
  );
}

/** @param {readonly (readonly unknown[])[]} rows */
function transposed(rows) {
  return (rows[0] ?? []).map((_, index) => rows.map((row) => row[index]));
}

/**
 * The keys of all records, and then the values of each key: a column, or where all are records in turn, such a table in braces.
 * @param {readonly Record<string, unknown>[]} records
 * @returns {unknown[]}
 */
function toColumns(records) {
  const keys = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const columns = keys.map((key) => records.map((record) => (key in record ? record[key] : absent)));
  return [keys, ...columns.map((column) => (isTable(column) ? { of: toColumns(column) } : column.map(shortened)))];
}

/** @param {unknown} value @param {number} index @param {readonly unknown[]} column */
function shortened(value, index, column) {
  if (value === asAbove) throw new Error(`a record has the value ${asAbove}`);
  return index > 0 && JSON.stringify(value) === JSON.stringify(column[index - 1]) ? asAbove : value;
}

/** The data again. @param {Columns} columns @returns {Data} */
export function fromColumns({ data, tables, lists }) {
  for (const name of tables) data[name] = toRecords(data[name]);
  for (const name of lists) data[name] = transposed(data[name].map(filled));
  return data;
}

/** @param {any[]} table @returns {Record<string, unknown>[]} */
function toRecords([keys, ...columns]) {
  const values = columns.map((column) => (column.of ? toRecords(column.of) : filled(column)));
  return transposed(values).map((row) =>
    Object.fromEntries(
      row.map((value, at) => /** @type {const} */ ([keys[at], value])).filter(([, value]) => value !== absent),
    ),
  );
}

/** @param {readonly unknown[]} column */
function filled(column) {
  /** @type {unknown} */
  let above;
  return column.map((value) => {
    if (value !== asAbove) above = value;
    return above;
  });
}
