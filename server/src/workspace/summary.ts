import { kindsFor, listsPools } from '../model/kinds/object-kinds.ts';
import { platformKind } from '../model/kinds/pipeline-platform.ts';
import { lowerManifests } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { getIn, spanOf } from '../yaml/cursor.ts';
import { lazy } from '../yaml/lazy.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { once } from '../yaml/once.ts';
import { checkLimits, parseDocument, splitDocuments } from '../yaml/parse.ts';
import type { Span } from '../yaml/span.ts';
import { shiftSpan } from '../yaml/span.ts';
import { sharingConfigs, sharingInValues } from './device-sharing-configs.ts';
import { type Facts, type FactsOptions, factsOf } from './facts.ts';
import { gangMembers } from './gang-members.ts';
import { gangKind, headerKind, headerOf, kindsIn, kustomizationKind, sharingKind } from './kinds.ts';
import { included, overlayIn } from './overlay-facts.ts';
import { type Reference, referencesOf } from './references.ts';

/** What other files can look up about an object. */
export interface ObjectSummary {
  /** The API group, without a version. */
  readonly group: string;
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
  /** The span of the name. */
  readonly span: Span;
  /** The same object in the summary of its document, which lives as long as the document's text is unchanged. */
  readonly origin?: ObjectSummary;
  /** Facts for the objects that reference it; null for kinds that are only navigation targets. */
  readonly facts: () => Facts | null;
}

/** The summary of one document, with spans relative to the document. Computed lazily. */
export interface DocumentSummary {
  readonly kinds: ReadonlySet<string>;
  readonly objects: () => readonly ObjectSummary[];
  /** The references of its objects. */
  readonly references: () => readonly Reference[];
}

/** What other files can look up about a file. Spans are relative to the file. */
export interface FileSummary {
  readonly kinds: ReadonlySet<string>;
  /** All names in the text; undefined if unknown. */
  readonly names?: ReadonlySet<string>;
  /** The summaries of its documents. Unchanged documents keep the same object. */
  readonly parts?: readonly DocumentSummary[];
  readonly objects: () => readonly ObjectSummary[];
  /** The objects of one kind, for which documents without the kind are not parsed. */
  readonly objectsOf?: (kind: string) => readonly ObjectSummary[];
  readonly references: () => readonly Reference[];
  /** The current span of an object of one of its documents; undefined if objects cannot move. */
  readonly placeOf?: (origin: ObjectSummary) => Span | undefined;
}

/** What other files can look up about a document. The text is read, and the document parsed, only when something asks. */
export function summarizeDocument(text: string, document: () => YamlDocument, options: FactsOptions): DocumentSummary {
  return new LazySummary(text, document, options);
}

// A class, because its functions are shared: a long file has thousands of documents.

class LazySummary implements DocumentSummary {
  readonly #text: string;
  readonly #document: () => YamlDocument;
  readonly #options: FactsOptions;
  #kinds: ReadonlySet<string> | undefined;
  #manifests: readonly Manifest[] | undefined;
  #objects: readonly ObjectSummary[] | undefined;
  #references: readonly Reference[] | undefined;

  constructor(text: string, document: () => YamlDocument, options: FactsOptions) {
    this.#text = text;
    this.#document = document;
    this.#options = options;
  }

  get kinds(): ReadonlySet<string> {
    this.#kinds ??= kindsIn(this.#text);
    return this.#kinds;
  }

