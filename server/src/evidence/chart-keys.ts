import { type ChartKeys, chartKeys, hasSchema, keyAlias } from '../catalog/chart-keys.ts';
import { type ApiType, apiFields } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, items, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { holderAbove, isFormerOperand, pathBelow, sameNamed, similarField } from './api-names.ts';
import { type ApiHolder, type ApiProblem, problemsBelow } from './api-problems.ts';

/** The chart that values are for. */
export interface WrittenChart {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  /** The addresses and names of the repositories that have it. */
  readonly repositories?: readonly string[];
}

/** A key in the values of a well-known chart that the chart does not read as it is written. */
export interface UnreadKey {
  readonly at: Cursor;
  readonly key: string;
  /** The mapping that has the key. */
  readonly holder: ApiHolder;
  readonly chart: string;
  /** Whether the schema of the chart rejects the values; null if that depends on the version. */
  readonly rejected: boolean | null;
  readonly meant: MeantKey;
}

export type MeantKey =
  /** A key of the same mapping. */
  | { readonly as: 'key'; readonly key: string }
  /** The same key in another mapping, below the holder or around it. */
  | { readonly as: 'moved'; readonly owner: Cursor; readonly path: readonly string[] }
  /** Another key in another place; `former`: that of an older version. */
  | { readonly as: 'other'; readonly path: string; readonly former: boolean }
  /** Its value has another form. */
  | { readonly as: 'form'; readonly type: ApiType };

/**
 * The keys that a chart does not read, of which it is certain what they were meant to be: a chart may have more keys in other versions.
 * @param written what an object says about the chart
 */
export function unreadKeys(values: Cursor, document: YamlDocument, written: WrittenChart = {}): readonly UnreadKey[] {
  return knownValues(values, written).flatMap((one) => keysOf(one, document));
}

/** The values of a well-known chart. */
export interface KnownValues {
  readonly at: Cursor;
  readonly known: ChartKeys;
  readonly version?: string | undefined;
}

/** The values of well-known charts in a mapping: itself, or its parts. */
export function knownValues(values: Cursor, written: WrittenChart = {}): readonly KnownValues[] {
  if (values.node.kind !== 'map') return [];
  const known = chartOf(values, written);
  if (known !== undefined) return [{ at: values, known, version: written.version }];
  // An umbrella chart has the values of others below their names.
  return entries(values).flatMap((child) => {
    const inner = child.node.kind === 'map' ? chartOf(child, { name: keyOf(child) }) : undefined;
    if (inner === undefined || !inner.names.includes(keyOf(child))) return [];
    // `ollama.ollama` is no part of a project's own chart.
    const isNested = inner.marks.some((path) => path[0] === keyOf(child) && hasPath(child, path));
    return isNested || countMarks(child, inner) >= inner.least ? [{ at: child, known: inner }] : [];
  });
}

function chartOf(values: Cursor, { name, version, repositories = [] }: WrittenChart): ChartKeys | undefined {
  const named = name === undefined ? undefined : chartKeys.find(({ names }) => names.includes(name));
  // Other publishers have charts of this name.
  if (named !== undefined) {
    if (repositories.some((one) => named.publishers.some((part) => isOf(one, part)))) return named;
    const isWeak = version !== undefined && isCurrentVersion(named, version);
    const isMarked = countMarks(values, named) > 0 || (isWeak && named.weakMarks.some((path) => hasPath(values, path)));
    return isMarked ? named : undefined;
  }
  if (name !== undefined) return undefined;
  const counted = chartKeys.map((chart) => ({ chart, count: countMarks(values, chart) }));
  const [best] = counted.filter(({ chart, count }) => count >= chart.least).sort((a, b) => b.count - a.count);
  return best?.chart;
}

/** Whether a repository is its publisher's, by its name or the host of its address. A mirror may have the charts of anybody. */
function isOf(repository: string, publisher: string): boolean {
  const [, host, path = ''] = /^(?:\w+:\/\/)?([\w-]+(?:\.[\w-]+)+(?::\d+)?)(?:\/([^/]*))?/.exec(repository) ?? [];
  if (host === undefined) return repository === publisher || repository.startsWith(`${publisher}-`);
  return (
    host.includes(publisher) || ((sharedHosts.has(host) || host.endsWith('.github.io')) && path.includes(publisher))
  );
}

