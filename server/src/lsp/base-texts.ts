import type { FileAnalysis } from '../analysis.ts';
import { normalizeUri } from '../config/places.ts';
import { type BaseCosts, baseCosts, changeWords } from '../features/cost/base-changes.ts';
import type { BaseTextParams, BaseTextResult } from './cost-protocol.ts';
import { guarded, inTime } from './guard.ts';
import { methods } from './protocol.ts';
import type { Session } from './session.ts';

/** Compares the costs of open files with those in the last commit, which only the client can read. */
export interface BaseTexts {
  /** How the price of each changed workload changed, by the start of its object. Empty where the client knows no earlier text. */
  changesOf(file: FileAnalysis): Promise<ReadonlyMap<number, string>>;
  /** The last commit is another one. */
  changed(): void;
  closed(uri: string): void;
}

interface Base {
  readonly text: string;
  costs: BaseCosts | undefined;
}

/** Time in milliseconds that lenses wait for the client, whose git may hang. */
const timeoutMs = 1000;

/** @param onLate called when a text arrives after the lenses were shown without it */
export function createBaseTexts(session: Session, onLate: () => void): BaseTexts {
  const { connection, log } = session;
  const bases = new Map<string, Promise<Base | undefined>>();
  /** Texts that did not arrive in time. Only the first lenses wait for them. */
  const late = new WeakSet<Promise<Base | undefined>>();

  async function read(uri: string): Promise<Base | undefined> {
    let text: string | null = null;
    await guarded(log, methods.baseText, async () => {
      const params: BaseTextParams = { uri };
      text = await connection.sendRequest<BaseTextResult>(methods.baseText, params);
    });
    return text === null ? undefined : { text, costs: undefined };
  }

  function readInTime(reading: Promise<Base | undefined>): Promise<Base | undefined> {
    if (late.has(reading)) return Promise.resolve(undefined);
    return inTime(reading, timeoutMs, () => {
      late.add(reading);
      void reading.then((base) => {
        late.delete(reading);
        if (base !== undefined) onLate();
      });
      return undefined;
    });
  }

  return {
    async changesOf(file) {
      if (!session.client.baseTexts || !file.hasAccelerators) return new Map();
      const key = normalizeUri(file.uri);
      const reading = bases.get(key) ?? read(file.uri);
      bases.set(key, reading);
      const base = await readInTime(reading);
      if (base === undefined || base.text === file.text) return new Map();
      if (base.costs?.isCurrent() !== true) base.costs = baseCosts(file, base.text);
      return changeWords(file, base.costs.rows, 'HEAD');
    },
    changed: () => bases.clear(),
    closed: (uri) => void bases.delete(normalizeUri(uri)),
  };
}
