import type { ProjectConfig } from '../config.ts';
import { type CrossReferences, type Landing, withAnswers } from '../model/cross-references.ts';
import type { BuiltObject } from '../model/kustomize/built-object.ts';
import { once } from '../model/once.ts';
import { noRelatedFiles } from '../model/related-files.ts';
import { poolKinds } from '../workspace/landing.ts';
import { lookupsOf } from '../workspace/lookups.ts';
import { joinSummaries, summarizeDocument } from '../workspace/summary.ts';
import { Workspace } from '../workspace/workspace.ts';
import { parseDocument } from '../yaml/parse.ts';

/** The pods of a kustomization land on its own pools, with all its patches. Everything else is as in the workspace. */
export function amongPools(
  built: readonly BuiltObject[],
  config: ProjectConfig,
  uri: string,
  outside: CrossReferences,
): CrossReferences {
  const pools = poolsIn(built);
  if (pools.length === 0) return outside;
  const context = { config, relatedFiles: noRelatedFiles };
  const { crossReferences: inside } = lookupsOf(workspaceOf(pools)(config), uri, () => context);
  return withAnswers(outside, {
    knowsPools: () => true,
    landingOf: (...asked) => written(inside.landingOf(...asked), pools) ?? outside.landingOf(...asked),
    poolsFor: (...asked) => written(inside.poolsFor(...asked), pools) ?? outside.poolsFor(...asked),
  });
}

/** The landing with the file in which its first pool is written. */
function written(landing: Landing | undefined, pools: readonly BuiltObject[]): Landing | undefined {
  if (landing === undefined) return undefined;
  const { first } = landing;
  const file = pools.find(({ kind, names }) => kind === first.kind && names[0] === first.name)?.file ?? null;
  return { ...landing, first: { ...first, file } };
}

const kinds: ReadonlySet<string> = new Set(poolKinds);

const poolsIn = once((built: readonly BuiltObject[]) => built.filter(({ kind }) => kinds.has(kind)));

const workspaceOf = once((pools: readonly BuiltObject[]) =>
  once((config: ProjectConfig) => {
    const workspace = new Workspace();
    const parts = pools.map(({ root, kind }, index) => {
      // Its kind is all that is read of a text.
      const text = `kind: ${kind}\n`;
      const document = { ...parseDocument(text, 0), root };
      return { base: index, summary: summarizeDocument(text, () => document, config) };
    });
    workspace.set('file:///kustomization.yaml', joinSummaries(parts), 'disk');
    return workspace;
  }),
);
