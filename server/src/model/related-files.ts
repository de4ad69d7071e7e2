import { moved } from '../yaml/copied-nodes.ts';
import { asText, getIn, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';
import { type Helpers, helpersIn } from '../yaml/template-helpers.ts';
import { fillFromValues } from '../yaml/template-values.ts';
import { namesAccelerators } from './accelerators.ts';
import { autoscaledByValues, autoscaledReplicas } from './autoscaled-template.ts';
import { buildOverrides, overrideKey } from './build-overrides.ts';
import { type ChartInstall, chartInstalls, installKey } from './chart-installs.ts';
import { isOff, type PartName, valuesOfPart } from './chart-parts.ts';
import { type ChartValues, chartValues, documentsIn } from './chart-templates.ts';
import { isReadByInstall, outsideOf } from './counted-installs.ts';
import { type CrossReferences, withAnswers } from './cross-references.ts';
import { kindsFor } from './kinds/object-kinds.ts';
import { amongBuilt } from './kustomize/among-built.ts';
import type { Built } from './kustomize/build.ts';
import type { BuiltObject, SourceFile } from './kustomize/built-object.ts';
import { changedObject } from './kustomize/changed-object.ts';
import type { PatchTarget } from './kustomize/kustomization.ts';
import { emptyMap, external, mergeStrategic } from './kustomize/merge.ts';
import { patched, withLastPatch } from './kustomize/patches.ts';
import { placed } from './kustomize/placed.ts';
import { lowerDocument } from './lower.ts';
import type { ModelOptions } from './options.ts';
import { withOtherValues } from './other-values.ts';
import { parameterDefaults, usesParameters, withParameterDefaults } from './parameter-defaults.ts';
import { installedName } from './release-names.ts';
import { valuesKind } from './values.ts';
import { cardInChart } from './values-card.ts';
import type { Workload } from './workload.ts';

/** The chart that a file of values releases. Like a kustomize overlay, the release counts instead of the chart. */
export interface ChartRelease {
  /** The chart's own values; undefined if it has none. */
  readonly values: SourceFile | undefined;
  readonly templates: readonly SourceFile[];
  /** The file of its named templates. */
  readonly helpers?: SourceFile | undefined;
  /** The charts in its folder `charts`. */
  readonly parts?: readonly ChartPart[];
}

/** A chart in the folder of another one. */
export interface ChartPart extends Omit<ChartRelease, 'parts'> {
  readonly name: PartName;
}

/** A chart that an object or a helmfile installs. */
export interface InstalledChart extends ChartRelease {
  /** The files of values that the install names, by their paths as written; without optional ones that do not exist. */
  readonly files: ReadonlyMap<string, SourceFile>;
  /** The texts of values that the install reads from ConfigMaps, by `JSON.stringify` of the layer. */
  readonly maps: ReadonlyMap<string, string>;
  /** The files that have nothing but these texts. */
  readonly mapFiles: readonly string[];
  /** The files of patches, by their paths as written. */
  readonly patches: ReadonlyMap<string, SourceFile>;
  /** Its Chart.yaml; undefined for a chart from elsewhere. */
  readonly file: SourceFile | undefined;
}

/** The objects to which a kustomize patch applies, with all other patches of the kustomization applied. */
export interface PatchBase {
  readonly objects: readonly BuiltObject[];
  readonly target: PatchTarget | undefined;
}

/** The content of other files that completes a file. The same object means the same content, so results can be cached by identity. */
export interface RelatedFiles {
  readonly chart?: ChartValues;
  readonly base?: PatchBase;
  /** The other files of the chart or kustomization that cannot be rendered if this file has an error. */
  readonly alongside?: readonly SourceFile[];
  /** A kustomization applies the file as a patch, even if its base is not here. */
  readonly isPatch?: true;
  readonly release?: ChartRelease;
  /** The charts that the file installs, by `installKey`. */
  readonly installs?: ReadonlyMap<string, InstalledChart>;
  /** What kustomizations build that the file installs with changes, by `overrideKey`. */
  readonly overridden?: ReadonlyMap<string, Built>;
  /** The objects that a kustomization builds. */
  readonly built?: readonly BuiltObject[];
  /** The URIs of the other kustomizations that it includes. */
  readonly included?: readonly string[];
  /** The URIs of the kustomizations that the file installs as they are. */
  readonly installed?: readonly string[];
}

export const noRelatedFiles: RelatedFiles = {};

/** Whether related files can change the workloads of a document. */
export function hasRelatedFiles(text: string, related: RelatedFiles): boolean {
  const { chart, release, installs, overridden, base, built } = related;
  // A template can receive all its accelerators from the chart's values.
  return (
    release !== undefined ||
    installs !== undefined ||
    overridden !== undefined ||
    base !== undefined ||
    built !== undefined ||
    usesParameters(text) ||
    (chart !== undefined && (text.includes('.Values') || (chart.helpers !== undefined && text.includes('include'))))
  );
}

/**
 * The workloads of a document with the content of related files, for costs; the same objects if nothing changes. Includes workloads that
 * request accelerators only because of related files. A workload that a chart's values disable stays as written: it can be enabled.
 */
export function withRelatedFiles(
  document: YamlDocument,
  workloads: readonly Workload[],
  relatedFiles: RelatedFiles,
  options: ModelOptions,
  crossReferences: CrossReferences,
): readonly Workload[] {
  const { chart, built, base, overridden } = relatedFiles;
  const [only, ...more] = overridden?.values() ?? [];
  const objects = built ?? base?.objects ?? (more.length === 0 ? only?.objects : undefined);
  const among = objects === undefined ? crossReferences : amongBuilt(objects, crossReferences, base !== undefined);
  const references =
    chart === undefined
      ? among
      : withAnswers(crossReferences, {
          fileHeader: () => [...crossReferences.fileHeader(), ...cardInChart(chart.document, chart.file)],
        });
  let isChanged = relatedFiles.release === undefined;
  const resolved = readings(document, relatedFiles).flatMap((reading) => {
    const { root, readWith, places, identity, unchanged, filled } = reading;
    const found = lowerDocument({ ...document, root }, options, references)
      .workloads.filter(requestsAccelerators)
      .filter((workload) => places === undefined || places.some(({ start }) => isIn(workload, start)))
      .map((workload) =>
        filled === undefined ? workload : autoscaledByValues(workload, filled.template, filled.values),
      )
      .map((workload) => ({ ...workload, ...identity, readWith }));
    isChanged ||= (found.length > 0 || isPool(root)) && unchanged?.() === false;
    return found;
  });
  if (resolved.length === 0 && isReadByInstall(document, relatedFiles.installs?.values() ?? []))
    return workloads.filter(({ kind }) => kind !== valuesKind);
  // Values that no GPU workload reads are only a part of a release, such as those of its ingress.
  if (resolved.length === 0 || !(isChanged || workloads.length > 0)) return workloads;
  if (relatedFiles.release !== undefined) return resolved;
  if (relatedFiles.installs !== undefined || overridden !== undefined)
    return [...outsideOf(resolved, workloads), ...resolved];
  // An inline patch is counted in what it changes.
  const isCounted = ({ manifest: { isPatch, root, target } }: Workload) =>
    isPatch === true && built !== undefined && patched(built, root.node, target).length > 0;
  const own = workloads.filter((workload) => !isCounted(workload));
  const known = new Set(own.map(startOf));
  const byStart = new Map<number, Workload[]>();
  for (const workload of resolved) {
    const start = startOf(workload);
    byStart.set(start, [...(byStart.get(start) ?? []), workload]);
  }
  const added = resolved.filter((workload) => !known.has(startOf(workload)));
  return [...own.flatMap((workload) => byStart.get(startOf(workload)) ?? [workload]), ...added];
}

/** A document's tree, completed by a related file. */
export interface Reading {
  readonly root: YamlNode;
  readonly readWith: string;
  /** Of the template or the resource that it is written in, if this is another file. */
  readonly uri?: string;
  /** The spans that the related file fills in; undefined: the whole document. */
  readonly places?: readonly Span[];
  /** What the cluster calls the object. It is set after reading, because references use the names of the files. */
  readonly identity?: Partial<Pick<Workload, 'name' | 'namespace'>>;
  /** The template as written, and the values that fill it. */
  readonly filled?: { readonly template: YamlNode; readonly values: YamlNode };
  /** For a release: whether the chart's own values lead to the same object, which reads no value of the release. */
  readonly unchanged?: () => boolean;
}

/** The trees that related files make of a document: those of all objects of a release or a kustomization. */
export function readings(document: YamlDocument, related: RelatedFiles): readonly Reading[] {
  const { chart, release, installs, overridden, base, built } = related;
  const { root } = document;
  if (root === null) return [];
  if (release !== undefined) return document.base > 0 ? [] : readingsOfRelease(root, release);
  if (installs !== undefined || overridden !== undefined)
    return [
      ...chartInstalls(document).flatMap((one) => {
        const installed = installs?.get(installKey(one));
        return installed === undefined ? [] : readingsOfInstall(one, installed);
      }),
      ...buildOverrides(document).flatMap((one) =>
        readingsOfBuild(overridden?.get(overrideKey(one))?.objects ?? [], one.at, one.namespace),
      ),
    ];
  // kustomize allows only one document; any other must not count the objects a second time.
  if (built !== undefined) return document.base > 0 ? [] : readingsOfBuild(built, root, null);
  if (base !== undefined) {
    return patched(base.objects, root, base.target).flatMap((object) => {
      const made = placed(withLastPatch(object, root), root);
      return made === undefined ? [] : [{ root: made, readWith: `base ${object.file}` }];
    });
  }
  if (chart === undefined) {
    const made = withParameterDefaults(document);
    return made === undefined ? [] : [{ root: made, readWith: parameterDefaults }];
  }
  return [chart.root, ...(chart.copies ?? [])].flatMap((values) => {
    const filled = { template: root, values };
    return fillFromValues(document, values, chart.helpers).map((one) => ({ ...one, readWith: chart.name, filled }));
  });
}

/** @param at where the objects are shown @param target the namespace of those that have none */
function readingsOfBuild(objects: readonly BuiltObject[], at: YamlNode, target: string | null): readonly Reading[] {
  return objects.flatMap((object) => {
    const made = placed(external(object.root), at);
    const { names, namespace = target ?? undefined } = object;
    const [, ...renamed] = names;
    const name = renamed.at(-1);
    const identity = { ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) };
    const [uri = ''] = object.sources;
    return made === undefined ? [] : [{ root: made, readWith: object.file, uri, identity }];
  });
}

