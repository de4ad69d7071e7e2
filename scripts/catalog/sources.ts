export type Row = Readonly<Record<string, string>>;

/** repository@commit -> date, from every text that gives a commit with its date. */
export type CommitDates = ReadonlyMap<string, string>;

const day = /\b20\d\d-\d\d-\d\d\b/g;
const commit = /[\w.-]+\/[\w.-]+@[0-9a-f]{7,40}/g;
const datedCommit = /([\w.-]+\/[\w.-]+@[0-9a-f]{7,40})[^;"()\n]*\((?:generated )?(20\d\d-\d\d-\d\d)[^)\n]*\)/g;

/** One dated mention of a commit is enough. The newest date is the commit's; older ones are those of its data. */
export function commitDates(texts: readonly string[]): CommitDates {
  const dates = new Map<string, string>();
  for (const [, name, date] of texts.flatMap((text) => [...text.matchAll(datedCommit)])) {
    if (name !== undefined && date !== undefined && date > (dates.get(name) ?? '')) dates.set(name, date);
  }
  return dates;
}

/** The oldest date among a source's parts, each dated by its own text or else by its commit: no part of the record is older. */
export function dateOf(source: string, dates: CommitDates): string | null {
  const found = source.split(/ ?; /).flatMap((part) => {
    const own = [...part.matchAll(day)].map(([date]) => date);
    return own.length > 0 ? own : [...part.matchAll(commit)].flatMap(([name]) => dates.get(name) ?? []);
  });
  return found.sort()[0] ?? null;
}

/**
 * Source texts, stored once. A text is a list joined by '; ', and texts share parts, so the parts are stored and a record refers to them by
 * index.
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

/** Removes remarks on how a text was found, which are not part of the source, and shortens commits: 12 digits identify them. */
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
