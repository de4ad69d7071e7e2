import { Analysis, type FileAnalysis } from '../../server/src/analysis.ts';
import { defaultConfig } from '../../server/src/config.ts';
import { createRelatedFiles, type RelatedFilesSource } from '../../server/src/workspace/find-related-files.ts';
import { summarizeText } from '../../server/src/workspace/summary.ts';

/** The files of a folder by their paths. Each is analyzed on its own, as if the others were on disk. */
export function kustomizeProject(texts: Readonly<Record<string, string>>) {
  const files = new Map(Object.entries(texts).map(([path, text]) => [`file:///w/${path}`, text]));
  const source = createRelatedFiles({ read: async (uri) => files.get(uri), reaches: () => true });
  const analysis = new Analysis({ strict: true });
  for (const [uri, text] of files) analysis.workspace.set(uri, summarizeText(text, defaultConfig), 'disk');
  return { source, analysis, fileAt: (path: string) => fileAt(`file:///w/${path}`, files, source, analysis) };
}

async function fileAt(
  uri: string,
  files: ReadonlyMap<string, string>,
  source: RelatedFilesSource,
  analysis: Analysis,
): Promise<FileAnalysis> {
  return analysis.peek(uri, files.get(uri) ?? '', defaultConfig, await source.of(uri));
}
