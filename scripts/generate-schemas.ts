// Writes schemas/*.json from the zod schemas of the config and of the report.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as z from 'zod';
import { reportSchema } from '../server/src/cli/reports/report-schema.ts';
import { configSchema } from '../server/src/config.ts';

export const schemasFolder = fileURLToPath(new URL('../schemas', import.meta.url));

/** The text of each schema, by the name of its file. */
export function renderSchemas(): ReadonlyMap<string, string> {
  return new Map([
    ['config.schema.json', render('gpulint configuration', configSchema)],
    ['report.schema.json', render('gpulint report', reportSchema)],
  ]);
}

/** The input side: keys with a default may be left out, and a report may hold fields of a later version. */
function render(title: string, schema: z.ZodType): string {
  const { $schema, ...body } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
  return `${JSON.stringify({ $schema, title, ...body }, null, 2)}\n`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  mkdirSync(schemasFolder, { recursive: true });
  for (const [name, text] of renderSchemas()) writeFileSync(join(schemasFolder, name), text);
}