/** The templates of a chart with its values and those of the release: mappings are merged, null removes a value, and lists are replaced. */
function readingsOfRelease(root: YamlNode, release: ChartRelease): readonly Reading[] {
  const defaults = rootIn(release.values);
  const merged = defaults === undefined ? root : mergeStrategic(defaults, root, false);
  const others = defaults && mergeStrategic(defaults, withOtherValues(root), false);
  const ofParts = (release.parts ?? []).flatMap((part): readonly Reading[] => {
    const own = rootIn(part.values);
    if (isOff(part.name, own, merged)) return [];
    const of = (values: YamlNode | undefined) => valuesOfPart(part.name, own, values);
    return readingsOfChart(root, part, { defaults: of(defaults), merged: of(merged), others: of(others) });
  });
  return [...readingsOfChart(root, release, { defaults, merged, others }), ...ofParts];
}

function rootIn(values: SourceFile | undefined): YamlNode | undefined {
  return values && chartValues('values.yaml', values.text)?.root;
}

/** The values of a chart: without those of the release, with them, and with others in their places. */
interface ReleaseValues {
  readonly defaults: YamlNode | undefined;
  readonly merged: YamlNode;
  readonly others: YamlNode | undefined;
}

/** @param root of the release, where the objects are shown */
function readingsOfChart(
  root: YamlNode,
  { templates, helpers }: Pick<ChartRelease, 'templates' | 'helpers'>,
  { defaults, merged, others }: ReleaseValues,
): readonly Reading[] {
  return documentsOf({ templates, helpers }, merged).flatMap(
    ({ made, document, readWith, uri, filled }): readonly Reading[] => {
      const shown = placed(made, root);
      if (shown === undefined) return [];
      const scaledWith = (one: YamlNode) => JSON.stringify(document.root && autoscaledReplicas(document.root, one));
      const isSameWith = (values: YamlNode | undefined) =>
        values !== undefined &&
        scaledWith(values) === scaledWith(merged) &&
        filledWith(document, values, helpers && helpersIn(helpers)).some(
          (other) => JSON.stringify(other) === JSON.stringify(made),
        );
      // A release may repeat a value of the chart.
      const unchanged = () => isSameWith(defaults) && isSameWith(others);
      return [{ root: shown, readWith, uri, unchanged, ...filled }];
    },
  );
}

