import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { allInstanceTypes, defaultRegion, regionsOf } from '../../catalog/index.ts';
import { type SourceId, sourceIds } from '../../price-sources/price-source.ts';
import type { RefreshStep } from '../../price-sources/refresh.ts';
import { readSheet, sheetPath, sheetProblem, today, writeSheet } from '../../price-sources/sheet-file.ts';
import { projectConfigs } from '../project-config.ts';
import { reachOf } from '../reach.ts';
import { warn } from '../terminal.ts';
import { systemReason, UsageError } from '../usage-error.ts';
import { printLines, printOnTerminal, printPlain } from './progress.ts';

export interface RefreshPricesOptions {
  readonly provider?: readonly SourceId[];
  readonly region?: readonly string[];
  /** Each step as a line of JSON, for a program that shows it. */
  readonly progress: 'text' | 'json';
}

/**
 * `gpulint prices refresh`: fetches prices from public sources. The sheet is replaced source by source, as a whole, so that a failure loses nothing.
 * @returns the exit status: 0, or 2 if a source could not be read
 * @throws UsageError if the sheet cannot be used
 */
export async function refreshPrices({ provider, region, progress }: RefreshPricesOptions): Promise<number> {
  const file = sheetPath(process.env);
  if (file === null) throw new UsageError('GPULINT_PRICES=none turns fetched prices off; unset it to refresh them');
  const before = readSheet(file);
  if (before.kind === 'unusable') warn(`${sheetProblem(before)}; replacing it`);
  const { refresh, merged } = await import('../../price-sources/refresh.ts');
  const print = progress === 'json' ? printLines : process.stderr.isTTY ? printOnTerminal() : printPlain();
  const stop = new AbortController();
  const cancel = () => stop.abort(new Error('canceled'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, cancel);
  const sources = provider ?? sourceIds.filter((id) => id !== 'gcp' || process.env.GPULINT_GCP_API_KEY);
  let stored = before.kind === 'sheet' ? before.stored : undefined;
  let status = 0;
  try {
    const results = refresh({
      sources,
      machines: allInstanceTypes(),
      regions: region ?? [],
      usualAwsRegions: await usualAwsRegions(),
      // Not SOURCE_DATE_EPOCH: the prices are those of the day on which they are read.
      today: today({}),
      gcpKey: process.env.GPULINT_GCP_API_KEY,
      mirror: process.env.GPULINT_PRICES_MIRROR,
      folder: path.join(path.dirname(file), 'refresh'),
      signal: stop.signal,
      progress: (step: RefreshStep) => print.step(step),
    });
    for await (const { source, prices, problems } of results) {
      if (prices.length > 0) {
        stored = merged(stored, prices, new Date().toISOString());
        save(() => writeSheet(file, stored ?? { updated: '', prices }), file);
      }
      print.result(source, prices, problems);
      if (problems.length > 0) status = 2;
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error instanceof UsageError ? error : new UsageError(systemReason(error));
    print.end(
      `canceled; finished downloads are kept for a day: run the command again to continue. ${keptWords(before.kind)}`,
    );
    return 2;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, cancel);
  }
  print.end(status === 0 ? `the prices are in ${file}` : `some sources could not be read. ${keptWords(before.kind)}`);
  return status;
}

function keptWords(before: string): string {
  return before === 'sheet' ? 'The previous prices stay in use.' : 'The catalog prices stay in use.';
}

/** @returns whether there was one */
export function removeFile(file: string): boolean {
  const exists = fs.existsSync(file);
  save(() => {
    fs.rmSync(file, { force: true });
    fs.rmSync(path.join(path.dirname(file), 'refresh'), { force: true, recursive: true });
  }, file);
  return exists;
}

function save(write: () => void, file: string): void {
  try {
    write();
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${systemReason(error)}; set GPULINT_PRICES to use another file`);
  }
}

/** The region of the project in the current folder, and the one whose prices apply by default. */
async function usualAwsRegions(): Promise<readonly string[]> {
  const usual = defaultRegion('aws');
  const config = await projectConfigs(reachOf(['.']), undefined)
    .of('.')
    .catch(() => undefined);
  const { provider, region } = config ?? { provider: null, region: null };
  const isAws = region !== null && (provider === null || provider === 'aws') && regionsOf('aws').includes(region);
  return isAws ? [...new Set([region, usual])] : [usual];
}
