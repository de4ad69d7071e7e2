import type { FileAnalysis } from '../analysis.ts';

/** The analyses from which the client was given something: it may show each of them until it fetches all again. */
export interface Shown {
  add(file: FileAnalysis): void;
  /** Whether an answer that one of them rests on is another now. */
  isOutdated(): boolean;
  forget(uri: string): void;
  /** Forgets those that are outdated: the client is requested to fetch them again, and what it does not show it does not fetch. */
  dropOutdated(): void;
}

export function watchShown(): Shown {
  const files = new Map<string, Set<FileAnalysis>>();
  return {
    add(file) {
      const before = files.get(file.uri);
      const [one] = before ?? [];
      // After a change of its own text the client fetches everything of a document by itself.
      if (one?.version === file.version) before?.add(file);
      else files.set(file.uri, new Set([file]));
    },
    isOutdated: () => [...files.values()].some((all) => [...all].some((file) => !file.isCurrent())),
    forget: (uri) => void files.delete(uri),
    dropOutdated() {
      for (const [uri, all] of files) {
        for (const file of all) if (!file.isCurrent()) all.delete(file);
        if (all.size === 0) files.delete(uri);
      }
    },
  };
}
