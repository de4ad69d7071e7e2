import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { maxFiles } from '../model/kustomize/build.ts';
import { createRelatedFiles, type FileReader, type RelatedFilesSource } from '../workspace/find-related-files.ts';
import { manifestTextIn } from '../workspace/terraform-releases.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { contentOfFound } from './file-content.ts';
import { isFolder, type Reach } from './reach.ts';
import { displayPath } from './source-path.ts';
import { warn } from './terminal.ts';

/** Files of a folder have mostly the same related files, up to all of a kustomization. Each kept text needs memory. */
const maxKept = maxFiles;

/** The related files of the files of a run. A related file that cannot be read is reported once and skipped. */
export function relatedFilesWithin(reach: Reach, workspace: Workspace): RelatedFilesSource {
  const reported = new Set<string>();
  const reader: FileReader = {
    async read(uri) {
      const file = pathOf(uri);
      if (file === undefined || !fs.existsSync(file) || isFolder(file)) return undefined;
      const content = contentOfFound(file, reach);
      if (content.kind === 'text') return manifestTextIn(workspace, uri, content.text);
      if (!reported.has(file)) warn(`${displayPath(file)} is not read: ${content.reason}; ${consequenceOf(uri)}`);
      reported.add(file);
      return undefined;
    },
    async list(uri, limit) {
      const folder = pathOf(uri);
      if (folder === undefined || !isFolder(folder)) return [];
      const entries = fs.readdirSync(folder, { withFileTypes: true, recursive: true }).filter((one) => one.isFile());
      return entries.slice(0, limit).map((one) => pathToFileURL(path.join(one.parentPath, one.name)).href);
    },
    reaches(uri) {
      const file = pathOf(uri);
      return file !== undefined && reach.covers(file);
    },
    notBuilt(uri, reason) {
      const file = pathOf(uri) ?? uri;
      if (!reported.has(file)) warn(`${displayPath(file)} is not built: ${reason}; its files are counted individually`);
      reported.add(file);
    },
  };
  return createRelatedFiles(reader, maxKept);
}

function consequenceOf(uri: string): string {
  return /\/(?:Chart|values)\.yaml$/.test(uri)
    ? 'the templates of its chart are checked without it'
    : 'objects that kustomize builds from it are not counted';
}

/** The path of a URI; undefined if it has none. */
function pathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
