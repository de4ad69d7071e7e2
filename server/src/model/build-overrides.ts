import { asBoolean, asText, type Cursor, entries, getIn, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { tableOf } from '../yaml/table.ts';
import { listedApplications } from './application-sets.ts';
import { groupOf, lowerManifests } from './manifest.ts';
import type { Manifest } from './workload.ts';

/** What an object of Argo CD or Flux changes in a kustomization of the project that it installs. */
export interface BuildOverride {
  /** The folder of the kustomization, as written: below a folder above the file that is the root of a repository. */
  readonly path: string;
  /** The changes, as a kustomization without resources. */
  readonly changes: { readonly replicas: readonly unknown[]; readonly patches: readonly unknown[] };
  /** What Flux puts in place of variables in all that it builds. */
  readonly variables?: BuildVariables;
  readonly namespace: string | null;
  /** Where the workloads are shown. */
  readonly at: YamlNode;
}

/** Variables by name. */
export interface BuildVariables {
  readonly known: readonly (readonly [name: string, value: string])[];
  /** The ConfigMaps that have others, the first ones of which are replaced by the next. Those that may be missing are `optional`. */
  readonly maps: readonly { readonly name: string; readonly optional: boolean }[];
  /** There are none but these: others have their defaults. */
  readonly isComplete: boolean;
  /** The namespace of the ConfigMaps. */
  readonly namespace: string | null;
}

/** Identifies an override with what it builds, wherever it is in its file. */
export function overrideKey({ path, changes, variables }: BuildOverride): string {
  return JSON.stringify([path, changes, variables]);
}

/** The overrides in a document that change pods or their number, if all of them are known. */
export function buildOverrides(document: YamlDocument): readonly BuildOverride[] {
  if (document.root === null || !marks.test(document.text)) return [];
  return lowerManifests(document).flatMap((manifest): readonly BuildOverride[] => {
    const { root, apiVersion, kind } = manifest;
    const at = root.node;
    switch (`${groupOf(apiVersion)}/${kind}`) {
      case 'argoproj.io/Application':
        return ofArgo(root, at);
      case 'argoproj.io/ApplicationSet':
        return listedApplications(manifest, document).flatMap((made) => ofArgo(made, at));
      case 'kustomize.toolkit.fluxcd.io/Kustomization':
        return ofFlux(manifest, at);
      default:
        return [];
    }
  });
}

const marks = /\bkustomize\b/;

/** The folders that objects of Argo CD and Flux in a document install as they are, as written. */
export function unchangedBuilds(document: YamlDocument): readonly string[] {
  if (document.root === null || !installers.test(document.text)) return [];
  return lowerManifests(document).flatMap((manifest): readonly string[] => {
    const spec = getIn(manifest.root, 'spec');
    const type = `${groupOf(manifest.apiVersion)}/${manifest.kind}`;
    const isFlux = type === 'kustomize.toolkit.fluxcd.io/Kustomization';
    if (!isFlux && type !== 'argoproj.io/Application') return [];
    const sources = isFlux ? [spec] : [getIn(spec, 'source') ?? [], ...items(getIn(spec, 'sources'))].flat();
    return sources.flatMap((source) => {
      const block = isFlux ? source : getIn(source, 'kustomize');
      const isChanged = ['replicas', 'patches', 'components', 'postBuild'].some(
        (key) => getIn(block, key) !== undefined,
      );
      return isChanged ? [] : (plainText(getIn(source, 'path')) ?? []);
    });
  });
}

const installers = /\bkind:[ \t]*["']?(?:Application|Kustomization)\b/;

/** https://argo-cd.readthedocs.io/en/stable/user-guide/kustomize/ */
function ofArgo(root: Cursor, at: YamlNode): readonly BuildOverride[] {
  const spec = getIn(root, 'spec');
  const namespace = plainText(getIn(spec, 'destination', 'namespace')) ?? null;
  const sources = [getIn(spec, 'source') ?? [], ...items(getIn(spec, 'sources'))].flat();
  return sources.flatMap((source) =>
    override(plainText(getIn(source, 'path')), getIn(source, 'kustomize'), namespace, at),
  );
}

/** https://fluxcd.io/flux/components/kustomize/kustomizations/ */
function ofFlux({ root, namespace }: Manifest, at: YamlNode): readonly BuildOverride[] {
  const spec = getIn(root, 'spec');
  const after = getIn(spec, 'postBuild');
  const known = entries(getIn(after, 'substitute')).flatMap((entry) => {
    const value = plainText(entry);
    return value === undefined ? [] : [[keyOf(entry), value] as const];
  });
  const sources = items(getIn(after, 'substituteFrom'));
  const maps = sources.flatMap((source) => {
    const name = asText(getIn(source, 'kind')) === 'ConfigMap' ? plainText(getIn(source, 'name')) : undefined;
    return name === undefined ? [] : [{ name, optional: asBoolean(getIn(source, 'optional')) === true }];
  });
  const isComplete = maps.length === sources.length;
  const variables = known.length + maps.length === 0 ? undefined : { known, maps, isComplete, namespace };
  const path = plainText(getIn(spec, 'path'));
  return override(path, spec, plainText(getIn(spec, 'targetNamespace')) ?? null, at, variables);
}

function override(
  path: string | undefined,
  block: Cursor | undefined,
  namespace: string | null,
  at: YamlNode,
  variables?: BuildVariables,
): readonly BuildOverride[] {
  const [replicas, patches, components] = ['replicas', 'patches', 'components'].map((key) => items(getIn(block, key)));
  if (path === undefined || components?.length !== 0 || replicas === undefined || patches === undefined) return [];
  if (replicas.length + patches.length === 0 && variables === undefined) return [];
  const counts = replicas.map((one) => {
    const [name, count] = ['name', 'count'].map((key) => plainText(getIn(one, key)));
    return name === undefined || !/^\d{1,9}$/.test(count ?? '') ? undefined : { name, count: Number(count) };
  });
  const inline = patches.map((one) => {
    const patch = plainText(getIn(one, 'patch'));
    const target = getIn(one, 'target');
    const keys = ['group', 'kind', 'name', 'labelSelector', 'annotationSelector'];
    const named = keys.flatMap((key) => {
      const text = plainText(getIn(target, key));
      return text === undefined ? [] : [[key, text] as const];
    });
    return patch === undefined ? undefined : { patch, ...(target && { target: tableOf(named) }) };
  });
  // A part of the changes would be another state.
  if ([...counts, ...inline].includes(undefined)) return [];
  return [{ path, changes: { replicas: counts, patches: inline }, ...(variables && { variables }), namespace, at }];
}

function plainText(cursor: Cursor | undefined): string | undefined {
  return isTemplated(cursor) ? undefined : asText(cursor);
}
