import type { FileAnalysis } from '../analysis.ts';
import { requestPrice } from '../cost/capacity-prices.ts';
import { formatHourly } from '../cost/format.ts';
import { resourceName } from '../model/requested-resource.ts';
import { spanOf } from '../yaml/cursor.ts';
import { nowhere, type Span, shiftSpan } from '../yaml/span.ts';
import { acceleratedWorkloads } from './hover/gpu-words.ts';

/** A few words behind a value that are not in the text. */
export interface InlayHint {
  /** Of the file. */
  readonly offset: number;
  readonly label: string;
  readonly tooltip: string;
}

/** Behind each count of accelerators in a span of the file: what they cost an hour. Nothing where the GPU or its price is not known. */
export function inlayHints(file: FileAnalysis, within: Span): readonly InlayHint[] {
  const hints = acceleratedWorkloads(file).flatMap(({ workload, document }) =>
    workload.podSets.flatMap((podSet) => {
      const byResource = new Map([...podSet.accelerators].reverse().map((one) => [resourceName(one.requested), one]));
      return podSet.containers.flatMap(({ accelerators }) =>
        accelerators.flatMap((request): InlayHint[] => {
          const quantity = request.limit ?? request.request;
          const inPod = byResource.get(request.resource);
          const hourly = quantity && inPod && requestPrice(podSet, request, inPod, file.config.prices);
          if (quantity === undefined || hourly === undefined) return [];
          if (spanOf(quantity.at) === nowhere) return [];
          const { end } = shiftSpan(spanOf(quantity.at), document.base);
          if (end < within.start || end > within.end) return [];
          const spot = podSet.placement.capacity === 'spot' ? 'spot ' : '';
          return [
            { offset: end, label: `${spot}${formatHourly(hourly)}`, tooltip: 'What one pod pays for these an hour' },
          ];
        }),
      );
    }),
  );
  // Pods that are written once and used by an alias are several, and one of them is what a hint is of.
  const shown = new Set<string>();
  return hints.filter(({ offset, label }) => {
    const isNew = !shown.has(`${offset} ${label}`);
    shown.add(`${offset} ${label}`);
    return isNew;
  });
}
