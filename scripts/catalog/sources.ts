export type Row = Readonly<Record<string, string>>;

/** repository@commit -> date, gathered from every text that gives a commit together with its date. */
export type CommitDates = ReadonlyMap<string, string>;

const day = /\b20\d\d-\d\d-\d\d\b/g;
const commit = /[\w.-]+\/[\w.-]+@[0-9a-f]{7,40}/g;
const datedCommit = /([\w.-]+\/[\w.-]+@[0-9a-f]{7,40})[^;"()\n]*\((?:generated )?(20\d\d-\d\d-\d\d)[^)\n]*\)/g;

/** The facts name a commit's date in one place and leave it out in others: one place is enough. The newest is the commit's, older ones are its data's. */
export function commitDates(texts: readonly string[]): CommitDates {
  const dates = new Map<string, string>();
  for (const [, name, date] of texts.flatMap((text) => [...text.matchAll(datedCommit)])) {
    if (name !== undefined && date !== undefined && date > (dates.get(name) ?? '')) dates.set(name, date);
  }
  return dates;
}

/** The oldest date among a source's parts, each dated by itself or else by its commit: no part of the record is older. */
export function dateOf(source: string, dates: CommitDates): string | null {
  const found = source.split(/ ?; /).flatMap((part) => {
    const own = [...part.matchAll(day)].map(([date]) => date);
    return own.length > 0 ? own : [...part.matchAll(commit)].flatMap(([name]) => dates.get(name) ?? []);
  });
  return found.sort()[0] ?? null;
}

/**
 * Source texts, kept once. Texts are lists joined by '; ' that share their parts, so the parts are stored and a record
 * names them by their places.
 */
export class SourceTable {
  private readonly parts = new Map<string, number>();

  refer(source: string): readonly number[] {
    return clean(source)
      .split(/ ?; /)
      .map((part) => {
        const place = this.parts.get(part) ?? this.parts.size;
        this.parts.set(part, place);
        return place;
      });
  }

  toJSON(): readonly string[] {
    return [...this.parts.keys()];
  }
}

/** How the gatherer came to see a text is no part of the source. Twelve digits name a commit as well as forty. */
export function clean(source: string): string {
  const text = source.replace(/ \((?:passage )?seen[^)]*\)/g, '').replace(/(@[0-9a-f]{12})[0-9a-f]{28}\b/g, '$1');
  return text.trim() || 'unsourced';
}

export function number(text: string | undefined): number | null {
  return text === undefined || text === '' ? null : Number(text);
}

export function byText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
