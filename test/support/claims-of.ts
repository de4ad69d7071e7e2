import { defaultConfig } from '../../server/src/config.ts';
import { type CrossReferences, noCrossReferences } from '../../server/src/model/cross-references.ts';
import { noRelatedFiles } from '../../server/src/model/related-files.ts';
import { lookupsOf } from '../../server/src/workspace/lookups.ts';
import { joinSummaries, summarizeDocument } from '../../server/src/workspace/summary.ts';
import { Workspace } from '../../server/src/workspace/workspace.ts';
import type { YamlDocument } from '../../server/src/yaml/node.ts';

const uri = 'file:///claims.yaml';

/** What the documents of a file say of claims, and nothing else. */
export function claimsOf(documents: readonly YamlDocument[]): CrossReferences {
  const workspace = new Workspace();
  const parts = documents.map((document) => ({
    base: 0,
    summary: summarizeDocument(document.text, () => document, defaultConfig),
  }));
  workspace.set(uri, joinSummaries(parts), 'open');
  const context = { config: defaultConfig, relatedFiles: noRelatedFiles };
  const { crossReferences } = lookupsOf(workspace, uri, () => context);
  return {
    ...noCrossReferences,
    claim: (...asked) => crossReferences.claim(...asked),
    claimUsers: (...asked) => crossReferences.claimUsers(...asked),
  };
}
