import process from 'node:process';
import type { FetchedPrice } from '../../catalog/index.ts';
import { plural } from '../../cost/money.ts';
import type { SourceId } from '../../price-sources/price-source.ts';
import type { RefreshStep } from '../../price-sources/refresh.ts';
import { printable, warn } from '../terminal.ts';

/** Shows how far a refresh is. */
export interface PrintProgress {
  readonly step: (step: RefreshStep) => void;
  readonly result: (source: SourceId, prices: readonly FetchedPrice[], problems: readonly string[]) => void;
  /** @param sentence how it ended */
  readonly end: (sentence: string) => void;
}

/** One JSON document per line on standard output: `PriceProgress` of the extension (client/src/prices.ts). */
export const printLines: PrintProgress = {
  step: (step) => line({ kind: 'step', text: stepWords(step) }),
  result: (source, prices, problems) => line({ kind: 'result', text: resultWords(source, prices), problems }),
  end: (text) => line({ kind: 'end', text }),
};

function line(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** One line that is written over, at most ten times a second. */
export function printOnTerminal(): PrintProgress {
  let last = 0;
  const clear = () => process.stderr.write('\r\u001b[K');
  return {
    step(step) {
      const now = Date.now();
      if (now - last < 100) return;
      last = now;
      clear();
      process.stderr.write(printable(stepWords(step)).slice(0, (process.stderr.columns ?? 80) - 1));
    },
    result(source, prices, problems) {
      clear();
      printResult(source, prices, problems);
    },
    end: warn,
  };
}

/** One line per file, for logs. */
export function printPlain(): PrintProgress {
  let shown = '';
  return {
    step(step) {
      if (step.url === shown) return;
      shown = step.url;
      process.stderr.write(`${printable(step.url)}\n`);
    },
    result: printResult,
    end: warn,
  };
}

function printResult(source: SourceId, prices: readonly FetchedPrice[], problems: readonly string[]): void {
  process.stdout.write(`${printable(resultWords(source, prices))}\n`);
  for (const problem of problems) warn(problem);
}

const sourceNames: Readonly<Record<SourceId, string>> = {
  aws: 'AWS price list',
  azure: 'Azure Retail Prices',
  gcp: 'Google Cloud Billing Catalog',
  skypilot: "SkyPilot's catalog",
};

/** `AWS price list: file 3, 120 of 310 MB`. */
function stepWords({ source, files, received, total }: RefreshStep): string {
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
  const size =
    received === 0
      ? ''
      : total === undefined
        ? `, ${megabytes(received)} MB`
        : `, ${megabytes(received)} of ${megabytes(total)} MB`;
  return `${sourceNames[source]}: file ${files}${size}`;
}

/** `Azure Retail Prices: 1,204 prices in 52 regions`. */
function resultWords(source: SourceId, prices: readonly FetchedPrice[]): string {
  const regions = new Set(prices.map(({ provider, region }) => `${provider} ${region}`)).size;
  return `${sourceNames[source]}: ${plural(prices.length, 'price')} in ${plural(regions, 'region')}`;
}
