import type { FileAnalysis } from '../../analysis.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../../model/workload.ts';
import { type Cursor, keySpanOf, spanOf } from '../../yaml/cursor.ts';
import { type Span, shiftSpan, touches } from '../../yaml/span.ts';
import type { Place } from './proof.ts';

/** A pod set of a file. */
export interface PodSetPlace extends Place {
  readonly workload: Workload;
  readonly podSet: PodSet;
}

/** A request of a container for an accelerator. */
export interface RequestPlace extends PodSetPlace {
  readonly container: Container;
  readonly request: AcceleratorRequest;
  /** The entry in the file. */
  readonly span: Span;
}

/** The pod sets of a file that requests accelerators, each with a span of the file relative to its document. */
export function podSetsIn(file: FileAnalysis, span: Span): readonly (readonly [PodSetPlace, Span])[] {
  return (file.hasAccelerators ? file.documents : []).flatMap((document) => {
    const inside = shiftSpan(span, -document.base);
    return document.workloads.flatMap((workload) =>
      workload.podSets.map((podSet) => [{ file, document, workload, podSet }, inside] as const),
    );
  });
}

/** The requests whose limit or request touches a span of the file. */
export function requestsAt(file: FileAnalysis, span: Span): readonly RequestPlace[] {
  return podSetsIn(file, span).flatMap(([place, inside]) =>
    place.podSet.containers.flatMap((container) =>
      container.accelerators.flatMap((request): readonly RequestPlace[] => {
        const entry = entryAt(request, inside);
        return entry === undefined
          ? []
          : [{ ...place, container, request, span: shiftSpan(entry, place.document.base) }];
      }),
    ),
  );
}

/** The entry of a request that a span touches, its limit first. Both spans are relative to the document. */
export function entryAt({ limit, request }: AcceleratorRequest, inside: Span): Span | undefined {
  return [limit, request].flatMap((one) => (one ? entrySpan(one.at) : [])).find((one) => touches(one, inside));
}

function entrySpan(cursor: Cursor): Span {
  return { start: keySpanOf(cursor).start, end: spanOf(cursor).end };
}
