import { asText, type Cursor, entries, getIn, items, keyOf, rootCursor } from '../yaml/cursor.ts';
import { blockProblem, readBlock } from '../yaml/embedded.ts';
import { lazy } from '../yaml/lazy.ts';
import type { YamlProblem } from '../yaml/node.ts';
import { groupOf } from './manifest.ts';
import { withSetValues } from './set-values.ts';
import type { Manifest } from './workload.ts';

/** Values of a chart that an object carries for the controller that installs it. */
export interface InlineValues {
  readonly values: Cursor;
  /** The name of the chart; undefined if another object names it. */
  readonly chart: string | undefined;
  readonly release: string | null;
  /** The kind of an object that stands for the release. Without it, other objects may be named like the release. */
  readonly kind?: string;
  readonly namespace: string | null;
  /** No other values are merged into these. */
  readonly isWhole: boolean;
  /** The chart is installed any number of times. */
  readonly isGenerated?: true;
  /** Those of values in a text of their own. */
  readonly problems?: readonly YamlProblem[];
}

/** The values in an object of Flux, Argo CD, Rancher Fleet, k3s and the like; empty for all other objects. */
export function inlineValues(manifest: Manifest): readonly InlineValues[] {
  // Nearly all objects are of other kinds.
  if (!carriers().has(manifest.kind)) return [];
  const read = readers.get(`${groupOf(manifest.apiVersion)}/${manifest.kind}`);
  if (read === undefined) return [];
  return read(getIn(manifest.root, 'spec'), manifest).filter(({ values }) => values.node.kind === 'map');
}

/** The errors in values that are a text of their own, because of which no release is rendered. */
export function unreadableValues(manifest: Manifest): readonly YamlProblem[] {
  if (!carriers().has(manifest.kind)) return [];
  const read = readers.get(`${groupOf(manifest.apiVersion)}/${manifest.kind}`);
  const found = read?.(getIn(manifest.root, 'spec'), manifest) ?? [];
  return found.flatMap(({ values, problems = [] }) => (values.node.kind === 'scalar' ? problems : []));
}

const carriers = lazy(() => new Set([...readers.keys()].map((key) => key.slice(key.indexOf('/') + 1))));

type Reader = (spec: Cursor | undefined, manifest: Manifest) => readonly InlineValues[];

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  // https://fluxcd.io/flux/components/helm/helmreleases/
  [
    'helm.toolkit.fluxcd.io/HelmRelease',
    (spec, manifest) => {
      const chart = asText(getIn(spec, 'chart', 'spec', 'chart')) ?? asText(getIn(spec, 'chartRef', 'name'));
      const isWhole = items(getIn(spec, 'valuesFrom')).every(setsOneValue);
      const namespace = asText(getIn(spec, 'targetNamespace')) ?? manifest.namespace;
      return at(getIn(spec, 'values'), { ...release(manifest, chart), namespace, isWhole });
    },
  ],
  // https://argo-cd.readthedocs.io/en/stable/user-guide/helm/
  ['argoproj.io/Application', argoSources],
  [
    'argoproj.io/ApplicationSet',
    (spec, manifest) =>
      argoSources(getIn(spec, 'template', 'spec'), manifest).map((one) => ({ ...one, isGenerated: true })),
  ],
  // https://docs.k3s.io/helm
  [
    'helm.cattle.io/HelmChart',
    (spec, manifest) => inBlock(manifest, getIn(spec, 'valuesContent'), k3s(spec, manifest)),
  ],
  [
    'helm.cattle.io/HelmChartConfig',
    (spec, manifest) => inBlock(manifest, getIn(spec, 'valuesContent'), { ...k3s(spec, manifest), isWhole: false }),
  ],
  // https://fleet.rancher.io/ref-bundle
  ['fleet.cattle.io/Bundle', (spec, manifest) => fleet(getIn(spec, 'helm'), manifest)],
  // https://kubectl.docs.kubernetes.io/references/kustomize/builtins/#_helmchartinflationgenerator_
  ['kustomize.config.k8s.io/Kustomization', (_, manifest) => kustomizeCharts(manifest)],
  // Flux and others read values from ConfigMaps.
  ['/ConfigMap', (_, manifest) => inConfigMap(manifest)],
  // https://github.com/crossplane-contrib/provider-helm
  [
    'helm.crossplane.io/Release',
    (spec, manifest) => {
      const provider = getIn(spec, 'forProvider');
      const isWhole = getIn(provider, 'valuesFrom') === undefined;
      const namespace = asText(getIn(provider, 'namespace')) ?? null;
      const rest = { ...release(manifest, asText(getIn(provider, 'chart', 'name'))), namespace, isWhole };
      return setApart(at(getIn(provider, 'values'), rest), getIn(provider, 'set'), rest);
    },
  ],
  // https://projectsveltos.github.io/sveltos/ (one release per cluster)
  [
    'config.projectsveltos.io/ClusterProfile',
    (spec, manifest) =>
      items(getIn(spec, 'helmCharts')).flatMap((chart) => {
        const rest = release(manifest, asText(getIn(chart, 'chartName')));
        return inBlock(manifest, getIn(chart, 'values'), { ...rest, isGenerated: true });
      }),
  ],
  // https://github.com/kubernetes-sigs/cluster-api-addon-provider-helm
  [
    'addons.cluster.x-k8s.io/HelmChartProxy',
    (spec, manifest) => {
      const rest = release(manifest, asText(getIn(spec, 'chartName')));
      return inBlock(manifest, getIn(spec, 'valuesTemplate'), { ...rest, isGenerated: true });
    },
  ],
]);