/** Hosts with one folder for each publisher. */
const sharedHosts = wordSet('ghcr.io quay.io github.com raw.githubusercontent.com registry-1.docker.io');

function countMarks(values: Cursor, { marks }: ChartKeys): number {
  return marks.filter((path) => hasPath(values, path)).length;
}

function hasPath(at: Cursor | undefined, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return at !== undefined;
  if (step === '*') return entries(at).some((child) => hasPath(child, rest));
  const child = getIn(at, step);
  return child !== undefined && hasPath(child, rest);
}

/** Whether the version of a chart is known to be at least that with which its keys changed. */
function isCurrentVersion({ since: [major, minor] }: ChartKeys, version: string | undefined): boolean {
  if (major + minor === 0) return true;
  // `<0.10.0` and `!=0.10.0` are other versions.
  const written = /^\s*(?:[~^=]|>=?)?\s*v?(\d{1,4})\.(?:(\d{1,4})\b)?/.exec(version ?? '');
  if (written === null) return false;
  const past = Number(written[1]) - major;
  return past > 0 || (past === 0 && (minor === 0 || Number(written[2] ?? -1) >= minor));
}

function keysOf({ at: values, known, version }: KnownValues, { text, problems }: YamlDocument): readonly UnreadKey[] {
  if (problems.some(({ readable }) => readable !== true)) return [];
  const { names, type } = known;
  const isCurrent = isCurrentVersion(known, version);
  const chart = names[0] ?? '';
  const seen = new Set<unknown>();
  return problemsBelow({ at: values, type, above: undefined }, text).flatMap((problem) => {
    const meant = meaningOf(problem, isCurrent);
    // What an anchor repeats is one mistake.
    if (meant === undefined || isIncomplete(problem.holder.at) || seen.has(problem.at.node)) return [];
    // What has an anchor is there for other places.
    if (problem.at.entry !== undefined && text.slice(keySpanOf(problem.at).end, spanOf(problem.at).start).includes('&'))
      return [];
    seen.add(problem.at.node);
    const { at, holder, field: key } = problem;
    const rejected = hasSchema(holder.type) && (isCurrent || null);
    return [{ at, key: meant.as === 'form' ? keyOf(at) : key, holder, chart, rejected, meant }];
  });
}

function meaningOf(problem: ApiProblem, isCurrent: boolean): MeantKey | undefined {
  const { what, at, holder, field, type } = problem;
  // Some settings also take a list.
  if (what === 'not-in-enum') return type && !asText(at)?.includes(',') ? { as: 'form', type } : undefined;
  if (what === 'wrong-type' && type?.form !== 'enum') {
    const { node } = at;
    // Texts may be rendered, and words such as "none" are read by charts of their own.
    const isOther = node.kind !== 'scalar' || typeof node.value !== 'string';
    return type !== undefined && isOther && isCurrent ? { as: 'form', type } : undefined;
  }
  if (what !== 'unknown-field' || isEmpty(at) || isFormerOperand(holder)) return undefined;
  const alias = keyAlias(holder.type, field);
  if (alias !== undefined) {
    const { meant, former } = alias;
    if (former && !isCurrent) return undefined;
    const isFree = getIn(holder.at, ...meant.split('.')) === undefined;
    if (/^\w+$/.test(meant) && !former && meant !== 'containers' && meant !== 'persistence')
      return isFree
        ? { as: 'key', key: meant }
        : losesTag(holder, field)
          ? { as: 'other', path: meant, former }
          : undefined;
    return { as: 'other', path: meant, former };
  }
  const similar = similarField(holder, field) ?? classField(holder, field);
  if (similar !== undefined) return decorations.has(similar.name) ? undefined : { as: 'key', key: similar.name };
  if (commonKeys.has(field)) return undefined;
  const path = pathBelow(holder, field);
  if (path !== undefined) return { as: 'moved', owner: holder.at, path: [...path, field] };
  const above = holderAbove(holder, field);
  if (above === undefined) return similarAbove(holder, field);
  return leavesChart(holder, above) ? undefined : { as: 'moved', owner: above.at, path: [field] };
}

