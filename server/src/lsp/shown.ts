import type { FileAnalysis } from '../analysis.ts';

/** The analyses that the client may currently show. */
export interface Shown {
  add(file: FileAnalysis): void;
  /** Whether a lookup of one of them has a new result. */
  isOutdated(): boolean;
  forget(uri: string): void;
  /** Removes outdated analyses. The client is about to request everything that it shows again. */
  dropOutdated(): void;
}

export function watchShown(): Shown {
  const files = new Map<string, Set<FileAnalysis>>();
  return {
    add(file) {
      const before = files.get(file.uri);
      const [one] = before ?? [];
      // After a change of a document's text, the client requests everything for it by itself.
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
