import type { ProjectConfig } from '../config.ts';
import { type ChartValues, filledObjects, filledTemplates } from '../model/chart-templates.ts';
import { type CrossReferences, type Landing, withAnswers } from '../model/cross-references.ts';
import type { BuiltObject } from '../model/kustomize/built-object.ts';
import { placed } from '../model/kustomize/placed.ts';
import { lowerManifests } from '../model/manifest.ts';
import { once } from '../model/once.ts';
import type { RelatedFiles } from '../model/related-files.ts';
import { noRelatedFiles, readings } from '../model/related-files.ts';
import type { Manifest } from '../model/workload.ts';
import { poolKinds } from '../workspace/landing.ts';
import { lookupsOf } from '../workspace/lookups.ts';
import { joinSummaries, summarizeDocument } from '../workspace/summary.ts';
import { Workspace } from '../workspace/workspace.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { parseDocument } from '../yaml/parse.ts';

// Pools as related files complete them: of a kustomization with all its patches, of a chart with its values.

/** A pool that related files complete. */
interface RelatedPool {
  readonly kind: string;
  readonly name: string | undefined;
  readonly root: YamlNode;
  /** The name of the file in which it is written. */
  readonly file: string;
}

/** The pods of a kustomization, a chart or a release land on its own pools. Everything else is as in the workspace. */
export function amongPools(
  document: YamlDocument,
  related: RelatedFiles,
  config: ProjectConfig,
  uri: string,
  outside: CrossReferences,
): CrossReferences {
  const { built, chart } = related;
  const pools =
    built !== undefined
      ? poolsIn(built)
      : chart !== undefined
        ? poolsOfChart(chart)
        : poolsOfRelease(document, related);
  if (pools.length === 0) return outside;
  const context = { config, relatedFiles: noRelatedFiles };
  const { crossReferences: inside } = lookupsOf(workspaceOf(pools)(config), uri, () => context);
  return withAnswers(outside, {
    knowsPools: () => true,
    landingOf: (...asked) => written(inside.landingOf(...asked), pools) ?? outside.landingOf(...asked),
    poolsFor: (...asked) => written(inside.poolsFor(...asked), pools) ?? outside.poolsFor(...asked),
  });
}

/** The object that a kustomization patches, as it is written. */
export interface WrittenPool {
  readonly uri: string;
  readonly name: string | null;
}

/** An object that may describe pools. */
export interface PoolManifest {
  readonly manifest: Manifest;
  readonly replaces?: WrittenPool;
}

/** The objects of a document that may describe pools, as its related files complete them: those that a kustomization patches, a template with its values. */
export function poolManifests(
  document: YamlDocument,
  written: readonly Manifest[],
  related: RelatedFiles,
): readonly PoolManifest[] {
  const { built, chart } = related;
  const own = written.map((manifest) => ({ manifest }));
  const { root } = document;
  if (built !== undefined && root !== null && document.base === 0) {
    const patched = poolsIn(built).flatMap(({ root: made, patched, name = null, sources: [uri = ''] }) => {
      const shown = patched === true ? placed(made, root) : undefined;
      return lowered(document, shown).map((manifest) => ({ manifest, replaces: { uri, name } }));
    });
    return [...own, ...patched];
  }
  const released = chart === undefined ? poolsOfRelease(document, related) : [];
  if (released.length > 0)
    return released.flatMap(({ root: made, uri, written: name }) =>
      lowered(document, made).map((manifest) => ({ manifest, replaces: { uri, name } })),
    );
  if (chart === undefined || !written.some(({ kind }) => kinds.has(kind))) return own;
  const filled = filledTemplates(document, chart).flatMap((one) => lowerManifests(one));
  return filled.length === 0 ? own : filled.map((manifest) => ({ manifest }));
}

function lowered(document: YamlDocument, root: YamlNode | undefined): readonly Manifest[] {
  return root === undefined ? [] : lowerManifests({ ...document, root });
}

/** The landing with the file in which its first pool is written. */
function written(landing: Landing | undefined, pools: readonly RelatedPool[]): Landing | undefined {
  if (landing === undefined) return undefined;
  const { first } = landing;
  const file = pools.find(({ kind, name }) => kind === first.kind && name === first.name)?.file ?? null;
  return { ...landing, first: { ...first, file } };
}

const kinds: ReadonlySet<string> = new Set(poolKinds);

const poolsIn = once((built: readonly BuiltObject[]) =>
  built.flatMap((one) => (kinds.has(one.kind) ? { ...one, name: one.names[0] } : [])),
);

/** The pools that a chart's values do not turn off. */
const poolsOfChart = once((chart: ChartValues): readonly RelatedPool[] =>
  filledObjects(chart, mayHavePools).flatMap(({ document, file }) =>
    lowerManifests(document).flatMap(({ kind, name, root }) =>
      kinds.has(kind) ? { kind, name: name ?? undefined, root: root.node, file } : [],
    ),
  ),
);

/** The pools that one release of a chart makes, or one object that installs a kustomization. Several have their own, which their pods do not share. */
function poolsOfRelease(document: YamlDocument, related: RelatedFiles): readonly ReleasedPool[] {
  const { release, installs, overridden } = related;
  const charts = [...(release === undefined ? [] : [release]), ...(installs?.values() ?? [])];
  const builds = [...(overridden?.values() ?? [])];
  if (charts.length + builds.length !== 1 || document.base > 0) return [];
  const isPossible =
    charts.some(({ templates }) => templates.some(({ text }) => mayHavePools(text))) ||
    builds.some(({ objects }) => poolsIn(objects).length > 0);
  return isPossible ? (releasedPools(related)(document) ?? []) : [];
}

interface ReleasedPool extends RelatedPool {
  readonly uri: string;
  readonly written: string | null;
}

const releasedPools = once((related: RelatedFiles) =>
  once((document: YamlDocument): readonly ReleasedPool[] =>
    readings(document, related).flatMap(({ root, readWith, uri = '', identity }) =>
      lowered(document, root).flatMap((one) => {
        if (!kinds.has(one.kind)) return [];
        const written = one.name;
        const name = identity?.name ?? written ?? undefined;
        return { kind: one.kind, name, root: one.root.node, file: readWith, uri, written };
      }),
    ),
  ),
);

function mayHavePools(text: string): boolean {
  return [...kinds].some((kind) => text.includes(`kind: ${kind}`));
}

const workspaceOf = once((pools: readonly RelatedPool[]) =>
  once((config: ProjectConfig) => {
    const workspace = new Workspace();
    const parts = pools.map(({ root, kind }, index) => {
      // Its kind is all that is read of a text.
      const text = `kind: ${kind}\n`;
      const document = { ...parseDocument(text, 0), root: withPlainName(root) };
      return { base: index, summary: summarizeDocument(text, () => document, config) };
    });
    workspace.set('file:///kustomization.yaml', joinSummaries(parts), 'disk');
    return workspace;
  }),
);

/** Pods find a pool by its labels, even if a release decides its name. */
function withPlainName(root: YamlNode): YamlNode {
  return inEntry(root, 'metadata', (metadata) =>
    inEntry(metadata, 'name', (name) => (name.kind === 'scalar' ? { ...name, templated: false } : name)),
  );
}

function inEntry(node: YamlNode, key: string, change: (value: YamlNode) => YamlNode): YamlNode {
  if (node.kind !== 'map') return node;
  return {
    ...node,
    entries: node.entries.map((entry) => (entry.key === key ? { ...entry, value: change(entry.value) } : entry)),
  };
}
