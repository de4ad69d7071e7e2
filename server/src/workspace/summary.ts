import { lowerManifests } from '../model/manifest.ts';
import { getIn, spanOf } from '../yaml/cursor.ts';
import { lazy } from '../yaml/lazy.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { checkLimits, parseDocument, splitDocuments } from '../yaml/parse.ts';
import type { Span } from '../yaml/span.ts';
import { shiftSpan } from '../yaml/span.ts';
import { type Facts, type FactsOptions, factsOf } from './facts.ts';
import { kindsIn } from './kinds.ts';
import { type Reference, referencesOf } from './references.ts';

/** What other files may need of an object. */
export interface ObjectSummary {
  /** The API group, without a version. */
  readonly group: string;
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
  /** Where the name stands. */
  readonly span: Span;
  /** The same object in the summary of its document, which stays as long as the document's text does. */
  readonly origin?: ObjectSummary;
  /** What it says to those that name it; null for kinds that are only looked for. */
  readonly facts: () => Facts | null;
}

/** A document's part of a summary, with spans relative to the document. Made when it is asked for, part by part. */
export interface DocumentSummary {
  readonly kinds: ReadonlySet<string>;
  readonly objects: () => readonly ObjectSummary[];
  /** The objects that it names. */
  readonly references: () => readonly Reference[];
}

/** What other files may need of a file. Spans are of the file. */
export interface FileSummary {
  readonly kinds: ReadonlySet<string>;
  /** Every name that it says; left out where they were not looked for. */
  readonly names?: ReadonlySet<string>;
  /** The documents that it is made of; the same objects as before for those that did not change. */
  readonly parts?: readonly DocumentSummary[];
  readonly objects: () => readonly ObjectSummary[];
  readonly references: () => readonly Reference[];
  /** Where an object of one of its documents stands; left out where nothing can move. */
  readonly placeOf?: (origin: ObjectSummary) => Span | undefined;
}

export function summariseDocument(text: string, document: () => YamlDocument, options: FactsOptions): DocumentSummary {
  const kinds = lazy(() => kindsIn(text));
  const manifests = lazy(() => lowerManifests(document()));
  return {
    get kinds() {
      return kinds();
    },
    objects: lazy(() =>
      manifests().flatMap((manifest): readonly ObjectSummary[] => {
        const { kind, namespace, apiVersion, root } = manifest;
        const name = getIn(root, 'metadata', 'name');
        // Objects whose name is not plain in the text are left out: some files are never parsed.
        if (!kinds().has(kind) || name === undefined || manifest.name === null) return [];
        if (name.node.kind !== 'scalar' || name.node.templated) return [];
        const slash = apiVersion.indexOf('/');
        const group = slash < 0 ? '' : apiVersion.slice(0, slash);
        const facts = lazy(() => factsOf(manifest, options));
        return [{ group, kind, namespace, name: manifest.name, span: spanOf(name), facts }];
      }),
    ),
    references: lazy(() => manifests().flatMap(referencesOf)),
  };
}

/** The summary of a file made of those of its documents. */
export function joinSummaries(
  parts: readonly { readonly base: number; readonly summary: DocumentSummary }[],
): FileSummary {
  const kinds = lazy(() => new Set(parts.flatMap(({ summary }) => [...summary.kinds])));
  const objects = lazy(() =>
    parts.flatMap(({ base, summary }) =>
      summary.objects().map((object) => ({ ...object, span: shiftSpan(object.span, base), origin: object })),
    ),
  );
  const places = lazy(() => new Map(objects().map(({ origin, span }) => [origin, span])));
  return {
    get kinds() {
      return kinds();
    },
    parts: parts.map(({ summary }) => summary),
    objects,
    placeOf: (origin) => places().get(origin),
    references: lazy(() =>
      parts.flatMap(({ base, summary }) =>
        summary.references().map((reference) => ({ ...reference, span: shiftSpan(reference.span, base) })),
      ),
    ),
  };
}

/** The same as plain values: what it was read from is let go. */
export function settled(summary: FileSummary): FileSummary {
  const objects = summary.objects().map(({ group, kind, namespace, name, span, facts: read }) => {
    const facts = read();
    return { group, kind, namespace, name, span, facts: () => facts };
  });
  const references = summary.references();
  return { kinds: summary.kinds, objects: () => objects, references: () => references };
}

/** What other files may need of a text that nobody looks at: the documents without objects of use are not even parsed. */
export function summariseText(text: string, options: FactsOptions): FileSummary {
  if (checkLimits(text) !== null) return nothing;
  const parts = splitDocuments(text).flatMap(({ text: part, base }) => {
    const summary = summariseDocument(part, () => parseDocument(part, base), options);
    return summary.kinds.size > 0 ? [{ base, summary }] : [];
  });
  return settled(joinSummaries(parts));
}

/** A summary that is made when somebody asks for a kind, and a name, that the text says. */
export function deferred(kinds: ReadonlySet<string>, names: ReadonlySet<string>, make: () => FileSummary): FileSummary {
  const made = lazy(make);
  return { kinds, names, objects: () => made().objects(), references: () => made().references() };
}

const nothing: FileSummary = { kinds: new Set(), objects: () => [], references: () => [] };
