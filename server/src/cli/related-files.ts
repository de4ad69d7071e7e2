import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createRelatedFiles, type RelatedFilesSource } from '../workspace/related-files.ts';
import { contentOfFound } from './file-content.ts';
import { isFolder, type Reach } from './reach.ts';
import { displayPath } from './source-path.ts';
import { warn } from './terminal.ts';

/** What other files say of the files of a run. A file that cannot be read says nothing, and is reported once. */
export function relatedFilesWithin(reach: Reach): RelatedFilesSource {
  const reported = new Set<string>();
  return createRelatedFiles({
    async read(uri) {
      const file = pathOf(uri);
      if (file === undefined || !fs.existsSync(file) || isFolder(file)) return undefined;
      const content = contentOfFound(file, reach);
      if (content.kind === 'text') return content.text;
      if (!reported.has(file)) warn(`${displayPath(file)} is not read: ${content.reason}; ${whatFollows(uri)}`);
      reported.add(file);
      return undefined;
    },
    reaches(uri) {
      const file = pathOf(uri);
      return file !== undefined && reach.covers(file);
    },
  });
}

function whatFollows(uri: string): string {
  return /\/(?:Chart|values)\.yaml$/.test(uri)
    ? 'the templates of its chart are checked without it'
    : 'what kustomize makes of it is not counted';
}

/** Some URIs are no paths. */
function pathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