  get #lowered(): readonly Manifest[] {
    this.#manifests ??= lowerManifests(this.#document());
    return this.#manifests;
  }

  objects(): readonly ObjectSummary[] {
    this.#objects ??= [
      ...headerIn(this.#text, this.kinds, this.#lowered[0]),
      ...(this.kinds.has(kustomizationKind) ? overlayObjects(this.#document()) : []),
      ...(this.kinds.has(sharingKind) ? sharingOfCharts(this.#document(), this.#lowered) : []),
      ...this.#lowered.flatMap((manifest) => objectsOf(manifest, this.kinds, this.#options)),
    ];
    return this.#objects;
  }

  references(): readonly Reference[] {
    this.#references ??= this.#lowered.flatMap(referencesOf);
    return this.#references;
  }
}

/** @param kinds those that the text may have */
function objectsOf(manifest: Manifest, kinds: ReadonlySet<string>, options: FactsOptions): readonly ObjectSummary[] {
  const { kind, namespace, apiVersion, root } = manifest;
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  if (kinds.has(kind) && listsPools(group)) return [poolsIn(manifest, group, options)];
  const name = getIn(root, 'metadata', 'name');
  const gangs = kinds.has(gangKind) ? membersIn(manifest, options) : [];
  if (kind === platformKind && kinds.has(kind))
    return [{ group, namespace, name: '', span: spanOf(manifest.root), kind, facts: () => factsOf(manifest, options) }];
  // Skip objects whose name is not literal in the text: files are parsed only for names that occur in them.
  if (!kinds.has(kind) || name === undefined) return gangs;
  // An installer counts whatever its name is.
  const isUnnamed = manifest.name === null || name.node.kind !== 'scalar' || name.node.templated;
  if (isUnnamed && !installerKinds.has(kind)) return gangs;
  if (isUnnamed) return [{ group, namespace, name: '', span: spanOf(name), kind, facts: () => null }, ...gangs];
  const facts = lazy(() => factsOf(manifest, options));
  const own = { group, namespace, name: manifest.name ?? '', span: spanOf(name) };
  const sharing = kind === 'ConfigMap' && kinds.has(sharingKind) ? sharingConfigs(manifest) : [];
  if (sharing.length === 0) return [{ ...own, kind, facts }, ...gangs];
  return [
    { ...own, kind, facts },
    { ...own, kind: sharingKind, facts: () => ({ type: 'sharing', facts: sharing }) },
  ];
}

const installerKinds: ReadonlySet<string> = new Set(kindsFor('installer'));

/** The configs of the device plugin in values of charts, as if they were an object. */
function sharingOfCharts(document: YamlDocument, manifests: readonly Manifest[]): readonly ObjectSummary[] {
  const facts = sharingInValues(document, manifests);
  const own = { group: '', kind: sharingKind, namespace: null, span: { start: 0, end: 0 } };
  return facts.length === 0 ? [] : [{ ...own, name: '', facts: () => ({ type: 'sharing', facts }) }];
}

/** The pods of an object that name a PodGroup, as if they were objects of its name. */
function membersIn(manifest: Manifest, options: FactsOptions): readonly ObjectSummary[] {
  return gangMembers(manifest, options).map(({ group: name, pods }) => ({
    group: '',
    kind: gangKind,
    namespace: manifest.namespace,
    name,
    span: { start: 0, end: 0 },
    facts: () => (pods === null ? null : { type: 'gang', facts: pods }),
  }));
}

/** The pools in a file that lists the resources of a cloud, under its own name, if it has one. */
function poolsIn(manifest: Manifest, group: string, options: FactsOptions): ObjectSummary {
  const { kind, name } = manifest;
  const own = { group, kind, namespace: null, name: name ?? kind, span: { start: 0, end: 0 } };
  return { ...own, facts: lazy(() => factsOf(manifest, options)) };
}

/** The comments of a document that runs no pods, as if they were an object. */
function headerIn(text: string, kinds: ReadonlySet<string>, first: Manifest | undefined): readonly ObjectSummary[] {
  if (first === undefined || !kinds.has(headerKind)) return [];
  const own = { group: '', kind: headerKind, namespace: null, name: headerKind, span: { start: 0, end: 0 } };
  return [{ ...own, facts: () => ({ type: 'header', facts: headerOf(text) }) }];
}

/** The objects of a kustomization: itself, and one for each path that it includes, by which the overlays of a file are found. */
function overlayObjects(document: YamlDocument): readonly ObjectSummary[] {
  const found = overlayIn(document);
  if (found === undefined) return [];
  const own = { kind: kustomizationKind, namespace: null, span: { start: 0, end: 0 } };
  const { facts, resources } = found;
  return [
    { ...own, group: '', name: '', facts: () => ({ type: 'overlay', facts }) },
    ...resources.map((name) => ({ ...own, group: included, name, facts: () => null })),
  ];
}

/** The summary of a file, composed of those of its documents. */
export function joinSummaries(
  parts: readonly { readonly base: number; readonly summary: DocumentSummary }[],
): FileSummary {
  const kinds = lazy(() => new Set(parts.flatMap(({ summary }) => [...summary.kinds])));
  const objectsIn = once(({ base, summary }: (typeof parts)[number]): readonly ObjectSummary[] =>
    summary.objects().map((origin) => {
      const { group, kind, namespace, name, span, facts } = origin;
      return { group, kind, namespace, name, span: shiftSpan(span, base), facts, origin };
    }),
  );
  const objects = lazy(() => parts.flatMap(objectsIn));
  const places = lazy(() => new Map(objects().map(({ origin, span }) => [origin, span])));
  return {
    get kinds() {
      return kinds();
    },
    parts: parts.map(({ summary }) => summary),
    objects,
    objectsOf: (wanted) =>
      parts
        .filter(({ summary }) => summary.kinds.has(wanted))
        .flatMap((part) => objectsIn(part).filter(({ kind }) => kind === wanted)),
    placeOf: (origin) => places().get(origin),
    references: lazy(() =>
      parts.flatMap(({ base, summary }) =>
        summary.references().map((reference) => ({ ...reference, span: shiftSpan(reference.span, base) })),
      ),
    ),
  };
}

/** The same summary as plain values, so that the parsed document can be released. */
function evaluated(summary: FileSummary): FileSummary {
  const objects = summary.objects().map(({ group, kind, namespace, name, span, facts: read }) => {
    const facts = read();
    return { group, kind, namespace, name, span, facts: () => facts };
  });
  const references = summary.references();
  return { kinds: summary.kinds, objects: () => objects, references: () => references };
}

/** The summary of a file that is not open. Documents without relevant objects are not parsed. */
export function summarizeText(text: string, options: FactsOptions): FileSummary {
  if (checkLimits(text) !== null) return nothing;
  const parts = splitDocuments(text).flatMap(({ text: part, base }) => {
    const summary = summarizeDocument(part, () => parseDocument(part, base), options);
    return summary.kinds.size > 0 ? [{ base, summary }] : [];
  });
  return evaluated(joinSummaries(parts));
}

/** A summary that is computed on the first lookup of a kind and name that occur in the text. */
export function deferred(
  kinds: ReadonlySet<string>,
  names: ReadonlySet<string> | undefined,
  make: () => FileSummary,
): FileSummary {
  const made = lazy(make);
  return { kinds, ...(names && { names }), objects: () => made().objects(), references: () => made().references() };
}

const nothing: FileSummary = { kinds: new Set(), objects: () => [], references: () => [] };
