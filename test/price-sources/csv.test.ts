import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvColumns, csvFields, csvRecords } from '../../server/src/price-sources/csv.ts';

async function* inChunks(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function recordsOf(text: string, size = text.length || 1): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const record of csvRecords(inChunks(text, size))) found.push(record);
  return found;
}

const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é') });
const rows = fc.array(fc.array(field, { minLength: 1, maxLength: 5 }), { maxLength: 6 });
const quoted = (row: readonly string[]) => row.map((one) => `"${one.replaceAll('"', '""')}"`).join(',');

describe('CSV', () => {
  it('gives back what was written, wherever the chunks end', async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom('\n', '\r\n'),
        async (table, size, end) => {
          const records = await recordsOf(table.map((row) => `${quoted(row)}${end}`).join(''), size);
          expect(records.map(csvFields)).toEqual(table);
        },
      ),
    );
  });

  it('reads plain fields, empty fields and a last line without an end', async () => {
    expect((await recordsOf('a,,"c, d"\n,\nlast,1')).map(csvFields)).toEqual([
      ['a', '', 'c, d'],
      ['', ''],
      ['last', '1'],
    ]);
  });

  it('reads anything to an end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom('a', '"', ',', '\n') }), async (text) => {
        const records = await recordsOf(text, 3).catch((error: Error) => [error.message]);
        for (const record of records) expect(csvFields(record).length).toBeGreaterThan(0);
      }),
    );
  });

  it('finds columns by name', () => {
    const { missing, row } = csvColumns('"SKU","Price"');
    expect([missing(['SKU']), missing(['SKU', 'Unit'])]).toEqual([undefined, 'Unit']);
    const cell = row('"a",1');
    expect([cell('Price'), cell('Unit'), cell('constructor')]).toEqual(['1', '', '']);
  });
});