/** Whether values from another object are one value at a path that decides neither about pods nor about their devices. */
function setsOneValue(source: Cursor): boolean {
  const path = asText(getIn(source, 'targetPath'));
  return path !== undefined && /\w/.test(path) && !/replicas|scal|enabled|resources|gpu/i.test(path);
}

type Release = Omit<InlineValues, 'values'>;

function release({ name, namespace, kind }: Manifest, chart: string | undefined): Release {
  // An OCI address ends with the name of the chart.
  return { chart: chart?.slice(chart.lastIndexOf('/') + 1), release: name, kind, namespace, isWhole: true };
}

/** A HelmChartConfig has the name of its HelmChart. */
function k3s(spec: Cursor | undefined, manifest: Manifest): Release {
  const chart = asText(getIn(spec, 'chart')) ?? manifest.name ?? undefined;
  return { ...release(manifest, chart), namespace: asText(getIn(spec, 'targetNamespace')) ?? null };
}

function at(values: Cursor | undefined, rest: Release): readonly InlineValues[] {
  return values === undefined ? [] : [{ values, ...rest }];
}

/** Values as YAML in a literal block. */
function inBlock({ document }: Manifest, block: Cursor | undefined, rest: Release): readonly InlineValues[] {
  if (block?.node.kind !== 'scalar') return [];
  const problem = blockProblem(document, block.node);
  if (problem !== undefined) return [{ values: block, problems: [problem], ...rest }];
  return readBlock(document, block.node).map(({ root, problems }) => ({ values: rootCursor(root), problems, ...rest }));
}

function argoSources(spec: Cursor | undefined, manifest: Manifest): readonly InlineValues[] {
  const sources = [getIn(spec, 'source') ?? [], ...items(getIn(spec, 'sources'))].flat();
  return sources.flatMap((source) => {
    const helm = getIn(source, 'helm');
    const isWhole = getIn(helm, 'valueFiles') === undefined && getIn(helm, 'fileParameters') === undefined;
    const name = asText(getIn(source, 'chart')) ?? asText(getIn(source, 'path'));
    const namespace = asText(getIn(spec, 'destination', 'namespace')) ?? null;
    const rest = { ...release(manifest, name), namespace, isWhole };
    const object = getIn(helm, 'valuesObject');
    // It replaces values.
    const own = object === undefined ? inBlock(manifest, getIn(helm, 'values'), rest) : at(object, rest);
    return setApart(own, getIn(helm, 'parameters'), rest);
  });
}

/** Values with those that a list sets one by one. */
function setApart(own: readonly InlineValues[], settings: Cursor | undefined, rest: Release): readonly InlineValues[] {
  if (items(settings).length === 0 || settings === undefined) return own;
  if (own.length === 0) return [{ ...rest, ...withSetValues(undefined, settings, rest.isWhole) }];
  return own.map((one) => ({ ...one, ...withSetValues(one.values, settings, one.isWhole) }));
}

function fleet(helm: Cursor | undefined, manifest: Manifest): readonly InlineValues[] {
  const isWhole = getIn(helm, 'valuesFrom') === undefined && getIn(helm, 'valuesFiles') === undefined;
  return at(getIn(helm, 'values'), { ...release(manifest, asText(getIn(helm, 'chart'))), isWhole });
}

function kustomizeCharts(manifest: Manifest): readonly InlineValues[] {
  return items(getIn(manifest.root, 'helmCharts')).flatMap((chart) => {
    const name = asText(getIn(chart, 'releaseName')) ?? asText(getIn(chart, 'name')) ?? null;
    const isWhole = getIn(chart, 'valuesFile') === undefined && getIn(chart, 'additionalValuesFiles') === undefined;
    const { kind: _, ...own } = release(manifest, asText(getIn(chart, 'name')));
    return at(getIn(chart, 'valuesInline'), { ...own, release: name, isWhole });
  });
}

/** Files of values, which other values may precede or follow. */
function inConfigMap(manifest: Manifest): readonly InlineValues[] {
  const { kind: _, ...place } = release(manifest, undefined);
  return entries(getIn(manifest.root, 'data')).flatMap((file) =>
    /values[\w.-]{0,100}\.ya?ml$/.test(keyOf(file)) ? inBlock(manifest, file, { ...place, isWhole: false }) : [],
  );
}
