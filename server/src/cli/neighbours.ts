import fs from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chartOf } from '../config/chart-places.ts';
import { type Beside, chartValues, nothingBeside } from '../model/beside.ts';

/** What other files say of a file; each chart's values are read once. A file that cannot be read says nothing. */
export function neighbours(): (file: string) => Beside {
  const charts = new Map<string, Beside>();
  return (file) => {
    const place = chartOf(pathToFileURL(file).href);
    if (place === undefined) return nothingBeside;
    const known = charts.get(place.values);
    if (known !== undefined) return known;
    const text = textOf(place.chart) === undefined ? undefined : textOf(place.values);
    const chart = text === undefined ? undefined : chartValues('values.yaml', text);
    const beside = chart === undefined ? nothingBeside : { chart };
    charts.set(place.values, beside);
    return beside;
  };
}

function textOf(uri: string): string | undefined {
  try {
    return fs.readFileSync(fileURLToPath(uri), 'utf8').replace(/^\ufeff/, '');
  } catch {
    return undefined;
  }
}
