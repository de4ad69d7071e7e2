import { asBoolean, asText, type Cursor, getIn, isTemplated, items, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { checkLimits, parseDocument } from '../yaml/parse.ts';
import { listedApplications } from './application-sets.ts';
import { type Kustomization, kustomizationAt } from './kustomize/kustomization.ts';
import { groupOf, lowerManifests } from './manifest.ts';
import { valuesText } from './set-values.ts';
import { withArgoValues, withFleetValues, withFluxValues, withHelmfileValues } from './whole-installs.ts';
import type { Manifest } from './workload.ts';

/** A chart that an object or a helmfile installs, with values that may be in other folders. */
export interface ChartInstall {
  /** The folder of the chart in the project, as written; the name of a chart from elsewhere. */
  readonly chart: string;
  /** For a chart from elsewhere: the object as if it had all values in it. */
  readonly withValues?: (values: YamlNode) => YamlNode;
  /** What `chart` is relative to: the folder of the file, or a folder above it that is the root of a repository. */
  readonly from: 'file' | 'repository';
  /** In the order in which they are merged. */
  readonly layers: readonly InstallLayer[];
  readonly namespace: string | null;
  /** The name of the release, with which charts make the names of their objects. */
  readonly release: string | null;
  /** What kustomize changes in the objects of the chart, in this order. */
  readonly changes: readonly Kustomization[];
  /** Where the workloads are shown. */
  readonly at: YamlNode;
}

/** Values of an install. */
export type InstallLayer =
  | { readonly values: YamlNode }
  /** `optional`: a missing file is ignored. */
  | { readonly file: string; readonly from: 'file' | 'repository' | 'chart'; readonly optional: boolean }
  | MapLayer;

/** A key of a ConfigMap. */
export interface MapLayer {
  readonly configMap: string;
  readonly key: string;
  /** Where its text is one value, as in `--set`; unset if it is a file of values. */
  readonly path?: string;
}

/** Whether a text may install charts or kustomizations: a cheap test, because most files do not. */
export function mayInstallCharts(text: string): boolean {
  return words.some((word) => text.includes(word)) && marks.test(text);
}

/** An editor asks after each edit, and the pattern is slow on texts without these words. */
const words = ['HelmRelease', 'Application', 'Kustomization', 'releases:', 'helmCharts:', 'valuesFiles:'];

const marks =
  /^[ \t-]*["']?kind["']?:[ \t]*["']?(?:Application(?:Set)?|HelmRelease|Kustomization)\b|^(?:releases|helmCharts|helm):/m;

/** Identifies an install with what it reads, wherever it is in its file. */
export function installKey({ chart, from, layers, namespace, changes }: ChartInstall): string {
  const read = layers.filter((layer) => !('values' in layer));
  return JSON.stringify([
    chart,
    from,
    read,
    patchFiles(changes),
    read.some((layer) => 'configMap' in layer) ? namespace : null,
  ]);
}

/** The files of the patches of kustomizations, as written. */
export function patchFiles(changes: readonly Kustomization[]): readonly string[] {
  return changes.flatMap(({ patches }) => patches.flatMap(({ path }) => path ?? []));
}

/** The installs of a document whose values are all known or in a ConfigMap: none from a Secret, an environment or a template. */
export function chartInstalls(document: YamlDocument): readonly ChartInstall[] {
  const { root } = document;
  if (root === null || !mayInstallCharts(document.text)) return [];
  const ofObjects = lowerManifests(document).flatMap((manifest) => {
    const type = `${groupOf(manifest.apiVersion)}/${manifest.kind}`;
    if (type === 'argoproj.io/Application') return argoInstalls(manifest.root, manifest.root.node);
    if (type === 'argoproj.io/ApplicationSet')
      return listedApplications(manifest, document).flatMap((made) => argoInstalls(made, manifest.root.node));
    return type === 'helm.toolkit.fluxcd.io/HelmRelease' ? fluxInstalls(manifest) : [];
  });
  const whole = rootCursor(root);
  return [
    ...ofObjects,
    ...items(getIn(whole, 'releases')).flatMap(helmfileInstall),
    ...kustomizeInstalls(whole),
    ...fleetInstalls(whole),
  ];
}

/** Charts that kustomize inflates from a folder. https://kubectl.docs.kubernetes.io/references/kustomize/builtins/#_helmchartinflationgenerator_ */
function kustomizeInstalls(root: Cursor): readonly ChartInstall[] {
  const home = getIn(root, 'helmGlobals', 'chartHome');
  const folder = home === undefined ? 'charts' : plainText(home);
  const changes = [kustomizationAt(root)];
  return items(getIn(root, 'helmCharts')).flatMap((chart) => {
    const name = plainText(getIn(chart, 'name'));
    if (folder === undefined || name === undefined || getIn(chart, 'repo') !== undefined) return [];
    const own = getIn(chart, 'valuesFile');
    const files = [...(own === undefined ? [] : [own]), ...items(getIn(chart, 'additionalValuesFiles'))];
    const layers = files.map((one): InstallLayer | undefined => {
      const file = plainText(one);
      return file === undefined ? undefined : { file, from: 'file', optional: false };
    });
    const inline = getIn(chart, 'valuesInline')?.node;
    return install(`${folder}/${name}`, 'file', [...layers, ...(inline === undefined ? [] : [{ values: inline }])], {
      namespace: plainText(getIn(chart, 'namespace') ?? getIn(root, 'namespace')) ?? null,
      release: plainText(getIn(chart, 'releaseName')) ?? null,
      changes,
      at: chart.node,
    });
  });
}

/** https://argo-cd.readthedocs.io/en/stable/user-guide/helm/ */
function argoInstalls(root: Cursor, at: YamlNode): readonly ChartInstall[] {
  const spec = getIn(root, 'spec');
  const sources = [getIn(spec, 'source') ?? [], ...items(getIn(spec, 'sources'))].flat();
  const found = sources.flatMap((source) => {
    const path = getIn(source, 'path');
    const chart = plainText(path ?? getIn(source, 'chart'));
    const helm = getIn(source, 'helm');
    const optional = asBoolean(getIn(helm, 'ignoreMissingValueFiles')) ?? false;
    const files = items(getIn(helm, 'valueFiles')).map((one) => argoFile(argoPath(one), optional));
    const object = getIn(helm, 'valuesObject')?.node;
    const text = getIn(helm, 'values');
    const parameters = items(getIn(helm, 'parameters')).map(parameter);
    // valuesObject replaces values.
    const inline = object !== undefined ? [{ values: object }] : text === undefined ? [] : [valuesIn(plainText(text))];
    return install(chart, 'repository', [...files, ...inline, ...parameters], {
      namespace: plainText(getIn(spec, 'destination', 'namespace')) ?? null,
      release: plainText(getIn(helm, 'releaseName') ?? getIn(root, 'metadata', 'name')) ?? null,
      at,
      ...(path === undefined && { withValues: (values) => withArgoValues(root.node, source.node, values) }),
    });
  });
  return withOtherFiles(found);
}

/** `$ref/envs/prod.yaml` looks like a placeholder. */
function argoPath(cursor: Cursor): string | undefined {
  const path = asText(cursor);
  return path !== undefined && /^\$[\w-]+\/[^$]*$/.test(path) ? path : plainText(cursor);
}

/** Relative to the chart; from the root of the repository with a slash, or with the `ref` of a source. */
function argoFile(path: string | undefined, optional: boolean): InstallLayer | undefined {
  if (path === undefined || path.includes('://')) return undefined;
  const fromRoot = /^(?:\$[^/]+)?\/(.+)$/.exec(path)?.[1];
  return fromRoot === undefined
    ? { file: path, from: 'chart', optional }
    : { file: fromRoot, from: 'repository', optional };
}

/** `server.replicas` and its value, as `helm --set` reads them. */
function parameter(cursor: Cursor): InstallLayer | undefined {
  const name = plainText(getIn(cursor, 'name'));
  const value = plainText(getIn(cursor, 'value'));
  if (name === undefined || value === undefined) return undefined;
  return valuesIn(valuesText(name, value, asBoolean(getIn(cursor, 'forceString'))));
}

function valuesIn(text: string | undefined): InstallLayer | undefined {
  if (text === undefined || checkLimits(text) !== null) return undefined;
  const { root } = parseDocument(text, 0);
  return root?.kind === 'map' ? { values: root } : undefined;
}

/** https://fluxcd.io/flux/components/helm/helmreleases/ */
function fluxInstalls({ root, namespace }: Manifest): readonly ChartInstall[] {
  const spec = getIn(root, 'spec');
  const chart = getIn(spec, 'chart', 'spec');
  const isElsewhere =
    getIn(spec, 'chartRef') !== undefined || asText(getIn(chart, 'sourceRef', 'kind')) === 'HelmRepository';
  const name = getIn(chart, 'chart') ?? getIn(spec, 'chartRef', 'name');
  const optional = asBoolean(getIn(chart, 'ignoreMissingValuesFiles')) ?? false;
  const files = items(getIn(chart, 'valuesFiles')).map((one): InstallLayer | undefined => {
    const file = plainText(one);
    return file === undefined ? undefined : { file, from: 'repository', optional };
  });
  const sources = items(getIn(spec, 'valuesFrom'));
  const maps = (isElsewhere ? sources.filter((source) => !isSecret(source)) : sources).map(fluxMap);
  const values = getIn(spec, 'values')?.node;
  const [own, target] = [getIn(root, 'metadata', 'name'), getIn(spec, 'targetNamespace')].map(plainText);
  const prefixed = own !== undefined && target !== undefined ? `${target}-${own}` : own;
  const release = getIn(spec, 'releaseName');
  const changes = items(getIn(spec, 'postRenderers')).flatMap((renderer) => {
    const kustomize = getIn(renderer, 'kustomize');
    return kustomize === undefined ? [] : [kustomizationAt(kustomize)];
  });
  // Files of a chart from elsewhere are there, too.
  if (isElsewhere && files.length > 0) return [];
  const found = install(plainText(name), 'repository', [...files, ...maps, ...(values ? [{ values }] : [])], {
    namespace: target ?? namespace,
    release: (release === undefined ? prefixed : plainText(release)) ?? null,
    changes,
    at: root.node,
    ...(isElsewhere && { withValues: (all) => withFluxValues(root.node, all) }),
  });
  return isElsewhere ? withOtherFiles(found) : found;
}

/** Whether values come from a Secret, which holds keys and passwords, and are at no path of something that counts. */
function isSecret(reference: Cursor): boolean {
  const path = asText(getIn(reference, 'targetPath')) ?? '';
  return asText(getIn(reference, 'kind')) === 'Secret' && !/replicas|scal|enabled|resources|gpu/i.test(path);
}

/** A ConfigMap of values, or with one value at a path. What an object may have that may be missing is unknown. */
function fluxMap(reference: Cursor): MapLayer | undefined {
  const configMap = plainText(getIn(reference, 'name'));
  const [key, target] = [getIn(reference, 'valuesKey'), getIn(reference, 'targetPath')];
  const path = plainText(target);
  const isKnown = (target === undefined || path !== undefined) && asBoolean(getIn(reference, 'optional')) !== true;
  if (asText(getIn(reference, 'kind')) !== 'ConfigMap' || configMap === undefined || !isKnown) return undefined;
  const named = { configMap, key: key === undefined ? 'values.yaml' : (plainText(key) ?? '') };
  return path === undefined ? named : { ...named, path };
}

/** https://helmfile.readthedocs.io/en/latest/configuration/ */
function helmfileInstall(release: Cursor): readonly ChartInstall[] {
  const chart = plainText(getIn(release, 'chart'));
  if (chart === undefined || asBoolean(getIn(release, 'installed')) === false) return [];
  // Without a dot, it is a chart of a repository: `bitnami/nginx`.
  const isElsewhere = !/^\.{1,2}(?:\/|$)/.test(chart);
  if (isTemplated(getIn(release, 'installed')) || isTemplated(getIn(release, 'set'))) return [];
  const optional = asText(getIn(release, 'missingFileHandler')) === 'Info';
  const layers = items(getIn(release, 'values')).map((one): InstallLayer | undefined => {
    if (one.node.kind === 'map') return { values: one.node };
    const file = plainText(one);
    return file === undefined || file.endsWith('.gotmpl') ? undefined : { file, from: 'file', optional };
  });
  const namespace = plainText(getIn(release, 'namespace')) ?? null;
  const found = install(chart, 'file', [...layers, ...items(getIn(release, 'set')).map(parameter)], {
    namespace,
    release: plainText(getIn(release, 'name')) ?? null,
    at: release.node,
    ...(isElsewhere && { withValues: (values) => withHelmfileValues(release.node, values) }),
  });
  return isElsewhere ? withOtherFiles(found) : found;
}

/** https://fleet.rancher.io/ref-fleet-yaml */
function fleetInstalls(root: Cursor): readonly ChartInstall[] {
  const helm = getIn(root, 'helm');
  const files = items(getIn(helm, 'valuesFiles')).map((one): InstallLayer | undefined => {
    const file = plainText(one);
    return file === undefined ? undefined : { file, from: 'file', optional: false };
  });
  const values = getIn(helm, 'values')?.node;
  if (files.length === 0 || getIn(helm, 'valuesFrom') !== undefined || getIn(root, 'targetCustomizations')) return [];
  const chart = plainText(getIn(helm, 'chart'));
  const isElsewhere = chart !== undefined && !/^\.{0,2}\//.test(chart);
  return install(chart, 'file', [...files, ...(values ? [{ values }] : [])], {
    namespace: plainText(getIn(root, 'namespace') ?? getIn(root, 'defaultNamespace')) ?? null,
    release: plainText(getIn(helm, 'releaseName')) ?? null,
    at: root.node,
    ...(isElsewhere && { withValues: (all) => withFleetValues(root.node, all) }),
  });
}

/** Charts from elsewhere whose values are all in the object are read there, if nothing else completes the object. */
function withOtherFiles(installs: readonly ChartInstall[]): readonly ChartInstall[] {
  const isComplete = installs.every(({ withValues, layers }) => withValues && layers.every((one) => 'values' in one));
  return isComplete ? [] : installs;
}

function install(
  chart: string | undefined,
  from: ChartInstall['from'],
  layers: readonly (InstallLayer | undefined)[],
  rest: Pick<ChartInstall, 'namespace' | 'release' | 'at' | 'withValues'> & Partial<Pick<ChartInstall, 'changes'>>,
): readonly ChartInstall[] {
  const known = layers.filter((layer) => layer !== undefined);
  return chart === undefined || known.length < layers.length
    ? []
    : [{ chart, from, layers: known, changes: [], ...rest }];
}

function plainText(cursor: Cursor | undefined): string | undefined {
  return isTemplated(cursor) ? undefined : asText(cursor);
}
