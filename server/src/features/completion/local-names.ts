import type { FileAnalysis } from '../../analysis.ts';
import { type Cursor, getIn, spanOf } from '../../yaml/cursor.ts';
import { type Span, shiftSpan } from '../../yaml/span.ts';

/** A name with the scope of one document, and the places that use it. Spans are of the file. */
export interface LocalName {
  readonly declared: Span;
  readonly uses: readonly Span[];
}

/** Volumes with their mounts, and anchors with their aliases. */
export function localNames(file: FileAnalysis): readonly LocalName[] {
  return [...file.documents.flatMap(({ workloads, base }) => podNames(workloads, base)), ...anchors(file)];
}

type Workloads = FileAnalysis['documents'][number]['workloads'];

function podNames(workloads: Workloads, base: number): readonly LocalName[] {
  return workloads.flatMap(({ podSets }) =>
    podSets.flatMap(({ volumes, containers }) => {
      const usesOf = new Map<string, Span[]>(volumes.map(({ name }) => [name, []]));
      for (const mount of containers.flatMap(({ volumeMounts }) => volumeMounts)) {
        const place = placeOf(getIn(mount.at, 'name'), base);
        if (place !== undefined) usesOf.get(mount.name)?.push(place);
      }
      return volumes.flatMap((volume): readonly LocalName[] => {
        const declared = placeOf(getIn(volume.at, 'name'), base);
        return declared === undefined ? [] : [{ declared, uses: usesOf.get(volume.name) ?? [] }];
      });
    }),
  );
}

function placeOf(cursor: Cursor | undefined, base: number): Span | undefined {
  return cursor && shiftSpan(spanOf(cursor), base);
}

/** An alias is a whole value, so only a comment can follow it; it refers to the last anchor of its name above it in the document. */
function anchors({ text, documents }: FileAnalysis): readonly LocalName[] {
  if (!text.includes('&')) return [];
  return documents.flatMap(({ text: part, base }) => {
    const found = new Map<string, { declared: Span; uses: Span[] }>();
    const all: LocalName[] = [];
    for (const { 0: whole, 1: before = '', 2: sign, 3: name = '', index } of part.matchAll(marks)) {
      const start = base + index + before.length;
      const span = { start, end: start + whole.length - before.length };
      if (sign === '&') {
        const made = { declared: span, uses: [] };
        found.set(name, made);
        all.push(made);
      } else found.get(name)?.uses.push(span);
    }
    return all.filter(({ uses }) => uses.length > 0);
  });
}

const marks = /((?:^|[:\-,[{?])[ \t]+|^)([&*])([\w.-]{1,100})(?=[ \t\r\n,\]}]|$)/gm;
