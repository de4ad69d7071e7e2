/**
 * Converts a folder of gathered facts (gpus.json, mig_profiles.json, instances.csv, instances_more.csv, instance_notes.csv, prices.csv, price_row_counts.csv,
 * aws_spot_savings.csv, cloud_conventions.json) into server/src/catalog/data/*.json. The output is deterministic.
 *
 *   npx tsx scripts/generate-catalog.ts <facts folder> [<output folder>]
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { withAzurePages } from './catalog/azure-sizes.ts';
import { gpuFile } from './catalog/gpus.ts';
import { instanceFile } from './catalog/instances.ts';
import { interruptionFile } from './catalog/interruptions.ts';
import { withLocalDisks } from './catalog/local-disks.ts';
import { migFile } from './catalog/mig.ts';
import { moreInstances } from './catalog/more-instances.ts';
import { morePrices } from './catalog/more-prices.ts';
import { platformFile } from './catalog/platforms.ts';
import { priceFile, withCounts, withNodeNames, withOnePrice, withoutReserved } from './catalog/prices.ts';
import { commitDates, type Row } from './catalog/sources.ts';

const inputs = [
  'gpus.json',
  'mig_profiles.json',
  'instances.csv',
  'instances_more.csv',
  'instance_notes.csv',
  'prices.csv',
  'price_row_counts.csv',
  'aws_spot_savings.csv',
  'cloud_conventions.json',
] as const;
type Input = (typeof inputs)[number];

const [folder, output = fileURLToPath(new URL('../server/src/catalog/data', import.meta.url))] = process.argv.slice(2);
if (folder === undefined) fail('Facts folder missing; run npm run generate:catalog -- <facts folder>');
const missing = inputs.filter((name) => !existsSync(join(folder, name)));
if (missing.length > 0) fail(`${folder} has no ${missing.join(', ')}; pass the folder with the gathered facts`);

const text = Object.fromEntries(inputs.map((name) => [name, readFileSync(join(folder, name), 'utf8')])) as Record<
  Input,
  string
>;
const dates = commitDates(Object.values(text));
const gpus = gpuFile(JSON.parse(text['gpus.json']), dates);
const counts = csv('price_row_counts.csv');
const notes = csv('instance_notes.csv');
const instances = withLocalDisks(
  withAzurePages(withCounts([...csv('instances.csv'), ...csv('instances_more.csv'), ...moreInstances], counts, notes)),
);
const prices = withNodeNames(
  withoutReserved(withCounts([...csv('prices.csv'), ...morePrices], counts, notes), notes),
  notes,
);

mkdirSync(output, { recursive: true });
write('gpus', gpus.file);
write('mig', migFile(JSON.parse(text['mig_profiles.json']), dates));
write('instances', instanceFile(instances, prices, gpus.idByName, dates));
write('prices', priceFile(withOnePrice(prices), gpus.idByName));
write('interruptions', interruptionFile(csv('aws_spot_savings.csv')));
write('platforms', platformFile(JSON.parse(text['cloud_conventions.json']), dates));

function csv(name: Input): readonly Row[] {
  return parse<Row>(text[name], { columns: true, skip_empty_lines: true, bom: true });
}

/** One record per line, so that a changed fact is a changed line. */
function write(name: string, file: Readonly<Record<string, unknown>>): void {
  const lines = Object.entries(file).map(([key, value]) => `${JSON.stringify(key)}:${section(value)}`);
  writeFileSync(join(output, `${name}.json`), `{\n${lines.join(',\n')}\n}\n`);
}

function section(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  return value.length === 0 ? '[]' : `[\n${value.map((record) => JSON.stringify(record)).join(',\n')}\n]`;
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}
