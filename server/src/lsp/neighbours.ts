import { chartOf } from '../config/chart-places.ts';
import { type Beside, chartValues, nothingBeside } from '../model/beside.ts';
import type { Log } from './guard.ts';
import { guarded } from './guard.ts';
import { type Host, normalizeUri } from './projects.ts';

/** What other files say of the files of the editor. */
export interface Neighbours {
  /** The same object while none of the files that it was read from has changed. Never rejects. */
  besideOf(uri: string): Promise<Beside>;
  /** A file was edited, or has changed on the disk. */
  changed(uri: string): void;
}

interface OpenDocuments {
  all(): readonly { readonly uri: string; getText(): string }[];
}

/**
 * @param documents what the editor has open counts before the disk
 * @param onChange called when something has changed that was told before
 */
export function createNeighbours(host: Host, log: Log, documents: OpenDocuments, onChange: () => void): Neighbours {
  const charts = new Map<string, Promise<Beside>>();

  async function textOf(uri: string): Promise<string | undefined> {
    const wanted = normalizeUri(uri);
    let text = documents
      .all()
      .find((document) => normalizeUri(document.uri) === wanted)
      ?.getText();
    if (text !== undefined) return text;
    await guarded(log, `reading ${uri}`, async () => {
      text = await host.readFile(uri);
    });
    return text;
  }

  async function read(chart: string, values: string): Promise<Beside> {
    const [isChart, text] = await Promise.all([textOf(chart), textOf(values)]);
    const found = isChart === undefined || text === undefined ? undefined : chartValues('values.yaml', text);
    return found === undefined ? nothingBeside : { chart: found };
  }

  return {
    besideOf(uri) {
      const place = chartOf(uri);
      if (place === undefined) return Promise.resolve(nothingBeside);
      const key = normalizeUri(place.values);
      const known = charts.get(key) ?? read(place.chart, place.values);
      charts.set(key, known);
      return known;
    },
    changed(uri) {
      const values = uri.replace(/\/Chart\.yaml$/, '/values.yaml');
      if (charts.delete(normalizeUri(values))) onChange();
    },
  };
}
