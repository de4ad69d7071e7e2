import fs from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chartOf } from '../config/chart-places.ts';
import { chartValues, noRelatedFiles, type RelatedFiles } from '../model/related-files.ts';
import { contentOfFound } from './file-content.ts';
import type { Reach } from './reach.ts';
import { displayPath } from './source-path.ts';
import { warn } from './terminal.ts';

/** What other files say of a file; each chart's values are read once. A file that cannot be read says nothing, and is reported once. */
export function neighbours(reach: Reach): (file: string) => RelatedFiles {
  const charts = new Map<string, RelatedFiles>();
  return (file) => {
    const place = chartOf(pathToFileURL(file).href);
    if (place === undefined) return noRelatedFiles;
    const known = charts.get(place.values);
    if (known !== undefined) return known;
    const text = textOf(place.chart, reach) === undefined ? undefined : textOf(place.values, reach);
    const chart = text === undefined ? undefined : chartValues('values.yaml', text);
    const relatedFiles = chart === undefined ? noRelatedFiles : { chart };
    charts.set(place.values, relatedFiles);
    return relatedFiles;
  };
}

function textOf(uri: string, reach: Reach): string | undefined {
  const file = fileURLToPath(uri);
  if (!fs.existsSync(file)) return undefined;
  const content = contentOfFound(file, reach);
  if (content.kind === 'text') return content.text;
  warn(`${displayPath(file)} is not read: ${content.reason}; the templates of its chart are checked without it`);
  return undefined;
}