/** `storageClass`, where `storageClassName` is written as in a claim. */
function classField(holder: ApiHolder, field: string): { readonly name: string } | undefined {
  const name = /^(\w+Class)Name$/.exec(field)?.[1];
  const isFree = name !== undefined && apiFields(holder.type).has(name) && getIn(holder.at, name) === undefined;
  return isFree ? { name } : undefined;
}

/** A key of a mapping around it, under a name that differs in case, separators or a plural. */
function similarAbove(holder: ApiHolder, field: string): MeantKey | undefined {
  for (let here = holder.above; here !== undefined && !leavesChart(holder, here); here = here.above) {
    const name = sameNamed(here, field);
    const owner = keyOf(here.at);
    if (name !== undefined && !commonKeys.has(name) && !decorations.has(name))
      return { as: 'other', path: owner === '' || /^values/.test(owner) ? name : `${owner}.${name}`, former: false };
  }
  return undefined;
}

/** Whether a key holds the tag of an image that is written as one text, without a tag. */
function losesTag({ at }: ApiHolder, field: string): boolean {
  return /^(?:tag|image_?tag)$/i.test(field) && /^[\w./-]+$/.test(asText(getIn(at, 'image')) ?? '');
}

/** Whether a key sets nothing: charts have such keys for others to fill in. */
function isEmpty({ node }: Cursor): boolean {
  if (node.kind === 'map') return node.entries.length === 0 && node.incomplete !== true;
  if (node.kind === 'seq') return node.items.length === 0;
  return node.value === null || node.value === '';
}

/** Keys that decide nothing about pods. */
const decorations = wordSet(
  'annotations extraLabels fullnameOverride ingress labels nameOverride namespaceOverride podAnnotations podLabels',
);

/** Keys of many mappings, which say nothing of the place. */
const commonKeys = wordSet(
  'annotations args command config containerPort create data default enabled env extraObjects extraVolumes extraVolumeMounts global image imagePullPolicy imagePullSecrets labels name',
  'nameOverride priorityClassName serviceAccountName servicePort serviceType',
  'path port ports replicas run service size strategy type version volumes volumeMounts',
);

/** Whether a mapping is outside the chart of another: an umbrella has keys of its own. */
function leavesChart(from: ApiHolder, to: ApiHolder): boolean {
  for (let here: ApiHolder | undefined = from; here !== undefined && here !== to; here = here.above)
    if (chartKeys.some(({ type }) => type === here?.type)) return true;
  return false;
}

/** What an object says about a chart that it installs. */
export function writtenChart(root: Cursor, chart: string | undefined): WrittenChart {
  const spec = getIn(root, 'spec');
  const version = asText(getIn(spec, 'chart', 'spec', 'version') ?? getIn(spec, 'source', 'targetRevision'));
  return { name: chartName(root, chart), version, repositories: repositoriesOf(root) };
}

/** Undefined if only the OCIRepository that holds the chart is named, which many call after the application. */
function chartName(root: Cursor, chart: string | undefined): string | undefined {
  const isKnown = chartKeys.some(({ names }) => chart !== undefined && names.includes(chart));
  return isKnown || getIn(root, 'spec', 'chartRef') === undefined ? chart : undefined;
}

/** The repositories of charts that an object of Flux, Argo CD, k3s, Kustomize and the like names. Those with the project's own charts are not among them. */
function repositoriesOf(root: Cursor): readonly string[] {
  const spec = getIn(root, 'spec');
  const ofArgo = [spec, getIn(spec, 'template', 'spec')].flatMap((one) => [
    getIn(one, 'source'),
    ...items(getIn(one, 'sources')),
  ]);
  const ofFlux = getIn(spec, 'chart', 'spec', 'sourceRef');
  const places = [
    asText(getIn(ofFlux, 'kind')) === 'HelmRepository' ? getIn(ofFlux, 'name') : undefined,
    ...ofArgo.map((one) => (getIn(one, 'chart') === undefined ? undefined : getIn(one, 'repoURL'))),
    getIn(spec, 'chart')?.node.kind === 'scalar' ? getIn(spec, 'repo') : undefined,
    getIn(spec, 'helm', 'repo'),
    getIn(spec, 'forProvider', 'chart', 'repository'),
    ...items(getIn(root, 'helmCharts')).map((one) => getIn(one, 'repo')),
  ];
  return places.flatMap((one) => asText(one)?.toLowerCase() ?? []);
}