/** The templates of a chart with its values and all those that an install names. */
function readingsOfInstall(
  install: ChartInstall,
  { values, templates, helpers, files, maps, patches, file }: InstalledChart,
): readonly Reading[] {
  const ofChart = values && chartValues('values.yaml', values.text)?.root;
  const layers = install.layers.flatMap((layer) => {
    if ('values' in layer) return layer.values;
    const text = 'file' in layer ? files.get(layer.file)?.text : maps.get(JSON.stringify(layer));
    return (text === undefined ? undefined : chartValues('', text)?.root) ?? [];
  });
  const [first, ...rest] = ofChart === undefined ? layers : [ofChart, ...layers];
  const merged = rest.reduce((below, layer) => mergeStrategic(below, layer, false), first ?? emptyMap);
  const { namespace, release, changes } = install;
  if (file === undefined) return readingsOfValues(install, merged, [...files.values()][0]?.uri);
  const named = { release, file, helpers: helpers && helpersIn(helpers) };
  return documentsOf({ templates, helpers }, merged).flatMap(({ made, readWith, uri, filled }) => {
    const own = installedName(made, merged, named);
    const shown = placed(changedObject(made, own.name, changes, patches), install.at);
    const identity = { ...(namespace !== null && { namespace }), ...own };
    return shown === undefined ? [] : [{ root: shown, readWith, uri, identity, ...filled }];
  });
}

