/** Larger records are not tables of prices. */
const maxRecord = 1_000_000;

/**
 * The records of a CSV text (RFC 4180), each before its fields are separated, so that a caller can skip most of a large file at low cost.
 * @throws Error if a record is endless or the text ends within quotes
 */
export async function* csvRecords(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  // Up to where line ends and quotes were searched, so that no character is looked at again with each chunk.
  let searched = 0;
  let isQuoted = false;
  for await (const chunk of chunks) {
    rest += chunk;
    let start = 0;
    let quote = rest.indexOf('"', searched);
    for (let end = rest.indexOf('\n', searched); end !== -1; end = rest.indexOf('\n', searched)) {
      for (; quote !== -1 && quote < end; quote = rest.indexOf('"', quote + 1)) isQuoted = !isQuoted;
      searched = end + 1;
      if (isQuoted) continue;
      yield rest.slice(start, rest[end - 1] === '\r' ? end - 1 : end);
      start = searched;
    }
    for (; quote !== -1; quote = rest.indexOf('"', quote + 1)) isQuoted = !isQuoted;
    rest = rest.slice(start);
    searched = rest.length;
    if (rest.length > maxRecord) throw new Error('a line is longer than 1 MB');
  }
  if (isQuoted) throw new Error('it ends in the middle of a line');
  if (rest !== '') yield rest;
}

/** The fields of a record. */
export function csvFields(record: string): readonly string[] {
  const fields: string[] = [];
  let at = 0;
  while (at <= record.length) {
    if (record[at] === '"') {
      let field = '';
      let end = record.indexOf('"', at + 1);
      while (end !== -1 && record[end + 1] === '"') {
        field += record.slice(at + 1, end + 1);
        at = end + 1;
        end = record.indexOf('"', at + 1);
      }
      const close = end === -1 ? record.length : end;
      fields.push(field + record.slice(at + 1, close));
      at = close + 2;
    } else {
      const comma = record.indexOf(',', at);
      const end = comma === -1 ? record.length : comma;
      fields.push(record.slice(at, end));
      at = end + 1;
    }
  }
  return fields;
}

/** A reader of fields by the names of the header; a missing column is reported by `missing`. */
export function csvColumns(header: string): {
  readonly missing: (names: readonly string[]) => string | undefined;
  readonly row: (record: string) => (name: string) => string;
} {
  const places = new Map(csvFields(header).map((name, place) => [name, place]));
  return {
    missing: (names) => names.find((name) => !places.has(name)),
    row(record) {
      const fields = csvFields(record);
      return (name) => fields[places.get(name) ?? -1] ?? '';
    },
  };
}
