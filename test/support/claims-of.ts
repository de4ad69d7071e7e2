import { defaultConfig } from '../../server/src/config.ts';
import { type CrossReferences, noCrossReferences } from '../../server/src/model/cross-references.ts';
import { noRelatedFiles } from '../../server/src/model/related-files.ts';
import { lookupsOf } from '../../server/src/workspace/lookups.ts';
import { joinSummaries, summariseDocument } from '../../server/src/workspace/summary.ts';
import { Workspace } from '../../server/src/workspace/workspace.ts';
import type { YamlDocument } from '../../server/src/yaml/node.ts';

const uri = 'file:///claims.yaml';

/** What the documents of a file say of claims, and nothing else. */
export function claimsOf(documents: readonly YamlDocument[]): CrossReferences {
  const workspace = new Workspace();
  const parts = documents.map((document) => ({
    base: 0,
    summary: summariseDocument(document.text, () => document, defaultConfig),
  }));
  workspace.set(uri, joinSummaries(parts), 'open');
  const context = { config: defaultConfig, relatedFiles: noRelatedFiles };
  const { claim, claimUsers } = lookupsOf(workspace, uri, () => context).crossReferences;
  return { ...noCrossReferences, claim, claimUsers };
}