/** Without its templates, the values tell what a chart from elsewhere runs. */
function readingsOfValues(
  { withValues, layers, chart, at }: ChartInstall,
  values: YamlNode,
  uri: string | undefined,
): readonly Reading[] {
  const made = withValues?.(values);
  const shown = made && placed(moved(made, at.span), at);
  const map = layers.flatMap((layer) => ('configMap' in layer ? [layer.configMap] : []))[0];
  const readWith = uri?.slice(uri.lastIndexOf('/') + 1) ?? map ?? chart;
  return shown === undefined ? [] : [{ root: shown, readWith }];
}

/** The documents of templates with values, and the names of their files. */
function documentsOf({ templates, helpers }: Pick<ChartRelease, 'templates' | 'helpers'>, values: YamlNode) {
  const named = helpers && helpersIn(helpers);
  return templates.flatMap((template) => {
    const { uri } = template;
    const readWith = uri.slice(uri.lastIndexOf('/') + 1);
    return documentsIn(template).flatMap((document) => {
      const filled = document.root === null ? {} : { filled: { template: document.root, values } };
      return filledWith(document, values, named).map((made) => ({ made, document, readWith, uri, filled }));
    });
  });
}

function filledWith(document: YamlDocument, values: YamlNode, helpers?: Helpers): readonly YamlNode[] {
  const filled = fillFromValues(document, values, helpers).map(({ root }) => root);
  const roots = filled.length > 0 || document.root === null ? filled : [document.root];
  return roots.map(external);
}

function isIn({ manifest }: Workload, offset: number): boolean {
  const { start, end } = manifest.root.node.span;
  return start <= offset && offset < end;
}

/** A pool decides what its pods cost. */
function isPool(root: YamlNode): boolean {
  return pools.has(asText(getIn(rootCursor(root), 'kind')) ?? '');
}

const pools: ReadonlySet<string> = new Set(kindsFor('pool'));

function startOf({ manifest }: Workload): number {
  return manifest.root.node.span.start;
}

function requestsAccelerators({ podSets }: Workload): boolean {
  return namesAccelerators({ podSets });
}
