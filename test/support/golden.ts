import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

/**
 * One test per fixture: `render` turns `<name>.yaml` into text, which must equal `<name>.txt` in the same folder. UPDATE=1 writes the
 * answers; read the diff before you commit it.
 */
export function goldenTests(folder: string, render: (text: string, name: string) => string): void {
  const names = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  if (names.length === 0) throw new Error(`no fixtures in ${folder}`);
  for (const name of names) {
    test(name, () => {
      const actual = render(readFileSync(path.join(folder, name), 'utf8'), name);
      const answer = path.join(folder, name.replace(/\.yaml$/, '.txt'));
      if (process.env.UPDATE === '1') writeFileSync(answer, actual);
      expect(actual).toBe(readFileSync(answer, 'utf8'));
    });
  }
}
